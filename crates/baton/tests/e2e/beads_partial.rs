//! Lines of a Beads file that lack fields, and calls of `bd` of which a part is refused.

use std::fs;

use serde_json::{Value, json};

use crate::beads_verbs::{bd, bd_json, made, titles};
use crate::stage::{Answer, Stage, Terminal};

/// Imports these lines from a file of their own.
fn import(stage: &Stage, ann: &Terminal<'_>, lines: &[Value]) -> Answer {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    stage.file("shop/given.jsonl", &text);
    bd(ann, &["import", "given.jsonl"])
}

fn fields(ann: &Terminal<'_>, id: &str) -> [Value; 6] {
    let shown = &bd_json(ann, &["show", id])[0];
    ["status", "close_reason", "priority", "issue_type", "created_at", "assignee"]
        .map(|key| shown[key].clone())
}

#[test]
fn a_line_that_lacks_fields_reopens_nothing_and_ends_no_claim() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let (done, held) =
        (made(&ann, &["done", "-t", "bug", "-p", "3"]), made(&ann, &["held", "-t", "bug", "-p", "3"]));
    bd(&ann, &["close", &done, "-r", "shipped"]).done();
    bd(&ann, &["--actor", "Bob", "update", &held, "--claim"]).done();
    for is_newer in [false, true] {
        let line = |id: &str, title: &str| {
            let at = bd_json(&ann, &["show", id])[0]["updated_at"].clone();
            let at = if is_newer { json!("2999-01-01T00:00:00Z") } else { at };
            json!({ "id": id, "title": title, "updated_at": at, "labels": ["x"], "assignee": "Bob", "close_reason": "shipped" })
        };
        let lines = [line(&done, "done"), line(&held, "held")];
        let before = [fields(&ann, &done), fields(&ann, &held)];
        import(&stage, &ann, &lines).done();
        let after = [fields(&ann, &done), fields(&ann, &held)];
        assert_eq!(after[0][..5], before[0][..5], "newer: {is_newer}");
        assert_eq!(after[1], before[1], "newer: {is_newer}");
        let taken = bd(&ann, &["--actor", "Eve", "update", &held, "--claim"]);
        assert_eq!(taken.code, 1, "{taken:?}");
    }
}

#[test]
fn an_import_names_what_it_does_not_take_and_the_mirror_does_so_after_it() {
    let stage = Stage::ready();
    stage.file("shop/.baton.toml", "[tasks]\nmirror = true\n");
    let ann = stage.terminal("Ann");
    let id = made(&ann, &["old"]);
    let line = json!({ "id": id, "title": "new" });
    for _ in 0..2 {
        let answer = import(&stage, &ann, std::slice::from_ref(&line)).done();
        let expected = format!("{id} (title): \"old\" is kept, the line has \"new\"");
        assert!(answer.err.contains(&expected), "{answer:?}");
        assert!(!answer.err.contains("priority") && !answer.err.contains("1970"), "{answer:?}");
    }
    fs::write(stage.shop().join(".beads/issues.jsonl"), format!("{line}\n")).expect("written");
    let answer = bd(&ann, &["list"]).done();
    assert!(answer.err.contains(&format!("{id} (title)")), "{answer:?}");
}

#[test]
fn a_line_without_a_title_is_refused_by_an_import_and_left_where_it_is_by_the_mirror() {
    let stage = Stage::ready();
    stage.file("shop/.baton.toml", "[tasks]\nmirror = true\n");
    let ann = stage.terminal("Ann");
    made(&ann, &["one"]);
    for line in [json!({ "id": "shop-x1" }), json!({ "id": "shop-x1", "title": " " })] {
        let refused = import(&stage, &ann, &[json!({ "id": "shop-x0", "title": "t" }), line.clone()]);
        assert!(refused.code == 1 && refused.err.contains("line 2, `title`"), "{refused:?}");
        assert_eq!(bd_json(&ann, &["list"]).as_array().map(Vec::len), Some(1));
        let file = stage.shop().join(".beads/issues.jsonl");
        let text = fs::read_to_string(&file).expect("a file");
        fs::write(&file, format!("{text}{line}\n")).expect("written");
        let listed = bd(&ann, &["list"]).done();
        assert!(listed.err.contains("line 2, `title`"), "{listed:?}");
        made(&ann, &["another", "--ephemeral"]);
        assert!(fs::read_to_string(&file).expect("a file").contains(&line.to_string()));
        fs::write(&file, text).expect("written");
    }
}

