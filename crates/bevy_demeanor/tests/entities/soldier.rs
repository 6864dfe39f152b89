//! The owner in these tests. It records what happens to it, and carries out its orders in its updates.

use bevy_app::App;
use bevy_demeanor::{EntityContext, EntityOwner, Machine, SharedParam, StateMachinePlugin};
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::resource::Resource;
use bevy_ecs::system::{Query, Res, SystemParam};
use demeanor::{Change, Fsm, Owner, State, StateRef};

/// Data of the world that soldiers see.
#[derive(Resource, Default)]
pub(crate) struct Alarm(pub(crate) u32);

/// The soldiers' clock, in seconds.
#[derive(Resource, Default)]
pub(crate) struct Watch(pub(crate) f64);

/// The data of a soldier that other soldiers see.
#[derive(Component)]
pub(crate) struct Rank(pub(crate) u32);

#[derive(SystemParam, SharedParam)]
pub(crate) struct Senses<'w, 's> {
    pub(crate) alarm: Res<'w, Alarm>,
    pub(crate) watch: Res<'w, Watch>,
    pub(crate) ranks: Query<'w, 's, &'static Rank>,
}

#[derive(Component, Default)]
#[cfg_attr(feature = "reflect", derive(bevy_reflect::TypePath))]
pub(crate) struct Soldier {
    pub(crate) trace: Vec<String>,
    /// The orders for the next updates.
    pub(crate) orders: Vec<Order>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    Nothing,
    Change(StateName),
    ChangeTwice(StateName, StateName),
    Revert,
    Push(StateName),
    Pop,
    Ensure(StateName),
    Force(StateName),
    Send(StateName),
    SendNow(StateName),
    ChangeAfter(f64, StateName),
    ChangeNext(StateName),
    SendAfter(f64, StateName),
    Sleep,
    SleepFor(f64),
    /// Records how long each active state has been active.
    TellTimes,
    Despawn,
    Salute,
    Panic,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum StateName {
    Idle,
    Patrol,
    Chase,
    Fight,
    Aim,
    Stagger,
    Rest,
    Nap,
    March,
    Walk,
    Run,
    Ready,
    Shoot,
    Draw,
    Loose,
    Hold,
}

impl StateName {
    pub(crate) fn state(self) -> StateRef<Soldier> {
        match self {
            Self::Idle => (&Idle).into(),
            Self::Patrol => (&Patrol).into(),
            Self::Chase => (&Chase).into(),
            Self::Fight => (&Fight).into(),
            Self::Aim => (&Aim).into(),
            Self::Stagger => (&Stagger).into(),
            Self::Rest => (&Rest).into(),
            Self::Nap => (&Nap).into(),
            Self::March => (&March).into(),
            Self::Walk => (&Walk).into(),
            Self::Run => (&Run).into(),
            Self::Ready => (&Ready).into(),
            Self::Shoot => (&Shoot).into(),
            Self::Draw => (&Draw).into(),
            Self::Loose => (&Loose).into(),
            Self::Hold => (&Hold).into(),
        }
    }
}

/// Inserted when a soldier salutes.
#[derive(Component)]
pub(crate) struct Saluted;

impl Owner for Soldier {
    type Context<'a> = EntityContext<'a, Self>;
    type Message = StateName;

    fn now(cx: &Self::Context<'_>) -> f64 {
        cx.param.watch.0
    }

    fn on_change(&mut self, change: &Change<'_, Self>, _: &mut Self::Context<'_>) {
        self.trace.push(change.to_string());
    }

