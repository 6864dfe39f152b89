//! System parameters that the chunks of a parallel pass share.

use core::marker::PhantomData;

use bevy_ecs::query::{QueryFilter, ReadOnlyQueryData};
use bevy_ecs::resource::Resource;
use bevy_ecs::system::{If, Query, Res, SystemParam};

/// A read-only system parameter. Each chunk of a parallel pass can have its own copy.
///
/// `Res`, read-only queries, an `Option` or [`If`] of a shared parameter, and tuples implement it; `derive(SharedParam)`
/// implements it for a struct that derives [`SystemParam`].
///
/// # Examples
///
/// ```
/// use bevy_demeanor::prelude::*;
/// use bevy_ecs::prelude::*;
/// use bevy_ecs::system::SystemParam;
///
/// #[derive(Resource)]
/// struct Gravity(f32);
/// #[derive(Component)]
/// struct Place(f32, f32);
///
/// #[derive(SystemParam, SharedParam)]
/// struct Senses<'w, 's> {
///     gravity: Res<'w, Gravity>,
///     places: Query<'w, 's, &'static Place>,
/// }
///
/// #[derive(Component, Owner)]
/// #[owner(param = Senses<'_, '_>)]
/// struct Bird;
///
/// StateMachinePlugin::<Bird>::new().in_parallel();
/// ```
///
/// Parameters that write cannot be shared:
///
/// ```compile_fail,E0277
/// use bevy_demeanor::prelude::*;
/// use bevy_ecs::prelude::*;
///
/// #[derive(Resource)]
/// struct Score(u32);
///
/// #[derive(Component, Owner)]
/// #[owner(param = ResMut<Score>)]
/// struct Bird;
///
/// // "`ResMut<'static, Score>` cannot be shared by the threads of a parallel pass"
/// StateMachinePlugin::<Bird>::new().in_parallel();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shared by the threads of a parallel pass",
    note = "`Res` and read-only queries can; for a struct that derives `SystemParam`, derive `SharedParam` as well"
)]
pub trait SharedParam: SystemParam {
    /// Creates another item that reads the same data.
    fn share<'w, 's>(item: &Self::Item<'w, 's>) -> Self::Item<'w, 's>;
}

impl<R: Resource> SharedParam for Res<'_, R> {
    fn share<'w, 's>(item: &Self::Item<'w, 's>) -> Self::Item<'w, 's> {
        Res::clone(item)
    }
}

impl<D: ReadOnlyQueryData + 'static, F: QueryFilter + 'static> SharedParam for Query<'_, '_, D, F> {
    fn share<'w, 's>(item: &Self::Item<'w, 's>) -> Self::Item<'w, 's> {
        *item
    }
}

impl<P: SharedParam> SharedParam for Option<P> {
    fn share<'w, 's>(item: &Self::Item<'w, 's>) -> Self::Item<'w, 's> {
        item.as_ref().map(P::share)
    }
}

impl<P: SharedParam> SharedParam for If<P> {
    fn share<'w, 's>(item: &Self::Item<'w, 's>) -> Self::Item<'w, 's> {
        If(P::share(&item.0))
    }
}

impl<P: ?Sized> SharedParam for PhantomData<P> {
    fn share<'w, 's>(_: &Self::Item<'w, 's>) -> Self::Item<'w, 's> {
        PhantomData
    }
}

impl SharedParam for () {
    fn share<'w, 's>((): &Self::Item<'w, 's>) -> Self::Item<'w, 's> {}
}

macro_rules! tuples {
    ($(($($param:ident $index:tt),*);)*) => {$(
        impl<$($param: SharedParam),*> SharedParam for ($($param,)*) {
            fn share<'w, 's>(item: &Self::Item<'w, 's>) -> Self::Item<'w, 's> {
                ($($param::share(&item.$index),)*)
            }
        }
    )*};
}
tuples! {
    (P0 0);
    (P0 0, P1 1);
    (P0 0, P1 1, P2 2);
    (P0 0, P1 1, P2 2, P3 3);
    (P0 0, P1 1, P2 2, P3 3, P4 4);
    (P0 0, P1 1, P2 2, P3 3, P4 4, P5 5);
    (P0 0, P1 1, P2 2, P3 3, P4 4, P5 5, P6 6);
    (P0 0, P1 1, P2 2, P3 3, P4 4, P5 5, P6 6, P7 7);
}
