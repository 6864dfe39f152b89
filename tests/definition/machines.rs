//! Several machines in a file, one that is like another, and the names of states within each other.
#![cfg(feature = "definition")]

use demeanor::State;
use demeanor::definition::{Definition, Definitions, Outline, Vocabulary};

use crate::guard::Guard;
use crate::reports::lines;
use crate::troop::Alike;

fn vocabulary() -> Vocabulary<Guard> {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Params {
        #[expect(dead_code, reason = "only checked")]
        speed: f64,
    }
    struct Walk;
    impl State<Guard> for Walk {}
    Vocabulary::new().behavior_with("walk", |_: Params| Walk).behavior("stand", std::sync::Arc::new(Walk))
}

const CREATURES: &str = "
[machines.imp]
initial = 'stand'
states.stand = { behaviour = 'walk', params = { speed = 1.0 }, exits = [{ to = 'fight', after = 0.2 }] }
states.fight.initial = 'aim'
states.'fight.aim'.exits = [{ to = 'shoot', after = 0.3 }]
states.'fight.shoot'.exits = [{ to = 'aim', after = 0.1 }]
[machines.baron]
like = 'imp'
states.stand.behavior = 'stand'
states.'fight.aim'.exits = [{ to = 'shoot', after = 0.1 }]
";

fn creatures(file: &str) -> Definitions<Guard> {
    Definitions::parse(file, &vocabulary()).unwrap_or_else(|problems| panic!("{problems}"))
}

/// The states after the first three ticks of a tenth of a second.
#[track_caller]
fn states(definition: &Definition<Guard>) -> [String; 3] {
    let mut guards = Alike::start(definition, &Guard::default());
    [0.1, 0.2, 0.3].map(|clock| guards.update(clock))
}

#[test]
fn a_file_has_several_machines_with_states_of_their_own() {
    let creatures = creatures(CREATURES);
    assert_eq!(creatures.names().collect::<Vec<_>>(), ["imp", "baron"]);
    assert!(creatures.get("cacodemon").is_none());
    let (imp, baron) = (creatures.get("imp").unwrap(), creatures.get("baron").unwrap());
    assert_eq!(Definition::parse(CREATURES, &vocabulary()).unwrap().outline().machine(), Some("imp"));
    assert_ne!(imp.state("stand"), baron.state("stand"));
    assert!(imp.state("fight.aim").is_some() && imp.state("aim").is_none());
}

#[test]
fn a_behavior_that_is_written_again_does_not_keep_its_parameters() {
    let outlines = Outline::parse_all("a.toml", CREATURES, Some(&vocabulary().export())).unwrap();
    let behaviors: Vec<_> = outlines
        .iter()
        .map(|outline| outline.states().iter().flat_map(|state| state.behaviors()).collect::<Vec<_>>())
        .collect();
    assert_eq!(behaviors, [["walk"], ["stand"]]);
    assert_eq!(outlines[1].warnings(), []);
}

#[test]
fn a_file_may_have_a_machine_of_its_own_beside_the_others() {
    let file = "initial = 'a'\nstates.a.final = true\n[machines.imp]\ninitial = 'b'\nstates.b.final = true\n";
    let creatures = creatures(file);
    assert_eq!(creatures.names().collect::<Vec<_>>(), ["", "imp"]);
    assert_eq!(Definition::parse(file, &vocabulary()).unwrap().initial().name(), "a");
}

#[test]
fn all_machines_of_a_file_are_reloaded_or_none() {
    let mut creatures = creatures(CREATURES);
    let baron = creatures.get("baron").unwrap().clone();
    let slower = CREATURES.replace("'shoot', after = 0.1", "'shoot', after = 0.5");
    assert_ne!(slower, CREATURES);
    assert!(creatures.reload(&slower.replace("[machines.imp]\n", "[machines.imp]\nlik = 1\n")).is_err());
    assert_eq!(states(&baron), ["stand", "fight.aim", "fight.shoot"]);
    creatures.reload(&format!("{slower}[machines.hound]\nlike = 'baron'\n")).unwrap();
    assert_eq!(states(&baron), ["stand", "fight.aim", "fight.aim"]);
    assert_eq!(creatures.names().collect::<Vec<_>>(), ["imp", "baron", "hound"]);
    // One machine alone is reloaded from the same text.
    baron.reload(CREATURES).unwrap();
    assert_eq!(states(&baron), ["stand", "fight.aim", "fight.shoot"]);
    let problems = baron.reload("initial = 'a'\nstates.a.final = true").unwrap_err();
    assert_eq!(problems.to_string(), "definition:1:1: error: the file has no machine `baron` any more");
    // A machine that is gone stays as it was.
    creatures.reload("[machines.imp]\ninitial = 'a'\nstates.a.final = true\n").unwrap();
    assert_eq!(states(&baron), ["stand", "fight.aim", "fight.shoot"]);
    assert_eq!(creatures.get("imp").unwrap().initial().name(), "a");
}

