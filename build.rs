//! Prepares the pages of `docs/` for `cargo doc`: links between pages become links between modules, drawings become part of the
//! page, and links to other files, such as tests and examples, become plain text.

use std::path::{Component, Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=docs");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    prepare(Path::new("docs"), &out)
}

/// Prepares the pages of a folder and its subfolders.
fn prepare(folder: &Path, out: &Path) -> io::Result<()> {
    fs::create_dir_all(out.join(folder))?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            prepare(&path, out)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            fs::write(out.join(&path), prepared(&fs::read_to_string(&path)?, folder))?;
        }
    }
    Ok(())
}

/// Returns a page of a folder in the form for rustdoc.
fn prepared(page: &str, folder: &Path) -> String {
    // Text between fences is code.
    let parts = page.split("```").enumerate();
    let parts = parts.map(|(part, text)| if part % 2 == 0 { with_links(text, folder) } else { text.to_owned() });
    parts.collect::<Vec<_>>().join("```")
}

/// Replaces the links in a text: `[words](target)`, and `![words](target)` for pictures.
fn with_links(text: &str, folder: &Path) -> String {
    let Some((before, rest)) = text.split_once("](") else { return text.to_owned() };
    let (Some((before, words)), Some((target, after))) = (before.rsplit_once('['), rest.split_once(')')) else {
        return format!("{before}]({}", with_links(rest, folder));
    };
    let after = with_links(after, folder);
    if let Some(before) = before.strip_suffix('!') {
        return format!(
            "{before}{}{after}",
            drawing(&folder.join(target), words).unwrap_or(format!("*Picture: {words}*"))
        );
    }
    if target.starts_with("http") || target.starts_with('#') {
        return format!("{before}[{words}]({target}){after}");
    }
    match module(&folder.join(target)) {
        Some(module) => format!("{before}[{words}]({module}){after}"),
        None => format!("{before}{words}{after}"),
    }
}

/// Returns the path of a page's module, with the heading: for `docs/porting/../why.md#words`, `crate::docs::why#words`.
fn module(target: &Path) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for component in target.components() {
        match component {
            Component::Normal(name) => names.push(name.to_str()?.to_owned()),
            Component::ParentDir => drop(names.pop()),
            _ => {}
        }
    }
    let last = names.pop()?;
    let (page, heading) = last.split_once('#').unwrap_or((&last, ""));
    names.push(page.strip_suffix(".md")?.to_owned());
    let module = names.join("::").replace('-', "_");
    let hash = if heading.is_empty() { "" } else { "#" };
    module.starts_with("docs::").then(|| format!("crate::{module}{hash}{heading}"))
}

/// Returns a drawing as an image that contains its file. If the drawing itself were in the page, its styles would hold for the whole
/// page.
fn drawing(file: &Path, words: &str) -> Option<String> {
    let is_drawing = file.extension().is_some_and(|extension| extension == "svg");
    let mut svg = is_drawing.then(|| fs::read_to_string(file))?.ok()?;
    // These letters have another meaning in an address or in HTML. `%` is the first, because it stands before the others afterwards.
    for letter in ['%', '#', '"', '<', '>', '\n'] {
        svg = svg.replace(letter, &format!("%{:02X}", u32::from(letter)));
    }
    let words = words.replace('"', "&quot;");
    Some(format!("<img alt=\"{words}\" src=\"data:image/svg+xml,{svg}\">"))
}
