//! `derive(Owner)`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::{DeriveInput, Ident, Path, Type};

use crate::lifetimes::fill;

const KEYS: &str = "`body`, `param`, `message`, `changes`, `now`, `context`, `label`, `on_change` and `after_change`";

/// The settings in `#[owner(..)]`.
#[derive(Default)]
struct Said {
    body: Option<Type>,
    param: Option<Type>,
    message: Option<Type>,
    context: Option<Type>,
    changes: Option<Ident>,
    now: Option<Path>,
    label: Option<Path>,
    on_change: Option<Path>,
    after_change: Option<Path>,
}

impl Said {
    fn read(input: &DeriveInput) -> syn::Result<Self> {
        let mut said = Self::default();
        for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("owner")) {
            attribute.parse_nested_meta(|meta| said.read_one(&meta))?;
        }
        Ok(said)
    }

    fn read_one(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let key = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match key.as_str() {
            "body" => set(&mut self.body, meta),
            "param" => set(&mut self.param, meta),
            "message" => set(&mut self.message, meta),
            "context" => set(&mut self.context, meta),
            "changes" => set(&mut self.changes, meta),
            "now" => set(&mut self.now, meta),
            "label" => set(&mut self.label, meta),
            "on_change" => set(&mut self.on_change, meta),
            "after_change" => set(&mut self.after_change, meta),
            _ => Err(meta.error(format!("unknown key: an owner has {KEYS}"))),
        }
    }
}

fn set<V: syn::parse::Parse>(field: &mut Option<V>, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if field.is_some() {
        return Err(meta.error("this key is given twice"));
    }
    *field = Some(meta.value()?.parse()?);
    Ok(())
}

pub(crate) fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let said = Said::read(input)?;
    if let Some(lifetime) = input.generics.lifetimes().next() {
        return Err(syn::Error::new_spanned(lifetime, "an owner is a component, which cannot borrow"));
    }
    if let Some(changes) = said.changes.as_ref().filter(|changes| *changes != "WhenUpdated" && *changes != "WhenTold") {
        return Err(syn::Error::new_spanned(changes, "expected `WhenUpdated` or `WhenTold`"));
    }
    let filled = |ty: Option<Type>, lifetime| {
        let mut ty = ty.unwrap_or_else(|| syn::parse_quote!(()));
        fill(&mut ty, lifetime);
        ty
    };
    let now = match (&said.now, &said.context) {
        (Some(now), _) => Some(quote!(#now(cx))),
        (None, None) => Some(quote!(cx.now())),
        // The game must say how to read the clock of its own context.
        (None, Some(_)) => None,
    };
    let now = now.map(|now| quote!(fn now(cx: &Self::Context<'_>) -> f64 { #now }));
    let label = said.label.map_or_else(
        || quote!(::bevy_demeanor::EntityContext::<Self>::write_label(f)),
        |label| quote!(#label(self, f)),
    );
    let told = |method: &str, function: Option<Path>| {
        let method = Ident::new(method, proc_macro2::Span::call_site());
        function.map(|function| {
            quote! {
                fn #method(
                    &mut self,
                    change: &::bevy_demeanor::demeanor::Change<'_, Self>,
                    cx: &mut Self::Context<'_>,
                ) {
                    #function(self, change, cx);
                }
            }
        })
    };
    let (on_change, after_change) = (told("on_change", said.on_change), told("after_change", said.after_change));
    let context = match said.context {
        Some(context) => filled(Some(context), "'a"),
        None => syn::parse_quote!(::bevy_demeanor::EntityContext<'a, Self>),
    };
    let changes = said.changes.map(|changes| {
        quote! {
            const CHANGES: ::bevy_demeanor::OwnerChanges = ::bevy_demeanor::OwnerChanges::#changes;
        }
    });
    let (message, body, param) =
        (filled(said.message, "'static"), filled(said.body, "'static"), filled(said.param, "'static"));
    let owner = &input.ident;
    let (generics, arguments, conditions) = input.generics.split_for_impl();
    Ok(quote! {
        impl #generics ::bevy_demeanor::demeanor::Owner for #owner #arguments #conditions {
            type Context<'a> = #context;
            type Message = #message;
            #now
            fn label(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #label
            }
            #on_change
            #after_change
        }

        impl #generics ::bevy_demeanor::EntityOwner for #owner #arguments #conditions {
            type Body = #body;
            type Param = #param;
            #changes
        }
    })
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    /// Returns the text of the error.
    fn mistake(input: &DeriveInput) -> String {
        derive(input).expect_err("it is a mistake").to_string()
    }

    #[test]
    fn a_mistake_is_told_with_what_to_write_instead() {
        assert_eq!(
            mistake(&parse_quote!(
                #[owner(bodies = &mut Name)]
                struct Guard;
            )),
            "unknown key: an owner has `body`, `param`, `message`, `changes`, `now`, `context`, `label`, \
             `on_change` and `after_change`"
        );
        assert_eq!(
            mistake(&parse_quote!(
                #[owner(body = &mut Name, body = &Name)]
                struct Guard;
            )),
            "this key is given twice"
        );
        assert_eq!(
            mistake(&parse_quote!(
                #[owner(changes = Never)]
                struct Guard;
            )),
            "expected `WhenUpdated` or `WhenTold`"
        );
        assert_eq!(
            mistake(&parse_quote!(
                struct Guard<'a>(&'a str);
            )),
            "an owner is a component, which cannot borrow"
        );
        assert_eq!(
            mistake(&parse_quote!(
                #[owner(body)]
                struct Guard;
            )),
            "expected `=`"
        );
    }

    #[test]
    fn lifetimes_are_filled_in_where_they_are_left_out() {
        let filled = |ty: Type| {
            let mut ty = ty;
            fill(&mut ty, "'static");
            quote!(#ty).to_string()
        };
        let written = |ty: Type| quote!(#ty).to_string();
        for (short, long) in [
            (parse_quote!(&mut Place), parse_quote!(&'static mut Place)),
            (parse_quote!((&Name, Option<&Place>)), parse_quote!((&'static Name, Option<&'static Place>))),
            (parse_quote!(Res<Alarm>), parse_quote!(Res<'static, Alarm>)),
            (parse_quote!(Query<&Place, With<Foe>>), parse_quote!(Query<'static, 'static, &'static Place, With<Foe>>)),
            (parse_quote!(If<bevy::prelude::Res<A>>), parse_quote!(If<bevy::prelude::Res<'static, A>>)),
            (parse_quote!(Senses<'_, '_>), parse_quote!(Senses<'static, 'static>)),
            (parse_quote!(Commands), parse_quote!(Commands<'static, 'static>)),
            (parse_quote!(Res<'static, Alarm>), parse_quote!(Res<'static, Alarm>)),
            (parse_quote!(()), parse_quote!(())),
        ] {
            assert_eq!(filled(short), written(long));
        }
    }
}
