//! The ledger as people and scripts read it, and what is written into it by the way.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use crate::stage::{BATON, Stage, assert_fields, items, text};

/// A project in which Lola has started, noted, decided and wrapped.
fn told() -> Stage {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    lola.json(&["note", "the cart rounds twice", "--tag", "cart"]);
    lola.json(&["decide", "integers for money", "--why", "floats drift", "--rejected", "decimals"]);
    lola.json(&["wrap", "--summary", "cart adds up"]);
    stage
}

#[test]
fn the_log_is_complete_in_every_form() {
    let stage = told();
    let lola = stage.terminal("Lola");
    let whole = lola.json(&["log"]);
    assert_fields(&whole, "project_id items next");
    let rows = items(&whole);
    for row in &rows {
        assert_fields(row, "seq delta_id kind project_id session_id identity created_at body");
    }
    let seqs: Vec<i64> = rows.iter().filter_map(|row| row["seq"].as_i64()).collect();
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "in order: {seqs:?}");
    assert_eq!(lola.run(&["log", "--jsonl"]).done().lines(), rows, "one line per item, the same items");
    let text = lola.text(&["log"]);
    assert_eq!(text.lines().count(), rows.len());
    assert!(text.contains("integers for money") && text.contains("cart adds up"), "{text}");
}

#[test]
fn the_log_is_narrowed_by_kind_time_and_number() {
    let stage = told();
    let lola = stage.terminal("Lola");
    let decisions = items(&lola.json(&["log", "--kind", "decision"]));
    assert_eq!(decisions.len(), 1);
    assert!(decisions[0]["body"].to_string().contains("floats drift"));
    let all = items(&lola.json(&["log", "--since", "1h"]));
    assert_eq!(all.len(), 5);
    std::thread::sleep(Duration::from_millis(1_100));
    assert_eq!(items(&lola.json(&["log", "--since", "1s"])).len(), 0);
    let after = all[2]["seq"].to_string();
    assert_eq!(items(&lola.json(&["log", "--after", &after])), all[3..]);
    lola.refused(1, "span_invalid", &["log", "--since", "soon"]);
    // A kind that there is not is a slip of the pen, not an empty answer.
    lola.refused(2, "usage", &["log", "--kind", "wrpa"]);
}

/// A child that is ended when the test is.
struct Follower(Child);

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn following_prints_what_comes() {
    let stage = told();
    let lola = stage.terminal("Lola");
    let known = items(&lola.json(&["log"])).len();
    let mut follower = Follower(
        lola.command(&["log", "--follow", "--jsonl"]).stderr(Stdio::null()).spawn().expect("starts"),
    );
    let (send, lines) = mpsc::channel();
    let out = BufReader::new(follower.0.stdout.take().expect("stdout"));
    std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
    let next = || -> Value {
        let line = lines.recv_timeout(Duration::from_secs(20)).expect("a line comes");
        serde_json::from_str(&line).expect("a line is one document")
    };
    for _ in 0..known {
        next();
    }
    let picked = stage.terminal("Donna").json(&["pickup"]);
    let new = next();
    assert_eq!(new["delta_id"], picked["pickup_delta_id"]);
    stage.terminal("Donna").json(&["note", "seen"]);
    assert_eq!(next()["kind"], "note");
}

#[test]
fn notes_and_decisions_are_deltas() {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    let noted = lola.json(&["note", "line one\nline two \u{1b}[31m red"]);
    assert_fields(&noted, "delta_id project_id identity session_id");
    assert_fields(&lola.json(&["decide", "x"]), "delta_id project_id identity session_id");
    let log = lola.text(&["log"]);
    assert!(!log.chars().any(|c| c.is_control() && c != '\n'), "{log:?}");
    assert!(stage.ledger("shop")[2]["body"].to_string().contains("[31m red"), "kept as it was");
    for kind in ["remember", "research", "methodology"] {
        lola.json(&["note", "--kind", kind, "x"]);
        assert_eq!(items(&lola.json(&["log", "--kind", kind])).len(), 1);
    }
}

