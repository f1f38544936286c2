//! Folders that are not what they were, and words that have to be true of them.

use std::fs;

use serde_json::{Value, json};

use crate::stage::{BATON, Stage, items, text};
use crate::worktrees::{committed, git, worktree};

/// Moves the repository and puts another one, or an empty folder, in its place.
fn replaced(stage: &Stage, is_repository: bool) -> std::path::PathBuf {
    let (shop, moved) = (stage.shop(), stage.root().join("moved"));
    fs::rename(&shop, &moved).expect("moved");
    fs::create_dir(&shop).expect("made");
    if is_repository {
        git(stage, &shop, &["init", "-q", "-b", "main"]);
        git(stage, &shop, &["commit", "-q", "--allow-empty", "-m", "other"]);
    }
    moved
}

#[test]
fn another_repository_in_the_place_of_one_that_moved_is_not_taken_for_it() {
    for is_repository in [true, false] {
        let stage = committed();
        stage.terminal("Donna").json(&["start"]);
        stage.terminal("Donna").json(&["wrap", "--summary", "s", "--next", "n"]);
        let moved = replaced(&stage, is_repository);
        let lola = stage.terminal("Lola");
        if is_repository {
            lola.refused(3, "project_unresolved", &["status"]);
        }
        let there = lola.within(&moved).text(&["pickup", "--there"]);
        assert_eq!(there.trim(), moved.display().to_string());
        lola.refused(3, "project_unresolved", &["status"]);
        let seen = lola.within(&moved).json(&["pickup", "--dry-run"])["location"].clone();
        assert_eq!((&seen["root"], &seen["is_here"]), (&json!(moved), &json!(true)), "{seen}");
    }
}

#[test]
fn another_repository_where_one_lay_only_for_a_while_is_not_taken_for_it() {
    let stage = committed();
    let (shop, root) = (stage.shop(), stage.root().to_owned());
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    donna.json(&["wrap", "--summary", "s", "--next", "n"]);
    let (once, twice) = (root.join("once"), root.join("twice"));
    fs::rename(&shop, &once).expect("moved");
    let lola = stage.terminal("Lola").within(&once);
    assert_eq!(text(&lola.json(&["status"]), "project_id"), "shop");
    fs::rename(&once, &twice).expect("moved");
    fs::create_dir(&once).expect("made");
    git(&stage, &once, &["init", "-q", "-b", "main"]);
    git(&stage, &once, &["commit", "-q", "--allow-empty", "-m", "other"]);
    lola.refused(3, "project_unresolved", &["pickup"]);
    let lola = lola.within(&twice);
    assert_eq!(text(&lola.json(&["status"]), "project_id"), "shop");
    // It is the same one where git's settings are lost.
    git(&stage, &twice, &["config", "--unset", "baton.repositoryid"]);
    assert_eq!(text(&lola.json(&["status"]), "project_id"), "shop");
}

#[test]
fn a_repository_that_lost_its_settings_is_the_same_one() {
    let stage = committed();
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    git(&stage, stage.shop(), &["config", "--unset", "baton.repositoryid"]);
    assert_eq!(text(&donna.json(&["status"]), "project_id"), "shop");
}

#[test]
fn a_third_clone_is_asked_about_the_first_project() {
    let stage = committed();
    let root = stage.root().to_owned();
    let hub = root.join("hub.git").display().to_string();
    git(&stage, &root, &["clone", "-q", "--bare", "shop", &hub]);
    git(&stage, stage.shop(), &["remote", "add", "origin", &hub]);
    let ann = stage.terminal("Ann");
    ann.json(&["init"]);
    for name in ["alpha", "beta"] {
        git(&stage, &root, &["clone", "-q", &hub, name]);
    }
    ann.within(root.join("alpha")).json(&["init", "--separate"]);
    let refusal = ann.within(root.join("beta")).refused(4, "project_is_clone", &["start"]);
    assert_eq!(refusal["project_id"], "shop");
    assert!(text(&refusal, "message").contains("alpha"), "{refusal}");
    let joined = ann.within(root.join("beta")).text(&["init", "--join", "shop"]);
    assert!(joined.starts_with("joined project shop for "), "{joined}");
    assert!(ann.within(root.join("beta")).text(&["init"]).starts_with("already registered: project shop"));
}

