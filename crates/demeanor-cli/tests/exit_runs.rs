//! `demeanor tests`: runs that take every exit of a machine, and `demeanor run --tests`, which runs them again.

use std::fs;
use std::path::{Path, PathBuf};

use running::Folder;

mod running;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// The examples with a table, and the options for both commands.
const EXAMPLES: [(&str, &str); 5] = [
    ("arena/grunt.toml", "arena/grunt.tests.toml"),
    ("dragon/dragon.fsm.toml", "dragon/dragon.tests.toml"),
    ("boss/boss.fsm.toml", "boss/boss.tests.toml"),
    ("shop/shopkeeper.fsm.toml", "shop/shopkeeper.tests.toml"),
    ("ghosts/ghosts.fsm.toml", "ghosts/ghosts.tests.toml"),
];

/// Set `UPDATE` to write the tables again.
#[test]
fn the_tables_of_the_examples_are_those_that_the_tool_writes_and_their_runs_are_as_before() {
    let folder = Folder::new("example_tables");
    for (file, table) in EXAMPLES {
        let (file, table) = (example(file), example(table));
        let (file, shown) = (file.to_str().unwrap(), table.to_str().unwrap());
        let (code, told, _) = folder.run(&["tests", file]);
        assert_eq!(code, 0);
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&table, &told).unwrap();
        }
        assert!(fs::read_to_string(&table).unwrap() == told, "{shown} is not what the tool writes");
        let (code, told, _) = folder.run(&["run", file, "--tests", shown]);
        let runs = fs::read_to_string(&table).unwrap().matches("[[run]]").count();
        assert_eq!((code, told), (0, format!("{shown}: {runs} runs as before\n")));
    }
}

/// Every exit of these examples can be taken, except one: a dragon roars after a second, so it never circles for 20 seconds.
#[test]
fn the_tables_of_the_examples_take_every_exit_that_can_be_taken() {
    let first = |table| fs::read_to_string(example(table)).unwrap().lines().next().unwrap().to_owned();
    assert_eq!(
        EXAMPLES.map(|(_, table)| first(table)),
        [
            "# 4 runs, which take 9 of 9 exits; 0 cannot be taken, and no run was found for 0.",
            "# 7 runs, which take 13 of 14 exits; 0 cannot be taken, and no run was found for 1.",
            "# 8 runs, which take 22 of 22 exits; 0 cannot be taken, and no run was found for 0.",
            "# 11 runs, which take 19 of 19 exits; 0 cannot be taken, and no run was found for 0.",
            "# 21 runs, which take 47 of 47 exits; 0 cannot be taken, and no run was found for 0.",
        ]
    );
}

/// The number of the line, in each example, of each exit, with the text of the file without it.
fn without_each_exit(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<_> = text.lines().collect();
    let is_exit = |line: &str| ["{ to = ", "{ push = ", "{ pop = "].iter().any(|begin| line.trim().starts_with(begin));
    let removed = (0..lines.len()).filter_map(|nth| {
        let mut lines = lines.clone();
        let only = format!("exits = [{{{}", lines[nth].split_once("exits = [{")?.1);
        if lines[nth].trim() != only.trim() {
            return None;
        }
        lines[nth] = "";
        Some((nth + 1, lines.join("\n")))
    });
    let listed = (0..lines.len()).filter(|nth| is_exit(lines[*nth])).map(|nth| {
        let mut lines = lines.clone();
        lines[nth] = "";
        (nth + 1, lines.join("\n"))
    });
    removed.chain(listed).collect()
}

#[test]
fn a_table_fails_when_any_exit_that_it_takes_is_removed() {
    let mut removed = 0;
    for (file, table) in EXAMPLES {
        let (file, table) = (example(file), example(table));
        let text = fs::read_to_string(&file).unwrap();
        // A machine that is like another one gets the exits of that one instead.
        let own = text.split("like = ").next().unwrap().lines().count();
        for (line, text) in without_each_exit(&text).into_iter().filter(|(line, _)| *line <= own) {
            // No run takes this exit.
            if text.matches("not in_sight").count() == 0 && file.ends_with("dragon.fsm.toml") {
                continue;
            }
            let folder = Folder::new("without_exit").with("changed.fsm.toml", &text);
            let (code, told, complained) = folder.run(&["run", "changed.fsm.toml", "--tests", table.to_str().unwrap()]);
            assert_eq!(code, 1, "{}, without line {line}: {told}{complained}", file.display());
            removed += 1;
        }
    }
    assert_eq!(removed, 73);
}

