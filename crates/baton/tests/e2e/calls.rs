//! Calls that are wrong in themselves: each is refused with its exit code, a stable code and a hint, and writes nothing.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::stage::{Answer, Stage, assert_fields, text};

const ID: &str = "01900000-0000-7000-8000-000000000000";

/// Lola at work in a registered project.
fn at_work() -> Stage {
    let stage = Stage::ready();
    stage.terminal("Lola").json(&["start"]);
    stage
}

#[test]
fn a_bad_packet_is_refused_and_the_session_goes_on() {
    let stage = at_work();
    let lola = stage.terminal("Lola");
    let before = stage.deltas();
    let large = format!("{{\"summary\":\"{}\"}}", "x".repeat(256 * 1024));
    let deep = format!("{{\"summary\":\"x\",\"own\":{}1{}}}", "[".repeat(5_000), "]".repeat(5_000));
    for (packet, code, expected) in [
        ("", "packet_invalid", ""),
        ("not json", "packet_invalid", ""),
        ("{\"summary\":\"x\"", "packet_invalid", ""),
        ("{\"summary\":\"x\"} trailing", "packet_invalid", ""),
        ("[]", "packet_invalid", ""),
        ("null", "packet_invalid", ""),
        ("{}", "packet_invalid", "summary"),
        ("{\"summary\":\"  \"}", "packet_invalid", "summary"),
        ("{\"summary\":7}", "packet_invalid", "summary"),
        (
            "{\"summary\":\"x\",\"commands\":[{\"command\":\"a\",\"exit_code\":\"one\"}]}",
            "packet_invalid",
            "commands[0].exit_code",
        ),
        ("{\"summary\":\"x\",\"git\":{\"dirty\":\"maybe\"}}", "packet_invalid", "git.dirty"),
        ("{\"summary\":\"a\\u0000b\"}", "packet_invalid", "NUL"),
        ("{\"summary\":\"x\",\"own\":{\"a\\u0000\":1}}", "packet_invalid", "NUL"),
        (deep.as_str(), "packet_invalid", "nested in more than 127 levels"),
        (large.as_str(), "packet_too_large", "262144"),
    ] {
        let answer = lola.feed(packet.as_bytes(), &["wrap", "--packet", "-", "--json"]);
        let error = answer.refused(1, code);
        assert!(error.to_string().contains(expected), "{expected}: {error}");
    }
    let bytes = lola.feed(b"{\"summary\":\"\xff\xfe\"}", &["wrap", "--packet", "-", "--json"]);
    bytes.refused(1, "input_unreadable");
    lola.refused(1, "input_unreadable", &["wrap", "--packet", "/nowhere/packet.json"]);
    lola.refused(1, "input_unreadable", &["wrap", "--packet", "/"]);
    lola.refused(1, "packet_invalid", &["wrap", "--summary", " "]);
    assert_eq!(lola.feed(b"{}", &["wrap", "--json"]).code, 2, "without a packet and a summary");
    assert_eq!(stage.deltas(), before, "nothing was written");
    lola.json(&["wrap", "--summary", "still at work"]);
}

#[test]
fn a_slip_is_told_with_what_would_be_right() {
    let stage = at_work();
    let lola = stage.terminal("Lola");
    lola.refused(1, "store_unknown", &["--store", "mysql://h/d", "status"]);
    assert!(!stage.shop().join("mysql:").exists(), "no file was made of an address");
    lola.refused(3, "key_unknown", &["key", "show"]);
    lola.refused(1, "task_invalid", &["task", "list", "--status", "opne"]);
    for (args, expected) in [
        (&["audit", "--days", "x"][..], "not a whole number"),
        (&["task", "create", "x", "-p", "9"], "0 (or P0, critical) is now"),
        (&["wrap"], "--packet <FILE|->|--summary <T>"),
    ] {
        let answer = lola.run(args);
        assert!(answer.code == 2 && answer.err.contains(expected), "{answer:#?}");
    }
    let broken = lola.feed(b"{bad", &["wrap", "--packet", "-", "--json"]).refused(1, "packet_invalid");
    assert!(!broken.to_string().contains("`?`"), "{broken}");
    lola.feed(b"as it was piped", &["note", "-"]).done();
    assert!(stage.ledger("shop").iter().any(|delta| delta["body"].to_string().contains("as it was piped")));
}

