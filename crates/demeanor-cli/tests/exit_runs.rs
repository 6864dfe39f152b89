//! `demeanor tests`: runs that take every exit of a machine, and `demeanor run --tests`, which runs them again.

use std::fs;
use std::path::{Path, PathBuf};

use running::Folder;

mod running;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// The examples with a table, and the options for both commands.
const EXAMPLES: [(&str, &str); 3] = [
    ("arena/grunt.toml", "arena/grunt.tests.toml"),
    ("dragon/dragon.fsm.toml", "dragon/dragon.tests.toml"),
    ("boss/boss.fsm.toml", "boss/boss.tests.toml"),
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
        for (line, text) in without_each_exit(&text) {
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
    assert_eq!(removed, 43);
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
        "# 2 runs, which take 4 of 5 exits; 1 cannot be taken, and no run was found for 0.
",
    );
}

#[test]
fn a_run_that_is_not_as_before_is_shown_with_what_is_different() {
    let folder = Folder::new("guard_changed").with("guard.toml", GUARD);
    let (code, _, _) = folder.run(&["tests", "guard.toml", "-o", "guard.tests.toml"]);
    assert_eq!(code, 0);
    let folder = folder.with("guard.toml", &GUARD.replace("after = 2", "after = 1.5"));
    let (code, told, complained) = folder.run(&["run", "guard.toml", "--tests", "guard.tests.toml"]);
    assert_eq!(code, 1);
    assert_eq!(told, "guard.tests.toml: 1 of 2 runs not as before\n");
    assert_eq!(complained, "");
}
