//! An owner whose machine uses everything that can be saved, and functions that save and load it as a scene does.

use std::any::TypeId;

use bevy_app::App;
use bevy_demeanor::{CurrentState, EntityContext, EntityOwner, Machine, MachineCommands, StateMachinePlugin};
use bevy_ecs::entity::{EntityHashMap, MapEntities};
use bevy_ecs::prelude::*;
use bevy_ecs::relationship::RelationshipHookMode;
use bevy_reflect::serde::{TypedReflectDeserializer, TypedReflectSerializer};
use bevy_reflect::{Reflect, TypeRegistry};
use demeanor::{Fsm, Owner, State, StateBook, StateRef};
use serde::de::DeserializeSeed;
use serde::{Deserialize, Serialize};

/// The guards' clock, in seconds.
#[derive(Resource, Default, Clone, Copy)]
pub(crate) struct Clock(pub(crate) f64);

/// A guard that patrols, hears, chases, is stunned, rests and dies. When it is loaded, it gets a machine.
#[derive(Component, Reflect, Default)]
#[reflect(Component)]
#[require(Machine<Guard> = Machine::new(&Patrol).with_global(&Mortal))]
pub(crate) struct Guard {
    pub(crate) health: i32,
    pub(crate) log: Vec<String>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Told {
    Noise,
    Seen,
    Lost,
    Blow,
    Recovered,
    Tired,
    Shot,
    Alarm,
}

pub(crate) const TOLD: [Told; 7] =
    [Told::Noise, Told::Seen, Told::Lost, Told::Blow, Told::Tired, Told::Shot, Told::Alarm];

type Context<'a> = EntityContext<'a, Guard>;

impl Owner for Guard {
    type Context<'a> = Context<'a>;
    type Message = Told;