#[test]
fn a_clone_is_not_offered_a_project_that_was_merged() {
    let stage = committed();
    let root = stage.root().to_owned();
    let hub = root.join("hub.git").display().to_string();
    git(&stage, &root, &["clone", "-q", "--bare", "shop", &hub]);
    git(&stage, stage.shop(), &["remote", "add", "origin", &hub]);
    let ann = stage.terminal("Ann");
    ann.json(&["init"]);
    for name in ["alpha", "beta"] {
        git(&stage, &root, &["clone", "-q", &hub, name]);
    }
    ann.within(root.join("alpha")).json(&["init", "--separate"]);
    ann.json(&["project", "merge", "shop", "--into", "alpha"]);
    let refusal = ann.within(root.join("beta")).refused(4, "project_is_clone", &["start"]);
    assert_eq!(refusal["project_id"], "alpha");
    assert!(!refusal.to_string().contains("shop"), "{refusal}");
}

#[test]
fn no_project_is_made_of_a_bare_repository_or_of_a_worktree_without_one() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    let root = stage.root().to_owned();
    git(&stage, &root, &["clone", "-q", "--bare", "shop", "hub.git"]);
    ann.within(root.join("hub.git")).refused(1, "folder_is_git", &["init"]);
    assert!(!root.join("hub.git/docs").exists());
    // Never visited, and its repository has gone.
    let beside = worktree(&stage, "beside", "fix");
    fs::rename(stage.shop(), root.join("moved")).expect("moved");
    let ann = ann.within(&beside);
    let refusal = ann.refused(3, "project_unresolved", &["init"]);
    assert!(text(&refusal, "hint").contains("git worktree repair"), "{refusal}");
    git(&stage, root.join("moved"), &["worktree", "repair", &beside.display().to_string()]);
    assert_eq!(text(&ann.json(&["init"]), "project_id"), "shop");
    // One in which an agent worked is known; what travels needs its repository.
    ann.json(&["start"]);
    fs::rename(root.join("moved"), root.join("again")).expect("moved");
    let refusal =
        ann.refused(3, "working_copy_none", &["wrap", "--summary", "s", "--next", "n", "--with-changes"]);
    assert!(text(&refusal, "hint").contains("git worktree repair"), "{refusal}");
}

#[test]
fn a_folder_that_is_gone_is_forgotten_by_its_relative_path() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let ann = stage.terminal("Ann");
    ann.within(&beside).json(&["start"]);
    ann.within(&beside).json(&["end"]);
    git(&stage, stage.shop(), &["worktree", "remove", "--force", "../beside"]);
    let removed = ann.json(&["project", "remove", "../beside"]);
    assert_eq!(removed["paths"], json!([beside]));
}

#[test]
fn a_subshell_is_the_script_that_made_it() {
    let stage = committed();
    let script = stage.file(
        "script.sh",
        format!(
            "set -e\n{BATON:?} start --as Donna\n({BATON:?} checkpoint --as Donna --summary half; true)\n\
             {BATON:?} checkpoint --as Donna --summary more | cat\n({BATON:?} wrap --as Donna --summary s --next n; true)\n"
        ),
    );
    let output = stage.bare().program("bash").arg(&script).output().expect("bash runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && !stderr.contains("session_not_yours") && !stderr.contains("belongs to"),
        "{stderr}"
    );
    let card = stage.terminal("Lola").json(&["status"]);
    assert_eq!(card["sessions"], json!([]), "{card:#}");
}

#[test]
fn a_baton_is_written_to_standard_output() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    ann.json(&["wrap", "--summary", "s", "--next", "n"]);
    let output = ann.run(&["handoff", "export", "-o", "-"]).done();
    let file: Value = serde_json::from_str(&output.out).expect("the file and nothing else");
    assert_eq!(text(&file["baton"], "identity"), "Ann");
    assert!(output.err.contains("handoff reclaim"), "{output:#?}");
    assert!(!stage.shop().join("-").exists());
}

#[test]
fn a_worktree_whose_repository_is_gone_is_known_and_says_so() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let donna = stage.terminal("Donna").within(&beside);
    donna.json(&["start"]);
    donna.json(&["wrap", "--summary", "s"]);
    fs::rename(stage.shop(), stage.root().join("moved")).expect("moved");
    fs::write(beside.join("half.txt"), "half").expect("written");
    let lola = stage.terminal("Lola").within(&beside);
    let is_told = |err: &str| {
        assert!(
            err.contains("git cannot read this working copy") && err.contains("git worktree repair"),
            "{err}"
        );
    };
    for args in [&["status"][..], &["start"]] {
        let run = lola.run(args);
        assert_eq!(run.code, 0, "{run:#?}");
        is_told(&run.err);
    }
    let refused = lola.refused(3, "working_copy_none", &["wrap", "--summary", "s", "--with-changes"]);
    is_told(&refused.to_string());
    is_told(&lola.run(&["wrap", "--summary", "s"]).err);
    // Where it is repaired, nothing is said any more.
    git(&stage, stage.root().join("moved"), &["worktree", "repair", beside.to_str().expect("utf-8")]);
    let run = lola.run(&["status"]);
    assert_eq!((run.code, run.err.contains("cannot read")), (0, false), "{run:#?}");
}