#[test]
fn what_nobody_could_read_goes_on_waiting() {
    let stage = Stage::ready();
    let (lola, donna) = (stage.terminal("Lola"), stage.terminal("Donna"));
    let sent = text(
        &lola.json(&["mail", "send", "--to", "Donna", "--wait", "-s", "rate", "--text", "19"]),
        "message_id",
    );
    let waits = || items(&donna.json(&["signal", "pending"])).len();
    assert_eq!(waits(), 1);
    let read = |redirection: &str| {
        let line = format!("exec \"$BATON\" mail read \"$MAIL\" {redirection}");
        let mut shell = donna.with("BATON", BATON).with("MAIL", &sent).program("sh");
        shell.args(["-c", &line]).stdin(Stdio::null()).output().expect("a shell")
    };
    for nowhere in [">&-", ">/dev/null"] {
        assert!(read(nowhere).status.success());
        assert_eq!(waits(), 1, "{nowhere}");
    }
    let full = read(">/dev/full");
    let stderr = String::from_utf8_lossy(&full.stderr);
    assert_eq!(full.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("output_full") && !stderr.contains("fault of ours"), "{stderr}");
    assert_eq!(waits(), 1, "no room");
    donna.json(&["mail", "read", &sent]);
    assert_eq!(waits(), 0);
}

#[test]
fn a_signal_is_delivered_by_a_pickup_exactly_once() {
    let stage = Stage::ready();
    let (lola, donna) = (stage.terminal("Lola"), stage.terminal("Donna"));
    lola.json(&["start"]);
    let sent = lola.json(&[
        "signal",
        "send",
        "--to",
        "Donna",
        "--type",
        "Question",
        "which rate?",
        "--body",
        "7 or 19",
    ]);
    assert_fields(&sent, "message_id project_id identity");
    let recalled = text(&lola.json(&["signal", "send", "--to", "donna", "never mind"]), "message_id");
    lola.json(&["signal", "recall", &recalled]);
    lola.json(&["wrap", "--summary", "x"]);

    let pending = donna.json(&["signal", "pending"]);
    assert_fields(&pending, "project_id items next");
    assert_eq!(items(&pending).len(), 1, "what was recalled is gone");
    let picked = donna.json(&["pickup"]);
    let signals = picked["pending_signals"].as_array().expect("signals");
    assert_eq!(signals.len(), 1);
    assert_eq!(signals[0]["message_id"], sent["message_id"]);
    assert_eq!((&signals[0]["type"], &signals[0]["body"]), (&"Question".into(), &"7 or 19".into()));
    assert_eq!(donna.json(&["pickup"])["pending_signals"], serde_json::json!([]), "not twice");
    assert_eq!(items(&donna.json(&["signal", "pending"])).len(), 0);
    let late = donna.run(&["signal", "recall", sent["message_id"].as_str().expect("id"), "--json"]);
    assert!(matches!(late.code, 1 | 3 | 4), "what was delivered is not taken back: {late:#?}");
    lola.refused(1, "signal_type_unknown", &["signal", "send", "--to", "Donna", "--type", "Gossip", "x"]);
}

#[test]
fn a_start_drains_no_signals_and_gives_no_baton() {
    let stage = told();
    let donna = stage.terminal("Donna");
    stage.terminal("Lola").json(&["signal", "send", "--to", "Donna", "x"]);
    let card = donna.json(&["start"]);
    assert!(!card.to_string().contains("\"body\""), "summary fields only: {card:#}");
    assert_eq!(card["last_wrap"]["last_wrapped_summary"], "cart adds up");
    assert_eq!(items(&donna.json(&["signal", "pending"])).len(), 1);
}

#[test]
fn a_pickup_as_text_shows_what_waits_whole_or_leaves_it_waiting() {
    let stage = told();
    let (lola, donna) = (stage.terminal("Lola"), stage.terminal("Donna"));
    let body = "the column is called rate_pct\n\u{1b}[31mbaton end --force\n  7 or 19";
    lola.json(&["signal", "send", "--to", "Donna", "--type", "Question", "schema", "--body", body]);
    let long = "word ".repeat(2_000);
    let message_id = text(
        &lola.json(&["mail", "send", "--to", "Donna", "--wait", "--subject", "a long one", "--text", &long]),
        "message_id",
    );
    let shown = donna.text(&["pickup"]);
    for line in ["schema", "  │ the column is called rate_pct", "  │   7 or 19"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "{shown}");
    assert!(shown.contains(&format!("baton mail read {message_id}")), "{shown}");
    let waits = items(&donna.json(&["signal", "pending"]))
        .iter()
        .map(|one| text(one, "message_id"))
        .collect::<Vec<_>>();
    assert_eq!(
        waits,
        std::slice::from_ref(&message_id),
        "what was shown whole is delivered, the other one is not"
    );
    assert_eq!(donna.json(&["mail", "read", &message_id])["body"], long);
}
