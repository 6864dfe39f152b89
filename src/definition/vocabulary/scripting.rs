//! The part of a vocabulary that only scripts use: texts that replace files, and budgets.

use std::collections::BTreeMap;

use super::{Repeated, Vocabulary};
use crate::format::script::budget::ScriptBudget;
use crate::owner::Owner;

/// The part of a vocabulary that only scripts can use.
#[derive(Clone, Default)]
pub(crate) struct Scripts {
    /// The texts of scripts, by the names of their files.
    pub(crate) texts: BTreeMap<String, String>,
    pub(crate) budget: ScriptBudget,
}

impl<T: Owner> Vocabulary<T> {
    /// Adds the text of a script. `file` is the name by which definitions refer to it. If a file with this name is also in the
    /// folder of the definition, the text is used instead of the file.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::Owner;
    /// use demeanor::definition::{Definition, Vocabulary};
    ///
    /// struct Guard {
    ///     health: f64,
    ///     speed: f64,
    /// }
    ///
    /// impl Owner for Guard {
    ///     type Context<'a> = ();
    ///     type Message = ();
    /// }
    ///
    /// let vocabulary = Vocabulary::new()
    ///     .value("health", |guard: &Guard, ()| guard.health)
    ///     .field("speed", |guard: &Guard, ()| guard.speed, |guard, speed| guard.speed = speed)
    ///     .script(
    ///         "limp.rhai",
    ///         r#"
    ///             fn update() {
    ///                 this.speed = this.health / 20.0;
    ///                 if this.health < 10 { change_state("lie"); }
    ///             }
    ///         "#,
    ///     );
    /// let file = "initial = \"limp\"\n[states.limp]\nscript = \"limp.rhai\"\n[states.lie]\nfinal = true\n";
    /// let mut machine = Definition::parse(file, &vocabulary)?.machine();
    ///
    /// let mut guard = Guard { health: 50.0, speed: 0.0 };
    /// machine.update(&mut guard, &mut ());
    /// assert_eq!(guard.speed, 2.5);
    /// guard.health = 5.0;
    /// machine.update(&mut guard, &mut ());
    /// assert_eq!(machine.current().unwrap().name(), "lie");
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    #[must_use]
    pub fn script(mut self, file: impl Into<String>, text: impl Into<String>) -> Self {
        let file = file.into();
        self.words.script_files.insert(file.clone());
        if self.scripts.texts.insert(file.clone(), text.into()).is_some() {
            self.repeated.insert(Repeated::Script(file));
        }
        self
    }

    /// Sets how much scripts may do: the maximum number of operations in one call, and in all calls of one callback of a state.
    /// The defaults are 100 000 and 1 000 000 operations.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::Owner;
    /// use demeanor::definition::{Definition, ScriptBudget, Vocabulary};
    ///
    /// struct Guard;
    ///
    /// impl Owner for Guard {
    ///     type Context<'a> = ();
    ///     type Message = ();
    /// }
    ///
    /// let budget = ScriptBudget::new(1_000, 5_000);
    /// let vocabulary = Vocabulary::new().script_budget(budget).script("a.rhai", "fn update() { loop { } }");
    /// let definition = Definition::parse("initial = 'a'\nstates.a.script = 'a.rhai'\n", &vocabulary)?;
    /// // The script is stopped, and an error is logged.
    /// definition.machine().update(&mut Guard, &mut ());
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    #[must_use]
    pub fn script_budget(mut self, budget: ScriptBudget) -> Self {
        self.scripts.budget = budget;
        self
    }
}
