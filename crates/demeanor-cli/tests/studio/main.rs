//! The studio's server: who may ask it, which files it reads and writes, and that it plays as `demeanor run` does.

mod client;
mod files;
mod games;
mod runs;

use client::{GUARD, Studio};
use serde_json::json;

#[test]
fn only_the_page_of_this_server_may_ask() {
    let studio = Studio::new(&[("guard.toml", GUARD)]);
    let (address, token) = (&studio.address, &studio.token);
    let file = json!({ "path": "guard.toml" });
    let status = |headers: &str| studio.ask_with("file", headers, &file).0;
    assert_eq!(status(&format!("Host: {address}\r\nX-Demeanor-Token: {token}\r\n")), 200);
    for headers in [
        format!("Host: {address}\r\n"),
        format!("Host: {address}\r\nX-Demeanor-Token: guess\r\n"),
        format!("Host: evil.example\r\nX-Demeanor-Token: {token}\r\n"),
        format!("Host: {address}\r\nOrigin: http://evil.example\r\nX-Demeanor-Token: {token}\r\n"),
        format!("Host: {address}\r\nSec-Fetch-Site: cross-site\r\nX-Demeanor-Token: {token}\r\n"),
    ] {
        assert_eq!(status(&headers), 403, "{headers}");
    }
    let get = |path: &str| studio.send(&format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n")).0;
    assert_eq!(get("/"), 200);
    assert_eq!(get("/studio.js"), 200);
    assert_eq!(get("/api/file"), 405);
    assert_eq!(get("/events"), 403);
    assert_eq!(get("/events?token=guess"), 403);
    assert_eq!(get("/guard.toml"), 404);
    assert_eq!(get("/../../etc/passwd"), 404);
    let (status, _) = studio.ask("nothing", &json!({}));
    assert_eq!(status, 404);
    let (status, _) = studio.ask("file", &json!({ "file": "guard.toml" }));
    assert_eq!(status, 400);
}

#[test]
fn a_picture_has_every_state_and_every_exit() {
    let studio = Studio::new(&[("guard.toml", GUARD)]);
    let (status, told) = studio.ask("picture", &json!({ "path": "guard.toml", "text": GUARD }));
    assert_eq!(status, 200, "{told}");
    let picture = &told["picture"];
    let drawn = picture["states"].as_array().unwrap();
    let names: Vec<_> = drawn.iter().map(|state| state["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["always", "post", "chase", "run", "hit", "hide", "dead"]);
    let exits: Vec<_> = picture["arrows"].as_array().unwrap().iter().map(|arrow| arrow["exit"].to_string()).collect();
    assert_eq!(exits, ["[0,0]", "[1,0]", "[1,1]", "[2,0]", "[3,0]", "[4,0]", "[5,0]"]);
    // A child is inside its parent.
    let inside = |of: &serde_json::Value| of["rect"].as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect();
    let (outer, inner): (Vec<_>, Vec<_>) = (inside(&drawn[2]), inside(&drawn[3]));
    assert!(outer[0] < inner[0] && inner[0] + inner[2] < outer[0] + outer[2]);
    let (_, folded) = studio.ask("picture", &json!({ "path": "guard.toml", "text": GUARD, "folded": ["chase"] }));
    assert_eq!(folded["picture"]["states"].as_array().unwrap().len(), 5);
    assert_eq!(folded["picture"]["states"][2]["is_folded"], true);
    assert_eq!(folded["picture"]["hidden"][0], json!({ "id": 3, "name": "run", "around": ["chase"] }));
}

/// Returns the left edge of a state.
fn left_of(told: &serde_json::Value, name: &str) -> f64 {
    let states = told["picture"]["states"].as_array().unwrap();
    states.iter().find(|state| state["name"] == name).unwrap()["rect"][0].as_f64().unwrap()
}

#[test]
fn states_keep_their_order_and_their_places() {
    let studio = Studio::new(&[("guard.toml", GUARD)]);
    let drawn = |text: &str, former: &serde_json::Value| {
        let (status, told) = studio.ask("picture", &json!({ "path": "guard.toml", "text": text, "former": former }));
        assert_eq!(status, 200, "{told}");
        told
    };
    let first = drawn(GUARD, &json!({}));
    let names = ["post", "chase", "run", "hit", "hide"];
    let middle = |name: &str| {
        let states = first["picture"]["states"].as_array().unwrap();
        let rect = &states.iter().find(|state| state["name"] == name).unwrap()["rect"];
        rect[0].as_f64().unwrap() + rect[2].as_f64().unwrap() / 2.0
    };
    let places = |sign: f64| names.iter().map(|name| ((*name).to_owned(), json!(sign * middle(name)))).collect();
    // Without a change, nothing moves; and what was on the left in the former picture, is on the left.
    let again = drawn(GUARD, &serde_json::Value::Object(places(1.0)));
    for name in names {
        assert!((left_of(&first, name) - left_of(&again, name)).abs() < 1.0, "{name}");
    }
    let mirrored = drawn(GUARD, &serde_json::Value::Object(places(-1.0)));
    assert!(
        (left_of(&first, "hide") < left_of(&first, "chase"))
            != (left_of(&mirrored, "hide") < left_of(&mirrored, "chase"))
    );
}

#[test]
fn a_machine_that_a_state_runs_is_one_box_until_it_is_opened() {
    let file = "[machines.main]\ninitial = 'a'\nstates.a.machine = 'inner'\nstates.a.exits = [{ to = 'b', on = 'done' }]\nstates.b.final = true\n\
                [machines.inner]\ninitial = 'x'\nstates.x.exits = [{ to = 'y' }]\nstates.y.final = true\n";
    let studio = Studio::new(&[("two.toml", file)]);
    let states = |more: serde_json::Value| {
        let mut of = json!({ "path": "two.toml", "text": file, "machine": "main" });
        of["unfolded"] = more;
        let (status, told) = studio.ask("picture", &of);
        assert_eq!(status, 200, "{told}");
        told["picture"]["states"].as_array().unwrap().len()
    };
    assert_eq!(states(json!([])), 2);
    assert_eq!(states(json!(["a"])), 4);
}

#[test]
fn a_proof_says_where_its_findings_are_and_how_to_see_them() {
    let file = "initial = 'a'\n[properties]\nnever_b = { never = 'in(b)' }\n[states.a]\nexits = [{ to = 'b', when = 'x > 3' }]\n[states.b]\nfinal = true\n";
    let studio = Studio::new(&[("a.toml", file)]);
    let (status, told) = studio.ask("prove", &json!({ "path": "a.toml", "text": file }));
    assert_eq!(status, 200, "{told}");
    assert_eq!(told["properties"][0]["answer"], "fails", "{told}");
    let problems = told["problems"].as_array().unwrap();
    let fails = problems.iter().find(|problem| problem["code"] == "property-fails").unwrap();
    assert!(fails["witness"]["rows"].is_array(), "{fails}");
    assert_eq!(fails["places"], json!([]), "a property is in no state");
}

#[test]
fn a_problem_is_marked_in_its_own_machine() {
    let file = "[machines.one]\ninitial = 'a'\n[machines.one.states.a]\n[machines.two]\ninitial = 'b'\n[machines.two.states.b]\n\
                exits = [{ to = 'b', after = 1 }, { to = 'c', when = 'x > 3 and x < 2' }]\n[machines.two.states.c]\nfinal = true\n";
    let studio = Studio::new(&[("a.toml", file)]);
    let (status, told) = studio.ask("prove", &json!({ "path": "a.toml", "text": file }));
    assert_eq!(status, 200, "{told}");
    let places = |told: &serde_json::Value| {
        let all = told["problems"]
            .as_array()
            .unwrap()
            .iter()
            .map(|problem| (problem["code"].to_string(), problem["places"].clone()));
        all.collect::<Vec<_>>()
    };
    let places = places(&told);
    assert!(places.iter().any(|(_, at)| *at == json!([{ "machine": "two", "state": 0, "exit": 1 }])), "{places:?}");
    for (code, at) in &places {
        assert_eq!(at.as_array().unwrap().len(), 1, "{code} {at}");
    }
}

#[test]
fn a_change_gives_a_text_and_a_change_that_would_break_the_file_is_told_and_not_made() {
    let studio = Studio::new(&[("guard.toml", GUARD)]);
    let change = |edit: serde_json::Value| {
        studio.ask("change", &json!({ "path": "guard.toml", "text": GUARD, "machine": null, "edit": edit }))
    };
    let (status, told) = change(json!({ "act": "add_exit", "state": "hit", "to": "hide" }));
    assert_eq!(status, 200, "{told}");
    assert!(told["text"].as_str().unwrap().contains("{ to = \"hide\" },\n]"), "{told}");
    let (status, told) = change(json!({ "act": "add_exit", "state": "hit", "to": "hid" }));
    assert_eq!(status, 422, "{told}");
    assert!(told["error"].as_str().unwrap().contains("hid"), "{told}");
    assert_eq!(told["problems"][0]["severity"], "error", "{told}");
    let set = json!({ "act": "set_exit", "state": "post", "exit": 0, "key": "when", "value": "health >" });
    assert_eq!(change(set).0, 422);
    let (status, told) = change(json!({ "act": "delete_state", "state": "hide" }));
    assert_eq!((status, &told["uses"]), (422, &json!(["exit 2 of `post`"])), "{told}");
    let (status, told) = change(json!({ "act": "rename_state", "state": "hide", "name": "cover" }));
    assert_eq!((status, told["text"].as_str()), (200, Some(&*GUARD.replace("hide", "cover"))), "{told}");
    assert_eq!(change(json!({ "act": "nothing" })).0, 400);
    // What is wrong already does not stand in the way.
    let broken = GUARD.replace("to = \"dead\"", "to = \"death\"");
    let edit = json!({ "act": "set_exit", "state": "always", "exit": 0, "key": "to", "value": "dead" });
    let of = json!({ "path": "guard.toml", "text": broken, "machine": null, "edit": edit });
    let (status, told) = studio.ask("change", &of);
    assert_eq!((status, told["text"].as_str()), (200, Some(GUARD)), "{told}");
    assert_eq!(studio.text("guard.toml"), GUARD, "nothing is saved");
}

#[test]
fn a_state_that_another_file_names_is_not_renamed_here() {
    let inner = "initial = 'a'\n[states.a]\nexits = [{ to = 'b' }]\n[states.b]\nfinal = true\n";
    let outer = "initial = 'run'\n[states.run]\nmachine = 'inner.toml'\nexits = [{ to = 'end', when = 'in(run.a)' }]\n[states.end]\nfinal = true\n";
    let studio = Studio::new(&[("inner.toml", inner), ("outer.toml", outer)]);
    let edit = json!({ "act": "rename_state", "state": "a", "name": "c" });
    let of = json!({ "path": "inner.toml", "text": inner, "machine": null, "edit": edit });
    let (status, told) = studio.ask("change", &of);
    assert_eq!(status, 422, "{told}");
    assert!(told["error"].as_str().unwrap().contains("outer.toml"), "{told}");
}

#[test]
fn a_state_of_a_machine_that_a_state_runs_is_not_changed_here() {
    let inner = "initial = 'p'\n[states.p]\nfinal = true\n";
    let outer = "initial = 'x'\n[states.x]\nmachine = 'inner.toml'\n[states.y]\nmachine = 'round'\n\
                 [machines.round]\ninitial = 'w'\nstates.w.final = true\n";
    let studio = Studio::new(&[("inner.toml", inner), ("outer.toml", outer)]);
    let change = |edit: serde_json::Value| {
        studio.ask("change", &json!({ "path": "outer.toml", "text": outer, "machine": null, "edit": edit }))
    };
    let set = |state: &str| json!({ "act": "set_state", "state": state, "key": "note", "value": "hi" });
    let rename = |state: &str| json!({ "act": "rename_state", "state": state, "name": "z" });
    for edit in [set("x.p"), set("y.w"), rename("x.p")] {
        let (status, told) = change(edit);
        assert_eq!(status, 422, "{told}");
        assert!(told["error"].as_str().unwrap().contains("change it there"), "{told}");
    }
    // A name is changed wherever it is written in the file.
    let (status, told) = change(rename("y.w"));
    let renamed = outer.replace("'w'", "'z'").replace("states.w", "states.z");
    assert_eq!((status, told["text"].as_str()), (200, Some(&*renamed)), "{told}");
}

#[test]
fn a_picture_says_what_a_designer_has_typed() {
    let studio = Studio::new(&[("guard.toml", GUARD)]);
    let (_, told) = studio.ask("picture", &json!({ "path": "guard.toml", "text": GUARD }));
    let post = &told["picture"]["states"][1];
    assert_eq!(post["written_exits"][1], json!({ "to": "hide", "on": "took_damage" }));
    assert_eq!(told["picture"]["states"][3]["keys"]["parent"], "chase");
}
