//! Where half-done work lies, whatever happens between its wrap and the next pickup.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::stage::{Stage, text};
use crate::worktrees::{committed, git, worktree};

const WRAP: [&str; 5] = ["wrap", "--summary", "s", "--next", "n"];

/// Donna leaves `half.txt` uncommitted in a worktree, and a baton. Gives the worktree and the baton.
fn left_half_done(stage: &Stage) -> (PathBuf, String) {
    let beside = worktree(stage, "beside", "fix");
    let donna = stage.terminal("Donna").within(&beside);
    donna.json(&["start"]);
    fs::write(beside.join("half.txt"), "half").expect("written");
    let baton = text(&donna.json(&WRAP), "baton_id");
    (beside, baton)
}

/// A second clone, joined to the project.
fn joined_clone(stage: &Stage) -> PathBuf {
    let path = stage.root().join("second");
    git(stage, stage.root(), &["clone", "-q", stage.shop().to_str().expect("utf-8"), "second"]);
    stage.terminal("Ann").within(&path).json(&["init", "--join", "shop"]);
    path
}

#[track_caller]
fn lies_in(location: &Value, root: &Path, uncommitted: &[&str], what: &str) {
    assert_eq!(location["root"], json!(root), "{what}: {location:#}");
    assert_eq!(location["uncommitted"], json!(uncommitted), "{what}: {location:#}");
}

#[test]
fn an_idle_pickup_does_not_hide_where_the_half_done_work_lies() {
    for what in [
        "ends",
        "falls silent",
        "wraps without changes",
        "wraps without changes in the first working copy",
        "falls silent, and its worktree is gone",
    ] {
        let stage = committed();
        let (beside, baton) = left_half_done(&stage);
        let idle = worktree(&stage, "idle", "look");
        let in_the_first = what.ends_with("in the first working copy");
        let ben = stage.terminal("Ben").within(if in_the_first { stage.shop() } else { idle });
        ben.json(&["pickup"]);
        match what {
            "ends" => drop(ben.json(&["end"])),
            what if what.starts_with("wraps") => drop(ben.json(&WRAP)),
            "falls silent, and its worktree is gone" => {
                git(&stage, stage.shop(), &["worktree", "remove", "--force", "../idle"]);
            }
            _ => {}
        }
        let lola = stage.terminal("Lola");
        let silent = what.starts_with("falls silent");
        let force: &[&str] = if silent { &["--handoff", &baton, "--force", "--why", "silent"] } else { &[] };
        let seen = lola.json(&[&["pickup", "--dry-run"], force].concat());
        lies_in(&seen["location"], &beside, &["half.txt"], what);
        let there = lola.text(&[&["pickup", "--there"], force].concat());
        assert_eq!(there.trim(), beside.display().to_string(), "{what}");
    }
}

#[test]
fn half_done_work_in_two_places_of_one_baton_is_named_twice() {
    let stage = committed();
    let (beside, _) = left_half_done(&stage);
    let other = worktree(&stage, "other", "look");
    let ben = stage.terminal("Ben").within(&other);
    ben.json(&["pickup"]);
    fs::write(other.join("more.txt"), "more").expect("written");
    ben.json(&WRAP);
    let lola = stage.terminal("Lola");
    let location = lola.json(&["pickup", "--dry-run"])["location"].clone();
    lies_in(&location, &other, &["more.txt"], "the last one is the place");
    assert_eq!(location["earlier"][0]["root"], json!(beside), "{location:#}");
    assert_eq!(location["earlier"][0]["uncommitted"], json!(["half.txt"]), "{location:#}");
    let shown = lola.text(&["pickup", "--dry-run"]);
    let line = format!("left earlier and not committed in {}, branch fix", beside.display());
    assert!(shown.contains(&line) && shown.contains("half.txt"), "{shown}");
    // A commit ends what was left before it in the same folder, and takes nothing along from another.
    git(&stage, &other, &["add", "-A"]);
    ben.json(&["pickup"]);
    git(&stage, &other, &["commit", "-qm", "more"]);
    ben.json(&WRAP);
    let location = lola.json(&["pickup", "--dry-run"])["location"].clone();
    assert_eq!(location["root"], json!(other), "{location:#}");
    assert_eq!(location["earlier"][0]["root"], json!(beside), "{location:#}");
    assert_eq!(location["earlier"].as_array().map(Vec::len), Some(1), "{location:#}");
    // The branch of an earlier place is the one that is checked out there now.
    git(&stage, &beside, &["switch", "-q", "--detach"]);
    let shown = lola.text(&["pickup", "--dry-run"]);
    let commit = git(&stage, &beside, &["rev-parse", "--short=7", "HEAD"]);
    let line =
        format!("left earlier and not committed in {}, at {commit} without a branch", beside.display());
    assert!(shown.contains(&line), "{shown}");
    git(&stage, &beside, &["switch", "-q", "fix"]);
    git(&stage, &beside, &["add", "-A"]);
    git(&stage, &beside, &["commit", "-qm", "half"]);
    let location = lola.json(&["pickup", "--dry-run"])["location"].clone();
    assert_eq!(location["earlier"], Value::Null, "{location:#}");
}

