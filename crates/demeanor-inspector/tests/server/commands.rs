//! Pause, step, and changing an owner by hand: only if the game allows it, and only for the page.

use serde_json::json;

use super::client::{command, status_of};
use super::{guards, inspector, page_of, wait_until};

const REFUSED: &str = "HTTP/1.1 403 Forbidden";
const ACCEPTED: &str = "HTTP/1.1 202 Accepted";

#[test]
fn commands_are_refused_unless_the_game_allows_them() {
    let mut inspector = inspector();
    let page = page_of(&inspector);
    assert_eq!(command(inspector.address(), &page.token, &json!({ "do": "pause" })), REFUSED);
    assert!(inspector.should_update());
}

#[test]
fn commands_are_refused_without_the_token() {
    let mut inspector = inspector().allow_commands();
    assert_eq!(command(inspector.address(), "guess", &json!({ "do": "pause" })), REFUSED);
    assert!(inspector.should_update());
}

#[test]
fn a_game_that_is_paused_makes_one_tick_for_each_step() {
    let mut inspector = inspector().allow_commands();
    let page = page_of(&inspector);
    let ask = |what: &str| assert_eq!(command(inspector.address(), &page.token, &json!({ "do": what })), ACCEPTED);
    ask("pause");
    page.wait("status", || {}, |told| told["paused"] == true);
    ask("step");
    ask("step");
    let ticks: Vec<_> = (0..5).map(|_| inspector.should_update()).collect();
    assert_eq!(ticks, [true, true, false, false, false]);
    let ask = |what: &str| assert_eq!(command(inspector.address(), &page.token, &json!({ "do": what })), ACCEPTED);
    ask("resume");
    page.wait("status", || {}, |told| told["paused"] == false);
    assert!(inspector.should_update());
}

#[test]
fn a_game_that_is_paused_goes_on_when_nobody_watches_any_more() {
    let mut inspector = inspector().allow_commands();
    let page = page_of(&inspector);
    assert_eq!(command(inspector.address(), &page.token, &json!({ "do": "pause" })), ACCEPTED);
    assert!(!inspector.should_update());
    page.close();
    wait_until(|| inspector.should_update());
}

#[test]
fn an_owner_is_changed_by_hand() {
    let mut inspector = inspector().allow_commands();
    let (mut batch, [bob, elsa, joe]) = guards();
    batch.update(&mut 1.0);
    let page = page_of(&inspector);
    let ask = |owner: &str, kind: &str, state: Option<&str>| {
        let body = json!({ "do": "owner", "crowd": "guards", "owner": owner, "kind": kind, "state": state });
        assert_eq!(command(inspector.address(), &page.token, &body), ACCEPTED);
    };
    ask("2v1", "force", Some("Rest")); // refused by Rest, even so
    ask("1v1", "change", Some("Duty")); // the state around one that is known
    ask("3v1", "push", Some("Rest")); // refused, too
    ask("3v1", "change", Some("Nowhere"));
    ask("99v1", "pop", None);
    assert_eq!(inspector.obey("others", &mut batch, &mut 2.0), 0);
    assert_eq!(inspector.obey("guards", &mut batch, &mut 2.0), 3);
    let states = [bob, elsa, joe].map(|key| batch.state_of(key).unwrap().name().into_owned());
    assert_eq!(states, ["Duty", "Patrol", "Patrol"]);
    let body = json!({ "do": "owner", "crowd": "guards", "owner": "1v1", "kind": "revert" });
    assert_eq!(command(inspector.address(), &page.token, &body), ACCEPTED);
    assert_eq!(inspector.obey("guards", &mut batch, &mut 3.0), 1);
    assert_eq!(batch.state_of(bob).unwrap().name(), "Rest");
}

#[test]
fn commands_that_nobody_takes_do_not_pile_up() {
    let mut inspector = inspector().allow_commands();
    let page = page_of(&inspector);
    let body = json!({ "do": "owner", "crowd": "guards", "owner": "1v1", "kind": "revert" });
    let answers: Vec<_> = (0..300).map(|_| command(inspector.address(), &page.token, &body)).collect();
    assert_eq!(answers.iter().filter(|answer| *answer == ACCEPTED).count(), 256);
    assert_eq!(inspector.commands("guards").len(), 256);
    assert_eq!(status_of(inspector.address(), "/"), "HTTP/1.1 200 OK");
}
