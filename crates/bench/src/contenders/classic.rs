//! The classic design: each character is a separate object on the heap, and each state is an object behind a pointer.

use crate::contender::Contender;
use crate::workload::{Chase, Context, Flee, Idle, Name, Owner, Rest, Think, Wander};

/// The interface of the objects in the game's list.
trait Entity {
    fn update(&mut self, cx: &Context);
    fn checksum(&self) -> u64;
}

trait State<const PAD: usize> {
    fn enter(&self, owner: &mut Owner<PAD>);
    fn execute(&self, enemy: &mut Enemy<PAD>, cx: &Context);
    fn exit(&self, owner: &mut Owner<PAD>);
}

struct Enemy<const PAD: usize> {
    owner: Owner<PAD>,
    current: &'static dyn State<PAD>,
    previous: Option<&'static dyn State<PAD>>,
}

impl<const PAD: usize> Enemy<PAD> {
    fn change_state(&mut self, to: &'static dyn State<PAD>) {
        self.previous = Some(self.current);
        self.current.exit(&mut self.owner);
        self.current = to;
        self.current.enter(&mut self.owner);
    }
}

impl<const PAD: usize> Entity for Enemy<PAD> {
    fn update(&mut self, cx: &Context) {
        self.current.execute(self, cx);
    }

    fn checksum(&self) -> u64 {
        self.owner.checksum()
    }
}

macro_rules! states {
    ($($state:ident)*) => {
        $(impl<const PAD: usize> State<PAD> for $state {
            fn enter(&self, owner: &mut Owner<PAD>) {
                owner.enter::<$state>();
            }

            fn execute(&self, enemy: &mut Enemy<PAD>, cx: &Context) {
                if let Some(to) = enemy.owner.update::<$state>(cx) {
                    enemy.change_state(state(to));
                }
            }

            fn exit(&self, owner: &mut Owner<PAD>) {
                owner.exit::<$state>();
            }
        })*

        fn state<const PAD: usize>(name: Name) -> &'static dyn State<PAD> {
            match name {
                $(Name::$state => &$state,)*
            }
        }
    };
}

states! { Idle Think Wander Chase Flee Rest }

/// The objects are in a different order than in memory, as in a game that has run for a while.
pub(crate) struct Classic(Vec<Box<dyn Entity>>);

impl Classic {
    pub(crate) fn boxed<const PAD: usize>(owners: usize) -> Box<dyn Contender> {
        let mut entities: Vec<Box<dyn Entity>> = Vec::with_capacity(owners);
        for n in 0..owners {
            let mut enemy = Enemy { owner: Owner::<PAD>::new(n), current: &Idle, previous: None };
            enemy.current.enter(&mut enemy.owner);
            entities.push(Box::new(enemy));
        }
        fastrand::Rng::with_seed(1).shuffle(&mut entities);
        Box::new(Self(entities))
    }
}

impl Contender for Classic {
    fn tick(&mut self, cx: &Context) {
        for entity in &mut self.0 {
            entity.update(cx);
        }
    }

    fn checksum(&self) -> u64 {
        self.0.iter().fold(0, |sum, entity| sum.wrapping_add(entity.checksum()))
    }
}
