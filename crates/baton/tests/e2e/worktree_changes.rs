//! What is not committed travels with a baton: from one working copy into another, by real git.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::mcp::client::{Client, MODERN};
use crate::stage::{Stage, Terminal, env, text};
use crate::worktrees::{committed, git};

pub(crate) const WRAP: [&str; 5] = ["wrap", "--summary", "s", "--next", "n"];

/// Another clone of the first repository, joined to its project.
pub(crate) fn second(stage: &Stage) -> PathBuf {
    let path = stage.root().join("second");
    git(stage, stage.root(), &["clone", "-q", stage.shop().to_str().expect("utf-8"), "second"]);
    stage.terminal("Ann").within(&path).json(&["init", "--join", "shop"]);
    // Registering writes nothing that git would call a change.
    git(stage, &path, &["stash", "--include-untracked", "--quiet"]);
    path
}

pub(crate) fn status(stage: &Stage, folder: impl AsRef<Path>) -> String {
    git(stage, folder, &["status", "--porcelain=v2", "--untracked-files=all"])
}

/// Every file below a folder.
pub(crate) fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            found.extend(tree(&entry));
        } else {
            found.insert(entry.clone(), fs::read(&entry).expect("read"));
        }
    }
    found
}

/// A stage in which Ann has edited, staged and added; everything that `baton init` wrote is committed.
pub(crate) fn edited() -> Stage {
    let stage = committed();
    git(&stage, stage.shop(), &["add", "-A"]);
    git(&stage, stage.shop(), &["commit", "-q", "--allow-empty", "-m", "two"]);
    stage.terminal("Ann").json(&["start"]);
    stage.file("shop/a.txt", "staged\n");
    git(&stage, stage.shop(), &["add", "a.txt"]);
    stage.file("shop/a.txt", "later\n");
    stage.file("shop/new/b.txt", "new\n");
    stage
}

pub(crate) fn wrapped(stage: &Stage, more: &[&str]) -> Value {
    stage.terminal("Ann").json(&[&WRAP[..], more].concat())
}

#[test]
fn uncommitted_work_arrives_in_another_clone_and_is_named_first() {
    let stage = edited();
    let before = status(&stage, stage.shop());
    let left = wrapped(&stage, &["--with-changes"]);
    assert_eq!(left["changes"]["files"], json!(["a.txt", "new/b.txt"]));
    assert_eq!(status(&stage, stage.shop()), before, "the source is as it was");
    let second = second(&stage);
    let lola = stage.terminal("Lola").within(&second);
    let preview = lola.text(&["pickup", "--dry-run"]);
    let second_line = preview.lines().nth(1).unwrap_or_default();
    assert!(second_line.starts_with("Uncommitted changes (2 files) go with this baton"), "{preview}");
    let picked = lola.json(&["pickup", "--apply"]);
    assert_eq!(picked["changes"]["outcome"], json!({ "applied": true }));
    assert!(
        text(&picked, "instruction").starts_with("The uncommitted changes of this baton (2 files) are in")
    );
    assert_eq!(status(&stage, &second), before);
    for file in ["a.txt", "new/b.txt"] {
        assert_eq!(
            fs::read(second.join(file)).expect("read"),
            fs::read(stage.shop().join(file)).expect("read")
        );
    }
}

#[test]
fn uncommitted_work_goes_on_until_somebody_applies_it_whatever_happens_between() {
    let stage = edited();
    wrapped(&stage, &["--with-changes"]);
    let second = second(&stage);
    let ben = stage.terminal("Ben").within(&second);
    ben.json(&["pickup"]);
    let output = ben.text(&["wrap", "--summary", "looked only", "--next", "n"]);
    assert!(
        output.contains("not applied, so they go on with this one") && output.contains("pickup --apply"),
        "{output}"
    );
    let lola = stage.terminal("Lola").within(&second);
    let held = text(&lola.json(&["pickup"]), "session_id");
    let given = stage.terminal("Owner").text(&["reassign", &held, "--to", "Rex", "--wait", "--why", "stuck"]);
    assert!(given.contains("not applied, so they go on"), "{given}");
    let rex = stage.terminal("Rex").within(&second);
    let picked = rex.json(&["pickup", "--apply"]);
    assert_eq!(picked["changes"]["outcome"], json!({ "applied": true }));
    assert_eq!(status(&stage, &second), status(&stage, stage.shop()));
    let output = rex.text(&["wrap", "--summary", "applied", "--next", "n"]);
    assert!(
        output.contains("applied already where the session worked, and left there; `baton changes show"),
        "{output}"
    );
    let baton = text(&picked["changes"], "baton_id");
    assert!(rex.text(&["changes", "diff", &baton]).contains("+later"));
    // Where they were made they are at hand, and a wrap does not pass on what is committed meanwhile.
    stage.terminal("Ann").json(&["pickup"]);
    wrapped(&stage, &["--with-changes"]);
    let carl = stage.terminal("Carl");
    assert_eq!(carl.json(&["pickup"])["changes"]["is_here"], true);
    git(&stage, stage.shop(), &["add", "-A"]);
    git(&stage, stage.shop(), &["commit", "-qm", "three"]);
    let left = carl.json(&["wrap", "--summary", "committed", "--next", "n"]);
    assert_eq!(left["earlier_changes"][0]["place"], "working_copy");
    stage.assert_sound();
}

