//! States in the tables of other states, which mean the same as states beside each other.

use std::fmt::Write as _;

use demeanor::definition::{Definition, Outline, Survey, Vocabulary};

use crate::guard::Guard;

/// Everything that a file says, but not where it says it. The order of the states does not count.
fn meaning(outlines: &[Outline]) -> String {
    let mut text = String::new();
    for outline in outlines {
        let name = |id| outline.state(id).name().to_owned();
        writeln!(text, "{:?} {} {:?}", outline.machine(), name(outline.initial()), outline.global().map(name)).unwrap();
        let mut states: Vec<_> = outline.states().iter().collect();
        states.sort_by_key(|state| state.name());
        for state in states {
            let exits: Vec<_> =
                state.exits().iter().map(|exit| format!("{} to {}", exit.label(), name(exit.target()))).collect();
            let path: Vec<_> = outline.path(state.id()).into_iter().map(name).collect();
            writeln!(text, "{path:?} {:?} {exits:?}", state.initial().map(name)).unwrap();
        }
    }
    text
}

fn outlines(text: &str) -> Vec<Outline> {
    Outline::parse_all("nested.toml", text, None).unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

#[track_caller]
fn assert_same(nested: &str, flat: &str) {
    assert_eq!(meaning(&outlines(nested)), meaning(&outlines(flat)));
}

const FIGHT: &str = "initial = 'fight'
[states.fight]
initial = 'aim'
exits = [{ to = 'hunt', when = 'lost' }]
[states.fight.states.aim]
exits = [{ to = 'shoot', after = 1 }]
[states.fight.states.shoot]
exits = [{ to = 'aim', after = 1 }]
[states.hunt]
initial = 'aim'
[states.hunt.states.aim]
exits = [{ to = 'fight.shoot', when = 'seen' }]
[states.hunt.states.aim.states.'far off']
final = true
";

#[test]
fn a_state_in_the_table_of_another_has_this_one_as_its_parent() {
    let flat = "initial = 'fight'
[states.fight]
initial = 'aim'
exits = [{ to = 'hunt', when = 'lost' }]
[states.aim]
parent = 'fight'
exits = [{ to = 'shoot', after = 1 }]
[states.shoot]
parent = 'fight'
exits = [{ to = 'aim', after = 1 }]
[states.hunt]
initial = 'aim'
[states.'hunt.aim']
exits = [{ to = 'fight.shoot', when = 'seen' }]
[states.'far off']
parent = 'hunt.aim'
final = true
";
    assert_same(FIGHT, flat);
    let inline = "initial = 'a'\nstates = { a = { initial = 'b', states = { b = { final = true } } } }";
    assert_same(inline, "initial = 'a'\nstates.a.initial = 'b'\nstates.b = { parent = 'a', final = true }");
}

#[test]
fn a_state_beside_the_others_keeps_its_name() {
    let nested = "initial = 'a'\n[states.a.states.c]\nfinal = true\n[states.c]\nexits = [{ to = 'a' }]\n[states.a]\ninitial = 'c'\nexits = [{ to = 'c', when = 'x' }]";
    let flat = "initial = 'a'\n[states.'a.c']\nfinal = true\n[states.c]\nexits = [{ to = 'a' }]\n[states.a]\ninitial = 'c'\nexits = [{ to = 'c', when = 'x' }]";
    assert_same(nested, flat);
}

#[test]
fn a_machine_that_is_like_another_replaces_states_in_either_form() {
    let with = |state: &str| {
        format!(
            "[machines.imp]\ninitial = 'fight'\n[machines.imp.states.fight]\ninitial = 'aim'\n\
             [machines.imp.states.fight.states.aim]\nexits = [{{ to = 'fight', after = 2 }}]\n\
             [machines.baron]\nlike = 'imp'\n{state}\nexits = [{{ to = 'fight', after = 4 }}]\n"
        )
    };
    let nested = with("[machines.baron.states.fight.states.aim]");
    assert_same(&nested, &with("[machines.baron.states.aim]"));
    assert_same(&nested, &with("[machines.baron.states.'fight.aim']"));
}

#[test]
fn a_state_in_the_table_of_another_runs() {
    let definition =
        Definition::parse(FIGHT, &Vocabulary::<Guard>::new().flag("lost", |_, _| true).flag("seen", |_, _| false));
    let (mut machine, mut guard, mut clock) = (definition.unwrap().machine(), Guard::default(), 0.0);
    machine.start(&mut guard, &mut clock);
    let path: Vec<_> = machine.path().map(ToString::to_string).collect();
    assert_eq!(path, ["fight", "aim"]);
    machine.update(&mut guard, &mut clock);
    assert_eq!(machine.current().unwrap().to_string(), "hunt.aim");
}

#[test]
fn a_parent_is_named_in_the_headers_of_the_states_in_it() {
    let outline = &outlines(FIGHT)[0];
    let fight = outline.states().iter().find(|state| state.name() == "fight").unwrap().id();
    let lines: Vec<_> = outline.uses(fight).into_iter().map(|at| FIGHT[..at.start].matches('\n').count() + 1).collect();
    assert_eq!(lines, [2, 1, 5, 7]);
    let survey = Survey::of("nested.toml", FIGHT, None, &|_| None, None);
    let keys: Vec<_> = survey.keys().iter().map(|key| (key.around().join("/"), key.state().unwrap())).collect();
    assert_eq!(keys[2], ("fight".into(), "aim"));
    assert_eq!(keys.last().unwrap(), &("hunt/aim".into(), "far off"));
}

#[test]
fn states_that_are_each_others_parents_are_a_tree() {
    let file =
        "initial = 'a'\n[states.a]\nparent = 'b'\ninitial = 'c'\n[states.b]\nparent = 'c'\n[states.c]\nparent = 'a'\n";
    let survey = Survey::of("guard.toml", file, None, &|_| None, None);
    let outline = &survey.outlines()[0];
    let paths: Vec<_> = outline.states().iter().map(|state| outline.path(state.id()).len()).collect();
    assert_eq!(paths, [3, 2, 1]);
    assert_eq!(outline.children(None).len(), 1);
    assert_eq!(outline.descent(outline.initial()).len(), 1);
}
