//! What people who live in Beads are used to: which verb leaves which issue alone, whose work is whose, and what a gate waits for.

use std::fs;

use serde_json::{Value, json};

use crate::beads_verbs::{bd, bd_json, made, titles};
use crate::stage::{Stage, Terminal, text};

/// An issue as JSON has it.
fn shown(who: &Terminal<'_>, id: &str) -> Value {
    bd_json(who, &["show", id])[0].clone()
}

/// Refused with the exit code 1, and with these words.
fn refused(who: &Terminal<'_>, args: &[&str], words: &[&str]) {
    let answer = bd(who, args);
    let has_all = words.iter().all(|word| answer.err.contains(word));
    assert!(answer.code == 1 && has_all, "{args:?}: {words:?} in {answer:?}");
}

/// Takes lines in that another tool has written.
fn import(stage: &Stage, who: &Terminal<'_>, lines: &[Value]) {
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(stage.shop().join("lines.jsonl"), lines).expect("written");
    bd(who, &["import", "lines.jsonl"]).done();
}

fn line(id: &str, more: Value) -> Value {
    let mut line = json!({
        "_type": "issue", "id": id, "title": id, "status": "open", "priority": 1, "issue_type": "task",
        "created_at": "2026-11-01T12:00:00Z", "updated_at": "2026-11-02T12:00:00Z",
    });
    let fields = line.as_object_mut().expect("object");
    fields.extend(more.as_object().expect("object").clone());
    line
}

#[test]
fn what_is_put_off_and_taken_up_is_no_closed_pinned_or_claimed_issue() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let closed = made(&ann, &["closed"]);
    bd(&ann, &["close", &closed, "--reason", "shipped in v2"]).done();
    let before = shown(&ann, &closed);
    refused(
        &ann,
        &["undefer", &closed],
        &[&format!("{closed} is not deferred (status: closed)"), "bd reopen"],
    );
    refused(&ann, &["defer", &closed], &["is not open (status: closed)"]);
    refused(&ann, &["unclaim", &closed, "--force", "--reason", "dead"], &["is closed", "bd reopen"]);
    ann.refused(4, "task_closed", &["task", "claim", &closed, "--force", "--why", "mine"]);
    let after = shown(&ann, &closed);
    for field in ["status", "close_reason", "closed_at"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    let claimed = made(&ann, &["claimed"]);
    bd(&ann, &["update", &claimed, "--claim"]).done();
    refused(&ann, &["undefer", &claimed], &["not deferred (status: in_progress)"]);
    let reopened = bd(&ann, &["reopen", &claimed]).done();
    assert!(
        reopened.err.contains("not closed (status: in_progress)") && reopened.out.is_empty(),
        "{reopened:?}"
    );
    assert_eq!(shown(&ann, &claimed)["status"], "in_progress");
    let pinned = made(&ann, &["pinned"]);
    bd(&ann, &["update", &pinned, "--status", "pinned"]).done();
    refused(&ann, &["undefer", &pinned], &["not deferred (status: pinned)"]);
    refused(&ann, &["close", &pinned], &["is pinned", "--force"]);
    assert_eq!(shown(&ann, &pinned)["status"], "pinned");
    bd(&ann, &["close", &pinned, "--force"]).done();
    let later = made(&ann, &["later", "--defer", "+3d"]);
    bd(&ann, &["undefer", &later]).done();
    assert_eq!(shown(&ann, &later)["defer_until"], Value::Null);
}

#[test]
fn what_somebody_works_on_gives_way_to_no_idle_duplicate() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    import(
        &stage,
        &ann,
        &[
            line("shop-idle", json!({ "title": "Fix the lexer" })),
            line(
                "shop-work",
                json!({ "title": "Fix the lexer", "status": "in_progress", "assignee": "alice" }),
            ),
            line("shop-same", json!({ "title": "Fix the lexer" })),
        ],
    );
    let found = bd_json(&ann, &["duplicates"]);
    let sources = &found["groups"][0]["suggested_sources"];
    assert_eq!((&found["duplicate_groups"], sources), (&json!(1), &json!(["shop-same"])), "{found:#}");
    bd(&ann, &["duplicates", "--auto-merge"]).done();
    assert_eq!(shown(&ann, "shop-work")["status"], "in_progress");
}

