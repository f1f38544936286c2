//! What earlier sessions left is named where the latest work does not have it, on whatever machine either lies, and through files.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::stage::{Stage, Terminal};
use crate::worktrees::{committed, git, worktree};

const WRAP: [&str; 5] = ["wrap", "--summary", "s", "--next", "n"];

/// A clone on another machine with the same ledger.
fn clone_at(stage: &Stage, machine: &str) -> PathBuf {
    git(stage, stage.root(), &["clone", "-q", "shop", machine]);
    let clone = stage.root().join(machine);
    at(stage, "Cem", machine).json(&["init", "--join", "shop"]);
    clone
}

fn at<'a>(stage: &'a Stage, name: &'a str, machine: &str) -> Terminal<'a> {
    stage.terminal(name).within(stage.root().join(machine)).with("BATON_MACHINE", machine)
}

/// Somebody commits a file on a branch, and wraps.
fn left_commit(stage: &Stage, terminal: &Terminal<'_>, folder: &Path, file: &str) -> String {
    terminal.json(&["start"]);
    fs::write(folder.join(file), "text\n").expect("written");
    git(stage, folder, &["add", file]);
    git(stage, folder, &["commit", "-qm", file]);
    terminal.json(&WRAP);
    git(stage, folder, &["rev-parse", "HEAD"])
}

/// Somebody picks that up, leaves a file uncommitted in another working copy, and wraps.
fn left_file(terminal: &Terminal<'_>, folder: &Path, file: &str) {
    terminal.json(&["pickup"]);
    fs::write(folder.join(file), "text\n").expect("written");
    terminal.json(&WRAP);
}

fn location(terminal: &Terminal<'_>) -> Value {
    terminal.json(&["pickup", "--dry-run"])["location"].clone()
}

#[test]
fn commits_on_another_machine_are_named_behind_later_uncommitted_work() {
    let stage = committed();
    let desk = clone_at(&stage, "desk");
    clone_at(&stage, "third");
    let beside = worktree(&stage, "beside", "fix");
    let commit = left_commit(&stage, &stage.terminal("Donna").within(&beside), &beside, "two");
    left_file(&at(&stage, "Lola", "desk"), &desk, "three");
    // On the machine of the later work, on that of the commit, and on one that has neither.
    for (who, terminal) in [
        ("later", at(&stage, "Max", "desk")),
        ("earlier", stage.terminal("Max")),
        ("neither", at(&stage, "Max", "third")),
    ] {
        let found = location(&terminal);
        assert_eq!(found["root"], json!(desk), "{who}: {found:#}");
        let earlier = &found["earlier"][0];
        assert_eq!(
            (&earlier["root"], &earlier["branch"]),
            (&json!(beside), &json!("fix")),
            "{who}: {found:#}"
        );
        assert_eq!((&earlier["commit"], &earlier["lacks_commit"]), (&json!(commit), &json!(true)), "{who}");
        assert_eq!(earlier.get("machine").is_some(), who != "earlier", "{who}: {found:#}");
        let shown = terminal.text(&["pickup", "--dry-run"]);
        assert!(shown.contains("committed earlier in") && shown.contains(&commit[..12]), "{who}: {shown}");
        assert_eq!(shown.contains("git push origin fix"), who != "earlier", "{who}: {shown}");
    }
    // What is printed brings it, and then it is named no more.
    git(&stage, &desk, &["fetch", "-q", "origin", "fix"]);
    git(&stage, &desk, &["merge", "-q", &commit]);
    let found = location(&at(&stage, "Max", "desk"));
    assert_eq!(found.get("earlier"), None, "{found:#}");
}

#[test]
fn commits_that_the_later_work_has_are_not_named() {
    let stage = committed();
    let desk = clone_at(&stage, "desk");
    clone_at(&stage, "third");
    let beside = worktree(&stage, "beside", "fix");
    left_commit(&stage, &stage.terminal("Donna").within(&beside), &beside, "two");
    git(&stage, &desk, &["fetch", "-q", "origin", "fix"]);
    git(&stage, &desk, &["switch", "-q", "-c", "fix", "FETCH_HEAD"]);
    let lola = at(&stage, "Lola", "desk");
    lola.json(&["pickup"]);
    fs::write(desk.join("three"), "3\n").expect("written");
    git(&stage, &desk, &["add", "three"]);
    git(&stage, &desk, &["commit", "-qm", "three"]);
    lola.json(&WRAP);
    // Git can say it on the desk; elsewhere the sessions do.
    for terminal in [at(&stage, "Max", "desk"), stage.terminal("Max"), at(&stage, "Max", "third")] {
        let found = location(&terminal);
        assert_eq!((&found["root"], found.get("earlier")), (&json!(desk), None), "{found:#}");
    }
}