#[test]
fn a_deferral_with_a_time_ends_by_itself() {
    let stage = Stage::ready();
    stage.file("shop/.baton.toml", "[tasks]\nmirror = true\n");
    let ann = stage.terminal("Ann");
    let [dated, updated, endless] = ["dated", "updated", "endless"].map(|title| made(&ann, &[title]));
    made(&ann, &["created", "--defer", "+1s"]);
    let part = made(&ann, &["part", "--parent", &dated]);
    bd(&ann, &["defer", &dated, "--until", "+1s"]).done();
    bd(&ann, &["update", &updated, "--defer", "+1s"]).done();
    bd(&ann, &["defer", &endless]).done();
    std::thread::sleep(std::time::Duration::from_millis(1200));
    let mut ready = titles(&bd_json(&ann, &["ready"]));
    ready.sort();
    assert_eq!(ready, ["created", "dated", "part", "updated"]);
    assert_eq!(titles(&bd_json(&ann, &["list", "--status", "deferred"])), ["endless"]);
    let summary = &bd_json(&ann, &["stats"])["summary"];
    assert_eq!((&summary["ready_issues"], &summary["deferred_issues"]), (&json!(4), &json!(1)));
    assert_eq!(bd_json(&ann, &["show", &dated])[0]["status"], "open");
    bd(&ann, &["update", &part, "--claim"]).done();
    let text = fs::read_to_string(stage.shop().join(".beads/issues.jsonl")).expect("a file");
    let line = text.lines().find(|line| line.contains("\"dated\"")).expect("its line");
    assert!(line.contains(r#""status":"open""#) && !line.contains(r#""defer_until":""#), "{line}");
}

#[test]
fn an_epic_with_open_parts_is_closed_by_force_alone() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let epic = made(&ann, &["epic", "-t", "epic"]);
    let part = made(&ann, &["part", "--parent", &epic]);
    let expected = format!(
        "cannot close epic {epic}: 1 open child issue(s); close children first or use --force to override"
    );
    stage.file("shop/steps", format!("close {epic} done\n"));
    for args in [
        &["close", &epic, "-r", "done"][..],
        &["done", &epic],
        &["update", &epic, "--status", "closed"],
        &["batch", "-f", "steps"],
    ] {
        let refused = bd(&ann, args);
        assert!(refused.code == 1 && refused.err.contains(&expected), "{args:?}: {refused:?}");
    }
    let refused = ann.run(&["task", "close", &epic]);
    assert!(refused.code != 0 && refused.err.contains("--force --reason"), "{refused:?}");
    bd(&ann, &["close", &epic, "-r", "done", "--force"]).done();
    bd(&ann, &["reopen", &epic]).done();
    bd(&ann, &["update", &epic, "--status", "closed", "--force"]).done();
    bd(&ann, &["reopen", &epic]).done();
    bd(&ann, &["close", &part]).done();
    bd(&ann, &["close", &epic]).done();
}

#[test]
fn texts_of_other_issues_name_the_new_id() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let old = made(&ann, &["old"]);
    let other =
        made(&ann, &[&format!("after {old}"), "-d", &format!("see {old}, not {old}x"), "--notes", &old]);
    bd(&ann, &["dep", "add", &other, &old]).done();
    let renamed = bd_json(&ann, &["rename", &old, "shop-auth"]);
    assert_eq!(renamed["references_updated"], 1);
    let shown = &bd_json(&ann, &["show", &other])[0];
    let texts = ["title", "description", "notes"].map(|key| shown[key].clone());
    assert_eq!(
        texts,
        [json!("after shop-auth"), json!(format!("see shop-auth, not {old}x")), json!("shop-auth")]
    );
}

#[test]
fn a_call_of_which_a_part_is_refused_fails_only_where_nothing_was_done() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let ids: Vec<String> = (0..4).map(|n| made(&ann, &[&format!("n{n}")])).collect();
    bd(&ann, &["defer", &ids[3]]).done();
    for args in [
        &["update", "shop-none", &ids[0], "-p", "1"][..],
        &["undefer", "shop-none", &ids[3]],
        &["defer", "shop-none", &ids[3]],
        &["close", "shop-none", &ids[2]],
        &["reopen", "shop-none", &ids[2]],
        &["show", "shop-none", &ids[1]],
        &["update", "shop-none", &ids[0], "--claim"],
        &["unclaim", "shop-none", &ids[0]],
    ] {
        let answer = bd(&ann, args);
        assert!(answer.code == 0 && answer.err.contains("shop-none"), "{args:?}: {answer:?}");
        let none: Vec<&str> =
            args.iter().map(|word| if ids.iter().any(|id| id == word) { "shop-nil" } else { word }).collect();
        assert_eq!(bd(&ann, &none).code, 1, "{none:?}");
    }
}

