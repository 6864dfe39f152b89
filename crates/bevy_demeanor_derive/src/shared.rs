//! `derive(SharedParam)`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Member};

pub(crate) fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(syn::Error::new_spanned(&input.ident, "a system parameter is a struct"));
    };
    let fields = data.fields.iter().zip(data.fields.members()).map(|(field, member): (_, Member)| {
        let ty = &field.ty;
        quote!(#member: <#ty as ::bevy_demeanor::SharedParam>::share(&item.#member))
    });
    let param = &input.ident;
    let (generics, arguments, conditions) = input.generics.split_for_impl();
    Ok(quote! {
        impl #generics ::bevy_demeanor::SharedParam for #param #arguments #conditions {
            fn share<'__w, '__s>(item: &Self::Item<'__w, '__s>) -> Self::Item<'__w, '__s> {
                #param { #(#fields),* }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_a_struct_is_a_parameter() {
        let input = syn::parse_quote!(
            enum Senses {
                Sight,
            }
        );
        assert_eq!(super::derive(&input).expect_err("it is no struct").to_string(), "a system parameter is a struct");
    }
}