#[test]
fn what_is_not_committed_on_another_machine_is_named_behind_later_commits() {
    for goes_along in [false, true] {
        let stage = committed();
        let desk = clone_at(&stage, "desk");
        let ann = stage.terminal("Ann");
        ann.json(&["start"]);
        stage.file("shop/a.txt", "changed\n");
        let along: &[&str] = if goes_along { &["--with-changes"] } else { &[] };
        ann.json(&[&WRAP[..], along].concat());
        let ben = at(&stage, "Ben", "desk");
        ben.json(&["pickup"]);
        fs::write(desk.join("b.txt"), "b\n").expect("written");
        git(&stage, &desk, &["add", "b.txt"]);
        git(&stage, &desk, &["commit", "-qm", "b"]);
        ben.json(&WRAP);
        let found = location(&at(&stage, "Max", "desk"));
        assert_eq!(found["root"], json!(desk), "{found:#}");
        let earlier = &found["earlier"][0];
        assert_eq!(earlier.get("was_dirty").is_some(), !goes_along, "{goes_along}: {found:#}");
        if !goes_along {
            assert_eq!(earlier["root"], json!(stage.shop()), "{found:#}");
            let shown = at(&stage, "Max", "desk").text(&["pickup", "--dry-run"]);
            assert!(shown.contains("left earlier and not committed in"), "{shown}");
        }
    }
}

/// A ledger of another machine, with a clone.
fn other_ledger(of: &Stage) -> (Stage, PathBuf) {
    let other = Stage::new();
    git(of, other.root(), &["clone", "-q", &of.shop().display().to_string(), "copy"]);
    let clone = other.root().join("copy");
    zoe(&other, &clone).json(&["init", "--id", "shop"]);
    (other, clone)
}

fn zoe<'a>(stage: &'a Stage, clone: &Path) -> Terminal<'a> {
    stage.terminal("Zoe").within(clone).with("BATON_MACHINE", "desk")
}

#[test]
fn a_file_that_comes_home_names_what_was_left_there_and_on_its_way() {
    for is_committed in [true, false] {
        let stage = committed();
        let home = stage.terminal("Ann");
        home.json(&["start"]);
        stage.file("shop/a.txt", "changed\n");
        home.json(&WRAP);
        let (out, back) = (stage.root().join("out.baton"), stage.root().join("back.baton"));
        home.json(&["handoff", "export", "-o", &out.display().to_string()]);
        let (desk, clone) = other_ledger(&stage);
        let zoe = zoe(&desk, &clone);
        zoe.json(&["handoff", "import", &out.display().to_string()]);
        zoe.json(&["pickup"]);
        fs::write(clone.join("b.txt"), "b\n").expect("written");
        if is_committed {
            git(&stage, &clone, &["add", "b.txt"]);
            git(&stage, &clone, &["commit", "-qm", "b"]);
        }
        zoe.json(&WRAP);
        let found = location(&zoe);
        assert_eq!(found["earlier"][0]["was_dirty"], json!(true), "{is_committed}: {found:#}");
        zoe.json(&["handoff", "export", "-o", &back.display().to_string()]);
        home.json(&["handoff", "import", &back.display().to_string()]);
        let found = location(&home);
        assert_eq!(found["root"], json!(clone), "{is_committed}: {found:#}");
        let earlier = &found["earlier"][0];
        assert_eq!(
            (&earlier["root"], &earlier["uncommitted"]),
            (&json!(stage.shop()), &json!(["a.txt"])),
            "{is_committed}: {found:#}"
        );
        git(&stage, stage.shop(), &["checkout", "-q", "a.txt"]);
        assert_eq!(location(&home).get("earlier"), None, "it is there no more");
    }
}