#[test]
fn a_plain_folder_in_the_place_of_a_worktree_that_is_gone_is_not_the_place() {
    let stage = committed();
    let (beside, _) = left_half_done(&stage);
    git(&stage, stage.shop(), &["worktree", "remove", "--force", "../beside"]);
    fs::create_dir(&beside).expect("a folder");
    let lola = stage.terminal("Lola");
    let location = lola.json(&["pickup", "--dry-run"])["location"].clone();
    assert_eq!(
        (&location["is_there"], &location["holds_other"]),
        (&json!(false), &json!(true)),
        "{location:#}"
    );
    let refused = lola.refused(3, "place_gone", &["pickup", "--there"]);
    assert!(text(&refused, "message").contains("holds something else"), "{refused}");
    assert!(text(&refused, "hint").contains("its branch fix is left here"), "{refused}");
}

#[test]
fn a_joined_clone_that_is_gone_is_not_said_to_be_another_clone() {
    for what in ["gone", "moved", "moved and found there"] {
        let stage = committed();
        let second = joined_clone(&stage);
        let donna = stage.terminal("Donna").within(&second);
        donna.json(&["start"]);
        donna.json(&WRAP);
        let third = stage.root().join("third");
        match what {
            "gone" => fs::remove_dir_all(&second).expect("removed"),
            _ => fs::rename(&second, &third).expect("moved"),
        }
        if what == "moved and found there" {
            stage.terminal("Ann").within(&third).json(&["status"]);
        }
        let lola = stage.terminal("Lola");
        let location = lola.json(&["pickup", "--dry-run"])["location"].clone();
        if what == "moved and found there" {
            assert_eq!((&location["root"], &location["is_there"]), (&json!(third), &json!(true)), "{what}");
            assert_eq!(lola.text(&["pickup", "--there"]).trim(), third.display().to_string());
            assert_eq!(
                lola.within(&third).json(&["pickup", "--dry-run"])["location"]["is_here"],
                json!(true)
            );
            continue;
        }
        assert_eq!((&location["root"], &location["is_there"]), (&json!(second), &json!(false)), "{what}");
        lola.refused(3, "place_gone", &["pickup", "--there"]);
    }
}

#[test]
fn a_worktree_that_was_moved_by_hand_is_repaired_before_anything_is_pruned() {
    let stage = committed();
    let (beside, _) = left_half_done(&stage);
    let moved = stage.root().join("moved");
    fs::rename(&beside, &moved).expect("moved");
    let lola = stage.terminal("Lola");
    let refused = lola.refused(3, "place_gone", &["pickup", "--there"]);
    let hint = text(&refused, "hint");
    let (repair, prune) = (hint.find("git worktree repair NEWPATH"), hint.find("git worktree prune"));
    assert!(repair.is_some() && repair < prune, "{hint}");
    // What is advised works.
    git(&stage, stage.shop(), &["worktree", "repair", moved.to_str().expect("utf-8")]);
    assert_eq!(lola.text(&["pickup", "--there"]).trim(), moved.display().to_string());
}

