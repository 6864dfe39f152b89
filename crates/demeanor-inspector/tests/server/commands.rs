//! Pause, step, and changes of an owner by hand: only if the game allows it, and only for the page.

use std::io::Write as _;

use demeanor::Batch;
use serde_json::json;

use super::client::{command, command_request, command_while, connected, status_of};
use super::{Guard, Patrol, Rest, Stunned, guards, inspector, page_of, wait_until};

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
fn an_owner_is_changed_by_hand_and_the_page_is_told_what_cannot_be() {
    let mut inspector = inspector().allow_commands();
    let address = inspector.address();
    let (mut batch, [bob, elsa, joe]) = guards();
    batch.update(&mut 1.0);
    let page = page_of(&inspector);
    let mut done = 0;
    let mut ask = |crowd: &str, owner: &str, kind: &str, state: Option<&str>| {
        let body = json!({ "do": "owner", "crowd": crowd, "owner": owner, "kind": kind, "state": state });
        command_while(address, &page.token, &body, || {
            assert_eq!(inspector.obey("others", &mut Batch::<Guard>::new(), &mut 2.0), 0);
            done += inspector.obey("guards", &mut batch, &mut 2.0);
            inspector.show("guards", &batch, &2.0);
            inspector.show("shown only", &batch, &2.0);
        })
    };
    let fine = (200, "done".to_owned());
    assert_eq!(ask("guards", "2v1", "force", Some("Rest")), fine); // refused by Rest, but still a success
    assert_eq!(ask("guards", "1v1", "change", Some("Duty")), fine); // the parent of a known state
    assert_eq!(ask("guards", "3v1", "push", Some("Rest")), fine); // refused, too
    let unknown = "no state Nowhere is known: no owner is in it".to_owned();
    assert_eq!(ask("guards", "3v1", "change", Some("Nowhere")), (404, unknown));
    assert_eq!(ask("guards", "99v1", "pop", None), (404, "there is no owner 99v1 in guards".into()));
    assert_eq!(ask("nobody", "1v1", "pop", None), (404, "there is no crowd nobody".into()));
    let not_obeyed = "the game does not allow commands for shown only".to_owned();
    assert_eq!(ask("shown only", "1v1", "pop", None), (409, not_obeyed));
    assert_eq!(done, 3);
    let states = [bob, elsa, joe].map(|key| batch.state_of(key).unwrap().name().into_owned());
    assert_eq!(states, ["Duty", "Patrol", "Patrol"]);
    let body = json!({ "do": "owner", "crowd": "guards", "owner": "1v1", "kind": "revert" });
    let obey = || done += inspector.obey("guards", &mut batch, &mut 3.0);
    assert_eq!(command_while(address, &page.token, &body, obey), fine);
    assert_eq!(batch.state_of(bob).unwrap().name(), "Rest");
    // The game handles the commands that it takes itself.
    let take = || drop(inspector.commands("guards"));
    assert_eq!(command_while(address, &page.token, &body, take), (202, "the game has received it".into()));
}

#[test]
fn a_game_that_does_nothing_leaves_no_command_without_an_answer() {
    let inspector = inspector().allow_commands();
    let page = page_of(&inspector);
    let body = json!({ "do": "owner", "crowd": "guards", "owner": "1v1", "kind": "revert" });
    assert_eq!(command(inspector.address(), &page.token, &body), ACCEPTED);
}

#[test]
fn commands_that_nobody_takes_do_not_pile_up() {
    let mut inspector = inspector().allow_commands();
    let address = inspector.address();
    let page = page_of(&inspector);
    let body = json!({ "do": "owner", "crowd": "guards", "owner": "1v1", "kind": "revert" });
    let request = command_request(address, &page.token, &body);
    // Clients do not wait for the answer, until there is no room.
    wait_until(|| {
        let mut sockets: Vec<_> = (0..30).map(|_| connected(address)).collect();
        for socket in &mut sockets {
            socket.write_all(&request).unwrap();
        }
        drop(sockets);
        command(address, &page.token, &body) == "HTTP/1.1 503 Service Unavailable"
    });
    // The game does not wait for the server: while this stores a wish, the game takes nothing, and tries again in its next tick.
    let mut taken = 0;
    wait_until(|| {
        taken = inspector.commands("guards").len();
        taken > 0
    });
    assert_eq!(taken, 256);
    assert_eq!(status_of(inspector.address(), "/"), "HTTP/1.1 200 OK");
}

