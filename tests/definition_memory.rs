//! temp
#![cfg(feature = "definition")]
use allocation_counter::measure;
use demeanor::definition::Outline;
use std::fmt::Write as _;
fn show(name: &str, text: &str) {
    let mut outlines = None;
    let all = measure(|| outlines = Some(Outline::parse_all("a.toml", text, None)));
    println!(
        "{name}: {} bytes, peak {} = {} per byte, kept {}, total {}",
        text.len(),
        all.bytes_max,
        all.bytes_max as usize / text.len(),
        all.bytes_current,
        all.bytes_total
    );
}
#[test]
fn show_all() {
    let n = 20000;
    let mut a = "initial = 's0'\n".to_owned();
    for i in 0..n {
        writeln!(a, "[states.s{i}]\nexits=[{{to='s{}',after=1}}]", (i + 1) % n).unwrap();
    }
    show("chain", &a);
    show("circle", &a.replace("after=1", "always=true"));
    let mut a = String::new();
    for i in 0..n {
        writeln!(a, "[machines.m{i}]\nlike='m{}'", i + 1).unwrap();
    }
    writeln!(a, "[machines.m{n}]\ninitial='a'\nstates.a.final=true").unwrap();
    show("like", &a);
    let mut a = "initial='a'\n[states.a]\nbehavior=[".to_owned();
    for i in 0..n {
        write!(a, "'b{i}', ").unwrap();
    }
    show("behaviors", &(a + "]"));
}
