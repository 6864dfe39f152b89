//! The derives of `bevy_demeanor`, which exports and documents them.

mod lifetimes;
mod owner;
mod shared;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `Owner` and `EntityOwner` for a component.
///
/// All settings are in `#[owner(..)]`, and are optional. You can omit the lifetimes of references and of Bevy's own parameters;
/// write other lifetimes as `'_`.
///
/// | key | meaning | default |
/// |---|---|---|
/// | `body = &mut Transform` | the components of the entity that callbacks get | none |
/// | `param = Res<Alarm>` | the system parameter that callbacks get | none |
/// | `message = Told` | the type of messages to the owner | no messages |
/// | `changes = WhenTold` | when the owner counts as changed, see `OwnerChanges` | `WhenUpdated` |
/// | `now = f` | a function of `&Context` that returns the time | the context's clock, Bevy's `Time` |
/// | `context = Town<'a>` | the callbacks' context, created by `CallbackContext` | `EntityContext` |
/// | `label = f` | the owner's name in the log, by a function like `Owner::label` | its type and entity, such as `Guard 4v0` |
/// | `on_change = f`, `after_change = f` | functions like `Owner::on_change` and `Owner::after_change` | none |
#[proc_macro_derive(Owner, attributes(owner))]
pub fn derive_owner(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    owner::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Implements `SharedParam` for a struct that derives `SystemParam` and whose fields are all shared parameters.
#[proc_macro_derive(SharedParam)]
pub fn derive_shared_param(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    shared::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
