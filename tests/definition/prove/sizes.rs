//! Definitions that are large: what is looked at is bounded.

use std::fmt::Write as _;

use demeanor::definition::{Outline, Proof, PropertyAnswer, PropertyProof};

use super::proof;

/// A machine of so many states, each with four exits.
fn large(count: usize) -> String {
    let mut file = String::from("initial = 's0'\n");
    for i in 0..count {
        let to = |by: usize, and: usize| (i * by + and) % count;
        let value = |of: usize| format!("v{}", (i + of) % 20);
        write!(
            file,
            "[states.s{i}]\nexits = [\n\
             {{ to = 's{}', when = '{} > {} and f{} and not f{}' }},\n\
             {{ to = 's{}', when = '{} < {} or {} == {}' }},\n\
             {{ to = 's{}', on = 'hit', when = 'message.damage > {} and {} != 3' }},\n\
             {{ to = 's{}', after = {}, when = 'time_in_state > {} or f{}' }},\n]\n",
            to(1, 1),
            value(0),
            i % 7,
            i % 5,
            i % 3 + 5,
            to(7, 3),
            value(3),
            i % 11,
            value(5),
            i % 4,
            to(13, 5),
            i % 9,
            value(7),
            to(3, 11),
            i % 6 + 1,
            i % 8,
            i % 5
        )
        .unwrap();
    }
    file
}

#[test]
fn a_thousand_states_take_a_bounded_number_of_steps() {
    let outlines = Outline::parse_all("large.toml", &large(1000), None).unwrap();
    let proof = Proof::of(&outlines);
    assert!(proof.steps() < 5_000_000, "{}", proof.steps());
    assert_eq!(proof.notes(), ["not all circles of states that lead to each other were looked at"]);
    assert!(!proof.findings().is_empty());
}

#[test]
fn the_properties_of_a_thousand_states_take_a_bounded_number_of_steps() {
    let properties = "[properties]\na.never = 'in(s900) and v3 > 2 and f1'\nb.never = 'in(s17) and in(s23)'\n\
                      c = { from = 'in(s999)', reach = 'in(s0)', within = 1 }\n[states.s0]";
    let file = large(1000).replacen("[states.s0]", properties, 1);
    let proof = proof(&file);
    assert!(proof.steps() < 8_000_000, "{}", proof.steps());
    let answers: Vec<_> = proof.properties().iter().map(PropertyProof::answer).collect();
    assert!(matches!(answers[..], [PropertyAnswer::Fails(_), PropertyAnswer::Holds, _]), "{answers:?}");
}

/// A machine with so many regions, each of so many states whose exits ask for those of other regions.
fn regions(count: usize, states: usize) -> String {
    let initial: Vec<_> = (0..count).map(|region| format!("'r{region}_0'")).collect();
    let mut file = format!("initial = 'all'\n[states.all]\nregions = [{}]\n", initial.join(", "));
    for (region, state) in (0..count).flat_map(|region| (0..states).map(move |state| (region, state))) {
        let other = |by: usize| format!("in(r{}_{})", (region + by) % count, (state + by) % states);
        write!(
            file,
            "[states.r{region}_{state}]\nparent = 'all'\nregion = {region}\nexits = [\n\
             {{ to = 'r{region}_{}', when = 'x > {state} and not {}' }},\n\
             {{ to = 'r{region}_0', on = 'hit', when = '{} or f{region}' }},\n]\n",
            (state + 1) % states,
            other(1),
            other(2)
        )
        .unwrap();
    }
    file
}

#[test]
fn regions_are_proved_together_up_to_four_thousand_combinations() {
    for (count, states, is_together) in [(3, 12, true), (7, 3, true), (3, 17, false)] {
        let proof = proof(&regions(count, states));
        assert!(proof.steps() < 300_000, "{count} {states}: {}", proof.steps());
        let alone = "not decided: what is active in other regions: each region was looked at alone";
        assert_eq!(
            proof.notes().iter().any(|note| note == alone),
            !is_together,
            "{count} {states}: {:?}",
            proof.notes()
        );
    }
}

#[test]
fn what_there_is_too_much_of_is_not_looked_at_and_that_is_said() {
    // Each of nine is in one of eight holes, and no two are in one.
    let mut all = Vec::new();
    for i in 0..9 {
        let holes: Vec<_> = (0..8).map(|hole| format!("v{i}_{hole}")).collect();
        all.push(format!("({})", holes.join(" or ")));
        for (other, hole) in (0..i).flat_map(|other| (0..8).map(move |hole| (other, hole))) {
            all.push(format!("not (v{i}_{hole} and v{other}_{hole})"));
        }
    }
    let when = all.join(" and ");
    let file =
        format!("initial = 'a'\n[states.a]\nexits = [{{ to = 'b', when = '{when}' }}]\n[states.b]\nfinal = true\n");
    let proof = proof(&file);
    assert!(proof.steps() < 10_000_000, "{}", proof.steps());
    assert_eq!(proof.notes(), ["not looked at in all situations: a -> b"]);
    assert!(proof.findings().is_empty());
}