const GUARD: &str = "
initial = 'post'
states.post.exits = [{ to = 'chase', when = 'seen' }, { to = 'rest', after = 2, do = 'yawn' }, { to = 'hide', when = 'seen and hurt' }]
states.chase.exits = [{ to = 'post', on = 'hit', when = 'message.damage > 5' }]
states.rest.exits = [{ to = 'post', when = 'chance(0.2)' }]
states.hide.final = true
";

#[test]
fn a_table_says_what_each_run_does_and_which_exits_cannot_be_taken() {
    let folder = Folder::new("guard_table").with("guard.toml", GUARD);
    let (code, told, complained) = folder.run(&["tests", "guard.toml"]);
    assert_eq!((code, complained.as_str()), (0, ""));
    assert_eq!(
        told,
        r#"# 2 runs, which take 4 of 5 exits; 1 cannot be taken, and no run was found for 0.
# Written by `demeanor tests guard.toml`. To run them again: `demeanor run guard.toml --tests` with the name of this file.
#
# Exits that cannot be taken:
# - post -> hide: seen and hurt: an earlier exit, to `chase`, is taken whenever this condition holds

tick = 0.1

# post -> chase: seen
# chase -> post: hit [message.damage > 5]
[[run]]
seconds = 0.1
at = [
    { time = 0, seen = true },
    { time = 0.1, seen = false, message = "hit(damage=6)" },
]
expect = [
    "0 s  post -> chase",
    "0.1 s  chase -> post",
    "0.1 s  ends in post",
]

# post -> rest: after 2 s / yawn
# rest -> post: chance(0.2)
[[run]]
seconds = 2.1
at = [
    { time = 2.1, chance = 0.01 },
]
expect = [
    "2 s  does yawn",
    "2 s  post -> rest",
    "2.1 s  rest -> post",
    "2.1 s  ends in post",
]
"#
    );
}

#[test]
fn a_run_that_is_not_as_before_is_shown_with_what_is_different() {
    let folder = Folder::new("guard_changed").with("guard.toml", GUARD);
    let (code, _, _) = folder.run(&["tests", "guard.toml", "-o", "guard.tests.toml"]);
    assert_eq!(code, 0);
    let folder = folder.with("guard.toml", &GUARD.replace("do = 'yawn'", "do = 'sigh'"));
    let (code, told, complained) = folder.run(&["run", "guard.toml", "--tests", "guard.tests.toml"]);
    assert_eq!(code, 1);
    assert_eq!(told, "guard.tests.toml: 1 of 2 runs not as before\n");
    assert_eq!(
        complained.trim_end(),
        "guard.tests.toml: run 2 is not as before:
- 2 s  does yawn
+ 2 s  does sigh
  2 s  post -> rest
  2.1 s  rest -> post
  2.1 s  ends in post"
    );
}

/// The scripts of a machine are not in the search, but in the runs of the table.
#[test]
#[cfg(feature = "script")]
fn exits_behind_scripts_random_times_turns_and_linked_machines_are_taken() {
    let brew = "
initial = 'heat'
states.heat.exits = [{ to = 'boil', after = 1 }]
states.boil.final = true
";
    let witch = "
initial = 'home'
global = 'always'
states.always.exits = [{ to = 'asleep', on = 'spell', when = 'message.power > mana' }]
states.home.every = '1 s'
states.home.exits = [{ to = 'kitchen', when = 'hungry' }, { to = 'away', after = '2 s .. 4 s' }]
states.kitchen.machine = 'brew.toml'
states.kitchen.exits = [{ to = 'home', on = 'done' }]
states.away.choose = 'best'
states.away.exits = [{ to = 'home', score = 'mana', cooldown = 3 }, { to = 'kitchen', score = '10 - mana' }]
states.asleep.script = 'asleep.rhai'
states.asleep.exits = [{ to = 'home', after = 1 }, { to = 'away', when = { script = 'dreams.rhai' } }]
";
    let folder = Folder::new("witch_table").with("brew.toml", brew).with("witch.toml", witch);
    let folder = folder
        .with("asleep.rhai", "fn update() { if this.mana < -50.0 { change_state(\"home\"); } }")
        .with("dreams.rhai", "false");
    let (code, told, complained) = folder.run(&["tests", "witch.toml"]);
    assert_eq!((code, complained.as_str()), (0, ""));
    let runs = told.split_once("\ntick").unwrap().0;
    assert_eq!(
        runs,
        "# 4 runs, which take 8 of 9 exits; 0 cannot be taken, and no run was found for 1.
# Written by `demeanor tests witch.toml`. To run them again: `demeanor run witch.toml --tests` with the name of this file.
#
# Exits whose conditions ask a script, which the search does not run:
# - asleep -> away: script dreams.rhai
"
    );
    let folder = folder.with("witch.tests.toml", &told);
    let (code, told, _) = folder.run(&["run", "witch.toml", "--tests", "witch.tests.toml"]);
    assert_eq!((code, told.as_str()), (0, "witch.tests.toml: 4 runs as before\n"));
}

