//! `CONTRIBUTING.md` has a table of layers: does each file of `src` use only the layers that its own may use?

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A row of the table, which has the lowest layer first.
struct Layer {
    name: String,
    /// Modules with all that is in them, unless a row names a part of one: `batch` and `batch::rows`.
    modules: Vec<Vec<String>>,
    uses: Vec<String>,
}

/// One mention of an item of the crate.
struct Mention {
    line: usize,
    /// From the crate's root.
    path: Vec<String>,
}

/// What a module declares with `mod name;`, and what stands around a line.
struct Module {
    path: Vec<String>,
    children: BTreeSet<String>,
}

#[test]
fn no_layer_looks_up_to_a_higher_one() {
    let layers = layers();
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    for file in files_of_src() {
        let module = module_of(&file);
        let Some(from) = layer_of(&layers, &module) else {
            wrong.push(format!("{}: no layer has it", file.display()));
            continue;
        };
        for Mention { line, path } in mentions(&fs::read_to_string(here().join(&file)).unwrap(), module) {
            let place = format!("{}:{line}", file.display());
            let path_text = path.join("::");
            match layer_of(&layers, &path) {
                None => wrong.push(format!("{place}: `crate::{path_text}` is in no layer")),
                Some(to) if to.name == from.name => {}
                Some(to) if from.uses.contains(&to.name) => drop(used.insert((&from.name, &to.name))),
                Some(to) => wrong.push(format!(
                    "{place}: the layer `{}` does not use `{}`, which has `crate::{path_text}`",
                    from.name, to.name
                )),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    for layer in &layers {
        for name in &layer.uses {
            assert!(used.contains(&(&layer.name, name)), "nothing in the layer `{}` uses `{name}`", layer.name);
        }
    }
}

#[test]
fn a_layer_uses_only_lower_ones_and_has_only_files_that_exist() {
    let layers = layers();
    assert!(layers.len() >= 10, "the table has {} rows", layers.len());
    let modules: Vec<Vec<String>> = files_of_src().iter().map(|file| module_of(file)).collect();
    for (at, layer) in layers.iter().enumerate() {
        for name in &layer.uses {
            let is_lower = layers[..at].iter().any(|lower| lower.name == *name);
            assert!(is_lower, "`{}` uses `{name}`, which is no lower layer", layer.name);
        }
        for module in &layer.modules {
            assert!(modules.contains(module), "`{}` has `{}`, which is no file", layer.name, module.join("/"));
        }
    }
}

#[test]
fn the_files_in_the_tables_exist() {
    let text = contributing();
    let mut folder = None;
    let mut count = 0;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("The files in `src/") {
            folder = rest.split('`').next();
        }
        let Some(cell) = line.strip_prefix("| `").and_then(|row| row.split(" | ").next()) else { continue };
        let Some(folder) = folder else { continue };
        for name in format!("`{cell}").split('`').skip(1).step_by(2) {
            let path = here().join("src").join(folder).join(name);
            let is_there = if name.ends_with('/') { path.is_dir() } else { path.with_extension("rs").is_file() };
            assert!(is_there, "there is no {}", path.display());
            count += 1;
        }
    }
    assert!(count > 60, "{count} files are in the tables");
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn contributing() -> String {
    fs::read_to_string(here().join("CONTRIBUTING.md")).unwrap()
}

/// The rows of the table of layers.
fn layers() -> Vec<Layer> {
    let text = contributing();
    let (_, table) = text.split_once("| layer | holds | uses |\n|---|---|---|\n").unwrap();
    let names = |cell: &str| -> Vec<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    let rows = table.lines().map_while(|line| line.strip_prefix('|')?.strip_suffix('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').collect();
        let [name, holds, uses] = cells[..] else { panic!("a row of three cells: {row}") };
        let modules = names(holds).iter().map(|name| parts(name.trim_end_matches('/'), "/")).collect();
        Layer { name: names(name).remove(0), modules, uses: names(uses) }
    })
    .collect()
}

fn parts(path: &str, by: &str) -> Vec<String> {
    path.split(by).map(str::to_owned).collect()
}

/// The layer that names the longest part of a path.
fn layer_of<'l>(layers: &'l [Layer], path: &[String]) -> Option<&'l Layer> {
    let named = layers.iter().flat_map(|layer| layer.modules.iter().map(move |module| (module.len(), module, layer)));
    named.filter(|(_, module, _)| path.starts_with(module)).max_by_key(|(length, ..)| *length).map(|(.., layer)| layer)
}

