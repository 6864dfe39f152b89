//! The programs of `docs/tour.md`: each step's whole program is put together from the page, and becomes a module.

use std::fs;

use proc_macro::TokenStream;

/// Expands to a module for each step of the page in a file, which contains the step's whole program and a function `run`; to
/// `STEPS`, the list of the steps; and to `DOG`, the page's definition file.
///
/// # Panics
///
/// If there is no such page, or if it has no such parts. The compiler reports this where the macro is called.
#[proc_macro]
pub fn programs(path: TokenStream) -> TokenStream {
    let path = path.to_string();
    let file = std::env::var("CARGO_MANIFEST_DIR").expect("Cargo sets it") + "/" + path.trim_matches('"');
    let page = fs::read_to_string(&file).unwrap_or_else(|why| panic!("{file}: {why}"));
    let mut items = Vec::new();
    let is_step = |part: &&str| part.starts_with(|first: char| first.is_ascii_digit());
    let steps = page.split("\n## ").filter(is_step).enumerate().map(|(number, part)| {
        take_items(part, &mut items);
        let program: String = items.iter().map(|(_, item)| item.as_str()).collect();
        let heading = part.lines().next().unwrap_or_default();
        let output = blocks(part, "text");
        let module = format!(
            "mod step_{number} {{
                {program}
                pub(super) fn run() -> std::process::ExitCode {{ std::process::Termination::report(main()) }}
            }}\n"
        );
        (module, format!("Step {{ heading: {heading:?}, output: &{output:?}, run: step_{number}::run }},\n"))
    });
    let (modules, list): (String, String) = steps.unzip();
    // The compiler reads the page, too, so that Cargo compiles the test again when the page changes.
    let code = format!(
        "{modules}
        const STEPS: &[Step] = &[{list}];
        const DOG: &str = {:?};
        const _: &[u8] = include_bytes!({file:?});",
        blocks(&page, "toml")[0]
    );
    code.parse().unwrap_or_else(|why| panic!("{file}: {why}"))
}

/// Returns the blocks of a language in a part of the page.
fn blocks<'p>(part: &'p str, language: &str) -> Vec<&'p str> {
    let begin = format!("```{language}\n");
    let rest = part.split(begin.as_str()).skip(1);
    rest.map(|rest| rest.split_once("```").expect("a block has an end").0).collect()
}

/// Takes up a step's items, each with its name. An item replaces an earlier one of the same name.
fn take_items(part: &str, items: &mut Vec<(String, String)>) {
    for item in blocks(part, "rust").into_iter().flat_map(items_of) {
        let name = name_of(&item);
        match items.iter_mut().find(|(other, _)| *other == name) {
            Some((_, replaced)) => *replaced = item,
            None => items.push((name, item)),
        }
    }
}

/// Returns the items of a block, with their comments and attributes: an item begins at the left margin, and ends before the next.
fn items_of(block: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut is_whole = true;
    for line in block.lines().filter(|line| !line.is_empty()) {
        if is_whole {
            items.push(String::new());
        }
        if let Some(item) = items.last_mut() {
            *item += line;
            item.push('\n');
        }
        is_whole = line.starts_with('}') || (!line.starts_with([' ', '/', '#']) && line.ends_with([';', '}']));
    }
    items
}

/// Returns the words that an item begins with: `impl State<Dog> for Walk`.
fn name_of(item: &str) -> String {
    let first = item.lines().find(|line| !line.starts_with("//") && !line.starts_with('#'));
    first.and_then(|line| line.split(['{', ';', '(']).next()).unwrap_or_default().trim().to_owned()
}