#[test]
fn changes_are_not_taken_for_those_of_a_copy_in_which_they_never_were() {
    let stage = edited();
    wrapped(&stage, &["--with-changes"]);
    let second = second(&stage);
    std::fs::write(second.join("mine.txt"), "m").expect("written");
    let ben = stage.terminal("Ben").within(&second);
    ben.json(&["pickup"]);
    ben.json(&["wrap", "--summary", "looked only", "--next", "n"]);
    // The next one stands where Ben stood, in which something else is uncommitted.
    let cyd = stage.terminal("Cyd").within(&second);
    assert_eq!(cyd.json(&["pickup"])["changes"].get("is_here"), None);
    let output = cyd.text(&["wrap", "--summary", "looked, too", "--next", "n"]);
    assert!(output.contains("not applied, so they go on with this one"), "{output}");
    assert!(stage.terminal("Dan").within(&second).text(&["pickup"]).contains("not applied yet"));
}

#[test]
fn changes_whose_files_hold_something_else_by_now_go_on() {
    let stage = edited();
    wrapped(&stage, &["--with-changes"]);
    // In the same working copy, and in the same files.
    let files = std::fs::read_dir(stage.shop()).expect("a folder").flatten().map(|entry| entry.path());
    for file in files.filter(|path| path.is_file()) {
        std::fs::write(&file, "of somebody else\n").expect("written");
    }
    let lola = stage.terminal("Lola");
    let picked = lola.json(&["pickup", "--apply"]);
    assert_eq!(picked["changes"].get("is_here"), None, "{picked:#}");
    assert_eq!(picked["changes"]["is_changed_here"], true, "{picked:#}");
    assert_eq!(picked["changes"]["outcome"]["applied"], false, "{picked:#}");
    let output = lola.text(&["wrap", "--summary", "kept the others", "--next", "n"]);
    assert!(output.contains("not applied, so they go on with this one"), "{output}");
    let waits = stage.terminal("Max").json(&["pickup", "--dry-run"]);
    assert!(waits["changes"]["files_total"].as_u64() > Some(0), "{waits:#}");
}

#[test]
fn changes_that_a_named_agent_applies_are_credited_to_its_session() {
    let stage = edited();
    wrapped(&stage, &["--with-changes"]);
    let second = second(&stage);
    // Nothing but `--as` says who it is.
    let shell = stage.bare().within(&second).with("BATON_PROCESS", "p");
    shell.json(&["pickup", "--as", "Lola"]);
    shell.json(&["changes", "apply", "--as", "Lola"]);
    let output = shell.text(&["wrap", "--as", "Lola", "--summary", "applied", "--next", "n"]);
    assert!(output.contains("applied already where the session worked, and left there"), "{output}");
    stage.assert_sound();
}

#[test]
fn what_could_not_be_applied_is_said_first_and_nothing_is_written() {
    let stage = edited();
    wrapped(&stage, &["--with-changes"]);
    let second = second(&stage);
    fs::write(second.join("a.txt"), "own\n").expect("written");
    let lola = stage.terminal("Lola").within(&second);
    let picked = lola.json(&["pickup", "--apply"]);
    assert_eq!(picked["changes"]["outcome"]["applied"], false);
    let first = text(&picked, "instruction");
    assert!(first.contains("were NOT applied: this working copy has changes of its own: a.txt"), "{first}");
    assert_eq!(fs::read_to_string(second.join("a.txt")).expect("read"), "own\n");
    lola.refused(4, "working_copy_changed", &["changes", "apply"]);
    // Committed, they conflict; committed elsewhere, they merge.
    git(&stage, &second, &["commit", "-qam", "own"]);
    let refused = lola.refused(4, "changes_conflict", &["changes", "apply"]);
    assert!(text(&refused, "message").contains("a.txt"), "{refused}");
    assert_eq!(status(&stage, &second), "");
    git(&stage, &second, &["revert", "--no-edit", "HEAD"]);
    assert_eq!(lola.json(&["changes", "apply"])["merged"], true);
    assert_eq!(fs::read_to_string(second.join("new/b.txt")).expect("read"), "new\n");
}