#[test]
fn one_table_has_the_runs_of_all_machines_of_a_file() {
    let file = |length: &str| {
        format!(
            "[machines.cat]\ninitial = 'a'\nstates.a.exits = [{{ to = 'b', after = {length} }}]\nstates.b.final = true\n\
             [machines.dog]\ninitial = 'c'\nstates.c.exits = [{{ to = 'd', on = 'call' }}]\nstates.d.final = true\n"
        )
    };
    let folder = Folder::new("pets_table").with("pets.toml", &file("2"));
    let (code, told, complained) = folder.run(&["tests", "pets.toml"]);
    assert_eq!((code, complained.as_str()), (0, ""));
    assert_eq!(
        told.lines().next(),
        Some("# 2 runs, which take 2 of 2 exits; 0 cannot be taken, and no run was found for 0.")
    );
    let runs: Vec<_> = told.lines().filter(|line| line.starts_with("machine") || line.contains("->")).collect();
    let expected = [
        "# cat: a -> b: after 2 s",
        "machine = \"cat\"",
        "    \"2 s  a -> b\",",
        "# dog: c -> d: call",
        "machine = \"dog\"",
        "    \"0 s  c -> d\",",
    ];
    assert_eq!(runs, expected);
    let folder = folder.with("pets.tests.toml", &told).with("slower.toml", &file("3"));
    let run = |args: &[&str]| {
        let (code, told, _) = folder.run(&[&["run"], args, &["--tests", "pets.tests.toml"]].concat());
        (code, told)
    };
    assert_eq!(run(&["pets.toml"]), (0, "pets.tests.toml: 2 runs as before\n".into()));
    assert_eq!(run(&["slower.toml"]), (1, "pets.tests.toml: 1 of 2 runs not as before\n".into()));
    assert_eq!(run(&["slower.toml", "--machine", "dog"]), (0, "pets.tests.toml: 1 run as before\n".into()));
    let refused = |args: &[&str]| {
        let (code, told, complained) = folder.run(&[&["run", "pets.toml"], args].concat());
        assert_eq!((code, told.as_str()), (2, ""));
        complained
    };
    assert_eq!(
        refused(&["--machine", "dgo", "--tests", "pets.tests.toml"]),
        "error: pets.tests.toml: there is no run of the machine `dgo` in it\n"
    );
    assert_eq!(
        refused(&["--tests", "slower.toml"]),
        "error: slower.toml: line 1: unknown field `machines`, expected one of `machine`, `tick`, `run`\n"
    );
    let cut = told.split_inclusive("seconds =").next().unwrap();
    let folder = folder.with("cut.toml", cut).with("still.toml", &told.replacen("tick = 0.1", "tick = 0", 1));
    let refused = |table: &str| folder.run(&["run", "pets.toml", "--tests", table]).2;
    let line = cut.lines().count();
    assert!(refused("cut.toml").starts_with(&format!("error: cut.toml: line {line}: ")), "{}", refused("cut.toml"));
    assert_eq!(
        refused("still.toml"),
        "error: still.toml: run 1: a tick cannot take 0 seconds: it must be more than 0\n"
    );
}