#[test]
fn a_name_is_looked_up_from_where_it_is_written_outwards() {
    let file = r#"
        initial = "fight"
        [states.fight]
        initial = "aim"
        exits = [{ to = "hunt", when = "in(aim)" }, { to = "aim", when = "in(wait)" }]
        [states."fight.aim"]
        exits = [{ to = "wait" }]
        [states."fight.wait"]
        exits = [{ to = "fight" }, { to = "fight.aim" }]
        [states.hunt]
        initial = "aim"
        exits = [{ to = "fight.wait", when = "in(fight)" }]
        [states."hunt.aim"]
        exits = [{ to = "deep", when = "in(hunt.aim)" }]
        [states.deep]
        parent = "hunt.aim"
        exits = [{ to = "aim" }, { to = "wait" }, { to = "hunt.aim.deep", when = "awake" }]
        [states.aim]
        exits = [{ to = "deep" }]
        entry = true
    "#;
    let outline = Outline::parse("a.toml", file, None).unwrap();
    let leads: Vec<_> = outline
        .states()
        .iter()
        .flat_map(|state| state.exits().iter().map(|exit| (state.name(), outline.state(exit.target()).name())))
        .collect();
    assert_eq!(
        leads,
        [
            ("fight", "hunt"),
            ("fight", "fight.aim"),
            ("fight.aim", "fight.wait"),
            ("fight.wait", "fight"),
            ("fight.wait", "fight.aim"),
            ("hunt", "fight.wait"),
            ("hunt.aim", "deep"),
            ("deep", "hunt.aim"),
            // The only one of its name.
            ("deep", "fight.wait"),
            ("deep", "deep"),
            ("aim", "deep"),
        ]
    );
    let place = |name: &str| {
        let at = outline.states().iter().find(|state| state.name() == name).unwrap().id();
        outline.path(at).into_iter().map(|id| outline.state(id).name()).collect::<Vec<_>>()
    };
    assert_eq!(place("deep"), ["hunt", "hunt.aim", "deep"]);
    assert_eq!(outline.state(outline.states()[0].initial().unwrap()).name(), "fight.aim");
    // The outermost `aim` is not the one within.
    assert_eq!(outline.states()[0].exits()[0].when().unwrap(), "in(aim)");
}

/// Each machine like the one before it, and with some more: that is too much in the end, but it is said in time.
#[test]
fn machines_that_grow_without_bounds_are_refused() {
    use std::fmt::Write as _;

    let mut file = String::new();
    for i in 0..900 {
        writeln!(file, "[machines.m{i}]\ninitial = 's0'").unwrap();
        if i > 0 {
            writeln!(file, "like = 'm{}'", i - 1).unwrap();
        }
        writeln!(file, "states.s{i} = {{ entry = true, final = true }}").unwrap();
    }
    let found = lines(&file);
    assert!(found.iter().any(|line| line.contains("take over more than 400000 states")), "{found:?}");
}

/// `aim` with `parent = "fight"` and `fight.aim` are one state, in a machine that is like another, too.
#[test]
fn a_state_that_is_written_again_in_the_other_form_takes_the_place_of_what_was_there() {
    let file = |base: &str, own: &str| {
        format!(
            "[machines.imp]\ninitial = 'fight'\nstates.fight.initial = 'aim'\nstates.rest.exits = [{{ to = 'fight', after = 1 }}]\n\
             {base}\nexits = [{{ to = 'rest', after = 1 }}]\n\
             [machines.baron]\nlike = 'imp'\n{own}\nexits = [{{ to = 'rest', after = 2 }}]\n"
        )
    };
    let with_parent = |machine: &str| format!("[machines.{machine}.states.aim]\nparent = 'fight'");
    let with_name = |machine: &str| format!("[machines.{machine}.states.'fight.aim']");
    for (base, own, name) in
        [(with_parent("imp"), with_name("baron"), "aim"), (with_name("imp"), with_parent("baron"), "fight.aim")]
    {
        let outlines = Outline::parse_all("a.toml", &file(&base, &own), None).unwrap();
        assert_eq!(outlines[0].warnings(), []);
        let states: Vec<_> = outlines[1].states().iter().map(|state| state.name()).collect();
        assert_eq!(states, ["fight", "rest", name]);
        let aim = &outlines[1].states()[2];
        assert_eq!(aim.parent(), Some(outlines[1].states()[0].id()));
        assert_eq!(aim.exits()[0].after().unwrap().seconds(), Some(2.0));
    }
}

/// A hundred kinds of character that are like one of hundreds of states are natural data.
#[test]
fn machines_that_are_alike_share_their_states() {
    use std::fmt::Write as _;

    let mut file = String::from("[machines.all]\ninitial = 's0'\n");
    for i in 0..300 {
        let (next, pain) = ((i + 1) % 300, i * 7 % 300);
        writeln!(
            file,
            "[machines.all.states.s{i}]\nexits = [{{ to = 's{next}', after = 1 }}, {{ to = 's{pain}', on = 'pain' }}]"
        )
        .unwrap();
    }
    let of_one = file.len();
    for i in 0..100 {
        writeln!(file, "[machines.kind{i}]\nlike = 'all'\n[machines.kind{i}.states.s{i}]\nexits = []\nfinal = true")
            .unwrap();
    }
    let peak = |file: &str, expected: usize| {
        let mut count = 0;
        let measured = allocation_counter::measure(|| count = Outline::parse_all("a.toml", file, None).unwrap().len());
        assert_eq!(count, expected);
        measured.bytes_max
    };
    let (alone, together) = (peak(&file[..of_one], 1), peak(&file, 101));
    assert!(together < 12 * alone, "{together} bytes for a hundred kinds, {alone} for one");
}
