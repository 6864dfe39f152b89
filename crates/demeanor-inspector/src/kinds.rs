//! Detects crowds of different types that are shown alternately under one name.

/// The type of each crowd when it was last shown.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    of: Vec<Kind>,
}

#[derive(Clone, Debug, Default)]
struct Kind {
    last: &'static str,
    before: &'static str,
    /// How often the type went back to the previous one.
    returns: u32,
}

impl Kinds {
    /// Notes the type of the crowd with this index. Returns two types, once, if they alternate.
    ///
    /// A game may replace the crowd of a name by another one; it rarely goes back.
    pub(crate) fn see(&mut self, place: usize, kind: &'static str) -> Option<[&'static str; 2]> {
        if place >= self.of.len() {
            self.of.resize(place + 1, Kind::default());
        }
        let of = &mut self.of[place];
        if kind == of.last {
            return None;
        }
        if kind == of.before {
            of.returns += 1;
        }
        of.before = std::mem::replace(&mut of.last, kind);
        (of.returns == 3).then_some([of.before, of.last])
    }
}

#[cfg(test)]
mod tests {
    use super::Kinds;

    #[test]
    fn crowds_of_two_types_under_one_name_are_told_once() {
        let mut kinds = Kinds::default();
        // A single replacement is not reported.
        assert_eq!(["a", "a", "b", "b", "c"].map(|kind| kinds.see(0, kind)), [None; 5]);
        let told = [0; 20].map(|_| [kinds.see(1, "a"), kinds.see(1, "b")]).concat();
        assert_eq!(told.iter().flatten().collect::<Vec<_>>(), [&["b", "a"]]);
    }
}
