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
        assert_eq!(answer.code, 0, "{verb:?}: {answer:?}");
        assert!(answer.err.contains(&taken) && answer.out.contains(&free), "{verb:?}: {answer:?}");
        assert_eq!(bd_json(&ann, &["show", &free])[0][key], value, "{verb:?}");
    }
}

#[test]
fn what_is_refused_of_several_issues_is_one_document_of_json() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let id = made(&ann, "one");
    let answer = bd(&ann, &["update", "nope", &id, "-p", "1", "--json"]);
    let done: Value = serde_json::from_str(&answer.out).expect("one document");
    assert_eq!((answer.code, &done[0]["id"]), (0, &json!(id)), "{answer:?}");
    assert!(!bd(&ann, &["update", "nope", &id, "-p", "1"]).err.contains("Error: \n"));
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

#[test]
fn small_slips_are_answered_as_bd_does() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let id = made(&ann, "one");
    let before = bd_json(&ann, &["show", &id]);
    assert!(bd(&ann, &["update", &id]).done().out.contains("No updates specified"));
    assert_eq!(bd_json(&ann, &["show", &id]), before);
    let slip = bd(&ann, &["create", "two", "--deps", &format!("bloks:{id}")]);
    assert!(slip.code == 1 && slip.err.contains("did you mean blocks"), "{slip:?}");
    let previewed = text(&bd_json(&ann, &["create", "three", "--dry-run"]), "created_at");
    assert!(!previewed.starts_with("1970"), "{previewed}");
    for group in ["label", "epic", "kv", "gate"] {
        let help = bd(&ann, &[group]).done().out;
        assert!(help.lines().count() > 3 && help.contains("Usage: bd"), "{group}: {help}");
    }
}

#[test]
fn context_in_prose_is_a_paragraph_of_the_description_and_json_is_the_context() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let prose = bd_json(
        &ann,
        &["create", "one", "-d", "words", "--skills", "Rust", "--context", "seen on Linux only"],
    );
    assert_eq!(prose["description"], "words\n\n## Required Skills\nRust\n\n## Context\nseen on Linux only");
    let object = text(&bd_json(&ann, &["create", "two", "--context", "{\"seen\":1}"]), "id");
    assert_eq!(bd_json(&ann, &["show", &object])[0]["agent_context"]["seen"], 1);
    assert_eq!(bd(&ann, &["create", "three", "--context", "{seen"]).code, 1);
}

#[test]
fn what_is_ready_is_filtered_by_kind_and_label_and_shows_what_is_put_off_when_asked() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    bd_json(&ann, &["create", "plain"]);
    bd_json(&ann, &["create", "swarm", "--mol-type", "swarm", "--labels", "tech-debt"]);
    bd_json(&ann, &["create", "later", "--defer", "+3d"]);
    let titles = |args: &[&str]| -> Vec<String> {
        bd_json(&ann, args).as_array().expect("a list").iter().map(|issue| text(issue, "title")).collect()
    };
    for verb in ["ready", "list"] {
        assert_eq!(titles(&[verb, "--mol-type", "swarm"]), ["swarm"], "{verb}");
        assert_eq!(titles(&[verb, "--label-pattern", "tech-*"]), ["swarm"], "{verb}");
        assert_eq!(titles(&[verb, "--wisp-type", "patrol"]), [""; 0], "{verb}");
    }
    assert_eq!(titles(&["ready"]), ["plain", "swarm"]);
    assert_eq!(titles(&["ready", "--include-deferred"]), ["plain", "swarm", "later"]);
    for (args, instead) in [
        (&["create", "x", "--repo", "../lib"][..], "bd -C"),
        (&["show", "shop-1", "--as-of", "HEAD~1"], "bd history"),
        (&["import", "f", "--dedup"], "bd duplicates"),
        (&["export", "--status", "open"], "bd list --status"),
        (&["ready", "--include-ephemeral"], "bd wisp list"),
    ] {
        let answer = bd(&ann, args);
        assert!(answer.code != 0 && answer.err.contains(instead), "{answer:?}");
    }
}
