//! Several behaviors of one state, and those that lead to a state which their parameters name.
#![cfg(feature = "definition")]

use std::sync::Arc;

use demeanor::definition::{Definition, FileState, Outline, StateName, Vocabulary};
use demeanor::{Fsm, State};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::guard::{Guard, Told, parsed};

/// Notes each callback. A hungry guard cannot leave `sleep`.
struct Tell {
    name: &'static str,
    speed: f64,
    hears: Told,
}

impl Tell {
    fn tell(&self, guard: &mut Guard, what: &str) {
        let speed = if self.speed > 0.0 { format!(" at {}", self.speed) } else { String::new() };
        guard.note(format!("{what} {}{speed}", self.name));
    }
}

impl State<Guard> for Tell {
    fn enter(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        self.tell(guard, "enter");
    }

    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        self.tell(guard, "update");
    }

    fn exit(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        self.tell(guard, "exit");
    }

    fn on_message(&self, guard: &mut Guard, told: &Told, _: &mut Fsm<'_, Guard>, _: &mut f64) -> bool {
        self.tell(guard, "hear");
        *told == self.hears
    }

    fn suspend(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        self.tell(guard, "suspend");
    }

    fn resume(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        self.tell(guard, "resume");
    }

    fn can_exit(&self, guard: &Guard, _: &Fsm<'_, Guard>, _: &f64) -> bool {
        self.name != "sleep" || !guard.is_hungry
    }
}

#[derive(Deserialize, JsonSchema)]
struct Walk {
    speed: f64,
}

#[derive(Deserialize, JsonSchema)]
struct Leap {
    then: StateName,
    or: Option<StateName>,
    #[serde(default)]
    #[expect(dead_code, reason = "only checked")]
    never: Vec<StateName>,
}

/// Changes to a state of the file.
struct Leaps(FileState<Guard>);

impl State<Guard> for Leaps {
    fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) {
        fsm.change_state(self.0.state().expect("the definition is there"));
    }
}

fn vocabulary() -> Vocabulary<Guard> {
    Vocabulary::new()
        .behavior("look", Arc::new(Tell { name: "look", speed: 0.0, hears: Told::Noise }))
        .behaviour("sleep", Arc::new(Tell { name: "sleep", speed: 0.0, hears: Told::Alarm }))
        .behavior_with("walk", |params: Walk| Tell { name: "walk", speed: params.speed, hears: Told::Noise })
        .behavior_with_states("leap", |params: Leap, states| {
            Leaps(states.get(params.or.as_ref().unwrap_or(&params.then)).expect("it has been checked"))
        })
        .flag("ready", |_: &Guard, _| true)
        .message("noise", |told| *told == Told::Noise)
}

fn definition(file: &str) -> Definition<Guard> {
    parsed(file, &vocabulary())
}

#[test]
fn behaviors_run_in_the_order_of_the_file_and_are_left_in_the_reverse_one() {
    let definition = definition(
        r#"
        initial = "patrol"
        [states.patrol]
        behavior = ["look", { name = "walk", speed = 2 }, "sleep"]
        exits = [{ to = "rest", on = "noise", when = "ready" }]
        [states.rest]
        behavior = { name = "walk", speed = 1 }
        final = true
        [states.menu]
        entry = true
        final = true
        "#,
    );
    let (mut guard, mut machine) = (Guard::default(), definition.machine());
    machine.start(&mut guard, &mut 0.0);
    machine.update(&mut guard, &mut 0.0);
    machine.push_state(&mut guard, definition.state("menu").unwrap(), &mut 0.0);
    machine.pop_state(&mut guard, &mut 0.0);
    // `look` does not handle it, nor does `walk`.
    assert!(machine.send(&mut guard, &Told::Alarm, &mut 0.0));
    guard.is_hungry = true;
    assert!(!machine.change_state(&mut guard, definition.state("rest").unwrap(), &mut 0.0));
    guard.is_hungry = false;
    assert!(machine.send(&mut guard, &Told::Noise, &mut 0.0));
    assert_eq!(
        guard.trace(),
        "enter look; enter walk at 2; enter sleep
         update look; update walk at 2; update sleep
         suspend sleep; suspend walk at 2; suspend look
         resume look; resume walk at 2; resume sleep; hear look; hear walk at 2; hear sleep; hear look
         exit sleep; exit walk at 2; exit look; enter walk at 1"
    );
}

#[test]
fn the_outline_tells_where_a_state_is_named() {
    let file = "initial = 'a'\n[states.a]\nbehavior = { name = 'leap', then = 'b', never = ['b'] }\n\
                exits = [{ to = \"b\", when = 'time_in(\"b\") > 3' }]\n[states.b]\nfinal = true\n";
    let outline = Outline::parse("a.toml", file, Some(&vocabulary().export())).unwrap();
    let uses: Vec<_> = outline.uses(outline.states()[1].id()).into_iter().map(|at| &file[at]).collect();
    assert_eq!(uses, ["b", "'b'", "'b'", "\"b\"", "\"b\""]);
    assert_eq!(outline.states()[0].behaviors().collect::<Vec<_>>(), ["leap"]);
}
