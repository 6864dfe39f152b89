//! The page: one document that contains the libraries for its charts and its graph.

use std::io;
use std::sync::OnceLock;

use demeanor_loopback::{Answer, BREAKPOINTS, DATA, FLOW, MESSAGES, PAST, token};

/// The parts of the page, each with the comment that it replaces: the scripts of `demeanor_loopback`, and libraries for charts
/// (uPlot) and for graph layout (dagre). Both libraries have the MIT license, whose text is beside them.
const PARTS: [(&str, &str); 8] = [
    ("/*uPlot.min.css*/", include_str!("../../page/vendor/uPlot.min.css")),
    ("/*uPlot.iife.min.js*/", include_str!("../../page/vendor/uPlot.iife.min.js")),
    ("/*flow.js*/", FLOW),
    ("/*past.js*/", PAST),
    ("/*data.js*/", DATA),
    ("/*messages.js*/", MESSAGES),
    ("/*breakpoints.js*/", BREAKPOINTS),
    ("/*dagre.min.js*/", include_str!("../../page/vendor/dagre.min.js")),
];
const PAGE: &str = include_str!("../../page/page.html");
const NONCE: &str = "{{nonce}}";

fn document() -> &'static str {
    static DOCUMENT: OnceLock<String> = OnceLock::new();
    DOCUMENT.get_or_init(|| PARTS.iter().fold(PAGE.to_owned(), |page, (mark, part)| page.replace(mark, part)))
}

/// Returns the page. The browser runs only the scripts in it, and loads nothing else.
pub(super) fn page() -> io::Result<Answer> {
    let nonce = token()?;
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    Ok(Answer::page(document().replace(NONCE, &nonce), &policy))
}

#[cfg(test)]
mod tests {
    use super::{NONCE, PARTS, document};

    #[test]
    fn the_page_has_all_its_parts_in_it_and_names_no_other_address() {
        let document = document();
        for (mark, _) in PARTS {
            assert!(!document.contains(mark), "{mark}");
        }
        assert_eq!(document.matches(&format!("nonce=\"{NONCE}\"")).count(), document.matches(NONCE).count());
        let own = PARTS.iter().fold(document.to_owned(), |page, (_, part)| page.replace(part, ""));
        let of_drawings = own.matches("http://www.w3.org/2000/svg").count();
        assert_eq!(own.matches("http").count(), of_drawings, "nothing is loaded from elsewhere");
        assert_eq!(own.matches("src=").count(), 0);
    }
}