#[test]
fn secrets_stay_and_are_named_and_limits_refuse_before_the_session_ends() {
    let stage = edited();
    stage.file("shop/.env", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzQ7rT2pLm9\n");
    let large = stage.file("shop/large.bin", vec![7; 26 * 1024 * 1024]);
    let ann = stage.terminal("Ann");
    let refused = ann.refused(1, "changes_too_large", &[&WRAP[..], &["--with-changes"]].concat());
    assert!(text(&refused, "message").contains("large.bin (27262976 bytes)"), "{refused}");
    fs::remove_file(large).expect("removed");
    let left = wrapped(&stage, &["--with-changes"]);
    let reason = text(&left["changes"]["left_out"][0], "reason");
    assert!(
        reason.ends_with(" in line 1): it travels once it was added where it lies, `git add :/.env`"),
        "{reason}"
    );
    assert_eq!(left["changes"]["left_out"].as_array().map(Vec::len), Some(1));
    assert!(!stage.store_contains("wJalrXUtnFEMI"));
    let shown = ann.text(&["changes", "show"]);
    assert!(
        shown.contains("stays behind: .env holds what looks like a secret (") && shown.contains("new/b.txt"),
        "{shown}"
    );
}

#[test]
fn a_baton_that_was_exported_into_the_working_copy_does_not_travel_and_is_named() {
    let stage = edited();
    let ann = stage.terminal("Ann");
    let baton = text(&wrapped(&stage, &[]), "baton_id");
    ann.json(&["handoff", "export", &baton, "-o", "work.baton"]);
    ann.json(&["start"]);
    let left = wrapped(&stage, &["--with-changes"]);
    assert_eq!(left["changes"]["files"], json!(["a.txt", "new/b.txt"]), "{left:#}");
    assert_eq!(left["changes"]["left_out"][0]["path"], "work.baton", "{left:#}");
    let shown = ann.text(&["changes", "show"]);
    assert!(shown.contains("stays behind: work.baton is a baton that was exported"), "{shown}");
    // Whoever adds it wants it.
    git(&stage, stage.shop(), &["add", "work.baton"]);
    ann.json(&["pickup"]);
    let left = wrapped(&stage, &["--with-changes"]);
    assert_eq!(left["changes"]["files"], json!(["a.txt", "new/b.txt", "work.baton"]), "{left:#}");
}

#[test]
fn no_other_export_that_lies_in_the_working_copy_travels_either() {
    let stage = edited();
    let ann = stage.terminal("Ann");
    let baton = text(&wrapped(&stage, &[]), "baton_id");
    let phrase = stage.root().join("phrase").display().to_string();
    fs::write(&phrase, "a passphrase that is long enough\n").expect("written");
    ann.json(&["handoff", "export", &baton, "-o", "work.age", "--passphrase-file", &phrase]);
    ann.run(&["log", "export", "shop.jsonl"]).done();
    ann.json(&["start"]);
    let left = wrapped(&stage, &["--with-changes"]);
    let left_out = left["changes"]["left_out"].as_array().cloned().unwrap_or_default();
    let paths: Vec<&str> = left_out.iter().filter_map(|one| one["path"].as_str()).collect();
    assert_eq!(paths, ["shop.jsonl", "work.age"], "{left:#}");
    assert_eq!(left["changes"]["files"], json!(["a.txt", "new/b.txt"]), "{left:#}");
}

#[test]
fn the_setting_sends_them_along_and_what_was_left_behind_is_kept_afterwards() {
    let stage = edited();
    let left = wrapped(&stage, &[]);
    assert_eq!(left.get("changes"), None);
    let (ann, baton) = (stage.terminal("Ann"), text(&left, "baton_id"));
    ann.refused(3, "changes_none", &["changes", "show", &baton]);
    ann.json(&["changes", "keep", &baton]);
    let diff = ann.text(&["changes", "diff", &baton]);
    assert!(diff.contains("+later") && diff.contains("+++ b/new/b.txt"), "{diff}");
    ann.json(&["changes", "drop", &baton]);
    ann.refused(3, "changes_none", &["changes", "diff"]);
    let always = ann.with("BATON_WRAP_CHANGES", "always");
    always.json(&["start"]);
    assert_eq!(always.json(&WRAP)["changes"]["files"], json!(["a.txt", "new/b.txt"]));
    let wrong = ann.with("BATON_WRAP_CHANGES", "often");
    assert!(
        text(&wrong.refused(1, "config_invalid", &["status"]), "message")
            .contains("`wrap.changes` is `often`")
    );
    stage.assert_sound();
}

#[test]
fn a_hook_keeps_them_at_the_end_of_a_session_where_the_setting_says_so() {
    let stage = edited();
    stage.terminal("Ann").json(&["end"]);
    let line = json!({ "type": "user", "sessionId": "s-1", "cwd": stage.shop(), "timestamp": "2026-11-20T10:00:00.000Z",
        "uuid": "u-1", "version": "2.1.329", "message": { "role": "user", "content": "please finish the cart" } });
    let path = stage.file("home/.claude/projects/shop/s-1.jsonl", format!("{line}\n"));
    let payload = json!({ "session_id": "s-1", "cwd": stage.shop(), "transcript_path": path,
        "hook_event_name": "SessionEnd", "reason": "logout" });
    let hook = ["hook", "session-end", "--agent", "claude"];
    stage.bare().with("BATON_WRAP_CHANGES", "always").feed(payload.to_string().as_bytes(), &hook).done();
    let ann = stage.terminal("Ann");
    let shown = (0..200).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        let answer = ann.run(&["changes", "show", "--json"]);
        answer.out.contains("new/b.txt").then_some(answer.out)
    });
    assert!(shown.is_some(), "{}", ann.text(&["status"]));
}