/// The head of the table of a file, and its runs without what they expect. The runs are played again.
fn table(name: &str, file: &str) -> String {
    let folder = Folder::new(name).with("m.toml", file);
    let (code, told, complained) = folder.run(&["tests", "m.toml"]);
    assert_eq!((code, complained.as_str()), (0, ""));
    let runs = told.matches("[[run]]").count();
    let folder = folder.with("m.tests.toml", &told);
    let (code, again, _) = folder.run(&["run", "m.toml", "--tests", "m.tests.toml"]);
    assert_eq!(code, 0, "{again}");
    assert!(again.contains(&format!(": {runs} run")) && again.trim_end().ends_with("as before"), "{again}");
    let lines = told.lines().filter(|line| !line.is_empty() && !line.starts_with("# Written"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_table_without_exits_has_no_runs() {
    for (name, file) in [
        ("no_exits", "initial = 'a'\nstates.a.final = true\n"),
        (
            "no_exits_of_two",
            "machines.a = { initial = 'a', states.a = { final = true } }\nmachines.b = { initial = 'b', states.b = { final = true } }\n",
        ),
    ] {
        let told = "# 0 runs, which take 0 of 0 exits; 0 cannot be taken, and no run was found for 0.\ntick = 0.1";
        assert_eq!(table(name, file), told);
    }
}

#[test]
fn the_commands_in_a_table_are_quoted_for_a_shell() {
    let name = "-my guard.toml";
    let folder = Folder::new("quoted_table").with(name, GUARD);
    let (_, told, _) = folder.run(&["tests", &format!("./{name}")]);
    let line = told.lines().nth(1).unwrap();
    let commands = "`demeanor tests './-my guard.toml'`. To run them again: `demeanor run './-my guard.toml' --tests`";
    assert_eq!(line, format!("# Written by {commands} with the name of this file."));
}

#[test]
fn a_run_that_waits_for_long_has_long_ticks() {
    let file = "initial = 'a'\nstates.a.exits = [{ to = 'b', after = '2 min' }, { to = 'b', when = 'x' }]\nstates.b.final = true\n";
    assert_eq!(
        table("long_wait", file),
        r#"# 2 runs, which take 2 of 2 exits; 0 cannot be taken, and no run was found for 0.
tick = 0.1
# a -> b: x
[[run]]
seconds = 0
at = [
    { time = 0, x = true },
]
expect = [
    "0 s  a -> b",
    "0 s  ends in b",
]
# a -> b: after 2 min
[[run]]
tick = 1
seconds = 120
expect = [
    "120 s  a -> b",
    "120 s  ends in b",
]"#
    );
}

#[test]
fn a_run_waits_while_the_states_inside_change() {
    let file = "
        initial = 'p'
        states.p.initial = 'a'
        states.p.exits = [{ to = 'c', after = 40 }]
        states.a = { parent = 'p', exits = [{ to = 'b', after = 2 }] }
        states.b = { parent = 'p', exits = [{ to = 'a', after = 4 }] }
        states.c.final = true
    ";
    let first = "# 1 run, which takes 3 of 3 exits; 0 cannot be taken, and no run was found for 0.";
    assert_eq!(table("inside", file).lines().next(), Some(first));
}

#[test]
fn a_run_puts_a_deadline_off_to_take_the_exits_behind_it() {
    let file = "
        initial = 'open'
        states.open.initial = 'wait'
        states.open.exits = [{ to = 'closed', at = 'closing_time' }]
        states.wait = { parent = 'open', exits = [{ to = 'sort', after = 8 }] }
        states.sort.parent = 'open'
        states.closed.final = true
    ";
    let table = table("deadline", file);
    let first = "# 2 runs, which take 2 of 2 exits; 0 cannot be taken, and no run was found for 0.";
    assert_eq!(table.lines().next(), Some(first));
    assert!(table.contains("{ time = 0, closing_time = 1000000000 },"), "{table}");
}

#[test]
fn a_message_of_a_list_that_an_earlier_exit_takes_is_not_an_exit_of_its_own() {
    let exits = |list: &str| {
        format!(
            "initial = 'a'\nstates.a.exits = [{{ to = 'b', on = 'm' }}, {{ to = 'c', on = {list} }}]\n\
             states.b.exits = [{{ to = 'a' }}]\nstates.c.exits = [{{ to = 'a' }}]\n"
        )
    };
    let head = |list| table("list", &exits(list)).split_once("\ntick").unwrap().0.to_owned();
    assert_eq!(head("['m', 'k']"), "# 2 runs, which take 4 of 4 exits; 0 cannot be taken, and no run was found for 0.");
    assert_eq!(
        head("'m'"),
        "# 1 run, which takes 2 of 4 exits; 2 cannot be taken, and no run was found for 0.\n#\n\
         # Exits that cannot be taken:\n\
         # - a -> c: m: an earlier exit, to `b`, is taken whenever this condition holds\n\
         # - c -> a: `c` is never active"
    );
}

#[test]
fn the_table_says_why_no_run_was_found() {
    let file = "
        initial = 'a'
        states.a.exits = [{ to = 'a', restart = true, after = 1, when = 'time_in(a) < 5' }, { to = 'b', after = 3 }]
        states.b.exits = [{ to = 'a', after = 1 }]
        states.post = { entry = true, exits = [{ to = 'a' }] }
    ";
    let table = table("why_no_run", file);
    let why: Vec<_> = table.lines().filter(|line| line.starts_with("# - ")).collect();
    assert_eq!(
        why,
        [
            "# - a -> b: after 3 s: no run stayed in `a` for 3 s",
            "# - b -> a: after 1 s: no run reached `b`",
            "# - post -> a: only the game's code changes to `post`",
        ]
    );
}

#[test]
fn a_table_with_a_mistake_names_its_run() {
    for (table, why) in [
        ("", "there are no runs in it"),
        ("run = []\n", "there are no runs in it"),
        ("[[run]]\nseconds = 1\nexpect = []\n", "run 1: there is no `tick` in it"),
        ("tick = 0.1\n[[run]]\nexpect = []\n", "line 2: missing field `seconds`"),
        ("tick = 0.1\n\n[[run]]\nseconds = 1\n", "line 3: missing field `expect`"),
        (
            "tick = 0.1\n[[run]]\nsecond = 1\nexpect = []\n",
            "line 3: unknown field `second`, expected one of `machine`, `tick`, `seconds`, `at`, `expect`",
        ),
        ("tick = '0.1'\n", "line 1: invalid type: string \"0.1\", expected f64"),
        (
            "tick = 0.1\n[[run]]\nseconds = 1\nexpect = [\n    '0 s  ends in post',\n    1,\n]\n",
            "line 6: invalid type: integer `1`, expected a string",
        ),
        (
            "tick = 0.1\n[[run]]\nseconds = 1\nexpect = []\nat = [{ seen = true }]\n",
            "run 1: `at` number 1: there is no `time`",
        ),
        (
            "tick = 0.1\n[[run]]\nseconds = 1.05\nexpect = []\nat = [{ time = 1.02, seen = true }]\n",
            "run 1: there is a row at 1.02 s, but the run ends at 1 s",
        ),
    ] {
        let folder = Folder::new("bad_table").with("guard.toml", GUARD).with("bad.tests.toml", table);
        let (code, _, complained) = folder.run(&["run", "guard.toml", "--tests", "bad.tests.toml"]);
        assert_eq!((code, complained.trim_end()), (2, format!("error: bad.tests.toml: {why}").as_str()));
    }
}

#[test]
fn values_with_the_names_of_columns_are_told_apart_from_the_columns() {
    let file = "initial = 'a'\nstates.a.exits = [{ to = 'b', when = 'time > 5' }]\n\
                states.b.exits = [{ to = 'a', on = 'hit', when = 'message > 3 and time < 2' }]\n\
                properties.p = { never = 'in(a) and message > 3' }\n";
    let told = table("columns", file);
    assert!(told.contains(r#"{ time = 0, "value.time" = 6 }"#), "{told}");
    let folder = Folder::new("columns_proved").with("m.toml", file);
    let (_, _, proved) = folder.run(&["check", "--prove", "m.toml"]);
    let csv = "time,value.time,value.message,message\n0,6,0,\n0.1,0,4,hit\n";
    assert_eq!(folder.run_with(&["run", "m.toml", "--tick", "0.1", "--seconds", "0.1", "--values", "-"], csv).0, 0);
    assert!(proved.contains("property-fails"), "{proved}");
}
