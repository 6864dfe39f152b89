//! The format as it is published.
#![cfg(feature = "definition")]

use std::fs;
use std::path::Path;

use demeanor::definition::{Outline, Words, schema};

use crate::guard::vocabulary;

/// What is published is what the code says. Set `UPDATE` to publish anew.
#[test]
fn the_published_schema_is_true() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/definition.schema.json");
    let json = format!("{:#}\n", schema());
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &json).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap() == json, "docs/definition.schema.json is not what the code says");
}

#[test]
#[cfg_attr(not(feature = "script"), ignore = "needs the feature `script`")]
fn every_block_of_toml_in_the_designers_page_is_a_definition() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/definitions.md")).unwrap();
    let blocks: Vec<_> = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 3);
    for block in blocks {
        let outline =
            Outline::parse("docs/definitions.md", block, None).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(outline.warnings(), []);
    }
}

#[test]
fn a_vocabulary_comes_back_from_json_as_it_was() {
    let words = vocabulary().export();
    assert_eq!(Words::from_json(&words.to_json()).unwrap(), words);
}
