//! Programs that read the sessions of other tools.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::stage::{Stage, items};

/// The example of `docs/readers.md`, which is what an author begins with.
fn example() -> String {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/readers.md");
    let page = fs::read_to_string(page).expect("the page");
    let from = page.find("#!/bin/sh").expect("an example");
    let end = page[from..].find("```").expect("its end");
    page[from..from + end].to_owned()
}

/// A machine with a reader on its search path.
fn with_reader(text: &str) -> Stage {
    let stage = Stage::ready();
    stage.file("bin/baton-reader-own", text);
    let program = stage.root().join("bin/baton-reader-own");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
    stage.file("home/.own/42.txt", "user Count the cart, please\nassistant Counted: three.\n");
    stage
}

#[test]
fn the_example_of_the_page_gives_a_session_after_it_was_enabled_and_while_it_is_the_same() {
    let stage = with_reader(&example());
    let path = format!("{}:/usr/bin:/bin", stage.root().join("bin").display());
    let lola = stage.terminal("Lola").with("PATH", &path);
    let listed = || items(&lola.json(&["transcripts", "list", "--agent", "external"])).to_vec();
    assert!(lola.text(&["transcripts", "readers"]).contains("not enabled"));
    assert!(listed().is_empty(), "nothing is run before it was enabled");
    lola.refused(3, "reader_unknown", &["transcripts", "readers", "check", "own"]);
    lola.text(&["transcripts", "readers", "enable", "own"]);
    assert_eq!(
        lola.text(&["transcripts", "readers", "check", "own"]),
        "1 session listed; 3 events of 42 are right\n"
    );
    assert_eq!(listed()[0]["id"], json!("42"));
    let packet = lola.text(&["handoff", "from-transcript", "42", "--agent", "external", "--format", "json"]);
    assert!(packet.contains("Count the cart, please"), "{packet}");
    let changed = example() + "touch \"$HOME/ran\"\n";
    fs::write(stage.root().join("bin/baton-reader-own"), changed).expect("written");
    let warned = lola.run(&["transcripts", "list", "--agent", "external"]);
    assert!(warned.err.contains("is not the program that you enabled"), "{warned:?}");
    assert!(!stage.root().join("home/ran").exists());
    lola.text(&["transcripts", "readers", "disable", "own"]);
    assert!(listed().is_empty(), "what it gave out is removed");
}

#[test]
fn a_reader_that_hangs_or_fails_is_named_and_the_others_are_listed() {
    let stage = with_reader("#!/bin/sh\nexit 7\n");
    let path = format!("{}:/usr/bin:/bin", stage.root().join("bin").display());
    let lola = stage.terminal("Lola").with("PATH", &path);
    lola.text(&["transcripts", "readers", "enable", "own"]);
    let listed = lola.run(&["transcripts", "list"]);
    assert!(listed.err.contains("external reader own: it ended with exit status: 7"), "{listed:?}");
    assert_eq!(listed.code, 0);
    lola.refused(1, "reader_faulty", &["transcripts", "readers", "check", "own"]);
}
