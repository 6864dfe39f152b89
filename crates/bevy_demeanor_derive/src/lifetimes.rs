//! Fills in lifetimes that were omitted in a type, where Rust does not allow this.

use proc_macro2::Span;
use syn::visit_mut::{VisitMut, visit_path_segment_mut, visit_type_reference_mut};
use syn::{AngleBracketedGenericArguments, GenericArgument, Lifetime, PathArguments, PathSegment, Type, TypeReference};

/// Bevy's types that a system's signature names without their lifetimes, and how many lifetimes they have.
const BEVYS: [(&str, usize); 18] = [
    ("Commands", 2),
    ("Deferred", 1),
    ("Local", 1),
    ("MessageMutator", 2),
    ("MessageReader", 2),
    ("MessageWriter", 1),
    ("Mut", 1),
    ("NonSend", 1),
    ("NonSendMut", 1),
    ("ParamSet", 2),
    ("Populated", 2),
    ("PopulatedMessageReader", 2),
    ("Query", 2),
    ("Ref", 1),
    ("RemovedComponents", 2),
    ("Res", 1),
    ("ResMut", 1),
    ("Single", 2),
];

/// Inserts the lifetime wherever one was omitted.
pub(crate) fn fill(ty: &mut Type, lifetime: &'static str) {
    Filler(lifetime).visit_type_mut(ty);
}

struct Filler(&'static str);

impl Filler {
    fn lifetime(&self) -> Lifetime {
        Lifetime::new(self.0, Span::call_site())
    }
}

impl VisitMut for Filler {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.lifetime();
        }
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        reference.lifetime.get_or_insert_with(|| self.lifetime());
        visit_type_reference_mut(self, reference);
    }

    fn visit_path_segment_mut(&mut self, segment: &mut PathSegment) {
        if let Some((_, count)) = BEVYS.iter().find(|(name, _)| segment.ident == name) {
            if segment.arguments.is_none() {
                let none: AngleBracketedGenericArguments = syn::parse_quote!(<>);
                segment.arguments = PathArguments::AngleBracketed(none);
            }
            if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
                let has_lifetimes = matches!(arguments.args.first(), Some(GenericArgument::Lifetime(_)));
                for _ in 0..if has_lifetimes { 0 } else { *count } {
                    arguments.args.insert(0, GenericArgument::Lifetime(self.lifetime()));
                }
            }
        }
        visit_path_segment_mut(self, segment);
    }
}
