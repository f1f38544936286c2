//! What a duplicate leaves behind, gates of Beads, and answers of `bd` that name what to do.

use std::fs;

use serde_json::json;

use crate::beads_verbs::{bd, bd_json, made, titles};
use crate::stage::{Stage, text};

#[test]
fn two_issues_do_not_give_way_to_each_other() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let [a, b, c] = ["the work", "the same", "once more"].map(|title| made(&ann, &[title]));
    bd(&ann, &["duplicate", &b, "--of", &a]).done();
    bd(&ann, &["supersede", &c, "--with", &b]).done();
    for (verb, option) in [("duplicate", "--of"), ("supersede", "--with")] {
        for other in [&b, &c] {
            let refused = bd(&ann, &[verb, &a, option, other]);
            assert_eq!(refused.code, 1, "{refused:?}");
            assert!(refused.err.contains(&format!("bd reopen {other}")), "{}", refused.err);
        }
    }
    assert_eq!(titles(&bd_json(&ann, &["ready"])), ["the work"], "it is in a list still");
    // Once the other is open again, it may stay.
    bd(&ann, &["reopen", &b]).done();
    bd(&ann, &["duplicate", &a, "--of", &b]).done();
    assert_eq!(titles(&bd_json(&ann, &["ready"])), ["the same"]);
}

#[test]
fn what_hangs_on_a_duplicate_goes_over_to_the_issue_that_stays() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let [first, second] = [0, 1].map(|_| made(&ann, &["Dup", "-d", "same"]));
    let [waits, needed] = ["waits", "needed"].map(|title| made(&ann, &[title]));
    bd(&ann, &["dep", "add", &waits, &second]).done();
    bd(&ann, &["dep", "add", &second, &needed]).done();
    for title in ["x", "y"] {
        let other = made(&ann, &[title]);
        bd(&ann, &["dep", "add", &other, &first]).done();
    }
    let kid = made(&ann, &["kid", "--parent", &second]);
    // Its weight is that of three connections, and the first has two: mentions decide as well.
    made(&ann, &["mention", "-d", &format!("see {first}, then {first}; not {first}x")]);
    made(&ann, &["other", "--notes", &format!("{first} and {first}.")]);
    let found = bd_json(&ann, &["duplicates"]);
    let best = &found["groups"][0]["issues"][0];
    assert_eq!((&best["id"], &best["references"]), (&json!(first), &json!(4)), "{found}");
    let merged = bd_json(&ann, &["duplicates", "--auto-merge"]);
    assert_eq!(merged["merge_results"][0]["reparented"], json!([kid]), "{merged}");
    assert_eq!(bd_json(&ann, &["show", &kid])[0]["parent"], first.as_str());
    let ready = titles(&bd_json(&ann, &["ready"]));
    for title in ["waits", "Dup"] {
        assert!(!ready.contains(&title.to_owned()), "{title} waits: {ready:?}");
    }
    bd(&ann, &["close", &needed]).done();
    assert!(titles(&bd_json(&ann, &["ready"])).contains(&"Dup".to_owned()));
}

#[test]
fn a_timer_of_beads_opens_when_its_span_is_over() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let timer =
        |span: &str| made(&ann, &["cool down", "--type=gate", "--await-type=timer", "--await-id", span]);
    let (short, long) = (timer("1s"), timer("2h"));
    let line = format!(
        "{}\n",
        json!({
            "id": "shop-tim1", "title": "from a file", "issue_type": "gate", "await_type": "timer", "timeout": 1_000_000_000_i64,
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        })
    );
    let lost = line.replace("tim1", "tim2").replace("\"timeout\":1000000000,", "");
    fs::write(stage.shop().join("gates.jsonl"), format!("{line}{lost}")).expect("written");
    bd(&ann, &["import", "gates.jsonl"]).done();
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let checked = bd(&ann, &["gate", "check"]).done();
    assert!(checked.out.contains(&short) && checked.out.contains("shop-tim1"), "{}", checked.out);
    assert!(!checked.out.contains(&long), "{}", checked.out);
    assert!(
        checked.err.contains("bd gate resolve shop-tim2"),
        "one that never opens is named: {}",
        checked.err
    );
    let refused = bd(&ann, &["create", "g", "--type=gate", "--await-type=timer", "--await-id=soon"]);
    assert!(refused.code == 1 && refused.err.contains("30m"), "{refused:?}");
}

#[test]
fn an_import_says_what_it_did_and_does_not_do() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let times = json!({ "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z" });
    let line = |id: &str, status: &str| {
        let mut issue = times.clone();
        issue["id"] = json!(id);
        issue["title"] = json!(id);
        issue["status"] = json!(status);
        format!("{issue}\n")
    };
    let text = line("shop-new1", "open") + &line("shop-gone1", "tombstone");
    fs::write(stage.shop().join("n.jsonl"), text).expect("written");
    let dry = bd(&ann, &["import", "--dry-run", "n.jsonl"]).done().out;
    assert_eq!(dry, "Would import: 1 created, 0 updated, 1 noted as deleted\n");
    let done = bd(&ann, &["import", "n.jsonl"]).done().out;
    assert_eq!(done, "✓ Imported: 1 created, 0 updated, 1 noted as deleted\n");
    let stale = bd(&ann, &["import", "--allow-stale", "n.jsonl", "--json"]);
    assert_eq!((stale.code, text_of(&stale.json()["code"])), (1, "not_supported".to_owned()));
    bd(&ann, &["--allow-stale", "import", "n.jsonl"]).done();
}