#[test]
fn the_game_pauses_when_an_owner_enters_a_state_from_outside_or_a_state_in_it() {
    let mut inspector = inspector().allow_commands();
    let address = inspector.address();
    let (mut batch, [bob, elsa, joe]) = guards();
    let page = page_of(&inspector);
    page.wait("picture", || inspector.show("guards", &batch, &0.0), |_| true);
    let duty = json!({ "do": "break", "crowd": "guards", "state": "Duty" });
    assert_eq!(command(address, &page.token, &duty), ACCEPTED);
    let told = page.wait("status", || {}, |told| told["breakpoints"] != json!([]));
    assert_eq!(told["breakpoints"], json!([{ "crowd": "guards", "state": "Duty" }]));
    // They are in it, and do not enter it.
    batch.force_state(bob, &Patrol, &mut 1.0);
    batch.force_state(elsa, &Stunned, &mut 1.0);
    batch.force_state(joe, &Stunned, &mut 1.0);
    inspector.show("guards", &batch, &1.0);
    assert!(inspector.should_update());
    batch.force_state(elsa, &Patrol, &mut 2.0);
    batch.force_state(joe, &Patrol, &mut 2.0);
    inspector.show("guards", &batch, &2.0);
    assert!(!inspector.should_update());
    let told = page.wait("status", || inspector.show("guards", &batch, &2.0), |told| !told["stop"].is_null());
    let why = "Elsa (2v1) has entered Duty at 2.00 s, and 1 more in this tick";
    assert_eq!(told["stop"], json!({ "crowd": "guards", "owner": "2v1", "why": why }));
    assert_eq!(command(address, &page.token, &json!({ "do": "resume" })), ACCEPTED);
    page.wait("status", || {}, |told| told["stop"].is_null() && told["paused"] == false);
    assert_eq!(
        command(address, &page.token, &json!({ "do": "unbreak", "crowd": "guards", "state": "Duty" })),
        ACCEPTED
    );
    batch.force_state(bob, &Rest, &mut 3.0);
    batch.force_state(bob, &Patrol, &mut 3.0);
    inspector.show("guards", &batch, &3.0);
    assert!(inspector.should_update(), "the breakpoint is removed");
}

#[test]
fn breakpoints_stay_while_a_page_asks_for_the_news_anew() {
    let inspector = inspector().allow_commands();
    let address = inspector.address();
    let page = page_of(&inspector);
    let duty = json!({ "do": "break", "crowd": "guards", "state": "Duty" });
    assert_eq!(command(address, &page.token, &duty), ACCEPTED);
    page.wait("status", || {}, |told| told["breakpoints"] == json!([{ "crowd": "guards", "state": "Duty" }]));
    drop(page);
    // Meanwhile, the server notices that there is no page.
    for _ in 0..10 {
        assert_eq!(status_of(address, "/"), "HTTP/1.1 200 OK");
    }
    let told = page_of(&inspector).wait("status", || {}, |_| true);
    assert_eq!(told["breakpoints"], json!([{ "crowd": "guards", "state": "Duty" }]));
}

#[test]
fn the_game_pauses_when_a_property_fails() {
    let mut inspector = inspector().allow_commands();
    let address = inspector.address();
    let (mut batch, [bob, elsa, _]) = guards();
    let page = page_of(&inspector);
    let fails = |batch: &mut Batch<Guard>, key, property, seconds| {
        batch.journal_mut().unwrap().note_violation(key, property, ["Duty", "Patrol"], seconds);
    };
    fails(&mut batch, bob, "calm", 1.0);
    page.wait("picture", || inspector.show("guards", &batch, &1.0), |_| true);
    let calm = json!({ "do": "break", "crowd": "guards", "property": "calm" });
    assert_eq!(command(address, &page.token, &calm), ACCEPTED);
    fails(&mut batch, bob, "awake", 2.0);
    inspector.show("guards", &batch, &2.0);
    assert!(inspector.should_update(), "another property, and an older violation");
    fails(&mut batch, elsa, "calm", 3.0);
    inspector.show("guards", &batch, &3.0);
    assert!(!inspector.should_update());
    let told = page.wait("status", || inspector.show("guards", &batch, &3.0), |told| !told["stop"].is_null());
    assert_eq!(told["stop"]["why"], "Elsa (2v1) violates calm in Duty > Patrol at 3.00 s");
    let any = json!({ "do": "break", "crowd": "guards", "property": null });
    assert_eq!(command(address, &page.token, &any), ACCEPTED);
    assert_eq!(command(address, &page.token, &json!({ "do": "resume" })), ACCEPTED);
    inspector.show("guards", &batch, &3.0);
    assert!(inspector.should_update());
    fails(&mut batch, bob, "brave", 4.0);
    inspector.show("guards", &batch, &4.0);
    assert!(!inspector.should_update());
    let told = page.wait("picture", || inspector.show("guards", &batch, &4.0), |told| told["seconds"] == 4.0);
    let first = json!({ "owner": "1v1", "label": "Bob", "seconds": 4.0, "property": "brave", "path": "Duty > Patrol" });
    assert_eq!(told["recent"]["violated"][0], first);
}