#[test]
fn a_bad_identity_is_refused_everywhere() {
    let stage = at_work();
    let before = stage.deltas();
    let long = "x".repeat(65);
    let bare = stage.bare();
    for name in ["", " ", "Lo\nla", "\u{1b}[2J", "-x", ".x", "ümit", "a b", "a/b", long.as_str(), "../../etc"]
    {
        let flag = format!("--as={name}");
        for call in [["start", &flag], ["pickup", &flag], ["end", &flag]] {
            let error = bare.refused(1, "identity_invalid", &call);
            assert_eq!(text(&error, "identity"), name);
        }
        if !name.is_empty() {
            bare.with("BATON_IDENTITY", name).refused(1, "identity_invalid", &["start"]);
        }
    }
    // Bytes that are no text are not silently another identity, or another store.
    for variable in ["BATON_IDENTITY", "BATON_STORE", "BATON_PROJECT"] {
        let broken = bare.with(variable, OsStr::from_bytes(b"Lo\xffla"));
        broken.refused(1, "config_invalid", &["start"]);
    }
    assert_eq!(stage.deltas(), before);
}

#[test]
fn the_project_is_never_guessed() {
    let stage = at_work();
    let lola = stage.terminal("Lola");
    lola.refused(3, "project_unknown", &["start", "--project", "nowhere"]);
    lola.refused(1, "project_invalid", &["start", "--project", "No Where\n"]);
    lola.within(stage.root()).refused(3, "project_unresolved", &["start"]);
    let nested = stage.repo("shop/vendor/lib");
    let error = lola.within(&nested).refused(1, "project_ambiguous", &["start"]);
    assert!(text(&error, "hint").contains("baton init"), "{error}");
    assert_eq!(lola.within(&nested).json(&["status", "--project", "shop"])["project_id"], "shop");
    let elsewhere = lola.within(stage.root()).with("BATON_PROJECT", "shop");
    assert_eq!(elsewhere.json(&["status"])["project_id"], "shop");
    // A folder whose name only begins alike is another folder.
    let alike = stage.repo("shopping");
    lola.within(&alike).refused(3, "project_unresolved", &["start"]);
}

#[test]
fn unknown_and_ambiguous_ids_are_refused() {
    let stage = at_work();
    let (lola, donna) = (stage.terminal("Lola"), stage.terminal("Donna"));
    lola.refused(3, "session_unknown", &["checkpoint", "--session", ID, "--summary", "x"]);
    donna.refused(3, "no_session", &["wrap", "--summary", "x"]);
    lola.json(&["wrap", "--summary", "one"]);
    let first = text(&lola.json(&["start"]), "session_id");
    lola.json(&["wrap", "--summary", "two"]);
    donna.refused(3, "baton_unknown", &["pickup", "--handoff", ID]);
    donna.refused(3, "session_unknown", &["pickup", "--from-session", ID]);
    // Ids made in one second begin alike.
    let error = donna.refused(1, "id_ambiguous", &["pickup", "--handoff", &first[..6]]);
    assert_eq!(error["candidates"].as_array().map(Vec::len), Some(2), "{error}");
    donna.refused(3, "message_unknown", &["signal", "recall", ID]);
    let late = donna.refused(
        4,
        "session_not_yours",
        &["checkpoint", "--session", &first, "--as", "Donna", "--summary", "x"],
    );
    assert!(late.to_string().contains("Lola"), "{late}");
}

#[test]
fn a_wrong_call_is_a_usage_error_and_nothing_else() {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    let before = stage.deltas();
    for call in [
        &[][..],
        &["strat"],
        &["start", "--nope"],
        &["wrap"],
        &["checkpoint", "--expected-version", "one"],
        &["pickup", "one", "two"],
        &["start", "--json", "--jsonl"],
        &["start", "--why", "x"],
        &["note"],
        &["completions", "tcsh"],
        &["log", "--after", "x"],
    ] {
        let answer = lola.run(call);
        if !call.contains(&"--json") {
            assert_eq!((answer.code, answer.out.as_str()), (2, ""), "{answer:#?}");
            assert!(answer.err.contains("Usage") || answer.err.contains("error:"), "{answer:#?}");
        }
        lola.refused(2, "usage", call);
    }
    let nearest = lola.run(&["strat"]);
    assert!(nearest.err.contains("start"), "the nearest word is named: {nearest:#?}");
    for unclean in ["\u{1b}]0;x\u{7}", "a\u{1b}[2Jb", "x\r\ny"] {
        for call in [
            &[unclean][..],
            &["start", unclean],
            &["--project", unclean, "status"],
            &["start", "--as", unclean],
            &["wrap", "--packet", unclean],
            &["handoff", "show", unclean],
            &["log", "--since", unclean],
            &["transcripts", "list", "--agent", unclean],
            &["--store", unclean, "doctor"],
            &["import-transcript", unclean],
            &["serve", "--listen", unclean],
            &["handoff", "from-transcript", "--budget", unclean],
        ] {
            let answer = lola.run(call);
            assert_ne!(answer.code, 6, "{answer:#?}");
            let raw = |c: char| c.is_control() && c != '\n';
            assert!(
                !answer.err.chars().any(raw) && !answer.out.chars().any(raw),
                "a raw control character: {answer:#?}"
            );
        }
    }
    assert_eq!(stage.deltas(), before);
}

