//! The settings of `derive(Owner)`.

use core::fmt;
use core::marker::PhantomData;

use bevy_app::prelude::*;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;

use crate::faults::{lines_with, listen};

#[derive(Resource)]
struct Sundial(f64);

/// Generic, with its own clock, label and `on_change`.
#[derive(Component, Owner)]
#[owner(
    param = Res<Sundial>,
    message = K,
    now = Self::read_sundial,
    label = Self::write_name,
    on_change = Self::hear,
    after_change = Self::hear_again
)]
struct Gardener<K: Send + Sync + 'static> {
    name: &'static str,
    log: Vec<String>,
    of: PhantomData<K>,
}

impl<K: Send + Sync + 'static> Gardener<K> {
    fn read_sundial(cx: &Cx<'_, Self>) -> f64 {
        cx.param.0
    }

    fn write_name(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }

    fn hear(&mut self, change: &Change<'_, Self>, _: &mut Cx<'_, Self>) {
        self.log.push(format!("{change}"));
    }

    fn hear_again(&mut self, change: &Change<'_, Self>, cx: &mut Cx<'_, Self>) {
        self.log.push(format!("{change} at {}", cx.param.0));
    }
}

struct Dig;
struct Rest;

impl<K: Send + Sync + 'static> MachineState<Gardener<K>> for Dig {
    fn update(&self, _: &mut Gardener<K>, fsm: &mut Fsm<'_, Gardener<K>>, _: &mut Cx<'_, Gardener<K>>) {
        fsm.change_state(&Rest);
        fsm.pop_state();
    }
}

impl<K: Send + Sync + 'static> MachineState<Gardener<K>> for Rest {
    fn update(&self, gardener: &mut Gardener<K>, fsm: &mut Fsm<'_, Gardener<K>>, cx: &mut Cx<'_, Gardener<K>>) {
        gardener.log.push(format!("rests for {}", fsm.time_in_state(cx)));
    }
}

#[test]
fn functions_that_the_derive_is_told_are_called_for_a_generic_owner_too() {
    listen();
    let mut app = App::new();
    app.insert_resource(Sundial(6.0)).add_state_machine::<Gardener<u8>>();
    let gardener = Gardener::<u8> { name: "old Adam", log: Vec::new(), of: PhantomData };
    let gardener = app.world_mut().spawn((gardener, Machine::<Gardener<u8>>::new(&Dig))).id();
    app.update();
    app.insert_resource(Sundial(8.5));
    app.update();
    assert_eq!(
        app.world().get::<Gardener<u8>>(gardener).unwrap().log,
        ["Dig -> Rest (change)", "Dig -> Rest (change) at 6", "rests for 2.5"]
    );
    assert_eq!(lines_with("old Adam"), ["WARN: old Adam: pop refused in state Rest: the stack is empty"]);
}
