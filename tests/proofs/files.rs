//! Random files.

use std::fmt::Write as _;

use proptest::prelude::*;

/// A condition, or none.
fn condition(deep: bool, states: usize) -> BoxedStrategy<String> {
    // In a machine with regions, what is active beside a state matters most.
    let weight = if states > 4 { 9 } else { 1 };
    let op = prop::sample::select(vec!["<", "<=", ">", ">=", "==", "!="]);
    let leaf = prop_oneof![
        4 => (prop::sample::select(vec!["x", "y"]), op.clone(), 1..=2).prop_map(|(v, op, n)| format!("{v} {op} {n}")),
        1 => (prop::sample::select(vec!["x", "y"]), op.clone(), 1..=2).prop_map(|(v, op, n)| format!("{v} * 2 {op} {}", 2 * n)),
        1 => (prop::sample::select(vec!["abs(x)", "min(x, y)", "max(y, 1)"]), op.clone(), 1..=2)
            .prop_map(|(of, op, n)| format!("{of} {op} {n}")),
        3 => Just("a".to_owned()),
        2 => (op, 1..=2).prop_map(|(op, n)| format!("time_in_state {op} {n}")),
        weight => (0..states).prop_map(|s| format!("in(s{s})")),
    ];
    if !deep {
        return leaf.boxed();
    }
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(l, r)| format!("({l} and {r})")),
            (inner.clone(), inner.clone()).prop_map(|(l, r)| format!("({l} or {r})")),
            inner.prop_map(|inner| format!("not ({inner})")),
        ]
    })
    .boxed()
}

/// An exit, by what it says.
#[derive(Clone, Debug)]
struct RandomExit {
    to: usize,
    when: Option<String>,
    after: Option<u32>,
    /// Whether it waits for a message, that says more than this.
    on: Option<u32>,
    always: bool,
    /// Its score or weight, if its state chooses by it.
    rank: &'static str,
    cooldown: Option<u32>,
    /// How it leads there, or back.
    leads: &'static str,
    /// What it does when it is taken.
    acts: &'static str,
}

fn exit(states: usize) -> impl Strategy<Value = RandomExit> {
    let when = prop::option::weighted(0.85, condition(true, states));
    let on = prop::option::weighted(0.2, 0..=2_u32);
    let rank = prop::sample::select(vec!["1", "2", "x", "y - 1", "x / y"]);
    let cooldown = prop::option::weighted(0.1, 1..=2_u32);
    let after = prop::option::weighted(0.2, 1..=2_u32);
    let leads = prop_oneof![
        15 => Just("to"),
        1 => prop::sample::select(vec!["push", "resume", "pop = true", "to = '$previous'"]),
    ];
    let acts = prop_oneof![
        9 => Just(""),
        1 => prop::sample::select(vec![
            ", set = { x = 'x + 1' }",
            ", set = { x = 3, y = 'x' }",
            ", set = { a = true }",
            ", set = { a = false, y = 1 }",
            ", do = 'swap'",
        ]),
    ];
    (0..states.max(5), when, after, on, prop::bool::weighted(0.15), rank, cooldown, leads, acts).prop_map(
        |(to, when, after, on, always, rank, cooldown, leads, acts)| RandomExit {
            to,
            when,
            after: after.filter(|_| !always),
            always: always && on.is_none(),
            on,
            rank,
            cooldown,
            leads,
            acts,
        },
    )
}

/// A file with a few states, of which some may be nested, some have entry conditions, and one may be final.
pub(crate) fn file() -> impl Strategy<Value = String> {
    files(2..=4)
}

/// A file with a state whose children lie in two regions, of which one may have regions itself.
pub(crate) fn file_with_regions() -> impl Strategy<Value = String> {
    files(6..=8)
}

fn files(count: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = String> {
    let (has_regions, most) = (*count.end() > 4, *count.end());
    let exits = move || prop::collection::vec(exit(most), 0..=3);
    let condition = move || condition(true, most).prop_filter("no time", |text| !text.contains("time"));
    let guard = move || prop::option::weighted(0.2, condition());
    let choose = || prop::option::weighted(0.15, prop::sample::select(vec!["best", "random"]));
    let state = move || (exits(), guard(), prop::bool::weighted(0.1), choose());
    let states = prop::collection::vec(state(), count);
    (states, prop::option::weighted(0.3, exits()), prop::bool::weighted(0.4)).prop_map(
        move |(states, global, nested)| {
            let count = states.len();
            let is_nested = nested && count >= 3 && !has_regions;
            let mut file = String::from("initial = 's0'\n");
            let written = |exits: &[RandomExit], is_global: bool, choose: Option<&str>| {
                let mut all = choose.map(|choose| format!("choose = '{choose}'\n")).unwrap_or_default() + "exits = [\n";
                for exit in exits {
                    let mut text = match exit.leads {
                        way @ ("to" | "push" | "resume") => format!("  {{ {way} = 's{}'", exit.to % count),
                        back => format!("  {{ {back}"),
                    };
                    if let Some(after) = exit.after {
                        write!(text, ", after = {after}").unwrap();
                    }
                    let mut when = exit.when.clone();
                    if let Some(choose) = choose {
                        let key = if choose == "best" { "score" } else { "weight" };
                        write!(text, ", {key} = '{}'", exit.rank).unwrap();
                    }
                    if let Some(cooldown) = exit.cooldown {
                        write!(text, ", cooldown = {cooldown}").unwrap();
                    }
                    text.push_str(exit.acts);
                    if let Some(damage) = &exit.on {
                        text.push_str(", on = 'hit'");
                        if *damage > 0 {
                            let asked = format!("message.damage > {damage}");
                            when = Some(when.map_or(asked.clone(), |when| format!("{asked} and {when}")));
                        }
                    } else if exit.always && !is_global {
                        text.push_str(", always = true");
                    }
                    if let Some(when) = when {
                        // States that there are not are not asked for.
                        let when = (count..8).fold(when, |when, s| when.replace(&format!("in(s{s})"), "a"));
                        write!(text, ", when = '{when}'").unwrap();
                    }
                    all.push_str(&text);
                    all.push_str(" },\n");
                }
                all + "]\n"
            };
            if let Some(global) = &global {
                file.push_str("global = 'g'\n[states.g]\n");
                file.push_str(&written(global, true, None));
            }
            for (at, (exits, guard, is_final, choose)) in states.iter().enumerate() {
                writeln!(file, "[states.s{at}]").unwrap();
                if is_nested && at == 1 {
                    file.push_str("initial = 's2'\nhistory = true\n");
                }
                if is_nested && at == 2 {
                    file.push_str("parent = 's1'\n");
                }
                match at {
                    1 if has_regions => file.push_str("regions = ['s2', 's3']\n"),
                    // The eighth state makes the seventh one a state with two regions in the second region.
                    6 if has_regions && count == 8 => {
                        file.push_str("parent = 's1'\nregion = 1\nregions = ['s7', 's5']\n");
                    }
                    5 if has_regions && count == 8 => file.push_str("parent = 's6'\nregion = 1\n"),
                    7 if has_regions => file.push_str("parent = 's6'\n"),
                    2..=6 if has_regions => writeln!(file, "parent = 's1'\nregion = {}", at % 2).unwrap(),
                    _ => {}
                }
                if let Some(guard) = guard {
                    let guard = (count..8).fold(guard.clone(), |when, s| when.replace(&format!("in(s{s})"), "a"));
                    writeln!(file, "enter_when = '{guard}'").unwrap();
                }
                if *is_final {
                    file.push_str("final = true\n");
                }
                file.push_str(&written(exits, false, *choose));
            }
            file
        },
    )
}