#[test]
fn an_attempt_that_another_takes_back_is_that_of_the_agent_that_had_it() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let id = made(&ann, &["P", "--agent-role", "testing"]);
    bd(&ann, &["--actor", "w1", "update", &id, "--claim"]).done();
    refused(&ann, &["--actor", "boss", "unclaim", &id], &["claimed by w1", "--force"]);
    bd(&ann, &["--actor", "boss", "unclaim", &id, "--force", "--reason", "w1 died"]).done();
    let found = shown(&ann, &id);
    let attempt = &found["failed_attempts"][0];
    assert_eq!((&attempt["by"], &attempt["why"]), (&json!("w1"), &json!("w1 died")), "{found:#}");
    assert_eq!((&found["previous_agent"], &found["status"]), (&json!("w1"), &json!("open")));
    let inbox = stage.terminal("w1").run(&["mail", "inbox"]).done().out;
    assert!(inbox.contains(&format!("boss took task {id} back")), "{inbox}");
    ann.refused(1, "why_missing", &["task", "release", &id, "--force"]);
}

#[test]
fn work_that_another_tool_has_put_in_progress_is_given_back_by_its_assignee_or_by_force() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let wip = |id: &str| line(id, json!({ "status": "in_progress", "assignee": "alice" }));
    import(&stage, &ann, &[wip("shop-one"), wip("shop-two")]);
    let words = ["in progress with alice, without a lease here", "`bd unclaim shop-one --force --reason"];
    refused(&ann, &["unclaim", "shop-one", "--reason", "crashed"], &words);
    bd(&ann, &["--actor", "alice", "unclaim", "shop-one"]).done();
    bd(&ann, &["unclaim", "shop-two", "--force", "--reason", "alice is away"]).done();
    for id in ["shop-one", "shop-two"] {
        let found = shown(&ann, id);
        assert_eq!((&found["status"], &found["assignee"]), (&json!("open"), &Value::Null), "{found:#}");
        assert_eq!(found["previous_agent"], "alice", "{found:#}");
    }
}

#[test]
fn a_person_whose_name_has_a_space_has_one_work_under_both_names() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    import(&stage, &ann, &[line("shop-mine", json!({ "status": "in_progress", "assignee": "Ann Bee" }))]);
    let found = |args: &[&str]| titles(&bd_json(&ann, &[&["--actor", "Ann Bee"], args].concat()));
    for name in ["Ann Bee", "Ann-Bee"] {
        assert_eq!(found(&["list", "--assignee", name]), ["shop-mine"], "{name}");
        assert_eq!(found(&["query", &format!("assignee=\"{name}\"")]), ["shop-mine"], "{name}");
    }
    assert_eq!(found(&["status", "--assigned"]), ["shop-mine"]);
    assert_eq!(found(&["show", "--current"]), ["shop-mine"]);
    for verb in
        [&["heartbeat", "shop-mine"][..], &["update", "shop-mine", "--claim"], &["unclaim", "shop-mine"]]
    {
        bd(&ann, &[&["--actor", "Ann Bee"], verb].concat()).done();
    }
}

#[test]
fn a_gate_is_closed_when_what_it_waits_for_is_there() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let (waits, other) = (made(&ann, &["waits"]), made(&ann, &["other"]));
    let gate = |kind: &str, id: &str| {
        let args = ["gate", "create", "--type", kind, "--await-id", id, "--blocks", &waits];
        text(&bd_json(&ann, &args), "id")
    };
    let (bead, run, away) =
        (gate("bead", &format!("shop:{other}")), gate("gh:run", "42"), gate("bead", "far:far-1"));
    let nothing = bd(&ann, &["gate", "check"]).done();
    assert!(nothing.out.contains("No gate can be resolved"), "{nothing:?}");
    assert!(
        nothing.err.contains(&run) && nothing.err.contains(&away) && !nothing.err.contains(&bead),
        "{nothing:?}"
    );
    for (id, awaited) in [(&bead, format!("bead shop:{other}")), (&run, "gh:run 42".to_owned())] {
        refused(&ann, &["close", id], &["is a gate that waits for", &awaited, "bd gate resolve"]);
        let text = bd(&ann, &["gate", "show", id]).done().out;
        assert!(text.contains(&awaited), "{text}");
    }
    refused(&ann, &["gate", "check", "--type", "gh:run"], &["asks GitHub", "`bd gate resolve ID`"]);
    bd(&ann, &["rename", &other, "shop-renamed"]).done();
    bd(&ann, &["close", "shop-renamed"]).done();
    let checked = bd_json(&ann, &["gate", "check", "--type=bead"]);
    assert_eq!(checked["ids"], json!([bead]), "{checked}");
    bd(&ann, &["close", &run, "--force"]).done();
    bd(&ann, &["gate", "resolve", &away]).done();
    assert_eq!(titles(&bd_json(&ann, &["ready"])), ["waits"]);
    let person = text(&bd_json(&ann, &["gate", "create", "--blocks", &waits]), "id");
    bd(&ann, &["close", &person]).done();
}