#[test]
fn who_holds_a_baton_may_look_where_another_one_lies() {
    let stage = committed();
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    donna.json(&WRAP);
    let lola = stage.terminal("Lola");
    lola.json(&["pickup"]);
    let (beside, baton) = left_half_done(&stage);
    let looked = lola.run(&["pickup", "--there", &baton]);
    assert_eq!((looked.code, looked.out.trim()), (0, beside.to_str().expect("utf-8")), "{looked:#?}");
    assert!(
        looked.err.contains("a pickup would be refused, since this session already holds"),
        "{looked:#?}"
    );
    let shown = lola.text(&["pickup", "--dry-run", "--handoff", &baton]);
    assert!(shown.contains("a pickup would be refused") && shown.contains("half.txt"), "{shown}");
    lola.refused(4, "already_holding", &["pickup", "--handoff", &baton]);
}

#[test]
fn work_lies_where_its_branch_is_once_its_worktree_has_none() {
    let stage = committed();
    let (beside, _) = left_half_done(&stage);
    let lola = stage.terminal("Lola");
    git(&stage, &beside, &["switch", "-q", "--detach"]);
    let there = lola.text(&["pickup", "--there"]);
    assert_eq!(there.trim(), beside.display().to_string(), "nothing else has the branch");
    git(&stage, stage.shop(), &["worktree", "add", "-q", "../anew", "fix"]);
    let anew = stage.root().join("anew").canonicalize().expect("there");
    let location = lola.json(&["pickup", "--dry-run"])["location"].clone();
    assert_eq!(location["root"], json!(anew), "{location:#}");
    let advice = text(&location, "advice");
    let old = format!("{}, in which the work was left, has no branch checked out now", beside.display());
    assert!(advice.contains(&format!("cd {}", anew.display())) && advice.contains(&old), "{advice}");
    assert_eq!(location["earlier"][0]["root"], json!(beside), "{location:#}");
    assert_eq!(location["earlier"][0]["uncommitted"], json!(["half.txt"]), "{location:#}");
    assert_eq!(lola.text(&["pickup", "--there"]).trim(), anew.display().to_string());
    // The main working copy is a place of it like every other.
    git(&stage, stage.shop(), &["worktree", "remove", "../anew"]);
    git(&stage, stage.shop(), &["switch", "-q", "fix"]);
    let location = lola.within(&beside).json(&["pickup", "--dry-run"])["location"].clone();
    assert_eq!(
        (&location["root"], &location["is_worktree"]),
        (&json!(stage.shop()), &json!(false)),
        "{location:#}"
    );
}

#[test]
fn what_was_applied_here_is_not_said_to_be_committed() {
    let stage = committed();
    git(&stage, stage.shop(), &["add", "-A"]);
    git(&stage, stage.shop(), &["commit", "-q", "--allow-empty", "-m", "two"]);
    let beside = worktree(&stage, "beside", "fix");
    let donna = stage.terminal("Donna").within(&beside);
    donna.json(&["start"]);
    fs::write(beside.join("half.txt"), "half").expect("written");
    donna.json(&[&WRAP[..], &["--with-changes"]].concat());
    git(&stage, &beside, &["clean", "-fdq"]);
    let lola = stage.terminal("Lola");
    let shown = lola.text(&["pickup", "--apply"]);
    assert!(!shown.contains("no uncommitted changes"), "{shown}");
    assert!(shown.contains("are in your working copy now") && shown.contains("  files: half.txt"), "{shown}");
    assert!(shown.contains(&format!("the work was left in {}", beside.display())), "{shown}");
    assert_eq!(shown.matches("half.txt").count(), 1, "said once: {shown}");
}

#[test]
fn what_lies_here_is_said_once() {
    let stage = committed();
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    fs::write(stage.shop().join("half.txt"), "half").expect("written");
    donna.json(&[&WRAP[..], &["--with-changes"]].concat());
    let seen = stage.terminal("Lola").text(&["pickup", "--dry-run"]);
    assert_eq!(
        (seen.matches("half.txt").count(), seen.matches("the work lies here").count()),
        (1, 1),
        "{seen}"
    );
    let applied = stage.terminal("Lola").text(&["pickup", "--apply"]);
    assert!(
        applied.contains("are in your working copy now") && !applied.contains("the work lies"),
        "{applied}"
    );
}

