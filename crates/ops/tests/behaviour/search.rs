//! The search index of transcripts: what is found, what is read again, and what may be lost.

use std::fs;
use std::io::Write;

use serde_json::{Value, json};

use crate::world::{World, agent, list, text};

const CLAUDE: &str = ".claude/projects/-shop/11111111-aaaa-4000-8000-000000000001.jsonl";
const OTHER: &str = ".claude/projects/-shop/22222222-aaaa-4000-8000-000000000002.jsonl";
const CODEX: &str =
    ".codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-0199aaaa-0000-7000-8000-000000000001.jsonl";

/// A Claude Code session in which the user says these things, from `first` on.
fn said(first: usize, words: &[&str]) -> String {
    let line = |(nth, words): (usize, &&str)| {
        let n = first + nth;
        let parent = if n == 0 { Value::Null } else { json!(format!("u{}", n - 1)) };
        let line = json!({
            "type": "user", "uuid": format!("u{n}"), "parentUuid": parent, "sessionId": "s", "cwd": "/repos/p",
            "timestamp": "2026-11-20T10:00:00.000Z", "message": { "role": "user", "content": words },
        });
        format!("{line}\n")
    };
    words.iter().enumerate().map(line).collect()
}

/// A Codex session with a command and what it printed.
fn ran(command: &str, output: &str) -> String {
    let line = |kind: &str, payload: Value| {
        format!("{}\n", json!({ "timestamp": "2026-11-20T10:00:00.000Z", "type": kind, "payload": payload }))
    };
    let arguments = json!({ "cmd": command }).to_string();
    line(
        "session_meta",
        json!({ "id": "0199aaaa-0000-7000-8000-000000000001", "cwd": "/repos/q", "originator": "codex_cli" }),
    ) + &line(
        "response_item",
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "go" }] }),
    ) + &line(
        "response_item",
        json!({ "type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": "c1" }),
    ) + &line("response_item", json!({ "type": "function_call_output", "call_id": "c1", "output": output }))
}

/// Which session it is: 0 the one of Codex, 1 and 2 those of Claude Code.
fn which(item: &Value) -> String {
    let path = text(item, "path");
    let name = path.rsplit('/').next().unwrap_or_default();
    if item["agent"] == "codex" { "0".to_owned() } else { name[..1].to_owned() }
}

fn find(w: &mut World, query: &str) -> Value {
    w.ok(&agent("Donna"), "transcript_search", json!({ "query": query }))
}

/// What was read for a search: new or changed, gone, unchanged.
#[track_caller]
fn refreshed(w: &mut World, read: i64, removed: i64, unchanged: i64) {
    let answer = find(w, "anything");
    let expected = json!({ "read": read, "removed": removed, "unchanged": unchanged, "busy": false });
    assert_eq!(answer["index"]["refreshed"], expected);
}

#[track_caller]
fn finds(w: &mut World, query: &str, ids: &[&str]) {
    let answer = find(w, query);
    let mut found: Vec<String> = list(&answer["items"]).iter().map(which).collect();
    found.sort_unstable();
    assert_eq!(found, ids, "{query}: {answer:#}");
}

fn append(w: &World, name: &str, content: &str) {
    let mut file = fs::OpenOptions::new().append(true).open(w.home().file(name)).expect("opened");
    file.write_all(content.as_bytes()).expect("appended");
}

