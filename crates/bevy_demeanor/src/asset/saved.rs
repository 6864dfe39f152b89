//! Saves the file of a machine in scenes and saved games, as its path. A handle has no meaning outside of the running program.

use bevy_app::App;
use bevy_ecs::reflect::{AppTypeRegistry, ReflectComponent, ReflectComponentFns};
use bevy_ecs::world::EntityWorldMut;
use bevy_reflect::serde::{
    DeserializeWithRegistry, ReflectDeserializeWithRegistry, ReflectSerializeWithRegistry, SerializeWithRegistry,
};
use bevy_reflect::{CreateTypeData, FromReflect, GetTypeRegistration, PartialReflect, TypePath, TypeRegistry};
use demeanor::Owner;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::machine::DefinedMachine;

impl<T: Owner + TypePath> SerializeWithRegistry for DefinedMachine<T> {
    fn serialize<S: Serializer>(&self, serializer: S, _: &TypeRegistry) -> Result<S::Ok, S::Error> {
        self.path().serialize(serializer)
    }
}

impl<'de, T: Owner + TypePath> DeserializeWithRegistry<'de> for DefinedMachine<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D, _: &TypeRegistry) -> Result<Self, D::Error> {
        Ok(Self::unloaded(Option::deserialize(deserializer)?))
    }
}

/// Registers the component, so that scenes write and read it.
pub(crate) fn register<T: Owner + TypePath>(app: &mut App) {
    let mut registration = DefinedMachine::<T>::get_type_registration();
    registration.insert(ReflectComponent::new(ReflectComponentFns {
        insert: |entity, value, _| insert::<T>(entity, value),
        apply_or_insert_mapped: |entity, value, _, _, _| insert::<T>(entity, value),
        ..ReflectComponentFns::new::<DefinedMachine<T>>()
    }));
    registration.insert(<ReflectSerializeWithRegistry as CreateTypeData<DefinedMachine<T>>>::create_type_data(()));
    registration.insert(<ReflectDeserializeWithRegistry as CreateTypeData<DefinedMachine<T>>>::create_type_data(()));
    app.init_resource::<AppTypeRegistry>();
    app.world().resource::<AppTypeRegistry>().write().overwrite_registration(registration);
}

fn insert<T: Owner + TypePath>(entity: &mut EntityWorldMut, value: &dyn PartialReflect) {
    if let Some(machine) = DefinedMachine::<T>::from_reflect(value) {
        entity.insert(machine);
    }
}