/// The files of `src`, relative to the repository's root.
fn files_of_src() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::from("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(here().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn module_of(file: &Path) -> Vec<String> {
    let inside = file.strip_prefix("src").unwrap().with_extension("");
    let mut path: Vec<String> = inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    if path.last().is_some_and(|last| last == "mod") {
        path.pop();
    }
    path
}

/// What a file's code names of the crate, but for what only its documentation names.
fn mentions(text: &str, module: Vec<String>) -> Vec<Mention> {
    let lines: Vec<&str> = text.lines().map(code_of).collect();
    let mut around = vec![Module { children: children(&lines), path: module }];
    // The indentation of the inline modules that are open.
    let mut indents: Vec<usize> = Vec::new();
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let (first, line) = (at, lines[at]);
        at += 1;
        let indent = line.len() - line.trim_start().len();
        let trimmed = line.trim();
        if trimmed == "#[cfg(doc)]" {
            at += 1 + lines[at..].iter().take_while(|line| !line.contains(';')).count();
            continue;
        }
        if trimmed == "}" && indents.last() == Some(&indent) {
            indents.pop();
            around.pop();
            continue;
        }
        let inside = around.last().unwrap();
        if let Some(name) = declared(trimmed, " {") {
            let mut path = inside.path.clone();
            path.push(name.to_owned());
            around.push(Module { path, children: BTreeSet::new() });
            indents.push(indent);
            continue;
        }
        let Some(tree) = without_visibility(trimmed).strip_prefix("use ") else {
            let paths = paths_in(trimmed).into_iter().filter_map(|path| inside.resolve(&parts(path, "::")));
            found.extend(paths.map(|path| Mention { line: first + 1, path }));
            continue;
        };
        let mut tree = tree.to_owned();
        while !tree.contains(';') {
            tree.push_str(lines[at].trim());
            at += 1;
        }
        for leaf in leaves(tree.split(';').next().unwrap()) {
            let path = inside.resolve(&leaf);
            found.extend(path.map(|path| Mention { line: first + 1, path }));
        }
    }
    found
}

impl Module {
    /// A path from the crate's root. `None` if it leads out of the crate.
    fn resolve(&self, path: &[String]) -> Option<Vec<String>> {
        let mut from = self.path.clone();
        let mut rest = path;
        match path[0].as_str() {
            "crate" => return Some(path[1..].to_vec()),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|part| part == "super") {
                    from.pop();
                    rest = &rest[1..];
                }
            }
            child if self.children.contains(child) => {}
            _ => return None,
        }
        from.extend_from_slice(rest);
        Some(from)
    }
}

/// A line without its comment.
fn code_of(line: &str) -> &str {
    line.split("//").next().unwrap().trim_end()
}

fn children(lines: &[&str]) -> BTreeSet<String> {
    lines.iter().filter_map(|line| declared(line.trim(), ";")).map(str::to_owned).collect()
}

/// The name in `mod name` with this ending.
fn declared<'l>(line: &'l str, end: &str) -> Option<&'l str> {
    without_visibility(line).strip_prefix("mod ")?.strip_suffix(end)
}

fn without_visibility(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("pub") else { return line };
    match rest.strip_prefix('(') {
        Some(rest) => rest.split_once(") ").map_or("", |(_, rest)| rest),
        None => rest.trim_start(),
    }
}

/// The paths in a line that begin with `crate`, `self` or `super`. Where an item is visible is no mention.
fn paths_in(line: &str) -> Vec<&str> {
    let is_part = |character: char| character.is_alphanumeric() || character == '_' || character == ':';
    let line = line.split_once("pub(in ").and_then(|(_, rest)| rest.split_once(')')).map_or(line, |(_, rest)| rest);
    let words = line.split(|character| !is_part(character));
    let is_path = |word: &&str| ["crate::", "self::", "super::"].iter().any(|start| word.starts_with(start));
    words.filter(is_path).map(|word| word.trim_end_matches(':')).collect()
}

/// The paths in what is used: `a::{b, c::d}` has `a::b` and `a::c::d`.
fn leaves(tree: &str) -> Vec<Vec<String>> {
    let Some((before, group)) = tree.split_once('{') else {
        return vec![parts(tree.split(" as ").next().unwrap().trim(), "::")];
    };
    let before: Vec<String> =
        before.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let group = group.trim_end().trim_end_matches('}');
    let mut found = Vec::new();
    let mut depth = 0;
    for part in group.split(|character| {
        depth += i32::from(character == '{') - i32::from(character == '}');
        character == ',' && depth == 0
    }) {
        if !part.trim().is_empty() {
            found.extend(leaves(part.trim()).into_iter().map(|leaf| [&before[..], &leaf[..]].concat()));
        }
    }
    found
}