/// `BATON_TEST_KILLS=200` kills each of them 200 times.
#[test]
fn a_kill_leaves_the_source_as_it_was_and_the_target_as_it_was_or_with_everything() {
    let stage = edited();
    for n in 0..40 {
        stage.file(&format!("shop/many/{n}.txt"), format!("{n}\n").repeat(200));
    }
    let (ann, second) = (stage.terminal("Ann"), second(&stage));
    let left = text(&wrapped(&stage, &["--with-changes"]), "baton_id");
    let (wanted, own) = (status(&stage, stage.shop()), tree(&stage.shop().join(".git")));
    let kills = env("BATON_TEST_KILLS").and_then(|text| text.parse().ok()).unwrap_or(8);
    let killed = |terminal: &Terminal<'_>, run: u64, args: &[&str]| {
        let mut child = terminal.spawn(args);
        std::thread::sleep(std::time::Duration::from_millis(10 + run * 240 / kills));
        let _ = child.kill();
        let _ = child.wait();
    };
    for run in 0..kills {
        killed(&ann, run, &["changes", "keep", &left]);
        assert_eq!(
            (status(&stage, stage.shop()), tree(&stage.shop().join(".git"))),
            (wanted.clone(), own.clone())
        );
    }
    let lola = stage.terminal("Lola").within(&second);
    for run in 0..kills {
        killed(&lola, run, &["changes", "apply", &left]);
        // What a kill interrupted is finished; otherwise nothing was written yet, or all of it was.
        let again = lola.run(&["changes", "apply", &left, "--json"]);
        let is_known =
            ["apply_recovered", "working_copy_changed"].iter().any(|code| again.out.contains(code));
        assert!(again.code == 0 || is_known, "{again:#?}");
        if status(&stage, &second).is_empty() {
            lola.json(&["changes", "apply", &left]);
        }
        assert_eq!(status(&stage, &second), wanted, "run {run}");
        assert!(!second.join(".git/index.lock").exists());
        git(&stage, &second, &["reset", "-q", "--hard"]);
        git(&stage, &second, &["clean", "-qfd"]);
    }
    stage.assert_sound();
}

