//! What is proved of definitions over all situations: each fault is found, and shown; what is right is not found fault with.
#![cfg(feature = "definition")]

use demeanor::definition::{Outline, Proof};

/// The findings of a file, each with its code and what it says, and the changes that its witness leads to.
fn found(file: &str) -> Vec<String> {
    let outlines = Outline::parse_all("guard.toml", file, None).unwrap();
    let proof = Proof::of(&outlines);
    println!("{:?} {}", proof.notes(), proof.steps());
    let finding = |finding: &demeanor::definition::Finding| {
        let problem = finding.problem();
        let shown = finding.witness().map(|witness| {
            let changes: Vec<_> =
                witness.changes().iter().take(3).map(|change| format!("{} -> {}", change.from, change.to)).collect();
            let from = witness.from().unwrap_or("the beginning");
            let rows = witness.to_csv().replace('\n', " ");
            format!("from {from}: {rows}=> {} ... {}", changes.join(", "), witness.end())
        });
        format!("{}:{}: {problem} | {}", problem.line(), problem.code_name(), shown.unwrap_or("no witness".into()))
    };
    proof.findings().iter().map(finding).collect()
}

#[test]
fn explore() {
    for file in [
        "initial='a'\n[states.a]\nexits=[{to='b',when='health < 20 and health > 50'}]\n[states.b]\nfinal=true\n",
        "initial='a'\n[states.a]\nexits=[{to='b',when='health < 20'},{to='c',when='health < 10'}]\n[states.b]\nfinal=true\n[states.c]\nfinal=true\n",
        "initial='a'\n[states.a]\nexits=[{to='b',when='health < 20'}]\n[states.b]\nenter_when='health > 30'\nfinal=true\n",
        "initial='a'\n[states.a]\nexits=[{to='b',when='x'}]\n[states.b]\nenter_when='health > 30 and health < 20'\nfinal=true\n",
        "initial='a'\n[states.a]\nexits=[{to='b',when='x'}]\n[states.b]\nexits=[{to='a',when='x'}]\n",
        "initial='a'\n[states.a]\nexits=[{to='b',when='x',always=true}]\n[states.b]\nexits=[{to='a',when='x',always=true}]\n",
        "initial='a'\n[states.a]\nexits=[{to='b',when='x and time_in_state < 3'}]\n[states.b]\nfinal=true\n",
        "initial='a'\n[states.a]\nexits=[{to='b',on='hit',when='message.damage > 3'},{to='c',on='hit', when='message.damage > 5'}]\n[states.b]\nfinal=true\n[states.c]\nfinal=true\n",
        "initial='p'\n[states.p]\ninitial='a'\nexits=[{to='b',after=5}]\n[states.a]\nparent='p'\nexits=[{to='c',after=10}]\n[states.b]\nfinal=true\n[states.c]\nfinal=true\n",
        include_str!("../examples/arena/grunt.toml"),
        include_str!("../examples/arena/sniper.toml"),
        include_str!("../examples/bestiary/bestiary.fsm.toml"),
    ] {
        println!("{}", &file[..200.min(file.len())]);
        for found in found(file) {
            println!("  {found}");
        }
    }
}
