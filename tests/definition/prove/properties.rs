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

/// In a tick in which a child's exit leads to `chase`, the exit of the parent has been tried before and was not taken.
#[test]
fn a_property_that_only_an_exit_of_a_parent_enforces_holds() {
    let of = |flee: &str| {
        let file = format!(
            "initial = 'alert'
             [properties.brave]
             never = 'in(chase) and health < 10'
             [states.alert]
             initial = 'patrol'
             exits = [{{ to = 'flee', when = 'health < 10'{flee} }}]
             [states.patrol]
             parent = 'alert'
             exits = [{{ to = 'chase', when = 'sees' }}]
             [states.chase]
             parent = 'alert'
             [states.flee]
             exits = [{{ to = 'alert', when = 'health >= 10' }}]"
        );
        answers(&proof(&file)).swap_remove(0)
    };
    assert_eq!(of(""), "brave holds");
    let answer = of(", after = 1");
    assert!(answer.starts_with("brave fails: "), "{answer}");
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
    // Where the state goes on later with its old time, is put to sleep, or is entered by the game's code, less is known.
    let unknown = "short is not decided, ends is not decided, calm is not decided";
    let left = "short is not decided, ends is assumed, calm is not decided";
    assert_eq!(of("states.down.exits = [{ pop = true, after = 5 }]", "{ push = 'down', on = 'trip' }", after), left);
    assert_eq!(of("global = 'senses'\nstates.senses.behavior = 'look'", "", after), unknown);
    assert_eq!(of("states.down = { entry = true, final = true }", "", after), left);
    assert_eq!(of("states.down = { entry = true, exits = [{ to = 'stunned' }] }", "", after), unknown);
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

/// The answer about `from = "in(stop)", reach = "not in(stop)"`.
fn stop(within: u32, file: &str) -> String {
    let file =
        format!("{file}\n[properties]\np = {{ from = 'in(stop)', reach = 'not in(stop)', within = {within} }}\n");
    answers(&proof(&file)).swap_remove(0)
}

#[test]
fn reach_is_decided_where_exits_lead_back() {
    let walk = "initial = 'walk'\nstates.walk.exits = [{ WAY = 'stop', when = 'x' }, { to = 'run', when = 'y' }]\nstates.run.exits = [{ to = 'walk', when = 'z' }]\n";
    let (to, push) = (walk.replace("WAY", "to"), walk.replace("WAY", "push"));
    let of = |walk: &str, exits: &str| stop(3, &format!("{walk}states.stop.exits = [{exits}]\n"));
    assert_eq!(of(&to, "{ to = '$previous', after = 3 }"), "p holds");
    assert_eq!(of(&to, "{ resume = 'walk', after = 3 }"), "p holds");
    assert_eq!(of(&push, "{ pop = true, after = 3 }"), "p holds");
    assert!(of(&push, "{ pop = true, after = 4 }").starts_with("p fails: "));
    // The machine may begin in the state, so there may be nothing to which the exit leads back.
    let begun = format!("{to}states.stop = {{ entry = true, exits = [{{ to = '$previous', after = 3 }}] }}\n");
    assert_eq!(stop(3, &begun), "p is not decided: on whether an exit of `stop` can lead back");
    // Without a push, there is nothing to pop.
    assert!(of(&to, "{ pop = true, after = 3 }, { push = 'run', on = 'm' }").starts_with("p fails: "));
    // The state is suspended and goes on within one tick, in which its exit is not tried.
    let global =
        "global = 'g'\nstates.g.exits = [{ push = 'talk', when = 'x' }]\nstates.talk.exits = [{ pop = true }]\n";
    let file = format!(
        "initial = 'walk'\n{global}states.walk.exits = [{{ to = 'stop', when = 'y' }}]\nstates.stop.exits = [{{ to = 'walk', after = 3 }}]\n"
    );
    assert!(stop(3, &file).starts_with("p fails: "));
}

#[test]
fn reach_is_decided_of_a_parent_while_the_states_inside_change() {
    let of = |within, exits: &str| {
        stop(
            within,
            &format!(
                "initial = 'walk'\nstates.walk = {{ history = true, initial = 'slow', exits = [{{ to = 'stop', when = 'x' }}] }}\n\
                 states.slow = {{ parent = 'walk', exits = [{{ to = 'fast', on = 'm' }}] }}\nstates.fast.parent = 'walk'\n\
                 states.stop = {{ initial = 'sit', exits = [{exits}] }}\n\
                 states.sit = {{ parent = 'stop', exits = [{{ to = 'lie', after = 2 }}] }}\n\
                 states.lie = {{ parent = 'stop', exits = [{{ to = 'sit', after = 1 }}] }}\n"
            ),
        )
    };
    assert_eq!(of(9, "{ to = 'walk', after = 9 }"), "p holds");
    assert_eq!(of(9, "{ resume = 'walk', after = 9 }"), "p holds");
    assert!(of(8, "{ resume = 'walk', after = 9 }").starts_with("p fails: "));
    // This exit may be taken in each tick, and the next one is then not tried.
    assert!(!of(9, "{ to = 'lie', when = 'not x', restart = true }, { to = 'walk', after = 9 }").contains("holds"));
    assert_eq!(
        of(9, "{ to = 'walk', after = 9 }, { to = 'stop', restart = true, on = 'hit', when = 'y > z' }"),
        "p is not decided: on whether a message `hit` leads from `stop` to `stop` before a tick ends"
    );
}

#[test]
fn reach_is_decided_beside_regions() {
    let of = |dead: &str, memory: &str| {
        stop(
            3,
            &format!(
                "initial = 'fight'\nstates.fight.regions = ['walk', 'alive']\n\
                 states.walk = {{ parent = 'fight', exits = [{{ to = 'stop', when = 'x' }}] }}\n\
                 states.stop = {{ parent = 'fight', exits = [{{ to = 'walk', after = 3 }}] }}\n\
                 states.alive = {{ parent = 'fight', region = 1, exits = [{{ to = 'dead', when = 'y' }}] }}\n\
                 states.dead = {{ parent = 'fight', region = 1, exits = [{dead}] }}\n{memory}"
            ),
        )
    };
    assert_eq!(of("{ to = 'alive', when = 'z' }", ""), "p holds");
    // Another region may lead back in the same tick.
    assert!(!of("{ to = 'stop', when = 'z > v' }", "").contains("holds"));
    assert!(
        of("{ to = 'alive', when = 'z' }", "states.far = { entry = true, exits = [{ to = '$previous' }] }\n")
            .ends_with("because each region was looked at alone")
    );
}