/// An agent works in a worktree and wraps from the main checkout, as one does that changes folders in its shell.
#[test]
fn work_lies_where_it_was_done_although_its_session_was_wrapped_elsewhere() {
    let stage = committed();
    let beside = worktree(&stage, "be side", "fix");
    let ann = stage.terminal("Ann");
    ann.within(&beside).json(&["start"]);
    fs::write(beside.join("half.txt"), "half\n").expect("written");
    ann.json(&["wrap", "--summary", "half is in the worktree"]);
    let seen = stage.terminal("Lola").json(&["pickup", "--dry-run"])["location"].clone();
    assert_eq!((&seen["root"], &seen["uncommitted"]), (&json!(beside), &json!(["half.txt"])), "{seen}");
    let quoted = format!("`cd '{}'`", beside.display());
    assert!(text(&seen, "advice").contains(&quoted), "a path with a space can be pasted: {seen}");
    fs::remove_file(beside.join("half.txt")).expect("removed");
    let seen = stage.terminal("Lola").json(&["pickup", "--dry-run"])["location"].clone();
    assert_eq!(seen["root"], json!(stage.shop()), "nothing is left there: {seen}");
}

/// The main copy has an old stray file, or a worktree inside it, which git names as one.
#[test]
fn a_session_that_only_looked_where_something_lay_before_hides_no_work() {
    for (place, stray) in [("beside", true), ("shop/.claude/worktrees/y", false)] {
        for begins in [&["pickup"][..], &["start", "pickup"]] {
            let stage = committed();
            if stray {
                stage.file("shop/notes.txt", "old\n");
            }
            let beside = worktree(&stage, place, "fix");
            let donna = stage.terminal("Donna").within(&beside);
            donna.json(&["start"]);
            fs::write(beside.join("work.txt"), "real\n").expect("written");
            git(&stage, &beside, &["add", "-A"]);
            git(&stage, &beside, &["commit", "-qm", "real work"]);
            donna.json(&WRAP);
            let lola = stage.terminal("Lola");
            begins.iter().for_each(|verb| drop(lola.json(&[verb])));
            lola.json(&WRAP);
            let max = stage.terminal("Max");
            assert_eq!(
                max.text(&["pickup", "--there"]).trim(),
                beside.display().to_string(),
                "{place} {begins:?}"
            );
            let location = max.json(&["pickup"])["location"].clone();
            assert_eq!(location["earlier"], Value::Null, "nothing was left here: {location:#}");
            // What he does with it is his work.
            stage.file("shop/notes.txt", "new\n");
            max.json(&WRAP);
            let location = lola.json(&["pickup", "--dry-run"])["location"].clone();
            lies_in(&location, &stage.shop(), &["notes.txt"], place);
        }
    }
}

#[test]
fn a_worktree_inside_another_working_copy_is_none_of_its_files() {
    let stage = committed();
    let inner = worktree(&stage, "shop/.claude/worktrees/x", "x");
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    let wrapped = ann.json(&[&WRAP[..], &["--with-changes"]].concat());
    assert_eq!(wrapped["changes"], Value::Null, "{wrapped:#}");
    ann.json(&["pickup"]);
    fs::write(inner.join("half.txt"), "half").expect("written");
    stage.file("shop/own.txt", "own\n");
    let wrapped = ann.json(&[&WRAP[..], &["--with-changes"]].concat());
    let changes = &wrapped["changes"];
    assert_eq!((&changes["files"], &changes["left_out"]), (&json!(["own.txt"]), &Value::Null), "{changes:#}");
}

