//! What people who live in Beads stumbled over: who claims, several issues at once, the file that is kept in step.

use serde_json::{Value, json};

use crate::stage::{Answer, Stage, Terminal, text};

fn bd(who: &Terminal<'_>, args: &[&str]) -> Answer {
    who.run(&["bd"].iter().chain(args).copied().collect::<Vec<_>>())
}

fn bd_json(who: &Terminal<'_>, args: &[&str]) -> Value {
    bd(who, &[args, &["--json"]].concat()).done().json()
}

fn made(who: &Terminal<'_>, title: &str) -> String {
    text(&bd_json(who, &["create", title]), "id")
}

/// An issue that another agent has claimed.
fn claimed(stage: &Stage, title: &str) -> String {
    let id = made(&stage.terminal("Ann"), title);
    let zed = stage.terminal("Zed");
    zed.run(&["start"]).done();
    bd_json(&zed, &["update", &id, "--claim"]);
    id
}

#[test]
fn ready_claims_for_the_person_who_calls() {
    let stage = Stage::ready();
    made(&stage.terminal("Ann"), "one");
    let person = stage.bare();
    person.shell("git config user.name ann").done();
    let on_a_terminal = |args: &str| {
        person.shell(&format!("script -qec '{} bd {args}' /dev/null", env!("CARGO_BIN_EXE_baton")))
    };
    let claimed = on_a_terminal("ready --claim").done();
    assert!(claimed.out.contains("@ann"), "{claimed:?}");
    let id = text(&bd_json(&stage.terminal("Ann"), &["list"])[0], "id");
    on_a_terminal(&format!("close {id} --reason done")).done();
}

#[test]
fn one_of_several_issues_that_is_refused_is_named_and_keeps_no_other_back() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let (free, taken) = (made(&ann, "free"), claimed(&stage, "taken"));
    for (verb, key, value) in [
        (&["update", "--priority", "0"][..], "priority", json!(0)),
        (&["label", "add"], "labels", json!(["l"])),
        (&["defer"], "status", json!("deferred")),
    ] {
        let mut args = verb.to_vec();
        args.extend([free.as_str(), taken.as_str()]);
        if verb[0] == "label" {
            args.push("l");
        }
        let answer = bd(&ann, &args);
        assert_eq!(answer.code, 1, "{verb:?}: {answer:?}");
        assert!(answer.err.contains(&taken) && answer.out.contains(&free), "{verb:?}: {answer:?}");
        assert_eq!(bd_json(&ann, &["show", &free])[0][key], value, "{verb:?}");
    }
}

#[test]
fn an_issue_that_may_not_be_closed_gets_no_relation() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let (other, taken) = (made(&ann, "other"), claimed(&stage, "taken"));
    for args in [["duplicate", &taken, "--of", &other], ["supersede", &taken, "--with", &other]] {
        assert_eq!(bd(&ann, &args).code, 1);
    }
    for id in [&other, &taken] {
        let found = &bd_json(&ann, &["show", id])[0];
        assert!(found["dependencies"].is_null() && found["dependents"].is_null(), "{found}");
    }
}

#[test]
fn true_is_the_usual_file_and_nothing_is_called_true() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    stage.file("shop/.baton.toml", "[tasks]\nmirror = true\n");
    let id = made(&ann, "kept in step");
    let file = std::fs::read_to_string(stage.shop().join(".beads/issues.jsonl")).expect("the file");
    assert!(file.contains(&id));
    assert!(!stage.shop().join("true").exists());
    stage.file("shop/.baton.toml", "[tasks]\nmirror = false\n");
    made(&ann, "not in it");
    assert_eq!(std::fs::read_to_string(stage.shop().join(".beads/issues.jsonl")).expect("read"), file);
    assert!(!stage.shop().join("false").exists());
}

#[test]
fn a_sync_that_is_only_to_look_leaves_the_file_and_the_ledger() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    made(&ann, "here");
    let line = "{\"id\":\"shop-77\",\"title\":\"there\",\"status\":\"open\",\"created_at\":\"2026-01-01T00:00:00Z\",\"updated_at\":\"2026-01-01T00:00:00Z\"}\n";
    stage.file("shop/.beads/issues.jsonl", line);
    let file = || std::fs::read_to_string(stage.shop().join(".beads/issues.jsonl")).expect("read");
    for option in ["--dry-run", "--status"] {
        let done = bd_json(&ann, &["sync", option]);
        assert_eq!((done["created"].clone(), file().as_str()), (json!(1), line), "{option}");
        assert_eq!(bd_json(&ann, &["list"]).as_array().map(Vec::len), Some(1), "{option}");
    }
    bd_json(&ann, &["sync", "--import-only"]);
    assert_eq!((bd_json(&ann, &["list"]).as_array().map(Vec::len), file().as_str()), (Some(2), line));
    bd_json(&ann, &["sync"]);
    assert_eq!(file().lines().count(), 2);
}

#[test]
fn a_folder_with_issues_takes_their_prefix_and_keeps_its_own_project() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let line = |id: &str| {
        format!(
            "{{\"id\":\"{id}\",\"title\":\"there\",\"status\":\"open\",\"created_at\":\"2026-01-01T00:00:00Z\",\"updated_at\":\"2026-01-01T00:00:00Z\"}}\n"
        )
    };
    let issues = format!("{}{}{}", line("gg-1"), line("gg-2.1"), line("other-1"));
    let clone = stage.repo("clone");
    stage.file("clone/.beads/issues.jsonl", &issues);
    let at = ann.within(&clone);
    assert_eq!(bd_json(&at, &["init"])["prefix"], "gg");
    assert!(made(&at, "new").starts_with("gg-"));
    stage.file("shop/.beads/issues.jsonl", &issues);
    assert_eq!(bd_json(&ann, &["init"])["prefix"], "shop", "it has a project already");
}

#[test]
fn a_file_that_was_cut_takes_no_memory_away() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    stage.file("shop/.baton.toml", "[tasks]\nmirror = true\n");
    made(&ann, "one");
    let path = stage.shop().join(".beads/issues.jsonl");
    let memory = "{\"_type\":\"memory\",\"key\":\"k\",\"value\":\"v\"}\n";
    let whole = format!("{}{memory}", std::fs::read_to_string(&path).expect("the file"));
    std::fs::write(&path, &whole).expect("written");
    made(&ann, "two");
    assert!(std::fs::read_to_string(&path).expect("read").contains(memory));
    std::fs::write(&path, &whole[..100]).expect("cut");
    made(&ann, "three");
    assert!(std::fs::read_to_string(&path).expect("read").contains(memory), "it is back with the issues");
}