#[test]
fn a_file_names_commits_that_were_left_before_the_place_of_its_work() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let commit = left_commit(&stage, &stage.terminal("Donna").within(&beside), &beside, "two");
    let other = worktree(&stage, "other", "x");
    let lola = stage.terminal("Lola").within(&other);
    left_file(&lola, &other, "u");
    let file = stage.root().join("work.baton");
    lola.json(&["handoff", "export", "-o", &file.display().to_string()]);
    let (desk, clone) = other_ledger(&stage);
    let zoe = zoe(&desk, &clone);
    zoe.json(&["handoff", "import", &file.display().to_string()]);
    let found = location(&zoe);
    assert_eq!(found["root"], json!(other), "{found:#}");
    let earlier = &found["earlier"][0];
    assert_eq!((&earlier["commit"], &earlier["lacks_commit"]), (&json!(commit), &json!(true)), "{found:#}");
    let mut bad: Value = serde_json::from_slice(&fs::read(&file).expect("a file")).expect("JSON");
    bad["baton"]["earlier"][0]["commit"] = json!("--output=x");
    fs::write(&file, bad.to_string()).expect("written");
    zoe.refused(1, "baton_file_invalid", &["handoff", "import", &file.display().to_string()]);
}

/// The commands of an advice, typed in a folder.
fn follow(terminal: &Terminal<'_>, advice: &str) {
    let commands: Vec<&str> = advice.split('`').skip(1).step_by(2).collect();
    let names = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a";
    terminal.shell(&format!("{names}; {}", commands.join(" && "))).done();
}

#[test]
fn the_advice_leads_to_the_commit_where_the_branch_is_older_here() {
    for (is_fetched, has_branch, is_on_branch) in [
        (true, true, false),
        (false, true, false),
        (false, true, true),
        (false, false, false),
        (true, false, false),
    ] {
        let what = format!("fetched: {is_fetched}, branch: {has_branch}, on it: {is_on_branch}");
        let stage = committed();
        let beside = worktree(&stage, "beside", "fix");
        let desk = clone_at(&stage, "desk");
        let terminal = at(&stage, "Max", "desk");
        match (has_branch, is_on_branch) {
            (false, _) => {}
            (true, true) => drop(git(&stage, &desk, &["switch", "-q", "fix"])),
            (true, false) => drop(git(&stage, &desk, &["branch", "-q", "fix", "origin/fix"])),
        }
        let commit = left_commit(&stage, &stage.terminal("Donna").within(&beside), &beside, "two");
        if is_fetched {
            git(&stage, &desk, &["fetch", "-q", "origin"]);
        }
        let found = location(&terminal);
        let advice = found["advice"].as_str().unwrap_or_else(|| panic!("{what}: {found:#}"));
        // The other machine pushes to what both have; here that is its own repository.
        let advice = advice.replace("`git push origin fix`", "");
        follow(&terminal, &advice.replace("()", ""));
        assert_eq!(git(&stage, &desk, &["rev-parse", "HEAD"]), commit, "{what}: {advice}");
        assert_eq!(git(&stage, &desk, &["branch", "--show-current"]), "fix", "{what}: {advice}");
    }
}

#[test]
fn a_merge_that_came_by_a_pull_is_finished() {
    let stage = committed();
    git(&stage, stage.shop(), &["switch", "-q", "-c", "side"]);
    stage.file("shop/side.txt", "side\n");
    git(&stage, stage.shop(), &["add", "side.txt"]);
    git(&stage, stage.shop(), &["commit", "-qm", "side"]);
    git(&stage, stage.shop(), &["switch", "-q", "-"]);
    stage.file("shop/own.txt", "own\n");
    git(&stage, stage.shop(), &["add", "own.txt"]);
    git(&stage, stage.shop(), &["commit", "-qm", "own"]);
    let desk = clone_at(&stage, "desk");
    let third = clone_at(&stage, "third");
    git(&stage, stage.shop(), &["merge", "-q", "--no-commit", "--no-ff", "side"]);
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    ann.json(&[&WRAP[..], &["--with-changes"]].concat());
    // Somebody in between commits the files elsewhere, without the merge.
    at(&stage, "Zoe", "third").json(&["pickup", "--apply"]);
    git(&stage, &third, &["commit", "-qm", "files"]);
    at(&stage, "Zoe", "third").json(&WRAP);
    let earlier = |stage: &Stage| {
        let picked = at(stage, "Max", "desk").json(&["pickup", "--dry-run"]);
        picked.get("earlier_operations").map_or(0, |found| found.as_array().map_or(0, Vec::len))
    };
    assert_eq!(earlier(&stage), 1);
    git(&stage, stage.shop(), &["commit", "-qm", "merged"]);
    git(&stage, &desk, &["pull", "-q", "--ff-only"]);
    assert_eq!(earlier(&stage), 0);
}