fn text_of(value: &serde_json::Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[test]
fn answers_name_what_can_be_done_in_this_repository() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    for (args, expected) in [
        (&["reset", "--force"][..], "all your repositories; `bd delete ID --force`"),
        (&["admin", "reset", "--force"], "`bd delete ID --force`"),
        (&["admin", "cleanup"], "`bd list --status closed`"),
        (&["admin", "compact", "--days", "90"], "`bd show ID`"),
        (&["lease", "disarm"], "`baton task claim ID --lease SPAN`"),
        (&["reclaim"], "`bd unclaim ID --force --reason TEXT`"),
        (&["backup", "restore", "x"], "`baton restore FILE`"),
        (&["migrate", "hooks", "--dry-run"], "`bd hooks list`"),
        (&["migrate", "sync", "b"], "`bd sync`"),
        (&["mol", "bond", "a", "b"], "`bd dep add B A`"),
        (&["config", "set", "import.orphan_handling", "resurrect"], "`bd graph check`"),
        (&["config", "set", "sync.branch", "b"], "`bd sync`"),
        (&["config", "set", "jira.url", "x"], "`baton handoff create`"),
        (&["ready", "--offset", "3"], "--limit 0"),
        (&["show", "x", "--as-of", "HEAD"], "git log -p"),
        (&["init", "--prefix", "other"], "by labels"),
    ] {
        let answer = bd(&ann, args);
        assert!(answer.code == 1 && answer.err.contains(expected), "{args:?}: {answer:?}");
    }
    assert_eq!(bd(&ann, &["--version"]).done().out, bd(&ann, &["version"]).done().out);
    assert_eq!(bd_json(&ann, &["info"])["issue_prefix"], "shop");
    assert!(bd(&ann, &["where"]).done().err.contains("mirror = true"));
    let current = bd(&ann, &["show", "--current"]).done().out;
    assert!(current.contains("no issue in progress"), "{current}");
}

#[test]
fn a_list_says_what_blocks_an_issue_and_leaves_gates_out() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let (one, two) = (made(&ann, &["one"]), made(&ann, &["two"]));
    bd(&ann, &["dep", "add", &two, &one]).done();
    let gate = bd_json(&ann, &["gate", "create", "--type", "human", "--blocks", &one, "--reason", "R"]);
    let gate = text(&gate, "id");
    let listed = bd(&ann, &["list"]).done().out;
    assert!(listed.contains(&format!("two (blocked by: {one})")), "{listed}");
    assert!(!listed.contains(&format!("{gate} [")), "{listed}");
    for args in [&["list", "--include-gates"][..], &["list", "--type", "gate"], &["list", "--id", &gate]] {
        assert!(bd(&ann, args).done().out.contains(&format!("{gate} [")), "{args:?}");
    }
    bd(&ann, &["comments", "add", &one, "a\nb"]).done();
    let comments = bd(&ann, &["comments", &one]).done().out;
    assert!(comments.ends_with(": a\n  b\n"), "{comments}");
    assert_eq!(bd(&ann, &["comments", &two]).done().out, format!("No comments on {two}\n"));
}

#[test]
fn a_repository_has_its_own_words_for_agents() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let usual = bd(&ann, &["prime"]).done().out;
    let short = bd(&ann, &["prime", "--mcp"]).done().out;
    assert!(short.len() * 2 < usual.len() && !short.contains("bd ready"), "{short}");
    assert_eq!(bd(&ann, &["prime", "--full"]).done().out, usual);
    stage.file("shop/.beads/PRIME.md", "OUR OWN WAY\u{1b}[31m\n");
    let own = bd(&ann, &["prime"]).done().out;
    assert!(
        own.starts_with("OUR OWN WAY") && !own.contains('\u{1b}') && !own.contains("bd ready"),
        "{own:?}"
    );
    assert!(bd(&ann, &["prime", "--export"]).done().out.contains("bd ready"));
    // A hook calls it in every folder.
    let answer = ann.within(stage.repo("elsewhere")).run(&["bd", "prime"]);
    assert!(answer.code == 0 && answer.out.is_empty() && answer.err.contains("bd init"), "{answer:?}");
}

#[test]
fn what_is_piped_into_an_import_is_imported_also_without_a_dash() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let line = r#"{"id":"x-1","title":"piped","status":"open","priority":2,"issue_type":"task","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}"#;
    let answer = ann.feed(format!("{line}\n").as_bytes(), &["bd", "import"]).done();
    assert!(answer.out.contains("1 created"), "{answer:#?}");
    let again = ann.feed(b"", &["bd", "import"]);
    assert!(!again.out.contains("1 created"), "{again:#?}");
    let shown = bd(&ann, &["label", "remove", "x-1", "absent"]).done();
    assert_eq!(shown.out, "x-1 has no label absent\n");
}