on_every_backend! {
    fn latest_is_never_a_session_of_another_folder(w) {
        w.settle();
        w.home().write(CODEX, ran("ls", "two"));
        let before = w.everything().iter().filter(|row| row.contains("delta")).count();
        let go_on = json!({ "id": "latest", "to": "gemini" });
        let keep = json!({ "id": "latest", "event": "session-end" });
        let plain = json!({ "id": "latest" });
        for (operation, input, command) in [
            ("transcript_import", &plain, "baton import-transcript"),
            ("transcript_continue", &go_on, "baton continue"),
            ("transcript_capture", &keep, "baton import-transcript"),
            ("transcript_find", &plain, "baton continue"),
            ("transcript_show", &plain, "baton transcripts show"),
            ("transcript_events", &plain, "baton handoff from-transcript --format jsonl"),
            ("handoff_document", &plain, "baton handoff from-transcript"),
        ] {
            let refusal = w.call(&agent("Lola"), operation, input.clone()).expect_err("it is another folder's");
            assert_eq!((&refusal["code"], &refusal["newest"]["cwd"]), (&json!("transcript_elsewhere"), &json!("/repos/q")), "{operation}: {refusal:#}");
            let take = format!("`{command} 0199aaaa-0000-7000-8000-000000000001 --agent codex`");
            assert!(text(&refusal, "hint").contains(&take), "{operation}: {refusal:#}");
        }
        let nowhere = agent("Lola").nameless().at("/srv/x", None);
        assert_eq!(w.call(&nowhere, "transcript_show", plain.clone()).expect_err("nor here")["code"], "transcript_elsewhere");
        assert_eq!(w.everything().iter().filter(|row| row.contains("delta")).count(), before, "nothing was recorded");
        // By its id it is taken, and where this project has one, that is the latest.
        w.ok(&agent("Lola"), "transcript_show", json!({ "id": "0199aaaa" }));
        w.home().write(CLAUDE, said(0, &["Round prices to cents"]));
        assert_eq!(w.ok(&agent("Lola"), "transcript_import", plain.clone())["agent"], "claude");
        let in_q = agent("Lola").nameless().at("/repos/q/src", Some("/repos/q"));
        assert_eq!(w.ok(&in_q, "transcript_show", plain)["agent"], "codex");
    }

    fn a_word_is_found_wherever_it_was_said_called_or_printed(w) {
        w.settle();
        w.home().write(CLAUDE, said(0, &["Round prices to cents", "and keep the façade"]));
        w.home().write(CODEX, ran("cargo test -p pricing_core", "error[E0308]: mismatched types\nProcess exited with code 101"));
        finds(w, "cents", &["1"]);
        finds(w, "PRICES round", &["1"]);
        finds(w, "facade", &["1"]);
        finds(w, "pricing_core", &["0"]);
        finds(w, "e0308", &["0"]);
        finds(w, "pric*", &["0", "1"]);
        finds(w, "\"mismatched types\"", &["0"]);
        finds(w, "\"types mismatched\"", &[]);
        finds(w, "cents E0308", &[]);
    }

    fn a_hit_names_the_place_and_shows_it(w) {
        w.settle();
        w.home().write(CLAUDE, said(0, &["hello", "the needle lies here"]));
        let item = list(&find(w, "needle")["items"])[0].clone();
        assert_eq!(item["place"], "claude:s#2");
        assert_eq!((item["line"].clone(), item["role"].clone()), (json!(2), json!("user")));
        assert_eq!((item["snippet"].clone(), item["agent"].clone()), (json!("the needle lies here"), json!("claude")));
        assert_eq!((item["cwd"].clone(), item["title"].clone()), (json!("/repos/p"), json!("hello")));
        assert!(item["score"].as_i64().is_some_and(|score| score > 0), "{item:#}");
    }

    fn the_session_that_is_about_it_comes_first(w) {
        w.settle();
        let filler = "words about other things entirely ".repeat(40);
        w.home().write(CLAUDE, said(0, &[&format!("{filler} kettle {filler}")]));
        w.home().write(OTHER, said(0, &["the kettle, the kettle and again the kettle"]));
        let answer = find(w, "kettle");
        let ids: Vec<String> = list(&answer["items"]).iter().map(which).collect();
        assert_eq!(ids, ["2", "1"], "{answer:#}");
    }

    fn words_that_stand_far_apart_are_found_after_those_that_stand_together(w) {
        w.settle();
        let far = "nothing of note in this sentence ".repeat(1_000);
        w.home().write(CLAUDE, said(0, &["alpha", &far, "omega"]));
        finds(w, "alpha omega", &["1"]);
        w.home().write(OTHER, said(0, &["alpha omega"]));
        let answer = find(w, "alpha omega");
        assert_eq!((list(&answer["items"]).len(), which(&answer["items"][0])), (2, "2".to_owned()));
        finds(w, "\"alpha omega\"", &["2"]);
    }

    fn only_what_changed_is_read_again(w) {
        w.settle();
        w.home().write(CLAUDE, said(0, &["one"]));
        w.home().write(CODEX, ran("ls", "two"));
        refreshed(w, 2, 0, 0);
        refreshed(w, 0, 0, 2);
        append(w, CLAUDE, &said(1, &["three"]));
        refreshed(w, 1, 0, 1);
        finds(w, "one", &["1"]);
        finds(w, "three", &["1"]);
        w.home().write(CLAUDE, said(0, &["four"]));
        finds(w, "three", &[]);
        finds(w, "four", &["1"]);
        fs::remove_file(w.home().file(CODEX)).expect("removed");
        refreshed(w, 0, 1, 1);
        finds(w, "two", &[]);
    }

    fn a_long_session_that_grew_and_shrank_is_found_as_it_stands(w) {
        w.settle();
        let lines: Vec<String> = (0..400).map(|n| format!("line{n} {}", "of some length ".repeat(20))).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        w.home().write(CLAUDE, said(0, &lines[..200]));
        finds(w, "line199", &["1"]);
        append(w, CLAUDE, &said(200, &lines[200..]));
        finds(w, "line399", &["1"]);
        let passages = find(w, "line7")["index"]["passages"].as_i64().expect("a number");
        assert!(passages > 10, "{passages}");
        w.home().write(CLAUDE, said(0, &lines[..30]));
        finds(w, "line199", &[]);
        finds(w, "line29", &["1"]);
        let fewer = find(w, "line7")["index"]["passages"].as_i64().expect("a number");
        assert!(fewer < passages / 5, "{fewer} of {passages}");
    }

    fn without_a_refresh_the_index_is_searched_as_it_is(w) {
        w.settle();
        w.home().write(CLAUDE, said(0, &["one"]));
        let stale = |query: &str| json!({ "query": query, "no_refresh": true });
        let answer = w.ok(&agent("Donna"), "transcript_search", stale("one"));
        assert_eq!((answer["items"].clone(), answer["index"]["refreshed"].clone()), (json!([]), Value::Null));
        finds(w, "one", &["1"]);
        append(w, CLAUDE, &said(1, &["two"]));
        assert_eq!(w.ok(&agent("Donna"), "transcript_search", stale("two"))["items"], json!([]));
        assert_eq!(list(&w.ok(&agent("Donna"), "transcript_search", stale("one"))["items"]).len(), 1);
    }

    fn a_search_is_narrowed_by_tool_project_time_and_number(w) {
        w.settle();
        w.home().write(CLAUDE, said(0, &["common"]));
        w.home().write(OTHER, said(0, &["common"]));
        w.home().write(CODEX, ran("ls", "common"));
        let found = |w: &mut World, more: Value| {
            let mut input = json!({ "query": "common" });
            more.as_object().expect("fields").iter().for_each(|(key, value)| input[key] = value.clone());
            let answer = w.ok(&agent("Donna"), "transcript_search", input);
            (list(&answer["items"]).len(), answer["total"].as_i64().expect("a number"))
        };
        assert_eq!(found(w, json!({})), (3, 3));
        assert_eq!(found(w, json!({ "agents": ["claude_code"] })), (2, 2));
        assert_eq!(found(w, json!({ "agents": ["codex", "aider"] })), (1, 1));
        let listed = w.ok(&agent("Donna"), "transcript_list", json!({ "agents": ["Claude-Code"] }));
        assert_eq!(list(&listed["items"]).len(), 2, "a tool's other names are good for a list, too");
        assert_eq!(found(w, json!({ "project": "p" })), (2, 2), "registered at /repos/p");
        assert_eq!(found(w, json!({ "project": "/repos" })), (3, 3));
        assert_eq!(found(w, json!({ "project": "/nowhere" })), (0, 0));
        assert_eq!(found(w, json!({ "since_ms": 4_000_000_000_000_i64 })), (0, 0));
        assert_eq!(found(w, json!({ "limit": 2 })), (2, 3));
        w.no(&agent("Donna"), "transcript_search", json!({ "query": "x", "agents": ["clippy"] }), "agent_unknown");
    }

    fn a_query_without_a_word_is_refused_and_every_other_is_answered(w) {
        w.settle();
        w.home().write(CLAUDE, said(0, &["修复了 🎉 bug: a AND b OR c NEAR NOT col:x"]));
        for query in ["", " ", "\"", "\"\"", "* ^", "─┐"] {
            w.no_trace(&agent("Donna"), "transcript_search", json!({ "query": query }), "query_empty");
        }
        w.no(&agent("Donna"), "transcript_search", json!({ "query": "a\0b" }), "input_invalid");
        for query in ["\"a", "a AND", "OR", "NEAR( b", "col:x", "NOT c", "修复", "🎉", "🎉 bug", "a\"b", "-a", "{a} + (b", "^a", "a; b--"] {
            finds(w, query, &["1"]);
        }
        for query in ["🏻", "👩‍👩‍👧", "zz'; DROP TABLE session; --", "a* b* zzz*", "text:bug zzz", &"x ".repeat(5_000)] {
            let _ = w.call(&agent("Donna"), "transcript_search", json!({ "query": query }));
        }
        finds(w, "bug", &["1"]);
    }

    fn no_secret_gets_into_the_index(w) {
        w.settle();
        let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8".repeat(3));
        w.home().write(CLAUDE, said(0, &[&format!("use {secret} for it")]));
        finds(w, "a1B2c3D4e5F6g7H8*", &[]);
        finds(w, "ghp*", &[]);
        let shown = text(&find(w, "use")["items"][0], "snippet");
        assert!(shown.contains("[redacted:"), "{shown}");
        for file in fs::read_dir(&w.home().caches).expect("caches") {
            let bytes = fs::read(file.expect("a file").path()).expect("read");
            assert!(!String::from_utf8_lossy(&bytes).contains("a1B2c3D4"), "a secret on the disk");
        }
    }

    fn the_index_and_a_packet_pass_the_same_rules(w) {
        w.settle();
        let words = "set DB_PASSWORD=Hallo,Welt99xyz and see TestHTTP2ServerPushPromiseWithTrailersAndPadding";
        w.home().write(CLAUDE, said(0, &[words]));
        finds(w, "Welt99xyz", &[]);
        finds(w, "Hallo", &[]);
        finds(w, "TestHTTP2ServerPushPromiseWithTrailersAndPadding", &["1"]);
        let document = w.ok(&agent("Donna"), "handoff_document", json!({ "id": w.home().file(CLAUDE) }));
        let packet = document["packet"].to_string();
        assert!(!packet.contains("Welt99") && !packet.contains("Hallo"), "{packet}");
        assert!(packet.contains("DB_PASSWORD=[redacted:password] and see"), "{packet}");
        assert!(packet.contains("TestHTTP2ServerPushPromiseWithTrailersAndPadding"), "{packet}");
    }

    fn a_damaged_index_is_made_anew(w) {
        w.settle();
        w.home().write(CLAUDE, said(0, &["one"]));
        finds(w, "one", &["1"]);
        let index = fs::read_dir(&w.home().caches).expect("caches").map(|f| f.expect("a file").path());
        for file in index.filter(|path| path.extension().is_some_and(|e| e == "db")) {
            fs::write(file, "this is no database, and was never one".repeat(200)).expect("written");
        }
        finds(w, "one", &["1"]);
    }

    fn searching_leaves_no_trace_in_the_ledger(w) {
        w.settle();
        w.home().write(CLAUDE, said(0, &["one"]));
        let before = w.everything();
        finds(w, "one", &["1"]);
        assert_eq!(w.everything(), before);
    }

    fn a_machine_without_a_place_for_caches_is_searched_all_the_same(w) {
        w.settle();
        w.home().write(CLAUDE, said(0, &["one"]));
        fs::write(&w.home().caches, "a file stands where the folder should be").expect("written");
        finds(w, "one", &["1"]);
    }
}
