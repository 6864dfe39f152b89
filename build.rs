//! Prepares the pages of `docs/` for `cargo doc`: their links to each other become links between modules, drawings become part of
//! the page, and what leads out of the pages, to tests and examples, becomes plain text.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=docs");
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    for entry in fs::read_dir("docs")? {
        let page = entry?.path();
        if page.extension().is_some_and(|extension| extension == "md") {
            let name = page.file_name().ok_or(io::ErrorKind::InvalidInput)?;
            fs::write(Path::new(&out).join(name), prepared(&fs::read_to_string(&page)?))?;
        }
    }
    Ok(())
}

/// Returns a page as rustdoc is given it.
fn prepared(page: &str) -> String {
    let mut parts = page.split("```");
    let mut text = with_links(parts.next().unwrap_or_default());
    // What stands between fences is code.
    while let (Some(code), Some(rest)) = (parts.next(), parts.next()) {
        text += &format!("```{code}```{}", with_links(rest));
    }
    text
}

/// Exchanges the links of a text: `[words](target)`, and `![words](target)` for pictures.
fn with_links(text: &str) -> String {
    let Some((before, rest)) = text.split_once("](") else { return text.to_owned() };
    let Some((target, after)) = rest.split_once(')') else { return text.to_owned() };
    let Some((before, words)) = before.rsplit_once('[') else { return format!("{before}]({}", with_links(rest)) };
    let (page, heading) = target.split_once('#').map_or((target, None), |(page, heading)| (page, Some(heading)));
    let is_elsewhere = target.starts_with("http") || target.starts_with('#');
    let link = if let Some(before) = before.strip_suffix('!') {
        return format!("{before}{}{}", drawing(target).unwrap_or(format!("*Picture: {words}*")), with_links(after));
    } else if is_elsewhere {
        format!("[{words}]({target})")
    } else if let Some(module) = page.strip_suffix(".md").filter(|module| !module.contains('/')) {
        let heading = heading.map(|heading| format!("#{heading}")).unwrap_or_default();
        format!("[{words}](crate::docs::{module}{heading})")
    } else {
        words.to_owned()
    };
    format!("{before}{link}{}", with_links(after))
}

/// Returns a drawing as a part of the page. No blank line may end it.
fn drawing(target: &str) -> Option<String> {
    let svg = target.ends_with(".svg").then(|| fs::read_to_string(Path::new("docs").join(target)))?.ok()?;
    Some(svg.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join("\n"))
}
