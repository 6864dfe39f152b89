//! The properties of a definition, checked at the end of an owner's tick (rule 34).

use log::warn;

use super::Definition;
use super::condition::Condition;
use super::record::Unrecorded;
use crate::format::property::{Property, PropertyRule};
use crate::fsm::Fsm;
use crate::owner::{Label, Owner, now};
use crate::span::Span;

/// A compiled property. Its time is in seconds.
pub(crate) type CompiledProperty<T> = Property<Condition<T>, f64>;

/// The state of the [properties](Definition::check_properties) for one owner: which properties the owner has violated, and since
/// when each property with `within` has waited for `reach`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PropertyWatch {
    /// The version of the definition's graph.
    version: usize,
    /// By the position of the property in the file.
    properties: Vec<Watched>,
}

impl PropertyWatch {
    /// Returns for each property the time at which `from` held, if `reach` has not held since.
    pub(super) fn since(&self) -> impl Iterator<Item = Option<f64>> {
        self.properties.iter().map(|watched| watched.since)
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Watched {
    is_violated: bool,
    /// The time at which `from` held, if `reach` has not held since.
    since: Option<f64>,
}

impl<T: Owner> Definition<T> {
    /// Checks the properties of the file for an owner whose tick ends now. Returns the names of the properties that it
    /// violates now for the first time, and logs a warning for each of them. `watch` belongs to the owner. Nothing else is
    /// changed.
    ///
    /// Call it in [`Owner::after_update`], for example only in debug builds: see [rule
    /// 34](crate::docs::semantics#rule-34). After a reload of the file, all properties count as not violated.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::definition::{Definition, PropertyWatch, Vocabulary};
    /// use demeanor::{Fsm, Owner};
    ///
    /// struct Guard {
    ///     health: f64,
    ///     watch: PropertyWatch,
    ///     violated: Vec<String>,
    /// }
    ///
    /// impl Owner for Guard {
    ///     type Context<'a> = Definition<Self>;
    ///     type Message = ();
    ///
    ///     fn after_update(&mut self, fsm: &Fsm<'_, Self>, definition: &mut Definition<Self>) {
    ///         if cfg!(debug_assertions) {
    ///             let mut watch = std::mem::take(&mut self.watch);
    ///             self.violated.extend(definition.check_properties(&mut watch, self, fsm, definition));
    ///             self.watch = watch;
    ///         }
    ///     }
    /// }
    ///
    /// let file = "
    ///     initial = 'stand'
    ///     properties.flees_when_weak.never = 'in(stand) and health < 20'
    ///     states.stand.exits = [{ to = 'flee', when = 'health < 10' }]
    ///     states.flee.final = true
    /// ";
    /// let vocabulary = Vocabulary::new().value("health", |guard: &Guard, _| guard.health);
    /// let mut definition = Definition::parse(file, &vocabulary)?;
    /// let mut machine = definition.machine();
    /// let mut guard = Guard { health: 15.0, watch: PropertyWatch::default(), violated: Vec::new() };
    /// machine.start(&mut guard, &mut definition);
    /// machine.update(&mut guard, &mut definition);
    /// assert_eq!(guard.violated, ["flees_when_weak"]);
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    pub fn check_properties(
        &self,
        watch: &mut PropertyWatch,
        owner: &T,
        fsm: &Fsm<'_, T>,
        cx: &T::Context<'_>,
    ) -> Vec<String> {
        let graph = self.inner.shared.load();
        if watch.version != graph.version || watch.properties.len() != graph.properties.len() {
            *watch =
                PropertyWatch { version: graph.version, properties: vec![Watched::default(); graph.properties.len()] };
        }
        let holds = |condition: &Condition<T>| condition.admits(owner, fsm, cx, &mut Unrecorded);
        let mut violated = Vec::new();
        for (property, watched) in graph.properties.iter().zip(&mut watch.properties) {
            let is_violated = match &property.rule {
                _ if watched.is_violated => continue,
                PropertyRule::Never(condition) => holds(condition),
                PropertyRule::Always(condition) => !holds(condition),
                PropertyRule::Reach { from, reach, within } => {
                    let now = now::<T>(cx);
                    let since = if holds(reach) { None } else { watched.since.or_else(|| holds(from).then_some(now)) };
                    watched.since = since;
                    since.is_some_and(|since| Span::of(*within, now).has_passed(since))
                }
            };
            if is_violated {
                watched.is_violated = true;
                let path: Vec<_> = fsm.active_states().map(ToString::to_string).collect();
                warn!("{}: property {} is violated in {}", Label(owner), property.name, path.join(" > "));
                violated.push(property.name.text.clone());
            }
        }
        violated
    }
}
