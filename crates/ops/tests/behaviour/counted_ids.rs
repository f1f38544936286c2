//! Session ids that tools count anew in each home or folder: two conversations of one id are two.

use baton_model::time::rfc3339;
use serde_json::{Value, json};

use crate::world::{World, agent, column, list, text};

/// A conversation of Claude Code with a counted id, in a home of its own.
fn talk(dir: &tempfile::TempDir, (subject, cwd, at): (&str, &str, i64)) -> Value {
    let line = |kind: &str, n: i64, parent: Value, words: &str| {
        json!({
            "type": kind, "uuid": format!("u{n}"), "parentUuid": parent, "sessionId": "20261129_1", "cwd": cwd,
            "timestamp": rfc3339(at + n * 1_000), "message": { "role": kind, "content": words },
        })
    };
    let first = line("user", 1, Value::Null, &format!("please build {subject}"));
    let second = line("assistant", 2, json!("u1"), &format!("{subject} is half done"));
    let path = dir.path().join("20261129_1.jsonl");
    std::fs::write(&path, format!("{first}\n{second}\n")).expect("a transcript");
    json!({ "id": path, "agent": "claude" })
}

/// What waits, by the first line of each.
fn waiting(w: &mut World) -> Vec<String> {
    column(&list(&w.ok(&agent("Owner"), "handoff_list", json!({}))["items"]), "summary")
}

on_every_backend! {
    fn a_session_of_another_home_with_the_same_counted_id_takes_no_place(w) {
        let (ann, bob) = (tempfile::tempdir().expect("a home"), tempfile::tempdir().expect("a home"));
        let now = w.now;
        for (dir, talk_of) in [(&ann, ("the cart", "/home/you/shop", now)), (&bob, ("the till", "/home/you/shop", now + 5_000))] {
            let input = talk(dir, talk_of);
            let left = w.ok(&agent("Owner"), "transcript_import", input.clone());
            assert_eq!(left["imported_before"], false, "{left:#}");
            assert!(text(&left, "summary").contains(talk_of.0), "{left:#}");
            let again = w.ok(&agent("Owner"), "transcript_import", input);
            assert_eq!((&again["imported_before"], &again["baton_id"]), (&json!(true), &left["baton_id"]));
        }
        assert_eq!(waiting(w).len(), 2, "{:#?}", waiting(w));
    }

    fn sessions_that_began_in_one_second_in_two_folders_are_two(w) {
        let (one, two) = (tempfile::tempdir().expect("a home"), tempfile::tempdir().expect("a home"));
        let now = w.now;
        for (dir, cwd) in [(&one, "/home/you/shop"), (&two, "/home/you/shop/.worktrees/w2")] {
            let left = w.ok(&agent("Owner"), "transcript_import", talk(dir, ("the cart", cwd, now)));
            assert_eq!(left["imported_before"], false, "{left:#}");
        }
        assert_eq!(waiting(w).len(), 2);
    }
}
