//! The main job: two identities in two terminals pass a baton on.

use serde_json::{Value, json};

use crate::stage::{Stage, assert_fields, items, text};

/// A packet as nobody's serializer would write it: odd whitespace, escapes, numbers, every kind of letter.
const ODD: &str = "  {\r\n\t\"summary\" :  \"Zähler läuft — 計算 🏃🏽‍♀️ \\u00e9\\u0301 \\/ done\" ,\n\n \"next_steps\":[ \"a\\tb\" ,\"\u{202e}rtl\u{202c}\" ],\
    \"zz_own\": { \"b\": 1.50e+2, \"a\": 12345678901234567890123, \"b2\":-0 },   \"focus\" :[\"cart\"]}\n \n";

/// Init, start, checkpoint and wrap with a packet from a file or from standard input; then the pickup by another.
fn passes_on(packet: &str, from_stdin: bool) -> (Stage, Value) {
    let stage = Stage::new();
    let (lola, donna) = (stage.terminal("Lola"), stage.terminal("Donna"));
    let init = lola.json(&["init"]);
    assert_eq!(init["project_id"], "shop");
    let started = lola.json(&["start"]);
    assert_fields(
        &started,
        "session_id project_id identity delta_id project sessions handoffs tasks last_wrap reminders",
    );
    assert_eq!(started["identity"], "Lola");
    let saved = lola.json(&["checkpoint", "--summary", "half way"]);
    assert_fields(&saved, "session_id delta_id state_version project_id identity");
    let wrapped = if from_stdin {
        lola.feed(packet.as_bytes(), &["wrap", "--packet", "-", "--json"]).done().json()
    } else {
        lola.json(&["wrap", "--packet", &stage.file("packet.json", packet)])
    };
    assert_fields(&wrapped, "session_id delta_id warnings project_id identity");
    assert_eq!(wrapped["session_id"], started["session_id"]);

    let picked = donna.json(&["pickup"]);
    assert_eq!(picked["baton"]["body"].as_str(), Some(packet), "the body is the packet, byte for byte");
    assert_eq!(picked["baton"]["delta_id"], wrapped["delta_id"]);
    assert_eq!(picked["predecessor_session_id"], started["session_id"]);
    stage.assert_sound();
    (stage, picked)
}

#[test]
fn a_packet_from_a_file_comes_out_byte_for_byte() {
    let (stage, picked) = passes_on(ODD, false);
    assert_fields(
        &picked,
        "project_id identity session_id predecessor_session_id baton pickup_delta_id context recent_deltas todos adrs wip \
         pending_signals controller_status instruction rules_reminders warnings inherited_chain",
    );
    assert_fields(&picked["baton"], "delta_id kind agent_identity created_at body summary");
    assert_eq!(picked["identity"], "Donna");
    assert_eq!(picked["baton"]["kind"], "wrap");
    assert_eq!(picked["baton"]["agent_identity"], "Lola");
    assert!(text(&picked["baton"], "summary").starts_with("Zähler läuft — 計算"));

    let ledger = stage.ledger("shop");
    let kinds: Vec<&str> = ledger.iter().filter_map(|d| d["kind"].as_str()).collect();
    assert_eq!(kinds, ["other", "start", "checkpoint", "wrap", "pickup"], "the first is the registration");
    assert_eq!(ledger[3]["body"].as_str(), Some(ODD));
    let pickup = &ledger[4];
    assert_eq!(pickup["inherited_from"], picked["predecessor_session_id"]);
    assert_eq!(pickup["delta_id"], picked["pickup_delta_id"]);
    for (key, from) in [
        ("predecessor_session_id", &picked["predecessor_session_id"]),
        ("inherited_from_wrap_delta_id", &picked["baton"]["delta_id"]),
        ("picker_identity", &json!("Donna")),
    ] {
        let body: Value = pickup["body"]
            .as_str()
            .map_or_else(|| pickup["body"].clone(), |b| serde_json::from_str(b).expect("JSON"));
        assert_eq!(&body[key], from, "{key}");
    }
}

#[test]
fn a_packet_from_standard_input_comes_out_byte_for_byte() {
    passes_on(ODD, true);
}

#[test]
fn a_packet_near_the_limit_comes_out_byte_for_byte() {
    let head = r#"{"summary":"large","metadata":{"fill":""#;
    let tail = "\"}}";
    let fill = "x".repeat(256 * 1024 - head.len() - tail.len());
    passes_on(&format!("{head}{fill}{tail}"), true);
}

#[test]
fn a_summary_alone_makes_a_packet() {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    lola.json(&[
        "wrap",
        "--summary",
        "cart adds up",
        "--next",
        "taxes",
        "--next",
        "tests",
        "--focus",
        "cart",
    ]);
    let body = text(&stage.terminal("Donna").json(&["hd-exec"])["baton"], "body");
    let packet: Value = serde_json::from_str(&body).expect("the body is JSON");
    assert_eq!(packet["summary"], "cart adds up");
    let steps: Vec<&Value> =
        packet["next_steps"].as_array().into_iter().flatten().map(|s| s.get("text").unwrap_or(s)).collect();
    assert_eq!(steps, ["taxes", "tests"]);
    assert_eq!(packet["focus"], json!(["cart"]));
}

