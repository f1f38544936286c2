//! Options and verbs of `bd` that were swallowed or answered with nothing of use.

use serde_json::json;

use crate::beads_verbs::{bd, bd_json, made, titles};
use crate::stage::{Stage, text};

#[test]
fn the_options_of_doctor_work_or_name_what_to_use() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let (first, second) = (made(&ann, &["same"]), made(&ann, &["same"]));
    let found = bd_json(&ann, &["doctor", "--agent"]);
    assert_eq!(found["overall_ok"], false, "{found}");
    let only = bd_json(&ann, &["doctor", "--check", "duplicates"]);
    assert_eq!(only["checks"].as_array().map(Vec::len), Some(1), "{only}");
    let deep = bd_json(&ann, &["doctor", "--deep", "--output", "report.json"]);
    assert_eq!(deep["checks"].as_array().map(Vec::len), Some(8), "{deep}");
    let report = std::fs::read_to_string(stage.shop().join("report.json")).expect("written");
    assert!(report.contains("Conventions"), "{report}");
    let artifacts = || bd_json(&ann, &["doctor", "--check", "artifacts"])["checks"][0].clone();
    assert_eq!(artifacts()["status"], "ok");
    for name in ["beads.db", "beads.base.jsonl", "PRIME.md", "config.yaml"] {
        stage.file(&format!("shop/.beads/{name}"), "x");
    }
    let old = artifacts();
    let message = text(&old, "message");
    assert_eq!(
        (old["status"].clone(), message.contains("beads.base.jsonl, beads.db")),
        (json!("warning"), true),
        "{old}"
    );
    assert!(!message.contains("PRIME.md") && stage.shop().join(".beads/beads.db").exists(), "{old}");
    // What it can mend is mended by verbs, which it names.
    let text = bd(&ann, &["doctor"]).done().out;
    assert!(text.contains("bd duplicates"), "{text}");
    let fixed = bd(&ann, &["doctor", "--fix", "--yes"]);
    assert!(fixed.code == 0 && fixed.out.contains("nothing to mend"), "{fixed:?}");
    for (args, expected) in [
        (&["--check", "nothing"][..], "duplicates"),
        (&["--server"], "baton doctor"),
        (&["--perf"], "baton doctor"),
        (&["--check", "pollution", "--clean"], "bd delete"),
        (&["--no-such-option"], "bd doctor --help"),
        (&["extra", "words"], "bd -C FOLDER doctor"),
    ] {
        let answer = bd(&ann, &[&["doctor"], args].concat());
        assert!(answer.code == 1 && answer.err.contains(expected), "{args:?}: {answer:?}");
    }
    // The file that is missing is what it mends.
    stage.file("shop/.baton.toml", "[tasks]\nmirror = true\n");
    let file = stage.shop().join(".beads/issues.jsonl");
    _ = std::fs::remove_file(&file);
    bd(&ann, &["doctor", "--fix", "--dry-run"]).done();
    bd(&ann, &["doctor", "--fix"]).done();
    let text = std::fs::read_to_string(&file).expect("written");
    assert!(text.contains(&first) && text.contains(&second), "{text}");
}

#[test]
fn init_sync_and_prime_swallow_no_option() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    for verb in ["init", "bootstrap", "sync", "prime"] {
        let answer = bd(&ann, &[verb, "--no-such-option"]);
        let help = format!("bd {verb} --help");
        assert!(answer.code == 1 && answer.err.contains(&help), "{verb}: {answer:?}");
    }
    for args in [
        &["init", "--quiet", "--skip-hooks"][..],
        &["sync", "--import-only", "-m", "a text"],
        &["prime", "--full"],
    ] {
        bd(&ann, args).done();
    }
}

#[test]
fn an_option_may_be_given_twice_and_beside_one_of_the_same_meaning() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    made(&ann, &["alpha beta"]);
    made(&ann, &["alpha"]);
    made(&ann, &["beta"]);
    let both = bd_json(&ann, &["list", "--title", "alpha", "--title-contains", "beta"]);
    assert_eq!(titles(&both), ["alpha beta"], "both hold");
    for args in [
        &["sync", "--no-push", "--no-pull"][..],
        &["list", "--tree", "--pretty"],
        &["list", "--json", "--json"],
        &["list", "--type", "bug", "--type", "task"],
        &["ready", "-n", "1", "--limit", "2"],
        &["bootstrap", "--yes", "--non-interactive"],
        &["create", "same", "--title", "same", "--body", "text", "--description", "text"],
        &["create", "once", "-t", "bug", "--type", "task", "--estimate", "5", "--estimate", "6"],
    ] {
        bd(&ann, args).done();
    }
    // The last one counts, as in Beads.
    let last = made(&ann, &["last", "-p", "1", "-p", "3", "-m", "why"]);
    let shown = &bd_json(&ann, &["show", &last])[0];
    assert_eq!((&shown["priority"], &shown["description"]), (&json!(3), &json!("why")));
    // What contradicts itself is refused, and nothing of it is swallowed.
    for args in [
        &["create", "one", "--title", "another"][..],
        &["create", "one", "--body", "a", "--description", "b"],
        &["create", "one", "--body", "a", "--message", "b"],
        &["update", &last, "--body", "a", "--message", "b"],
    ] {
        let refusal = bd(&ann, args);
        assert!(refusal.code == 1 && refusal.err.contains("different things"), "{args:?}: {refusal:?}");
    }
    let counted = bd(&ann, &["count", "--by-status", "--by-type"]);
    assert!(counted.code == 1 && counted.err.contains("only one"), "{counted:?}");
}