#[test]
fn a_link_goes_whichever_side_has_it_and_nothing_waits_for_another_repository_in_silence() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let (a, b) = (made(&ann, &["a"]), made(&ann, &["b"]));
    for verb in [&["unrelate"][..], &["dep", "unrelate"]] {
        for (from, to) in [(&a, &b), (&b, &a)] {
            bd(&ann, &["dep", "add", from, to, "--type", "relates-to"]).done();
            bd(&ann, &[verb, &[a.as_str(), b.as_str()]].concat()).done();
            assert_eq!(bd_json(&ann, &["dep", "list", from]), json!([]));
        }
    }
    refused(&ann, &["unrelate", &a, &b], &["does not depend"]);
    let external = "external:beads:mol-run-assignee";
    for args in
        [&["dep", "add", &a, external][..], &["link", &a, external], &["create", "c", "--deps", external]]
    {
        refused(&ann, args, &["of another repository", "bd gate create"]);
    }
    stage.file("shop/deps.jsonl", format!("{{\"from\": \"{a}\", \"to\": \"{external}\"}}\n"));
    refused(&ann, &["dep", "add", "--file", "deps.jsonl"], &["line 1", "of another repository"]);
    stage.file("shop/steps.txt", format!("dep add {a} {external}\n"));
    refused(&ann, &["batch", "-f", "steps.txt"], &["line 1", "of another repository"]);
    bd(&ann, &["dep", "add", &a, external, "--type", "related"]).done();
}

#[test]
fn small_things_are_as_in_beads() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let steps: String = (0..120).map(|n| format!("create task 2 T{n}\n")).collect();
    stage.file("shop/steps.txt", steps);
    bd(&ann, &["batch", "-f", "steps.txt"]).done();
    for args in [&[][..], &["--sort", "priority"], &["--exclude-type", "epic"], &["--exclude-label", "x"]] {
        let shown = bd_json(&ann, &[&["ready"], args].concat());
        assert_eq!(shown.as_array().map(Vec::len), Some(100), "{args:?}");
    }
    let id = made(&ann, &["a"]);
    bd(&ann, &["update", &id, "--unset-metadata", "team"]).done();
    let exported = bd(&ann, &["export"]).done().out;
    assert!(exported.lines().any(|line| line.contains(&id)) && !exported.contains("\"team\""), "{exported}");
    refused(&ann, &["dolt", "pull"], &["`git pull`", "`bd ready`"]);
    refused(&ann, &["compact"], &["there is no database"]);
    refused(&ann, &["doctor", "--check=artifacts", "--clean"], &["bd doctor --check artifacts", "git rm"]);
    refused(&ann, &["mol", "wisp", "mol-patrol"], &["bd create --ephemeral"]);
    refused(&ann, &["mol", "wisp", "lst"], &["lst"]);
    for key in ["one", "two"] {
        bd(&ann, &["remember", &format!("{key} is remembered"), "--key", key]).done();
    }
    assert!(!bd(&ann, &["prime", "--no-memories"]).done().out.contains("is remembered"));
    let one = bd(&ann, &["prime", "--max-memories", "1"]).done().out;
    assert!(one.matches("is remembered").count() == 1 && one.contains("and 1 more"), "{one}");
    let wisp = made(&ann, &["w", "--ephemeral", "-t", "chore"]);
    bd(&ann, &["mol", "wisp", "gc", "--age", "0s", "--exclude-type", "chore,bug"]).done();
    assert_eq!(shown(&ann, &wisp)["status"], "open");
    let nowhere = ann.within(stage.repo("none"));
    refused(&nowhere, &["list"], &["`bd init`", "`bd -C DIR`"]);
}
