//! A map from names to the code of a game.

use std::collections::BTreeMap;

/// The code that a game has registered, by name.
///
/// The tree holds only numbers, so that its code is compiled once, not again for each kind of word of each type of owner.
#[derive(Clone)]
pub(crate) struct ByName<W> {
    /// The places in `words`.
    places: BTreeMap<String, usize>,
    words: Vec<W>,
}

impl<W> ByName<W> {
    pub(crate) const fn new() -> Self {
        Self { places: BTreeMap::new(), words: Vec::new() }
    }

    /// Adds a word. Returns whether it replaces a word with this name.
    pub(crate) fn insert(&mut self, name: String, word: W) -> bool {
        let new = self.words.len();
        let place = *self.places.entry(name).or_insert(new);
        if place == new {
            self.words.push(word);
        } else {
            self.words[place] = word;
        }
        place != new
    }

    pub(crate) fn get(&self, name: &str) -> Option<&W> {
        self.places.get(name).map(|place| &self.words[*place])
    }

    /// Returns the word with a name. If there is none, adds an empty one.
    pub(super) fn get_or_default(&mut self, name: &str) -> &mut W
    where
        W: Default,
    {
        if !self.places.contains_key(name) {
            self.insert(name.to_owned(), W::default());
        }
        &mut self.words[self.places[name]]
    }

    /// Returns the words, in the order of their names.
    #[cfg(feature = "script")]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &W)> {
        self.places.iter().map(|(name, place)| (name, &self.words[*place]))
    }
}

impl<W> Default for ByName<W> {
    fn default() -> Self {
        Self::new()
    }
}
