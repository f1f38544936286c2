//! What notices that a store was replaced under it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::{Server, request};
use crate::restores::{beside, notes, with_backup};
use crate::stage::{Answer, Stage};

/// Puts another store in the store's place, as `mv` does.
fn replace(stage: &Stage, backup: &str) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::rename(beside(&stage.store(), suffix), beside(&stage.store(), &format!(".old{suffix}")));
    }
    fs::copy(backup, stage.store()).expect("copied");
}

#[test]
fn a_server_whose_store_is_replaced_or_removed_refuses_to_write() {
    for removed in [false, true] {
        let (stage, backup) = with_backup();
        let server = Server::start(&stage.terminal("Server"));
        let ready = || request(&server.address, "GET", "/readyz", b"", &[]).expect("an answer");
        assert_eq!(ready().status, 200);
        if removed {
            fs::remove_file(stage.store()).expect("removed")
        } else {
            replace(&stage, &backup)
        }
        let note = json!({ "project": "shop", "identity": "Lola", "text": "nowhere" });
        for response in [server.call("ledger_note", &note), ready(), server.call("ledger_note", &note)] {
            assert_eq!(response.status, 503, "{response:#?}");
            assert_eq!(response.json()["code"], "store_replaced", "{response:#?}");
            let place = stage.root().display().to_string();
            assert!(!response.body.contains(&place) && !response.body.contains("baton.db"), "{response:#?}");
        }
        if !removed {
            drop(server);
            assert_eq!(notes(&stage), ["before"], "nothing was written to the new store");
            stage.assert_sound();
        }
    }
}

/// Waits until a process has ended; its exit code and what it said.
fn ended(mut child: Child) -> Answer {
    let begin = Instant::now();
    while child.try_wait().expect("a child of ours").is_none() {
        assert!(begin.elapsed() < Duration::from_secs(30), "it goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
    Answer::of(child, &["long-running"])
}

#[test]
fn whatever_runs_for_long_notices_that_its_store_was_replaced() {
    let (stage, backup) = with_backup();
    let lola = stage.terminal("Lola");
    let mut watch = lola.spawn(&["status", "--watch", "--json"]);
    let mut watched = BufReader::new(watch.stdout.take().expect("stdout")).lines();
    watched.next().expect("a card").expect("text");
    let robot = stage.terminal("Robot");
    let work = robot.spawn(&["work", "--role", "implementation", "--poll", "1s", "--", "true"]);
    let follow = lola.spawn(&["log", "--follow"]);
    let mut pipe = lola.command(&["mcp"]).stdin(Stdio::piped()).spawn().expect("baton starts");
    let mut to = pipe.stdin.take().expect("stdin");
    let mut from = BufReader::new(pipe.stdout.take().expect("stdout")).lines();
    let mut ask = |line: Value| {
        writeln!(to, "{line}").expect("asked");
        from.next().expect("an answer").expect("text")
    };
    ask(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } }));
    let note = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "session_checkpoint", "arguments": {
            "action": "note", "kind": "note", "project": "shop", "identity": "Lola", "text": "piped" } } });
    let before = ask(note.clone());
    assert!(before.contains("delta_id"), "{before}");
    let begin = Instant::now();
    while !stage.terminal("X").text(&["agent", "list"]).contains("Robot") {
        assert!(begin.elapsed() < Duration::from_secs(20), "the worker has not come");
        std::thread::sleep(Duration::from_millis(50));
    }
    replace(&stage, &backup);
    let after = ask(note);
    // On a pipe, where only the user of this machine listens, a refusal names the store.
    assert!(after.contains("store_replaced") && after.contains("\"store\\\""), "{after}");
    drop(to);
    pipe.wait().expect("ends");
    assert!(watched.map_while(Result::ok).any(|line| line.contains("store_replaced")), "the watch says so");
    assert_eq!(ended(watch).code, 5);
    for child in [work, follow] {
        let answer = ended(child);
        assert_eq!(answer.code, 5, "{answer:#?}");
        assert!(
            answer.out.contains("store_replaced") || answer.err.contains("store_replaced"),
            "{answer:#?}"
        );
    }
    assert_eq!(notes(&stage), ["before"]);
}
