//! Message readers in an owner's parameter. All entities share the parameter, and a reader knows which messages have been read, not by
//! whom: the first entity would read them all.

use core::any::{TypeId, type_name};

use bevy_ecs::message::{Message, Messages};
use bevy_ecs::system::{IntoSystem, StaticSystemParam, System, SystemAccess};
use bevy_ecs::world::World;

use crate::owner::EntityOwner;

/// Refuses a reader that the type's name shows.
///
/// # Panics
///
/// When there is one.
pub(crate) fn refuse_readers<T: EntityOwner>() {
    let (param, owner) = (type_name::<T::Param>(), type_name::<T>());
    assert!(
        !param.contains("MessageReader<") && !param.contains("MessageMutator<"),
        "the Param of {owner} has a MessageReader. All entities share the Param: the first entity would read all messages, and \
         the others none. {}",
        instead::<T>()
    );
}

/// Refuses a reader within a struct that derives `SystemParam`, by what Bevy knows the parameter to read. Bevy tells the type's name
/// with its feature `debug` only.
///
/// It makes the parameter once more, and so must not be called before all that the parameter may need to be made is in the world.
///
/// # Panics
///
/// When there is one, or a `Res` of the messages themselves, which Bevy does not tell apart.
pub(crate) fn refuse_hidden_readers<T: EntityOwner>(world: &mut World) {
    if TypeId::of::<T::Param>() == TypeId::of::<()>() {
        return;
    }
    let SystemAccess::Shared(access) = IntoSystem::into_system(param_of::<T>).initialize(world) else { return };
    for access in access.filtered_accesses() {
        // Who reads everything does not read messages as such.
        let Some(read) = access.access().reads().as_finite_set() else { continue };
        for component in read.iter().filter(|component| !access.access().has_write(*component)) {
            let name = world.components().get_name(component).map(|name| name.to_string()).unwrap_or_default();
            if let Some(message) = message_of(&name).filter(|_| !is_named_by::<T>(&name)) {
                let owner = type_name::<T>();
                panic!(
                    "the Param of {owner} has a struct that reads the messages {message}. All entities share the Param: by a \
                     MessageReader in the struct, the first entity would read all messages, and the others none. {}. If the \
                     struct has no MessageReader but a Res<Messages<{message}>>, write the Res beside the struct, not in it",
                    instead::<T>()
                );
            }
        }
    }
}

/// A system that has the parameter and nothing else.
fn param_of<T: EntityOwner>(_: StaticSystemParam<T::Param>) {}

fn instead<T>() -> String {
    let owner = type_name::<T>();
    format!(
        "Instead, read them in a system in MachineSet::Enter, and pass them on with Machines::<{owner}>::broadcast(..) or \
         send_to(..)"
    )
}

/// The type of the messages, by the name of the resource that holds them.
fn message_of(resource: &str) -> Option<&str> {
    #[derive(Message)]
    struct Any;

    let any = type_name::<Messages<Any>>();
    let prefix = &any[..=any.find('<')?];
    resource.strip_prefix(prefix)?.strip_suffix('>')
}

/// Whether the parameter's type names the resource, which then is a `Res`.
fn is_named_by<T: EntityOwner>(resource: &str) -> bool {
    let param = type_name::<T::Param>();
    param.contains(&format!("Res<{resource}>")) || param.contains(&format!("Res<'_, {resource}>"))
}
