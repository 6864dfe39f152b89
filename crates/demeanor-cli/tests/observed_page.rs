//! The designers' page shows the same coverage document that the tool writes.

use running::Folder;

mod running;

const GUARD: &str = "initial = 'aim'
[states.aim]
exits = [{ to = 'shoot', after = 2 }]
[states.shoot]
exits = [{ to = 'aim', on = 'hit' }]
[states.flee]
entry = true
final = true
";

/// A flow that a game has written. The guard has asked three times to aim, and was refused.
const FLOW: &str = r#"{
    "version": 1,
    "changes": [{ "from": "aim", "to": "shoot", "cause": "change", "count": 7 }],
    "refusals": [
        { "from": "shoot", "to": "aim", "cause": "change", "guard": "can_enter", "state": "aim", "count": 3 }
    ],
    "stays": []
}"#;

#[test]
fn the_page_shows_the_document_of_which_exits_were_taken_as_it_is() {
    let page = include_str!("../../../docs/definitions.md");
    let shown = page.split("```json\n").nth(2).unwrap().split_once("```").unwrap().0;
    let shown: serde_json::Value = serde_json::from_str(shown).unwrap();
    let folder = Folder::new("observed_page").with("guard.toml", GUARD).with("flow.json", FLOW);
    let (_, told, _) = folder.run(&["graph", "guard.toml", "--observed", "flow.json", "--format", "json"]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&told).unwrap(), shown);
}
