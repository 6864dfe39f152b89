//! The files of the page, which are part of the executable.

use std::io;

use demeanor_loopback::{Answer, BREAKPOINTS, DATA, FLOW, MESSAGES, PAST, token};

const PAGE: &str = include_str!("../../studio/page.html");
const NONCE: &str = "{{nonce}}";

/// The parts that the inspector's page has, too. By path: the content, and what it exports.
const COMMON: [(&str, &str, &str); 5] = [
    ("/flow.js", FLOW, "Flow, way"),
    ("/past.js", PAST, "Past"),
    ("/data.js", DATA, "linesOf"),
    ("/messages.js", MESSAGES, "MessageList"),
    ("/breakpoints.js", BREAKPOINTS, "Breakpoints"),
];

const SCRIPT: &str = "text/javascript";

/// By path: the type, and the content.
const FILES: [(&str, &str, &str); 15] = [
    ("/style.css", "text/css", include_str!("../../studio/style.css")),
    ("/studio.js", SCRIPT, include_str!("../../studio/studio.js")),
    ("/server.js", SCRIPT, include_str!("../../studio/server.js")),
    ("/elements.js", SCRIPT, include_str!("../../studio/elements.js")),
    ("/picture.js", SCRIPT, include_str!("../../studio/picture.js")),
    ("/view.js", SCRIPT, include_str!("../../studio/view.js")),
    ("/search.js", SCRIPT, include_str!("../../studio/search.js")),
    ("/details.js", SCRIPT, include_str!("../../studio/details.js")),
    ("/forms.js", SCRIPT, include_str!("../../studio/forms.js")),
    ("/game.js", SCRIPT, include_str!("../../studio/game.js")),
    ("/text.js", SCRIPT, include_str!("../../studio/text.js")),
    ("/run.js", SCRIPT, include_str!("../../studio/run.js")),
    ("/controls.js", SCRIPT, include_str!("../../studio/controls.js")),
    ("/proof.js", SCRIPT, include_str!("../../studio/proof.js")),
    ("/codemirror.js", SCRIPT, include_str!("../../studio/vendor/codemirror.js")),
];

/// Returns the file at a path.
pub(super) fn asset(path: &str) -> io::Result<Option<Answer>> {
    if path == "/" {
        return page().map(Some);
    }
    if let Some((_, content, exports)) = COMMON.iter().find(|(at, ..)| *at == path) {
        return Ok(Some(Answer::of(200, SCRIPT, format!("{content}\nexport {{ {exports} }};\n"))));
    }
    let file = FILES.iter().find(|(at, ..)| *at == path);
    Ok(file.map(|(_, content_type, content)| Answer::of(200, content_type, *content)))
}

/// Returns the page. The browser runs only the scripts of this server, and loads nothing from elsewhere.
fn page() -> io::Result<Answer> {
    // The text editor makes its own styles.
    let nonce = token()?;
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    Ok(Answer::page(PAGE.replace(NONCE, &nonce), &policy))
}

#[cfg(test)]
mod tests {
    use super::{FILES, PAGE};

    #[test]
    fn the_page_names_no_other_address() {
        let own = FILES.iter().filter(|(path, ..)| *path != "/codemirror.js").map(|(.., content)| *content);
        for content in own.chain([PAGE]) {
            let of_drawings = content.matches("http://www.w3.org/").count();
            assert_eq!(content.matches("http").count(), of_drawings, "nothing is loaded from elsewhere");
        }
    }

    #[test]
    fn every_script_that_is_imported_is_there() {
        for (at, kind, content) in FILES.iter().filter(|(path, ..)| *path != "/codemirror.js") {
            for path in content.split(" from \".").skip(1).filter(|_| *kind == super::SCRIPT) {
                let path = path.split('"').next().unwrap();
                let is_there = FILES.iter().chain(&super::COMMON).any(|(other, ..)| *other == path);
                assert!(is_there, "{at}: {path}");
            }
        }
    }
}