/// A worktree that git moved, and in which another branch was checked out afterwards: git knows it by its name.
#[test]
fn what_is_not_committed_in_a_worktree_that_was_moved_and_switched_is_named() {
    let stage = committed();
    let (beside, _) = left_half_done(&stage);
    let moved = stage.root().join("moved");
    git(
        &stage,
        stage.shop(),
        &["worktree", "move", beside.to_str().expect("utf-8"), moved.to_str().expect("utf-8")],
    );
    git(&stage, &moved, &["switch", "-q", "-c", "elsewhere"]);
    let lola = stage.terminal("Lola");
    let seen = lola.json(&["pickup", "--dry-run"]);
    lies_in(&seen["location"], &moved, &["half.txt"], "moved and switched");
    assert_eq!(lola.text(&["pickup", "--there"]).trim(), moved.display().to_string());
    let places = lola.text(&["project", "places"]);
    assert!(places.contains(&format!("moved to {}", moved.display())), "{places}");
    // An agent that goes on where the branch is by now is told of it all the same.
    let other = stage.root().join("other");
    git(&stage, stage.shop(), &["worktree", "add", "-q", other.to_str().expect("utf-8"), "fix"]);
    let location = lola.json(&["pickup", "--dry-run"])["location"].clone();
    assert_eq!(location["root"], json!(other), "{location:#}");
    assert_eq!(location["earlier"][0]["root"], json!(moved), "{location:#}");
    assert_eq!(location["earlier"][0]["uncommitted"], json!(["half.txt"]), "{location:#}");
    // One that is made later under the same name is another one.
    git(&stage, stage.shop(), &["worktree", "remove", "--force", moved.to_str().expect("utf-8")]);
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    let again = stage.root().join("again").join("beside");
    git(&stage, stage.shop(), &["worktree", "add", "-q", "-b", "new", again.to_str().expect("utf-8")]);
    let location = lola.json(&["pickup", "--dry-run"])["location"].clone();
    assert_eq!(location["root"], json!(other), "{location:#}");
    assert_eq!(location.get("earlier"), None, "{location:#}");
}

#[test]
fn a_folder_in_which_another_repository_lies_is_not_said_to_hold_the_work() {
    let stage = committed();
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    fs::write(stage.shop().join("u.txt"), "u").expect("written");
    donna.json(&WRAP);
    fs::rename(stage.shop(), stage.root().join("moved")).expect("moved");
    let other = stage.repo("shop");
    git(&stage, &other, &["commit", "-q", "--allow-empty", "-m", "another"]);
    let kim = stage.terminal("Kim").within(&other);
    // Also once a session of the project works in the other repository.
    for args in [&["--project", "shop", "pickup", "--dry-run"][..], &["--project", "shop", "pickup"]] {
        let location = kim.json(args)["location"].clone();
        assert_eq!(
            (&location["is_here"], &location["is_there"], &location["holds_other"]),
            (&json!(false), &json!(false), &json!(true)),
            "{args:?}: {location:#}"
        );
        assert_eq!(location.get("uncommitted_total"), None, "{args:?}: {location:#}");
    }
    kim.json(&["--project", "shop", "end"]);
    let shown = kim.text(&["--project", "shop", "pickup", "--dry-run"]);
    assert!(!shown.contains("the work lies here") && shown.contains("the work was left in"), "{shown}");
    assert!(shown.contains("another repository lies in this folder by now"), "{shown}");
    // Where it was moved to, once any command was run there.
    stage.terminal("Kim").within(stage.root().join("moved")).json(&["status"]);
    let location = kim.json(&["--project", "shop", "pickup", "--dry-run"])["location"].clone();
    lies_in(&location, &stage.root().join("moved"), &["u.txt"], "moved");
}

#[test]
fn who_is_at_work_in_another_terminal_is_shown_where_the_work_lies() {
    let stage = committed();
    let (beside, _) = left_half_done(&stage);
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    let other = lola.with("BATON_PROCESS", "another-terminal");
    let before = stage.deltas();
    assert_eq!(other.text(&["pickup", "--there"]).trim(), beside.display().to_string());
    let seen = other.json(&["pickup", "--dry-run"]);
    lies_in(&seen["location"], &beside, &["half.txt"], "dry run");
    assert_eq!(seen["warnings"][0]["kind"], "identity_conflict", "{seen:#}");
    assert!(text(&seen["warnings"][0], "message").starts_with("a pickup would be refused"), "{seen:#}");
    assert_eq!(stage.deltas(), before);
    let refused = other.refused(4, "identity_conflict", &["pickup"]);
    let place = format!("Lola is already active in this project: in {}, branch ", stage.shop().display());
    assert!(text(&refused, "message").starts_with(&place), "{refused:#}");
}
