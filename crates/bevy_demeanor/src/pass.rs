//! Chooses the system of a pass: by Bevy's tables or by rows, on one thread or on all.

use core::any::TypeId;

use bevy_ecs::component::StorageType;
use bevy_ecs::schedule::{IntoScheduleConfigs, ScheduleConfigs};
use bevy_ecs::system::ScheduleSystem;

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
    if is_in_columns::<T>() { update_tables::<T>.into_configs() } else { update_rows::<T>.into_configs() }
}

/// Returns the pass on all threads.
pub(crate) fn parallel_pass<T: ParallelOwner>() -> ScheduleConfigs<ScheduleSystem> {
    if is_in_columns::<T>() {
        update_tables_in_parallel::<T>.into_configs()
    } else {
        update_rows_in_parallel::<T>.into_configs()
    }
}