#[test]
fn arguments_that_are_no_text_or_very_long_are_refused() {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    let before = stage.deltas();
    let bytes = OsStr::from_bytes(b"a\xff\xfeb");
    for call in [
        &[OsStr::new("start"), OsStr::new("--as"), bytes, OsStr::new("--json")][..],
        &[bytes, OsStr::new("--json")],
        &[OsStr::new("wrap"), OsStr::new("--summary"), bytes, OsStr::new("--json")],
    ] {
        lola.run(call).refused(2, "usage");
    }
    let long = "y".repeat(100_000);
    for (exit, code, call) in [
        (1, "identity_invalid", &["start", "--as", &long][..]),
        (1, "project_invalid", &["start", "--project", &long]),
        (2, "usage", &[&long]),
        (2, "usage", &["log", "--kind", &long]),
        (1, "label_invalid", &["start", "--request-id", &long]),
        (1, "input_unreadable", &["wrap", "--packet", &long]),
        (3, "handoff_unknown", &["handoff", "show", &long]),
        (3, "transcript_unknown", &["transcripts", "show", &long]),
        (1, "span_invalid", &["log", "--since", &long]),
    ] {
        lola.refused(exit, code, call);
    }
    assert_eq!(stage.deltas(), before);
}

#[test]
fn a_broken_configuration_names_its_file() {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    for (content, code, expected) in [
        ("store = ", "config_invalid", "config.toml"),
        ("identty = \"x\"", "config_unknown_key", "identity"),
        ("stale_after = \"soon\"", "config_invalid", "stale_after"),
        ("store = [1]", "config_invalid", "store"),
    ] {
        stage.file("home/config/baton/config.toml", content);
        let error = lola.refused(1, code, &["status"]);
        assert!(error.to_string().contains(expected), "{expected}: {error}");
    }
    // What cannot be read is not what is not there.
    stage.file("home/config/baton/config.toml", b"identity = \"\xff\"");
    lola.refused(1, "config_invalid", &["status"]);
    stage.file("home/config/baton/config.toml", "");
    stage.file("shop/.baton.toml", "stale_atfer = \"2m\"");
    // A repository's file stops no command; what is wrong with it is shown.
    lola.json(&["status"]);
    let fault = lola.json(&["config", "show"])["repository"]["fault"].to_string();
    assert!(fault.contains("stale_atfer"), "{fault}");
    stage.file("shop/.baton.toml", "stale_after = \"2m\"");
    let shown = lola.json(&["config", "show"]);
    assert_eq!(
        shown["settings"]["stale_after"]["from"], "default",
        "a repository's file is not trusted: {shown}"
    );
    lola.json(&["trust", "--yes"]);
    let shown = lola.json(&["config", "show"]);
    let from = text(&shown["settings"]["stale_after"], "from");
    assert!(from.ends_with(".baton.toml"), "where it came from: {shown}");
}

#[test]
fn a_closed_standard_output_is_no_fault() {
    let stage = at_work();
    let lola = stage.terminal("Lola");
    lola.shell("for i in $(seq 1 40); do \"$BATON\" note \"$(head -c 4000 /dev/zero | tr '\\0' x)\" >/dev/null || exit 9; done").done();
    for call in ["log", "log --json", "log --jsonl", "--help", "completions bash", "status"] {
        let answer = lola.shell(&format!("\"$BATON\" {call} | head -1 >/dev/null"));
        assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{call}: {answer:#?}");
        // Here nobody reads at all.
        let mut child = lola.spawn(&call.split(' ').collect::<Vec<_>>());
        drop(child.stdout.take());
        let answer = Answer::of(child, &[call]);
        assert!(answer.err.is_empty() && answer.code != 6 && answer.code != 101, "{call}: {answer:#?}");
    }
}

#[test]
fn the_same_identity_twice_is_a_conflict_unless_forced() {
    let stage = at_work();
    let other = stage.terminal("Lola").with("BATON_PROCESS", "another-terminal");
    let before = stage.deltas();
    let error = other.refused(4, "identity_conflict", &["start"]);
    assert_fields(&error["holder"], "session_id identity surface machine last_heartbeat");
    assert_eq!(
        other.with("BATON_IDENTITY", "lola").refused(4, "identity_conflict", &["pickup"])["code"],
        "identity_conflict"
    );
    assert_eq!(stage.deltas(), before);
    other.json(&["start", "--force", "--why", "the laptop is closed"]);
    let released =
        stage.ledger("shop").into_iter().rfind(|delta| delta["kind"] == "release").expect("a release");
    assert!(
        released["body"].to_string().contains("the laptop is closed"),
        "force is written down: {released}"
    );
    stage.terminal("Lola").refused(
        4,
        "session_released",
        &["wrap", "--session", &text(&released, "session_id"), "--summary", "x"],
    );
}