#[test]
fn a_wrap_by_a_tool_follows_the_setting_and_says_what_did_not_fit() {
    let stage = edited();
    let always = stage.terminal("Ann").with("BATON_WRAP_CHANGES", "always");
    let wrap = |terminal: &Terminal<'_>| {
        let mut client = Client::pipe(terminal, MODERN);
        client.done("session_wrap", json!({ "summary": "s", "next": ["n"] }))
    };
    let wrapped = wrap(&stage.terminal("Ann"));
    let keep = format!("baton changes keep {}", text(&wrapped, "baton_id"));
    assert_eq!(wrapped["uncommitted"], json!({ "count": 2, "command": keep }), "{wrapped:#}");
    assert!(
        text(&wrapped, "next_step").contains(&format!("`{keep}` gives them to the baton")),
        "{wrapped:#}"
    );
    stage.terminal("Ann").json(&["start"]);
    let wrapped = stage.terminal("Ann").json(&WRAP);
    assert_eq!(wrapped["uncommitted"]["count"], 2, "{wrapped:#}");
    for more in [&["--without-changes"][..], &["--done"]] {
        stage.terminal("Ann").json(&["start"]);
        let silent = stage.terminal("Ann").json(&[&["wrap", "--summary", "s"][..], more].concat());
        assert!(silent.get("uncommitted").is_none(), "{silent:#}");
    }
    stage.terminal("Ann").json(&["start"]);
    let large = stage.file("shop/large.bin", vec![7; 26 * 1024 * 1024]);
    let left = wrap(&always);
    assert!(left["warnings"].to_string().contains("large.bin (27262976 bytes)"), "{left:#}");
    fs::remove_file(large).expect("removed");
    always.json(&["start"]);
    let left = wrap(&always);
    assert_eq!(left["changes"]["files"], json!(["a.txt", "new/b.txt"]), "{left:#}");
    let picked = stage.terminal("Lola").json(&["pickup"]);
    assert_eq!(picked["changes"]["baton_id"], left["baton_id"]);
}

#[test]
fn names_of_files_move_no_cursor() {
    let stage = edited();
    stage.file("shop/first\u{1b}[2J\u{202e}.txt", "x\n");
    stage.file("shop/.env\u{1b}[2J", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzQ7rT2pLm9\n");
    let (ann, second) = (stage.terminal("Ann"), second(&stage));
    let left = ann.text(&[&WRAP[..], &["--with-changes"]].concat());
    let baton = text(&ann.json(&["changes", "show"])["changes"], "baton_id");
    let saved = ann.text(&["changes", "keep", &baton]);
    let lola = stage.terminal("Lola").within(&second);
    let shown = ann.text(&["changes", "show"]);
    let preview = lola.text(&["pickup", "--dry-run"]);
    let applied = lola.text(&["changes", "apply"]);
    let refused = lola.run(&["changes", "apply"]);
    for output in [left, saved, shown, preview, applied, refused.out, refused.err] {
        assert!(!output.contains(['\u{1b}', '\u{202e}']), "{output:?}");
    }
}

#[test]
fn changes_that_were_applied_in_a_worktree_that_is_gone_are_named_with_their_baton() {
    let stage = edited();
    let baton = text(&wrapped(&stage, &["--with-changes"]), "baton_id");
    git(&stage, stage.shop(), &["reset", "-q", "--hard"]);
    git(&stage, stage.shop(), &["clean", "-fdq"]);
    let beside = crate::worktrees::worktree(&stage, "beside", "fix");
    let lola = stage.terminal("Lola").within(&beside);
    lola.json(&["pickup", "--apply"]);
    lola.json(&["wrap", "--summary", "s", "--next", "n"]);
    let max = stage.terminal("Max");
    let shown = max.text(&["pickup", "--dry-run"]);
    assert!(!shown.contains("there only"), "a baton has them: {shown}");
    let edit = stage.root().join("beside/more.txt");
    fs::write(&edit, "more\n").expect("written");
    let shown = max.text(&["pickup", "--dry-run"]);
    assert!(shown.contains("there only"), "no baton has that: {shown}");
    git(&stage, stage.shop(), &["worktree", "remove", "--force", "../beside"]);
    let command = format!("baton changes apply {baton}");
    let refused = max.refused(3, "place_gone", &["pickup", "--there"]);
    assert!(text(&refused, "hint").contains(&command), "{refused}");
    // Also after a session that did nothing.
    for name in ["Max", "Zed"] {
        let picked = stage.terminal(name).json(&["pickup"]);
        assert_eq!(picked["earlier_changes"][0]["baton_id"], json!(baton), "{picked:#}");
        assert!(text(&picked, "instruction").contains(&command), "{picked:#}");
        stage.terminal(name).json(&["wrap", "--summary", "s", "--next", "n"]);
    }
}

#[test]
fn the_mark_of_an_intended_file_stays_behind_and_the_file_does_not() {
    let stage = edited();
    stage.file("shop/ita.txt", "n\n");
    git(&stage, stage.shop(), &["add", "-N", "ita.txt"]);
    let left = wrapped(&stage, &["--with-changes"]);
    assert!(
        left["changes"]["files"].as_array().is_some_and(|files| files.contains(&json!("ita.txt"))),
        "{left:#}"
    );
    let shown = stage.terminal("Ann").text(&["changes", "show"]);
    assert!(shown.contains("  ita.txt arrives untracked: its mark of `git add -N` stays behind"), "{shown}");
    assert!(!shown.contains("stays behind: ita.txt"), "{shown}");
}