#[test]
fn every_option_of_init_does_it_or_says_what_to_use() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    for (option, value, expected) in [
        ("--backend", Some("sqlite"), "`store`"),
        ("--database", Some("x"), "`store`"),
        ("--shared-server", None, "`store`"),
        ("--proxied-server", None, "`store`"),
        ("--external", None, "`store`"),
        ("--pg-url", Some("x"), "`store`"),
        ("--agents-file", Some("A.md"), "`bd onboard`"),
        ("--agents-profile", Some("full"), "`bd onboard`"),
        ("--remote", Some("https://example.com/r.git"), "`git clone URL`"),
        ("--discard-remote", None, "bd delete ID --force"),
        ("--destroy-token", Some("x"), "bd delete ID --force"),
        ("--contributor", None, "baton handoff create"),
        ("--team", None, "git carries"),
        ("--debug", None, "`baton doctor`"),
    ] {
        let args: Vec<&str> = ["init", option].into_iter().chain(value).collect();
        let answer = bd(&ann, &args);
        let is_named = answer.err.contains(&format!("`bd init {option}`"));
        assert!(answer.code == 1 && is_named && answer.err.contains(expected), "{option}: {answer:?}");
    }
    for args in [
        &["unclaim", "x-1", "--if-assignee", "Bob"][..],
        &["unclaim", "x-1", "--if-fence", "3"],
        &["query", "status=open", "--offset", "5"],
        &["help", "--doc", "query"],
        &["--profile", "list"],
    ] {
        let answer = bd(&ann, args);
        assert!(answer.code == 1 && answer.err.contains("use instead"), "{args:?}: {answer:?}");
    }
    let exclude = stage.shop().join(".git/info/exclude");
    for option in ["--stealth", "--setup-exclude"] {
        bd(&ann, &["init", option, "--quiet"]).done();
        let text = fs::read_to_string(&exclude).expect("written");
        assert_eq!(text.lines().filter(|line| *line == ".beads/").count(), 1, "{text}");
    }
    for key in [
        "worktree.dir",
        "lease.auto",
        "external_projects.beads",
        "repos.primary",
        "doctor.suppress.pending-migrations",
        "list.limit",
        "myteam.key",
    ] {
        let refusal = bd(&ann, &["config", "set", key, "x"]);
        assert!(refusal.code == 1 && refusal.err.contains("not set by a command"), "{key}: {refusal:?}");
    }
}

#[test]
fn infrastructure_is_listed_where_it_is_asked_for_and_nothing_is_said_in_silence() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let mut all = vec!["task"];
    for kind in ["agent", "role", "rig", "message"] {
        made(&ann, &[kind, "-t", kind, "--force"]);
        all.push(kind);
    }
    let task = made(&ann, &["task"]);
    assert_eq!(titles(&bd_json(&ann, &["list"])), ["task"]);
    assert_eq!(titles(&bd_json(&ann, &["list", "--type", "agent"])), ["agent"]);
    let mut listed = titles(&bd_json(&ann, &["list", "--include-infra"]));
    listed.sort();
    all.sort_unstable();
    assert_eq!(listed, all);
    import(&stage, &ann, &[json!({ "id": "shop-im", "title": "imported" })]).done();
    assert!(bd(&ann, &["history", "shop-im"]).done().out.contains("No history of shop-im"));
    assert!(bd(&ann, &["state", "list", &task]).done().out.contains("has no states"));
    assert!(bd(&ann, &["export", "-o", "out.jsonl"]).done().err.contains("Exported 6 issues to out.jsonl"));
    assert!(bd(&ann, &["stats"]).done().out.contains("In Progress: 0"));
    assert_eq!(bd(&ann, &["search", "no such words", "--long"]).done().out, "No issues found\n");
    assert!(bd(&ann, &["label", "list", &task]).done().out.contains("has no labels"));
    assert_eq!(bd(&ann, &["label", "list-all"]).done().out, "No labels\n");
    assert!(bd(&ann, &["label", "propagate", &task, "x"]).done().out.contains("has no parts"));
}

#[test]
fn a_redirect_to_another_repository_is_named_and_makes_no_second_project() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    made(&ann, &["one"]);
    let beads = stage.shop().join(".beads").display().to_string();
    stage.file("other/.beads/redirect", format!("{beads}\n"));
    let other = stage.shop().with_file_name("other").display().to_string();
    for verb in ["list", "where", "init"] {
        let answer = bd(&ann, &["-C", &other, verb]);
        assert!(answer.code == 1 && answer.err.contains(&format!("BEADS_DIR={beads}")), "{verb}: {answer:?}");
    }
    fs::create_dir_all(&beads).expect("a folder");
    let listed = bd(&ann.with("BEADS_DIR", &beads), &["-C", &other, "list"]).done();
    assert!(listed.out.contains("one"), "{listed:?}");
    // A folder with issues of its own says so where it is asked which these are.
    let redirect = stage.shop().with_file_name("other").join(".beads/redirect");
    fs::remove_file(&redirect).expect("removed");
    bd(&ann, &["-C", &other, "init"]).done();
    fs::write(&redirect, format!("{beads}\n")).expect("written");
    for (verb, expected) in [("where", true), ("doctor", true), ("list", false)] {
        let answer = bd(&ann, &["-C", &other, verb]).done();
        let is_named = answer.err.contains(&format!("BEADS_DIR={beads}"));
        assert_eq!((is_named, answer.out.contains("one")), (expected, false), "{verb}: {answer:?}");
    }
}
