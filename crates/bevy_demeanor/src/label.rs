//! The entity whose callback runs on this thread, for the log: a machine only knows its owner's value, not its entity.

use core::any::type_name;
use core::cell::{Cell, RefCell};
use core::{fmt, iter};
use std::sync::{Arc, PoisonError, RwLock};

use bevy_app::App;
use bevy_ecs::entity::{Entity, EntityHashMap};
use bevy_ecs::lifecycle::Remove;
use bevy_ecs::name::Name;
use bevy_ecs::observer::On;
use bevy_ecs::query::{Added, Changed, Or, With};
use bevy_ecs::resource::Resource;
use bevy_ecs::system::{Query, Res};
use bevy_ecs::world::World;
use demeanor::Owner;
use disqualified::ShortName;
use log::{LevelFilter, max_level};

use crate::machine::Machine;

thread_local! {
    // The type has no destructor, so that a visit is a single store.
    static VISITED: Cell<Entity> = const { Cell::new(Entity::PLACEHOLDER) };
    static NAMES: RefCell<Option<Names>> = const { RefCell::new(None) };
}

/// The names of the entities with machines, as of the last pass. They are copied, because a log line is written while a pass
/// borrows the machines: the logger has no access to the world, and a thread-local variable cannot borrow from it.
#[derive(Resource, Clone, Default)]
pub(crate) struct Names(Arc<RwLock<EntityHashMap<Name>>>);

impl Names {
    /// Notes new names. `next` returns the next of them; an iterator as a trait object would be more to compile for each type of
    /// owner.
    fn note<'n>(&self, next: &mut dyn FnMut() -> Option<(Entity, &'n Name)>) {
        let mut news = iter::from_fn(next).peekable();
        if news.peek().is_some() {
            self.edit(|names| names.extend(news.map(|(entity, name)| (entity, name.clone()))));
        }
    }

    fn edit(&self, edit: impl FnOnce(&mut EntityHashMap<Name>)) {
        edit(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Returns whether any log level of the machines is enabled. Visits have no other purpose, and took 5 % of a pass.
pub(crate) fn is_wanted() -> bool {
    max_level() >= LevelFilter::Warn
}

/// Keeps the names from now on. They are forgotten by an observer: a pass in `FixedUpdate`, or one that is paused, does not run in
/// each frame, and Bevy reports removed components for two frames only.
pub(crate) fn keep_names(app: &mut App) {
    if !app.world().contains_resource::<Names>() {
        app.init_resource::<Names>();
        app.add_observer(|unnamed: On<Remove<Name>>, names: Res<Names>| {
            names.edit(|names| _ = names.remove(&unnamed.entity));
        });
    }
}

/// Adds the new names, before a pass.
pub(crate) fn note_names<T: Owner>(
    news: Query<(Entity, &Name), (With<Machine<T>>, Or<(Changed<Name>, Added<Machine<T>>)>)>,
    names: Res<Names>,
) {
    let mut news = news.iter();
    names.note(&mut || news.next());
}

/// Notes that callbacks of some of these entities run on this thread from now on. Adds their names, because no pass may have
/// seen them yet.
pub(crate) fn enter_world(entities: &[Entity], world: &mut World) {
    if !is_wanted() {
        return;
    }
    // Without a plugin, no observer forgets names, so they are not kept.
    let names = world.get_resource::<Names>().cloned().unwrap_or_default();
    for entity in entities {
        if let Some(name) = world.get::<Name>(*entity) {
            let is_known = names.0.read().is_ok_and(|names| names.get(entity) == Some(name));
            if !is_known {
                names.edit(|names| _ = names.insert(*entity, name.clone()));
            }
        }
    }
    enter(&names);
}

/// Notes that callbacks of entities with these names run on this thread from now on.
pub(crate) fn enter(names: &Names) {
    if is_wanted() {
        NAMES.set(Some(names.clone()));
    }
}

/// Notes that callbacks of this entity run on this thread from now on.
#[inline]
pub(crate) fn visit(entity: Entity) {
    VISITED.set(entity);
}

/// Visits of entities by one context. When it is dropped, also by a panic, no callbacks of these entities run on this thread anymore.
pub(crate) struct Visits {
    /// A callback may itself run a machine.
    before: Entity,
}

impl Visits {
    pub(crate) fn begin() -> Self {
        Self { before: VISITED.get() }
    }
}

impl Drop for Visits {
    fn drop(&mut self) {
        VISITED.set(self.before);
    }
}

/// Writes `Guard 4v0 (Anna)`, or `Guard 4v0` for an entity without a name.
pub(crate) fn write<T>(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{}", ShortName(type_name::<T>()))?;
    let entity = VISITED.get();
    if entity == Entity::PLACEHOLDER {
        return Ok(());
    }
    write!(f, " {entity}")?;
    NAMES.with_borrow(|names| {
        let Some(Names(names)) = names else { return Ok(()) };
        match names.read().unwrap_or_else(PoisonError::into_inner).get(&entity) {
            Some(name) => write!(f, " ({name})"),
            None => Ok(()),
        }
    })
}
