//! Rejects message readers in an owner's parameter. All entities share the parameter, and a reader does not distinguish between
//! them: the first entity would read all messages.

use core::any::{TypeId, type_name};

use bevy_ecs::message::{Message, Messages};
use bevy_ecs::system::{IntoSystem, StaticSystemParam, System, SystemAccess};
use bevy_ecs::world::World;

use crate::owner::EntityOwner;

/// Rejects a reader that is visible in the type's name.
///
/// # Panics
///
/// When there is a reader.
pub(crate) fn refuse_readers<T: EntityOwner>() {
    let (param, owner) = (type_name::<T::Param>(), type_name::<T>());
    assert!(
        !param.contains("MessageReader<") && !param.contains("MessageMutator<"),
        "the Param of {owner} has a MessageReader. All entities share the Param: the first entity would read all messages, and \
         the others none. {}",
        instead::<T>()
    );
}

/// Rejects a reader in a struct that derives `SystemParam`, by the resources that the parameter reads. Bevy knows the names of
/// their types only with its feature `debug`.
///
/// It creates the parameter once more, and so must not be called before everything that the parameter needs is in the world.
///
/// # Panics
///
/// When there is a reader, or a `Res` of the messages themselves, which looks the same to Bevy.
pub(crate) fn refuse_hidden_readers<T: EntityOwner>(world: &mut World) {
    if TypeId::of::<T::Param>() == TypeId::of::<()>() {
        return;
    }
    let SystemAccess::Shared(access) = IntoSystem::into_system(param_of::<T>).initialize(world) else { return };
    for access in access.filtered_accesses() {
        // A parameter that reads all resources is not a message reader.
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

/// Returns the type of the messages, from the name of the resource that contains them.
fn message_of(resource: &str) -> Option<&str> {
    #[derive(Message)]
    struct Any;

    let any = type_name::<Messages<Any>>();
    let prefix = &any[..=any.find('<')?];
    resource.strip_prefix(prefix)?.strip_suffix('>')
}

/// Returns whether the parameter's type names the resource; it then is a `Res`.
fn is_named_by<T: EntityOwner>(resource: &str) -> bool {
    let param = type_name::<T::Param>();
    param.contains(&format!("Res<{resource}>")) || param.contains(&format!("Res<'_, {resource}>"))
}
