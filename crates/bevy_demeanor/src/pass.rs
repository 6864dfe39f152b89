//! Chooses the system of a pass: by Bevy's tables or by rows, on one thread or on all.

use core::any::{TypeId, type_name};

use bevy_ecs::component::StorageType;
use bevy_ecs::schedule::{IntoScheduleConfigs, ScheduleConfigs};
use bevy_ecs::system::{IntoSystem, ScheduleSystem};

use crate::owner::{EntityOwner, ParallelOwner};
use crate::rows::{update_rows, update_rows_in_parallel};
use crate::tables::{update_tables, update_tables_in_parallel};

/// Returns whether the pass can read owners from Bevy's tables, column by column. This is faster, because no other components
/// must be fetched for each entity.
fn is_in_columns<T: EntityOwner>() -> bool {
    TypeId::of::<T::Body>() == TypeId::of::<()>() && T::STORAGE_TYPE == StorageType::Table
}

/// Returns the pass on one thread.
pub(crate) fn pass<T: EntityOwner>() -> ScheduleConfigs<ScheduleSystem> {
    if is_in_columns::<T>() {
        IntoSystem::into_system(update_tables::<T>).with_name(name::<T>()).into_configs()
    } else {
        IntoSystem::into_system(update_rows::<T>).with_name(name::<T>()).into_configs()
    }
}

/// Returns the pass on all threads.
pub(crate) fn parallel_pass<T: ParallelOwner>() -> ScheduleConfigs<ScheduleSystem> {
    if is_in_columns::<T>() {
        IntoSystem::into_system(update_tables_in_parallel::<T>).with_name(name::<T>()).into_configs()
    } else {
        IntoSystem::into_system(update_rows_in_parallel::<T>).with_name(name::<T>()).into_configs()
    }
}

/// Returns the name of the pass. Bevy's error about conflicting parameters says by it what the conflict is between.
fn name<T: EntityOwner>() -> String {
    let (owner, body, param) = (type_name::<T>(), type_name::<T::Body>(), type_name::<T::Param>());
    format!("the pass over the machines of {owner} (body: {body}; param: {param})")
}
