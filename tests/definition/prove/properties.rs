//! Properties: each is proved, or broken by a run, or said to be open.

use demeanor::definition::{Proof, PropertyAnswer};

use super::proof;

/// The answers, with the runs that break properties: the table of values, the number of ticks, and the last state.
fn answers(proof: &Proof) -> Vec<String> {
    let answer = |property: &demeanor::definition::PropertyProof| match property.answer() {
        PropertyAnswer::Holds if property.is_assumed() => format!("{} is assumed", property.name()),
        PropertyAnswer::Holds => format!("{} holds", property.name()),
        PropertyAnswer::Fails(run) => {
            let changes: Vec<_> = run.changes().iter().map(|change| format!("{}>{}", change.from, change.to)).collect();
            format!("{} fails: {} [{}]", property.name(), run.to_csv().trim_end().replace('\n', ";"), changes.join(" "))
        }
        PropertyAnswer::NotDecided(on) => format!("{} is not decided: {on}", property.name()),
        _ => unreachable!(),
    };
    proof.properties().iter().map(answer).collect()
}

const FIGHT: &str = "
initial = 'attack'
[states.attack]
exits = [{ to = 'dead', when = 'health <= 0' }, { to = 'stunned', when = 'hurt' }]
[states.stunned]
exits = [{ to = 'dead', when = 'health <= 0' }, { to = 'attack', after = 2, when = 'not hurt' }]
[states.dead]
final = true
";

fn of_fight(properties: &str) -> Vec<String> {
    answers(&proof(&format!("{FIGHT}{properties}")))
}

#[test]
fn a_property_that_exits_enforce_holds() {
    let properties = "
        [properties]
        dies.never = 'not in(dead) and health <= 0 and time_in(stunned) > 0'
        calm.never = 'in(attack) and hurt'
        one.always = 'in(attack) or in(stunned) or in(dead)'
        both.never = 'in(attack) and in(stunned)'
    ";
    assert_eq!(of_fight(properties), ["dies holds", "calm holds", "one holds", "both holds"]);
}

#[test]
fn a_property_that_fails_comes_with_a_shortest_run() {
    let properties = "
        [properties]
        immortal.never = 'in(dead)'
        standing.always = 'in(attack)'
        short.never = 'time_in(stunned) > 1'
        healthy.never = 'in(stunned) and health < 5'
    ";
    assert_eq!(
        of_fight(properties),
        [
            "immortal fails: time,health;0,-1 [attack>dead]",
            "standing fails: time,health;0,-1 [attack>dead]",
            "short fails: time,health,hurt;0,1,true [attack>stunned]",
            "healthy fails: time,health,hurt;0,1,true [attack>stunned]",
        ]
    );
}

#[test]
fn reach_holds_where_its_state_is_left_in_time() {
    let of = |exits: &str, within: &str| {
        let file = format!(
            "initial = 'attack'\n[properties]\nends = {{ from = 'in(stunned)', reach = 'not in(stunned)', within = {within} }}\n\
             [states.attack]\nexits = [{{ to = 'stunned', when = 'hurt' }}]\n[states.stunned]\nexits = [{exits}]\n"
        );
        answers(&proof(&file)).swap_remove(0)
    };
    assert_eq!(of("{ to = 'attack', after = 2 }", "2"), "ends holds");
    assert_eq!(of("{ to = 'attack', after = 2, when = 'not hurt' }, { to = 'attack', after = 3 }", "3"), "ends holds");
    for (exits, within) in [
        ("{ to = 'attack', after = 2 }", "1.9"),
        ("{ to = 'attack', after = 2, when = 'not hurt' }", "3"),
        ("{ to = 'stunned', on = 'hit' }, { to = 'attack', after = 2 }", "2"),
        ("{ to = 'attack', on = 'hit' }, { to = 'attack', when = 'time_in_state == 2' }", "3"),
    ] {
        assert!(of(exits, within).starts_with("ends fails: "), "{exits}: {}", of(exits, within));
    }
}

/// Code of the game may write values after the exits have been tried. It cannot keep a state from being left in time.
#[test]
fn a_property_about_times_is_proved_of_states_with_behaviors() {
    let of = |head: &str, attack: &str, stunned: &str| {
        let file = format!(
            "initial = 'attack'\n{head}\n[properties]\nshort.never = 'time_in(stunned) > 3.1'\n\
             ends = {{ from = 'in(stunned)', reach = 'not in(stunned)', within = 3 }}\ncalm.never = 'in(attack) and time_in(attack) > 0 and hurt'\n\
             [states.attack]\nbehavior = 'hit'\nexits = [{{ to = 'stunned', when = 'hurt' }}, {attack}]\n\
             [states.stunned]\nbehavior = 'wait'\nexits = [{stunned}]\n[states.dead]\nfinal = true\n"
        );
        let answers = answers(&proof(&file));
        answers.iter().map(|answer| answer.split(':').next().unwrap()).collect::<Vec<_>>().join(", ")
    };
    let after =
        "{ to = 'dead', on = 'shot' }, { to = 'attack', after = 2, when = 'not hurt' }, { to = 'attack', after = 3 }";
    assert_eq!(of("", "", after), "short is assumed, ends is assumed, calm is not decided");
    // The exit waits for a value, which code may write after it has been tried.
    let when = "{ to = 'attack', after = 3, when = 'not hurt' }";
    assert_eq!(of("", "", when), "short fails, ends fails, calm is not decided");
    // Where the state goes on later with its old time, is put to sleep, or is entered by the game's code, nothing is known.
    let unknown = "short is not decided, ends is not decided, calm is not decided";
    assert_eq!(of("states.down.exits = [{ pop = true, after = 5 }]", "{ push = 'down', on = 'trip' }", after), unknown);
    assert_eq!(of("global = 'senses'\nstates.senses.behavior = 'look'", "", after), unknown);
    assert_eq!(of("states.down = { entry = true, final = true }", "", after), unknown);
    // A message that a behavior sends may lead back within the tick.
    let back = "{ to = 'stunned', on = 'hit' }";
    assert_eq!(of("", back, after), "short is assumed, ends is not decided, calm is not decided");
}

#[test]
fn a_property_of_two_regions_is_decided() {
    let boss = "
        initial = 'fight'
        [states.fight]
        regions = ['stand', 'alive']
        [states.stand]
        parent = 'fight'
        exits = [{ to = 'staggered', on = 'hit', when = 'in(alive)' }]
        [states.staggered]
        parent = 'fight'
        exits = [{ to = 'stand', after = 1 }, { to = 'stand', when = 'in(dead)' }]
        [states.alive]
        parent = 'fight'
        region = 1
        exits = [{ to = 'dead', when = 'health <= 0 and in(stand)' }]
        [states.dead]
        parent = 'fight'
        region = 1
        final = true
        [properties.dead_is_dead]
        never = 'in(staggered) and in(dead)'
    ";
    assert_eq!(answers(&proof(boss)), ["dead_is_dead holds"]);
    let wrong = boss.replace(" and in(stand)'", "'");
    assert_eq!(answers(&proof(&wrong)), ["dead_is_dead fails: time,message;0,hit [stand>staggered alive>dead]"]);
}