#[test]
fn a_repository_in_the_deleted_folder_of_a_project_without_sessions_is_not_taken_for_it() {
    let stage = committed();
    fs::remove_dir_all(stage.shop()).expect("removed");
    git(&stage, stage.root(), &["init", "-q", "shop"]);
    stage.file("shop/o.txt", "o\n");
    git(&stage, stage.shop(), &["add", "-A"]);
    git(&stage, stage.shop(), &["commit", "-qm", "other"]);
    stage.terminal("Ann").refused(3, "project_unresolved", &["status"]);
}

#[test]
fn a_session_in_a_folder_that_went_to_another_project_is_named() {
    let stage = committed();
    let wes = stage.terminal("Wes");
    wes.json(&["start"]);
    stage.terminal("Ann").json(&["init", "--id", "two", "--move"]);
    let wrap = ["wrap", "--summary", "s", "--next", "n"];
    let refused = wes.refused(3, "no_session", &wrap);
    assert!(text(&refused, "hint").contains("`--project shop`"), "{refused:#}");
    wes.json(&[&["--project", "shop"], &wrap[..]].concat());
    wes.json(&["start"]);
    wes.refused(1, "packet_invalid", &[&wrap[..], &["--done"]].concat());
}

#[test]
fn places_say_where_a_worktree_was_moved_to() {
    let stage = committed();
    let beside = crate::worktrees::worktree(&stage, "beside", "fix");
    let ann = stage.terminal("Ann");
    ann.within(&beside).json(&["start"]);
    ann.within(&beside).json(&["end"]);
    git(&stage, stage.shop(), &["worktree", "move", "../beside", "../moved"]);
    let shown = ann.text(&["project", "places"]);
    assert!(shown.contains(&format!("moved to {}", stage.root().join("moved").display())), "{shown}");
    git(&stage, stage.shop(), &["worktree", "remove", "../moved"]);
    let shown = ann.text(&["project", "places"]);
    assert!(shown.contains("gone") && !shown.contains("moved to"), "{shown}");
    // Another worktree with its branch is not where it went.
    git(&stage, stage.shop(), &["worktree", "add", "-q", "../other", "fix"]);
    let shown = ann.text(&["project", "places"]);
    assert!(shown.contains("gone") && !shown.contains("moved to"), "{shown}");
}

#[test]
fn places_of_another_machine_show_the_branch_that_its_last_session_said() {
    let stage = committed();
    let beside = crate::worktrees::worktree(&stage, "beside", "fix");
    let far = stage.terminal("Ann").with("BATON_MACHINE", "far").within(&beside);
    far.json(&["init", "--join", "shop"]);
    far.json(&["start"]);
    far.json(&["end"]);
    let places = items(&stage.terminal("Lola").json(&["project", "places"]));
    let row = places.iter().find(|row| row["path"] == json!(beside) && row["is_this_machine"] == false);
    let row = row.unwrap_or_else(|| panic!("{places:#?}"));
    assert_eq!((&row["branch"], &row["sessions"]), (&json!("fix"), &json!([])), "{row:#}");
}

#[test]
fn an_unfinished_rebase_is_called_that() {
    let stage = committed();
    git(&stage, stage.shop(), &["switch", "-qc", "side"]);
    for (branch, words) in [("side", "one"), ("main", "two")] {
        git(&stage, stage.shop(), &["switch", "-q", branch]);
        stage.file("shop/a.txt", words);
        git(&stage, stage.shop(), &["commit", "-qam", words]);
    }
    let rebase = ["-c", "user.name=a", "-c", "user.email=a@b", "rebase", "side"];
    let output = std::process::Command::new("git").arg("-C").arg(stage.shop()).args(rebase).output();
    assert!(!output.expect("git runs").status.success());
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    let refused = ann.refused(4, "working_copy_unmerged", &["wrap", "--summary", "s", "--with-changes"]);
    assert!(text(&refused, "message").contains("a rebase is not finished"), "{refused:#}");
    assert!(text(&refused, "hint").contains("git rebase --abort"), "{refused:#}");
}

#[test]
fn a_file_that_is_removed_from_the_index_and_untracked_is_named_once() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let donna = stage.terminal("Donna").within(&beside);
    donna.json(&["start"]);
    git(&stage, &beside, &["rm", "-q", "--cached", "a.txt"]);
    donna.json(&["wrap", "--summary", "s", "--next", "n"]);
    let location = stage.terminal("Lola").json(&["pickup", "--dry-run"])["location"].clone();
    assert_eq!((&location["uncommitted"], &location["uncommitted_total"]), (&json!(["a.txt"]), &json!(1)));
}