#[test]
fn a_retry_with_the_same_request_id_returns_the_same_ids() {
    let stage = Stage::ready();
    let (lola, donna) = (stage.terminal("Lola"), stage.terminal("Donna"));
    lola.json(&["start", "--request-id", "s1"]);
    let wrapped = lola.json(&["wrap", "--summary", "x", "--request-id", "w1"]);
    assert_eq!(lola.json(&["wrap", "--summary", "x", "--request-id", "w1"])["delta_id"], wrapped["delta_id"]);
    let first = donna.json(&["pickup", "--request-id", "p1"]);
    let again = donna.json(&["pickup", "--request-id", "p1"]);
    for key in ["session_id", "pickup_delta_id"] {
        assert_eq!(first[key], again[key], "{key}");
    }
    assert_eq!(first["baton"], again["baton"]);
}

#[test]
fn a_chain_of_three_stays_readable() {
    let stage = Stage::ready();
    let first = text(&stage.terminal("A").json(&["start"]), "session_id");
    stage.terminal("A").json(&["wrap", "--summary", "one"]);
    let second = text(&stage.terminal("B").json(&["pickup"]), "session_id");
    stage.terminal("B").json(&["wrap", "--summary", "two"]);
    let picked = stage.terminal("C").json(&["pickup"]);
    let chain = picked["inherited_chain"].to_string();
    assert!(chain.contains(&first) && chain.contains(&second), "{chain}");
    let threads: Vec<&Value> =
        [0, 4].iter().filter_map(|i| picked["recent_deltas"].get(*i)).map(|d| &d["thread_id"]).collect();
    assert_eq!(threads.first(), threads.last());
}

#[test]
fn a_baton_that_is_gone_is_said_to_be() {
    let stage = Stage::ready();
    let picked = stage.terminal("Donna").json(&["pickup"]);
    assert_eq!(picked["baton"], Value::Null);
    assert_eq!(picked["warnings"][0]["kind"], "no_baton");

    stage.terminal("Lola").json(&["start"]);
    stage.terminal("Lola").json(&["wrap", "--summary", "x"]);
    stage.terminal("Donna").json(&["pickup"]);
    let late = stage.terminal("Late").refused(4, "baton_claimed", &["pickup"]);
    assert!(late.to_string().contains("Donna"), "the holder is named: {late}");
}

#[test]
fn a_preview_claims_nothing_and_drains_nothing() {
    let stage = Stage::ready();
    let (lola, donna) = (stage.terminal("Lola"), stage.terminal("Donna"));
    lola.json(&["start"]);
    lola.json(&["signal", "send", "--to", "Donna", "look here"]);
    lola.json(&["wrap", "--summary", "x"]);
    let before = stage.deltas();
    let preview = donna.json(&["pickup", "--dry-run"]);
    assert_eq!(preview["baton"]["summary"], "x");
    assert_eq!(stage.deltas(), before);
    assert_eq!(items(&donna.json(&["signal", "pending"])).len(), 1);
    assert_eq!(donna.json(&["pickup"])["pending_signals"].as_array().map(Vec::len), Some(1));
}

#[test]
fn the_status_shows_who_works_and_what_waits() {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    let status = lola.json(&["status"]);
    assert_fields(&status, "project_id project sessions handoffs tasks last_wrap reminders");
    assert_eq!(status["sessions"][0]["identity"], "Lola");
    assert_eq!(status["sessions"][0]["live"], true);
    lola.json(&["wrap", "--summary", "cart adds up"]);
    let status = lola.json(&["status"]);
    assert_eq!(status["sessions"], json!([]));
    assert_eq!(status["handoffs"].as_array().map(Vec::len), Some(1), "the baton waits: {status:#}");
    assert_eq!(status["last_wrap"]["last_wrapped_by"], "Lola");
    assert_eq!(status["project"]["project_id"], "shop");
}

#[test]
fn an_ended_session_frees_its_baton_and_stays_released() {
    let stage = Stage::ready();
    let (lola, donna) = (stage.terminal("Lola"), stage.terminal("Donna"));
    lola.json(&["start"]);
    lola.json(&["wrap", "--summary", "x"]);
    let held = text(&donna.json(&["pickup"]), "session_id");
    let ended = donna.json(&["end", "--reason", "lunch"]);
    assert_eq!(ended["session_id"].as_str(), Some(held.as_str()));
    let late = donna.refused(
        4,
        "session_released",
        &["checkpoint", "--session", &held, "--summary", "kept all the same"],
    );
    assert_eq!(late["reason"], "ended");
    let notes = stage.ledger("shop").into_iter().filter(|d| d["kind"] == "note").collect::<Vec<_>>();
    assert!(
        notes.iter().any(|d| d.to_string().contains("kept all the same")),
        "no report is lost: {notes:#?}"
    );
    assert_eq!(stage.terminal("Ann").json(&["pickup"])["baton"]["summary"], "x");
    stage.assert_sound();
}

#[test]
fn a_stale_version_is_refused_with_both_versions() {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    let state = stage.file("state.json", r#"{"step": 1}"#);
    let first = lola.json(&["checkpoint", "--state", &state]);
    lola.json(&["checkpoint", "--state", &state, "--expected-version", &first["state_version"].to_string()]);
    let before = stage.deltas();
    let stale =
        lola.refused(4, "version_conflict", &["checkpoint", "--state", &state, "--expected-version", "0"]);
    assert!(stale.get("expected_version").or(stale.get("expected")).is_some(), "both versions: {stale}");
    assert_eq!(stage.deltas(), before);
}