    fn after_change(&mut self, change: &Change<'_, Self>, _: &mut Self::Context<'_>) {
        self.trace.push(format!("complete: {change}"));
    }
}

impl EntityOwner for Soldier {
    type Body = ();
    type Param = Senses<'static, 'static>;
}

type Context<'a> = EntityContext<'a, Soldier>;

pub(crate) fn obey(soldier: &mut Soldier, fsm: &mut Fsm<'_, Soldier>, cx: &mut Context<'_>) {
    if soldier.orders.is_empty() {
        return;
    }
    match soldier.orders.remove(0) {
        Order::Nothing => {}
        Order::Change(to) => fsm.change_state(to.state()),
        Order::ChangeTwice(first, second) => {
            fsm.change_state(first.state());
            fsm.change_state(second.state());
        }
        Order::Revert => fsm.revert_state(),
        Order::Push(over) => fsm.push_state(over.state()),
        Order::Pop => fsm.pop_state(),
        Order::Ensure(to) => fsm.ensure_state(to.state()),
        Order::Force(to) => fsm.force_state(to.state()),
        Order::Send(told) => fsm.send(told),
        Order::SendNow(told) => {
            let is_handled = fsm.send_now(soldier, &told, cx);
            soldier.trace.push(format!("handled: {is_handled}"));
        }
        Order::ChangeAfter(seconds, to) => fsm.change_state_after(seconds, to.state()),
        Order::ChangeNext(to) => fsm.change_state_next(to.state()),
        Order::SendAfter(seconds, told) => fsm.send_after(seconds, told),
        Order::Sleep => fsm.sleep(),
        Order::SleepFor(seconds) => fsm.sleep_for(seconds),
        Order::TellTimes => {
            let times: Vec<String> =
                fsm.path().map(|state| format!("{state} {:?}", fsm.time_in(&**state, cx))).collect();
            soldier.trace.push(times.join(", "));
        }
        Order::Despawn => cx.this().despawn(),
        Order::Salute => {
            let rank = cx.param.ranks.get(cx.entity).map_or(0, |rank| rank.0);
            soldier.trace.push(format!("salutes with rank {rank} at alarm {}", cx.param.alarm.0));
            cx.this().insert(Saluted);
        }
        Order::Panic => panic!("a soldier panics"),
    }
}

macro_rules! states {
    ($(
        $name:ident $(in $parent:ident $(region $region:literal)?)?
        $(, starts with $initial:ident)? $(, regions $($first:ident)+)? $(, with { $($methods:tt)* })?;
    )*) => {$(
        pub(crate) struct $name;

        impl State<Soldier> for $name {
            fn enter(&self, soldier: &mut Soldier, _: &mut Fsm<'_, Soldier>, _: &mut Context<'_>) {
                soldier.trace.push(concat!("enter ", stringify!($name)).to_owned());
            }

            fn update(&self, soldier: &mut Soldier, fsm: &mut Fsm<'_, Soldier>, cx: &mut Context<'_>) {
                soldier.trace.push(concat!("update ", stringify!($name)).to_owned());
                obey(soldier, fsm, cx);
            }

            fn exit(&self, soldier: &mut Soldier, _: &mut Fsm<'_, Soldier>, _: &mut Context<'_>) {
                soldier.trace.push(concat!("exit ", stringify!($name)).to_owned());
            }

            fn on_message(
                &self,
                soldier: &mut Soldier,
                to: &StateName,
                fsm: &mut Fsm<'_, Soldier>,
                _: &mut Context<'_>,
            ) -> bool {
                soldier.trace.push(format!(concat!(stringify!($name), " is told {:?}"), to));
                fsm.change_state(to.state());
                true
            }

            $(fn parent(&self) -> Option<StateRef<Soldier>> {
                Some((&$parent).into())
            }

            $(fn region(&self) -> usize {
                $region
            })?)?

            $(fn initial(&self) -> Option<StateRef<Soldier>> {
                Some((&$initial).into())
            })?

            $(fn regions(&self) -> Vec<StateRef<Soldier>> {
                vec![$((&$first).into()),+]
            })?

            $($($methods)*)?
        }
    )*};
}

states! {
    Idle;
    Patrol;
    Chase;
    Fight, starts with Aim;
    Aim in Fight;
    // Lasts two seconds, unless the soldier gives chase. Cannot be entered during a fight.
    Stagger, with {
        fn can_enter(&self, _: &Soldier, fsm: &Fsm<'_, Soldier>, _: &Context<'_>) -> bool {
            !fsm.is_in_state(&Fight)
        }

        fn can_exit(&self, _: &Soldier, fsm: &Fsm<'_, Soldier>, cx: &Context<'_>) -> bool {
            fsm.time_in_state(cx) >= 2.0 || fsm.target().is_some_and(|to| to.is::<Chase>())
        }
    };
    // A passive state.
    Rest, with {
        fn is_passive(&self) -> bool {
            true
        }
    };
    // Legs and arms.
    March, regions Walk Ready;
    Walk in March;
    Run in March;
    Ready in March region 1;
    Shoot in March region 1, regions Draw Hold, with {
        fn is_passive(&self) -> bool {
            true
        }
    };
    Draw in Shoot;
    Loose in Shoot;
    Hold in Shoot region 1;
    // Runs beside every other state.
    Vigilance;
}

/// Lasts a second and a half, asleep. Ignores messages to soldiers in `Idle`.
pub(crate) struct Nap;

impl State<Soldier> for Nap {
    fn enter(&self, soldier: &mut Soldier, fsm: &mut Fsm<'_, Soldier>, _: &mut Context<'_>) {
        soldier.trace.push("enter Nap".to_owned());
        fsm.change_state_after(1.5, &Patrol);
        fsm.sleep();
    }

    fn update(&self, soldier: &mut Soldier, fsm: &mut Fsm<'_, Soldier>, cx: &mut Context<'_>) {
        soldier.trace.push("update Nap".to_owned());
        obey(soldier, fsm, cx);
    }

    fn exit(&self, soldier: &mut Soldier, _: &mut Fsm<'_, Soldier>, _: &mut Context<'_>) {
        soldier.trace.push("exit Nap".to_owned());
    }

    fn on_message(&self, soldier: &mut Soldier, to: &StateName, _: &mut Fsm<'_, Soldier>, _: &mut Context<'_>) -> bool {
        soldier.trace.push(format!("Nap is told {to:?}"));
        !matches!(to, StateName::Idle)
    }
}

/// A global state that only handles messages.
pub(crate) struct Ears;

impl State<Soldier> for Ears {
    fn on_message(&self, soldier: &mut Soldier, to: &StateName, _: &mut Fsm<'_, Soldier>, _: &mut Context<'_>) -> bool {
        soldier.trace.push(format!("Ears are told {to:?}"));
        false
    }

    fn is_passive(&self) -> bool {
        true
    }
}

/// Returns a soldier in `Idle`, with orders.
pub(crate) fn soldier(orders: impl IntoIterator<Item = Order>) -> (Soldier, Machine<Soldier>) {
    (Soldier { trace: Vec::new(), orders: orders.into_iter().collect() }, Machine::new(&Idle))
}

/// Another type of owners, which may be in the same state.
#[derive(Component)]
pub(crate) struct Officer;

impl Owner for Officer {
    type Context<'a> = ();
    type Message = ();
}

impl EntityOwner for Officer {
    type Body = ();
    type Param = ();
}

impl State<Officer> for Idle {}

pub(crate) fn app(plugin: StateMachinePlugin<Soldier>) -> App {
    let mut app = App::new();
    app.init_resource::<Alarm>();
    app.init_resource::<Watch>();
    app.add_plugins(plugin);
    app
}

pub(crate) fn take_trace(app: &mut App, entity: Entity) -> Vec<String> {
    std::mem::take(&mut app.world_mut().get_mut::<Soldier>(entity).expect("the soldier lives").trace)
}
