//! The examples in `docs/editors.md`.

/// Returns the code blocks of a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let page = include_str!("../../../../docs/editors.md");
    let begin = format!("```{language}\n");
    page.split(begin.as_str()).skip(1).filter_map(|rest| rest.split_once("```")).map(|(block, _)| block).collect()
}

#[test]
fn the_configurations_can_be_read() {
    let helix: Vec<toml::Table> = blocks("toml").into_iter().map(|block| toml::from_str(block).unwrap()).collect();
    assert_eq!(helix.len(), 2);
    for configuration in helix {
        assert_eq!(configuration["language-server"]["demeanor"]["command"].as_str(), Some("demeanor"));
    }
    let code: Vec<serde_json::Value> =
        blocks("json").into_iter().map(|block| serde_json::from_str(block).unwrap()).collect();
    let [package] = &code[..] else { panic!("one extension") };
    assert_eq!(package["main"], "./extension.js");
    assert_eq!((blocks("js").len(), blocks("lua").len()), (1, 2));
}
