//! Files: none outside the folder, none lost.

use std::fs;

use serde_json::json;

use super::client::{GUARD, Studio};

#[test]
fn a_file_is_created_in_the_folder_and_is_then_listed_and_nothing_is_created_elsewhere() {
    let studio = Studio::new(&[("guard.toml", GUARD), ("enemies/boss.toml", GUARD)]);
    let create = |path: &str| {
        let (status, told) = studio.ask("create", &json!({ "path": path }));
        (status, told["error"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(create("new.toml").0, 200);
    assert_eq!(create("enemies/imp.toml").0, 200);
    assert_eq!(studio.text("new.toml"), "");
    studio.events().wait(|told| told["files"].as_array().is_some_and(|files| files.len() == 4));
    assert_eq!(create("guard.toml").0, 422, "a file that exists is not replaced");
    assert_eq!(studio.text("guard.toml"), GUARD);
    assert_eq!(create("new").1, "the name of a definition ends in `.toml`, such as `new.toml`");
    for path in ["../new.toml", "/tmp/new.toml", "nowhere/new.toml", "enemies/../../new.toml", ".toml", ""] {
        assert_eq!(create(path).0, 422, "{path}");
    }
    fs::create_dir(studio.path("target")).unwrap();
    for (path, shown) in [
        (".hidden.toml", ".hidden.toml"),
        ("target/new.toml", "target/new.toml"),
        ("two\nlines.toml", r"two\nlines.toml"),
    ] {
        assert_eq!(create(path), (422, format!("the studio would not list `{shown}`: choose another name")));
        assert!(!studio.path(path).exists());
    }
    assert!(!studio.outside().join("new.toml").exists());
}

#[test]
fn no_file_outside_the_folder_is_read_or_written() {
    let studio = Studio::new(&[("guard.toml", GUARD), ("enemies/wolf.toml", GUARD), ("notes.txt", "secret")]);
    fs::write(studio.outside().join("outside.toml"), GUARD).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(studio.outside().join("outside.toml"), studio.path("link.toml")).unwrap();
    let whole = studio.outside().join("outside.toml").display().to_string();
    assert_eq!(studio.ask("file", &json!({ "path": "enemies/wolf.toml" })).0, 200);
    let guard = studio.ask("file", &json!({ "path": "guard.toml" })).1;
    for path in
        ["../outside.toml", &whole, "link.toml", "notes.txt", "./guard.toml", "enemies/../guard.toml", "", "none.toml"]
    {
        assert_eq!(studio.ask("file", &json!({ "path": path })).0, 422, "{path}");
        for what in ["save", "picture", "prove", "run", "keep"] {
            let of = json!({ "path": path, "text": "x = 1", "hash": guard["hash"], "even_broken": true, "to": 0 });
            assert_eq!(studio.ask(what, &of).0, 422, "{what} {path}");
        }
    }
    #[cfg(unix)]
    for to in ["outside.toml", "new.toml"] {
        let table = studio.path("guard.tests.toml");
        let _ = fs::remove_file(&table);
        std::os::unix::fs::symlink(studio.outside().join(to), table).unwrap();
        let of = json!({ "path": "guard.toml", "text": GUARD, "inputs": [], "to": 5 });
        assert_eq!(
            studio.ask("keep", &of).1,
            json!({ "error": "`guard.tests.toml` is not in the folder of the studio" })
        );
        assert!(!studio.outside().join("new.toml").exists());
    }
    assert_eq!(fs::read_to_string(studio.outside().join("outside.toml")).unwrap(), GUARD);
    assert_eq!(studio.text("notes.txt"), "secret");
}

#[test]
fn the_second_of_two_clients_is_told_of_the_first() {
    let studio = Studio::new(&[("guard.toml", GUARD)]);
    let hash = studio.ask("file", &json!({ "path": "guard.toml" })).1["hash"].clone();
    let (mine, theirs) = (format!("# mine\n{GUARD}"), format!("# theirs\n{GUARD}"));
    let save = |text: &str, hash: &serde_json::Value| {
        studio.ask("save", &json!({ "path": "guard.toml", "text": text, "hash": hash }))
    };
    let (status, saved) = save(&theirs, &hash);
    assert_eq!(status, 200, "{saved}");
    let (status, told) = save(&mine, &hash);
    assert_eq!((status, &told["text"], &told["hash"]), (409, &json!(theirs), &saved["hash"]));
    assert_eq!(studio.text("guard.toml"), theirs);
    assert_eq!(save(&mine, &told["hash"]).0, 200);
    assert_eq!(studio.text("guard.toml"), mine);
}

#[test]
fn a_file_that_was_changed_outside_is_not_overwritten_and_the_pages_are_told() {
    let studio = Studio::new(&[("guard.toml", GUARD)]);
    let mut events = studio.events();
    let before = events.wait(|_| true)["files"][0]["hash"].clone();
    let theirs = GUARD.replace("health > 20", "health > 30");
    fs::write(studio.path("guard.toml"), &theirs).unwrap();
    let told = events.wait(|told| told["files"][0]["hash"] != before);
    let of = json!({ "path": "guard.toml", "text": format!("# mine\n{GUARD}"), "hash": before });
    assert_eq!(studio.ask("save", &of).0, 409);
    assert_eq!(studio.text("guard.toml"), theirs);
    assert_eq!(studio.ask("file", &json!({ "path": "guard.toml" })).1["hash"], told["files"][0]["hash"]);
    fs::write(studio.path("new.toml"), GUARD).unwrap();
    events.wait(|told| told["files"].as_array().unwrap().len() == 2);
}

#[test]
fn a_text_with_an_error_is_saved_only_if_the_user_says_so() {
    let studio = Studio::new(&[("guard.toml", GUARD)]);
    let hash = studio.ask("file", &json!({ "path": "guard.toml" })).1["hash"].clone();
    for broken in [GUARD.replace("\"dead\"", "\"death\""), "initial = [".to_owned()] {
        let mut of = json!({ "path": "guard.toml", "text": broken, "hash": hash });
        let (status, told) = studio.ask("save", &of);
        assert_eq!(status, 422);
        assert_eq!(told["problems"][0]["severity"], "error", "{told}");
        assert_eq!(studio.text("guard.toml"), GUARD);
        assert_eq!(studio.ask("picture", &of).0, 422);
        of["even_broken"] = json!(true);
        let (status, told) = studio.ask("save", &of);
        assert_eq!(status, 200);
        assert_eq!(studio.text("guard.toml"), broken);
        let back = json!({ "path": "guard.toml", "text": GUARD, "hash": told["hash"] });
        assert_eq!(studio.ask("save", &back).0, 200);
    }
}

#[test]
fn files_that_are_no_definitions_are_not_listed() {
    let studio = Studio::new(&[
        ("guard.toml", GUARD),
        ("Cargo.toml", "[package]\nname = 'game'\n"),
        ("guard.tests.toml", "tick = 0.1\n[[run]]\nseconds = 1\nexpect = []\n"),
        ("target/old.toml", GUARD),
        (".git/guard.toml", GUARD),
        ("broken.toml", "[states.a]\nexits = [\n"),
    ]);
    fs::write(studio.outside().join("outside.toml"), GUARD).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(studio.outside().join("outside.toml"), studio.path("link.toml")).unwrap();
    fs::write(studio.path("wolf.toml"), GUARD).unwrap();
    let is_new =
        |told: &serde_json::Value| told["files"].as_array().unwrap().iter().any(|file| file["path"] == "wolf.toml");
    let told = studio.events().wait(is_new);
    let names: Vec<_> = told["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(names, ["broken.toml", "guard.toml", "wolf.toml"]);
}