#[test]
fn a_slip_in_one_of_several_ids_is_named() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let (first, second) = (made(&ann, &["first"]), made(&ann, &["second"]));
    // As a label it would go unnoticed.
    for slip in ["shop-zzz9", "shop-zzzz.1", "other-a1b2"] {
        let refusal = bd(&ann, &["label", "add", &first, slip, "urgent", "--json"]);
        assert_eq!((refusal.code, refusal.json()["code"].clone()), (1, json!("task_unknown")), "{refusal:?}");
        assert!(refusal.err.contains(slip), "{refusal:?}");
    }
    let refusal = bd(&ann, &["label", "add", &first, &second]);
    assert!(refusal.code == 1 && refusal.err.contains("no label"), "{refusal:?}");
    assert_eq!(bd_json(&ann, &["label", "list", &first]), json!([]));
    bd(&ann, &["label", "add", &first, &second, "urgent"]).done();
    bd(&ann, &["label", "add", &first, "back-end", "tech-debt"]).done();
    assert_eq!(bd_json(&ann, &["label", "list", &first]), json!(["urgent", "back-end", "tech-debt"]));
    assert_eq!(bd_json(&ann, &["label", "list", &second]), json!(["urgent"]));
    // What exists is shown, what does not is named; none at all is a failure, as in Beads.
    let shown = bd(&ann, &["show", &first, "shop-zzz9", &second, "--json"]).done();
    assert_eq!(titles(&shown.json()), ["first", "second"]);
    assert!(shown.err.contains("shop-zzz9"), "{shown:?}");
    let none = bd(&ann, &["show", "shop-zzz9", "shop-zzz8", "--json"]);
    assert_eq!((none.code, none.json()["code"].clone()), (1, json!("task_unknown")), "{none:?}");
    assert!(none.err.contains("shop-zzz9") && none.err.contains("shop-zzz8"), "{none:?}");
}

#[test]
fn an_increment_takes_what_an_issue_takes_and_a_slip_names_options_of_the_same_verb() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let epic = made(&ann, &["Epic", "-t", "epic"]);
    let options = [
        "increment",
        "Parser",
        "--description",
        "Read it",
        "-p",
        "1",
        "--acceptance",
        "all read",
        "--tags",
        "rust,io",
        "-l",
        "core",
        "--estimate",
        "60",
        "--parent",
        epic.as_str(),
    ];
    let issues = bd_json(&ann, &options);
    let of_role = |role: &str| {
        let found = issues.as_array().into_iter().flatten().find(|issue| issue["agent_role"] == role);
        found.cloned().unwrap_or_default()
    };
    let built = of_role("implementation");
    assert_eq!((&built["description"], &built["priority"]), (&json!("Read it"), &json!(1)), "{issues:#}");
    assert_eq!(built["acceptance_criteria"], "all read", "{built:#}");
    for role in ["implementation", "testing", "fixing", "verification"] {
        let found = bd_json(&ann, &["show", &text(&of_role(role), "id")])[0].clone();
        assert_eq!((&found["parent"], &found["labels"]), (&json!(epic), &json!(["core"])), "{found:#}");
    }
    for (args, expected) in [
        (&["increment", "T", "--descripton", "d"][..], "did you mean `--description`?"),
        (&["close", "x", "--reson", "d"], "did you mean `--reason`?"),
        (&["dep", "add", "a", "b", "--tipe", "blocks"], "did you mean `--type`?"),
        (&["dep", "a", "b"], "`bd dep add a b`: a waits for b"),
        (&["message", "inbox"], "baton mail inbox"),
        (&["validate"], "bd doctor --check validate"),
        (&["clean"], "bd doctor --check artifacts"),
        (&["create", "--from-template", "bug", "T"], "--description"),
        (&["export", "--type", "bug"], "bd list --type"),
        (&["onboard", "--output", "x"], "bd onboard >> AGENTS.md"),
    ] {
        let answer = bd(&ann, args);
        assert!(answer.code == 1 && answer.err.contains(expected), "{args:?}: {answer:?}");
    }
    let answer = bd(&ann, &["increment", "T", "--colour", "red"]);
    assert!(answer.code == 1 && !answer.err.contains("--version"), "{answer:?}");
}

#[test]
fn records_of_several_issues_name_both_ends_and_a_query_that_is_only_read_is_json() {
    let stage = Stage::ready();
    let mut ann = stage.terminal("Ann");
    let [a, b, c] = ["A", "B", "C"].map(|title| made(&ann, &[title]));
    for id in [&b, &c] {
        bd(&ann, &["dep", "add", id, &a]).done();
    }
    let ends = |found: serde_json::Value| -> Vec<(String, String)> {
        let rows = found.as_array().cloned().unwrap_or_default();
        rows.iter().map(|row| (text(row, "issue_id"), text(row, "depends_on_id"))).collect()
    };
    let both = ends(bd_json(&ann, &["dep", "list", &b, &c]));
    assert_eq!(both, [(b.clone(), a.clone()), (c.clone(), a.clone())]);
    assert_eq!(bd_json(&ann, &["dep", "list", &b])[0].get("issue_id"), None);
    let parsed = bd_json(&ann, &["query", "status=open", "--parse-only"]);
    assert_eq!((&parsed["query"], &parsed["valid"]), (&json!("status=open"), &json!(true)), "{parsed}");
    bd(&ann, &["update", &b, "--due", "2026-12-24T12:00:00Z"]).done();
    ann.set("TZ", "AAA-9");
    let shown = bd(&ann, &["show", &b, "--local-time"]).done().out;
    assert!(shown.contains("2026-12-24T21:00:00+09:00"), "{shown}");
    let deleted = bd(&ann, &["delete", &b, "--force"]).done().out;
    assert!(deleted.contains("1 dependency, removed"), "{deleted}");
}