    fn now(cx: &Context<'_>) -> f64 {
        cx.param.0
    }
}

impl EntityOwner for Guard {
    type Body = ();
    type Param = Res<'static, Clock>;
}

/// Records a callback, how long the states have been active, and the previous states.
fn log(guard: &mut Guard, what: &str, fsm: &Fsm<'_, Guard>, cx: &Context<'_>) {
    let times: Vec<String> =
        fsm.active_states().map(|state| format!("{state} {:?}", fsm.time_in(&**state, cx))).collect();
    let previous = fsm.previous().map_or("none".to_owned(), |state| state.name().into_owned());
    guard.log.push(format!("{what}: {}, from {previous}", times.join(", ")));
}

macro_rules! states {
    ($($name:ident $(in $parent:ident)? {
        $(enter: $enter:expr;)?
        $(told: $told:expr;)?
        $(with { $($methods:tt)* })?
    })*) => {$(
        pub(crate) struct $name;
        impl State<Guard> for $name {
            fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, cx: &mut Context<'_>) {
                log(guard, concat!("enter ", stringify!($name)), fsm, cx);
                $(let enter: fn(&mut Fsm<'_, Guard>) = $enter; enter(fsm);)?
            }

            fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, cx: &mut Context<'_>) {
                log(guard, concat!("update ", stringify!($name)), fsm, cx);
            }

            fn exit(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, cx: &mut Context<'_>) {
                log(guard, concat!("exit ", stringify!($name)), fsm, cx);
            }

            fn resume(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, cx: &mut Context<'_>) {
                log(guard, concat!("resume ", stringify!($name)), fsm, cx);
            }

            fn on_message(&self, guard: &mut Guard, told: &Told, fsm: &mut Fsm<'_, Guard>, _: &mut Context<'_>) -> bool {
                let listens: &[fn(&Told, &mut Guard, &mut Fsm<'_, Guard>) -> bool] = &[$($told)?];
                listens.iter().any(|on_message| on_message(told, guard, fsm))
            }

            $(fn parent(&self) -> Option<StateRef<Guard>> {
                Some((&$parent).into())
            })?

            $($($methods)*)?
        }
    )*};
}

states! {
    Patrol {
        told: |told, _, fsm| {
            match told {
                Told::Noise => fsm.change_state(&Listen),
                Told::Seen => fsm.resume_state(&Combat),
                Told::Tired => fsm.change_state(&Rest),
                Told::Alarm => fsm.change_state(&Watch),
                _ => return false,
            }
            true
        };
    }
    // Lasts two seconds, one of them asleep.
    Listen {
        enter: |fsm| {
            fsm.change_state_after(2.0, &Patrol);
            fsm.sleep_for(1.0);
        };
        told: |told, _, fsm| {
            if let Told::Seen = told {
                fsm.resume_state(&Combat);
            }
            matches!(told, Told::Seen)
        };
    }
    // Gives up after five seconds, and remembers its last state in the fight.
    Combat {
        enter: |fsm| fsm.change_state_after(5.0, &Patrol);
        told: |told, _, fsm| {
            if let Told::Lost = told {
                fsm.change_state(&Patrol);
            }
            matches!(told, Told::Lost)
        };
        with {
            fn initial(&self) -> Option<StateRef<Guard>> {
                Some((&Chase).into())
            }
            fn keeps_history(&self) -> bool {
                true
            }
        }
    }
    Chase in Combat {
        told: |told, _, fsm| {
            if let Told::Seen = told {
                fsm.change_state(&Shoot);
            }
            matches!(told, Told::Seen)
        };
    }
    Shoot in Combat {
        enter: |fsm| fsm.change_state_after(1.5, &Chase);
    }
    // Walks and looks around at the same time, for a while.
    Watch {
        enter: |fsm| fsm.change_state_after(6.0, &Patrol);
        with {
            fn regions(&self) -> Vec<StateRef<Guard>> {
                vec![(&Pace).into(), (&Look).into()]
            }
        }
    }
    Pace in Watch {
        enter: |fsm| fsm.change_state_after(0.5, &Halt);
    }
    Halt in Watch {
        enter: |fsm| {
            fsm.change_state_after(0.75, &Pace);
            fsm.sleep();
        };
    }
    Look in Watch {
        told: |told, _, fsm| {
            match told {
                Told::Seen => fsm.push_state(&Stare),
                Told::Lost => fsm.revert_state(),
                _ => return false,
            }
            true
        };
        with {
            fn region(&self) -> usize {
                1
            }
        }
    }
    Stare in Watch {
        enter: |fsm| fsm.send_after(1.0, Told::Recovered);
        told: |told, _, fsm| {
            if let Told::Recovered = told {
                fsm.pop_state();
            }
            matches!(told, Told::Recovered)
        };
        with {
            fn region(&self) -> usize {
                1
            }
        }
    }
    // Pushed onto any state, until it gets a message that it has sent to itself.
    Stunned {
        enter: |fsm| fsm.send_after(1.25, Told::Recovered);
        told: |told, _, fsm| {
            if let Told::Recovered = told {
                fsm.pop_state();
            }
            matches!(told, Told::Recovered)
        };
    }
    // Until it is woken.
    Rest {
        enter: |fsm| fsm.sleep();
        told: |told, _, fsm| {
            if let Told::Noise = told {
                fsm.change_state(&Listen);
            }
            matches!(told, Told::Noise)
        };
    }
    Dead {
        enter: |fsm| fsm.sleep();
        with {
            fn can_exit(&self, _: &Guard, _: &Fsm<'_, Guard>, _: &Context<'_>) -> bool {
                false
            }
        }
    }
    // The global state. A guard without it is immortal.
    Mortal {
        told: |told, guard, fsm| {
            match told {
                Told::Shot => {
                    guard.health -= 1;
                    if guard.health == 0 {
                        fsm.force_state(&Dead);
                    }
                }
                Told::Blow if !fsm.is_in_state(&Dead) && !fsm.is_in_state(&Stunned) => fsm.push_state(&Stunned),
                _ => return false,
            }
            true
        };
        with {
            fn is_passive(&self) -> bool {
                true
            }
        }
    }
}

/// The target of the pursuit belongs to this guard alone.
#[derive(Clone, Serialize, Deserialize, MapEntities)]
pub(crate) struct Follow {
    #[entities]
    pub(crate) whom: Entity,
}
impl State<Guard> for Follow {}

pub(crate) fn book() -> StateBook<Guard> {
    let book = StateBook::new().with(&Patrol).with(&Listen).with(&Combat).with(&Chase).with(&Shoot).with(&Stunned);
    let book = book.with(&Watch).with(&Pace).with(&Halt).with(&Look).with(&Stare);
    book.with(&Rest).with(&Dead).with(&Mortal).with_owned::<Follow>().with_messages()
}

pub(crate) fn by_book() -> StateMachinePlugin<Guard> {
    StateMachinePlugin::new().with_book(book()).with_mapped::<Follow>("Follow")
}

pub(crate) fn by_name(plugin: StateMachinePlugin<Guard>) -> StateMachinePlugin<Guard> {
    let (patrol, chase): (StateRef<Guard>, _) = ((&Patrol).into(), (&Chase).into());
    let states =
        [patrol, chase, (&Listen).into(), (&Combat).into(), (&Shoot).into(), (&Stunned).into(), (&Rest).into()];
    plugin.with_current_state(states.into_iter().chain([(&Watch).into(), (&Dead).into()]))
}

pub(crate) fn app(plugin: StateMachinePlugin<Guard>) -> App {
    let mut app = App::new();
    app.init_resource::<Clock>();
    app.register_type::<Guard>();
    app.add_plugins(plugin);
    app
}

/// An entity of a scene: the names of its components' types, and their values in RON.
pub(crate) type Saved = (Entity, Vec<(String, String)>);

/// Saves entities as a scene does.
pub(crate) fn save(app: &App, entities: &[Entity]) -> Result<Vec<Saved>, String> {
    let registry = app.world().resource::<AppTypeRegistry>().read();
    let mut saved = vec![];
    for entity in entities {
        let mut components = vec![];
        for registration in registry.iter() {
            let Some(reflect) = registration.data::<ReflectComponent>() else { continue };
            if let Some(value) = reflect.reflect(app.world().entity(*entity)) {
                let serializer = TypedReflectSerializer::new(value.as_partial_reflect(), &registry);
                let text = ron::to_string(&serializer).map_err(|error| error.to_string())?;
                components.push((registration.type_info().type_path().to_owned(), text));
            }
        }
        components.sort();
        saved.push((*entity, components));
    }
    Ok(saved)
}

/// The order in which a scene's components are inserted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sequence {
    Forward,
    Backward,
}

/// Loads a scene. Returns the new entities, in the scene's order.
pub(crate) fn load(app: &mut App, scene: &[Saved], sequence: Sequence) -> Result<Vec<Entity>, String> {
    let entities: Vec<Entity> = scene.iter().map(|_| app.world_mut().spawn_empty().id()).collect();
    write(app, scene, &entities, sequence)?;
    Ok(entities)
}

/// Loads a scene into existing entities.
pub(crate) fn load_into(app: &mut App, scene: &[Saved], entities: &[Entity]) {
    write(app, scene, entities, Sequence::Forward).expect("it can be loaded");
}

fn write(app: &mut App, scene: &[Saved], entities: &[Entity], sequence: Sequence) -> Result<(), String> {
    let registry = app.world().resource::<AppTypeRegistry>().clone();
    let registry = registry.read();
    let mut map: EntityHashMap<Entity> =
        scene.iter().map(|(entity, _)| *entity).zip(entities.iter().copied()).collect();
    for (entity, components) in scene {
        let mut components: Vec<_> = components.iter().collect();
        if let Sequence::Backward = sequence {
            components.reverse();
        }
        for (path, text) in components {
            let registration = registry.get_with_type_path(path).ok_or("a type is not registered")?;
            insert(app, map[entity], registration.type_id(), text, &registry, &mut map)?;
        }
    }
    Ok(())
}

fn insert(
    app: &mut App,
    entity: Entity,
    id: TypeId,
    text: &str,
    registry: &TypeRegistry,
    map: &mut EntityHashMap<Entity>,
) -> Result<(), String> {
    let registration = registry.get(id).ok_or("a type is not registered")?;
    let mut deserializer = ron::Deserializer::from_str(text).map_err(|error| error.to_string())?;
    let value = TypedReflectDeserializer::new(registration, registry)
        .deserialize(&mut deserializer)
        .map_err(|error| error.to_string())?;
    let reflect = registration.data::<ReflectComponent>().ok_or("a type is no component")?;
    let mut entity = app.world_mut().entity_mut(entity);
    reflect.apply_or_insert_mapped(&mut entity, &*value, registry, map, RelationshipHookMode::Skip);
    Ok(())
}

/// A generator of pseudorandom numbers.
pub(crate) struct Luck(pub(crate) u64);

impl Luck {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % n
    }
}

/// Runs a quarter of a second, in which a third of the guards get a message.
pub(crate) fn tick(app: &mut App, guards: &[Entity], luck: &mut Luck) {
    app.world_mut().resource_mut::<Clock>().0 += 0.25;
    for guard in guards {
        let told = TOLD[luck.below(TOLD.len())];
        if luck.below(3) == 0 {
            app.world_mut().commands().entity(*guard).send::<Guard>(told);
        }
    }
    app.update();
}

pub(crate) fn name_of(app: &App, entity: Entity) -> Option<&str> {
    app.world().get::<CurrentState<Guard>>(entity).map(CurrentState::name)
}

pub(crate) fn take_log(app: &mut App, entity: Entity) -> Vec<String> {
    std::mem::take(&mut app.world_mut().get_mut::<Guard>(entity).expect("it is there").log)
}
