//! The output of the example `boss`, and what the prover says of its giant.

use std::ffi::OsString;

use crate as boss;
use boss::{Duel, End, FILE, Told, alone, together, vocabulary};
use demeanor::definition::{Definition, PropertyAnswer};

/// Runs the example with a command line. Returns the exit code, the output, and the error output.
fn run(arguments: &str) -> (u8, String, String) {
    let (mut out, mut err) = (vec![], vec![]);
    let code = boss::answer(arguments.split_whitespace().map(OsString::from), &mut out, &mut err);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

#[track_caller]
fn printed(arguments: &str) -> String {
    let (code, printed, complaints) = run(arguments);
    assert_eq!((code, complaints.as_str()), (0, ""));
    printed
}

/// Returns a definition of the file in which a text is replaced.
#[track_caller]
fn changed(changes: &[(&str, &str)]) -> Definition<Duel> {
    let file = changes.iter().fold(FILE.to_owned(), |file, (from, to)| {
        assert_eq!(file.matches(from).count(), 1, "{from}");
        file.replace(from, to)
    });
    Definition::parse(&file, &vocabulary()).unwrap()
}

/// Returns whether each property of a definition is proved to hold, by name.
fn proved(definition: &Definition<Duel>) -> Vec<(String, PropertyAnswer)> {
    let proof = definition.prove();
    proof.properties().iter().map(|property| (property.name().to_owned(), property.answer().clone())).collect()
}

#[test]
fn a_duel_is_told_with_the_states_that_are_active() {
    assert_eq!(printed(""), include_str!("golden/boss.txt"));
}

#[test]
fn a_thousand_duels_in_a_batch_go_as_each_of_them_goes_alone() {
    let definition = changed(&[]);
    let stories = together(&definition, 0..1000);
    for (seed, story) in (0..).zip(&stories) {
        assert_eq!(*story, alone(&definition, seed), "seed {seed}");
    }
    let ended = |end| stories.iter().filter(|story| story.end == end).count();
    let counts = [End::GiantFalls, End::HeroFalls, End::Draw].map(ended);
    assert!(counts[0] > 100 && counts[1] > 100 && counts[2] == 0, "each side wins a part of the duels: {counts:?}");
    for name in ["angry", "desperate", "backhand", "slam", "kick", "stagger", "walk", "stand", "dead"] {
        assert!(stories.iter().any(|story| story.text.contains(name)), "no giant has been in {name}");
    }
}

#[test]
fn the_ends_of_many_duels_are_counted() {
    let (definition, table) = (changed(&[]), printed("--duels 20 --seed 7"));
    let falls = (7..27).filter(|seed| alone(&definition, *seed).end == End::GiantFalls).count();
    assert!(table.starts_with(&format!("the giant falls{falls:9} ")), "{table}");
}

#[test]
fn nothing_is_to_be_warned_of_in_the_giant() {
    let definition = changed(&[]);
    assert_eq!(definition.warnings(), []);
    assert!(definition.prove().findings().is_empty());
}

/// The mistake: death is a phase of the fight.
const MISTAKE: [(&str, &str); 2] =
    [("[states.dead]\n", "[states.dead]\nparent = \"fight\"\nregion = \"phase\"\n"), (" and health > 0", "")];

/// Hits a giant that has lost the fight, and returns the states that are active then.
fn hit_when_dead(definition: &Definition<Duel>) -> Vec<String> {
    let mut duel = Duel::lost();
    let mut machine = definition.machine();
    machine.start(&mut duel, &mut 0.0);
    machine.update(&mut duel, &mut 0.1);
    machine.update(&mut duel, &mut 0.2);
    machine.send(&mut duel, &Told::Hit, &mut 0.2);
    machine.update(&mut duel, &mut 0.3);
    machine.active_states().map(ToString::to_string).collect()
}

#[test]
fn it_cannot_be_staggered_while_it_is_dead() {
    let definition = changed(&[]);
    let holds = ["no_stagger_when_dead", "no_slam_when_calm"].map(|name| (name.to_owned(), PropertyAnswer::Holds));
    assert_eq!(proved(&definition), holds);
    assert_eq!(hit_when_dead(&definition), ["dead"]);
}

#[test]
fn it_can_if_death_is_a_phase_of_the_fight() {
    let definition = changed(&MISTAKE);
    let [(name, PropertyAnswer::Fails(run)), _] = &proved(&definition)[..] else { panic!("{:?}", proved(&definition)) };
    assert_eq!(name, "no_stagger_when_dead");
    assert!(run.changes().iter().any(|change| change.to == "stagger"), "{run:?}");
    assert_eq!(hit_when_dead(&definition), ["fight", "dead", "stagger", "stand"]);
}

#[test]
fn the_words_for_the_tool_are_those_of_the_program() {
    // The words also say whether the program is built with scripts. The file is from one without.
    let words = printed("--words").replace("\"scripts\": true", "\"scripts\": false");
    assert!(words == include_str!("../boss/words.json"), "write words.json again, with --words");
}

#[test]
fn a_wrong_option_is_answered_with_the_usage_and_exit_code_2() {
    let usage = boss::USAGE;
    for (arguments, complaint) in [
        ("--bogus", "invalid option '--bogus'"),
        ("--duels many", "cannot parse argument \"many\": invalid digit found in string"),
    ] {
        assert_eq!(run(arguments), (2, String::new(), format!("boss: {complaint}\n{usage}\n")));
    }
    assert_eq!(run("--help"), (0, format!("{usage}\n"), String::new()));
}
