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
/// | key | says | without it |
/// |---|---|---|
/// | `body = &mut Transform` | which components of the entity callbacks are given | none |
/// | `param = Res<Alarm>` | which system parameter they are given | none |
/// | `message = Told` | what can be sent to the owner | nothing |
/// | `changes = WhenTold` | when the owner counts as changed, see `OwnerChanges` | `WhenUpdated` |
/// | `now = f` | the time, by a function of `&Context` | the context's clock, Bevy's `Time` |
/// | `context = Town<'a>` | the callbacks' context, made by `CallbackContext` | `EntityContext` |
/// | `label = f` | who this is, for the log; a function as `Owner::label` | its type and entity, such as `Guard 4v0` |
/// | `on_change = f`, `after_change = f` | functions as `Owner::on_change` and `Owner::after_change` | nothing is called |
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
