//! What is to be put away before work comes to a working copy: the printed commands take what went along and no other file, and none ends
//! a merge.

use std::fs;
use std::path::{Path, PathBuf};

use crate::stage::{Stage, Terminal, text};
use crate::worktrees::{committed, git, worktree};

const WRAP: [&str; 6] = ["wrap", "--summary", "s", "--next", "n", "--with-changes"];
const NAMES: &str =
    "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a";

/// The commands of a line, but those that come once the work is committed.
fn commands(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

fn line<'a>(text: &'a str, part: &str) -> &'a str {
    text.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("no {part}: {text}"))
}

fn follow(terminal: &Terminal<'_>, command: &str) {
    terminal.shell(&format!("baton() {{ \"$BATON\" \"$@\"; }}; {NAMES}; {command}")).done();
}

/// What Ann gave along goes on in a worktree, and comes back.
fn gone_on(stage: &Stage, file: &str) -> PathBuf {
    let beside = worktree(stage, "beside", "fix");
    let lola = stage.terminal("Lola").within(&beside);
    lola.json(&["pickup", "--apply"]);
    fs::write(beside.join(file), "further\n").expect("written");
    lola.json(&WRAP);
    beside
}

fn read(folder: impl AsRef<Path>, file: &str) -> Option<String> {
    fs::read_to_string(folder.as_ref().join(file)).ok()
}

#[test]
fn a_file_that_did_not_go_along_is_not_put_away() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    stage.file("shop/a.txt", "changed\n");
    stage.file("shop/n [1].txt", "new\n");
    let secret = format!("key = \"{}{}\"\n", "AKIA", "Q3EGRIFHJ7ZSKWML");
    stage.file("shop/sec.txt", &secret);
    let shown = ann.text(&WRAP);
    let advice = line(&shown, "stays here, too");
    assert!(advice.contains("git stash push -u -- ") && !advice.contains("sec.txt"), "{shown}");
    gone_on(&stage, "a.txt");
    let picked = ann.text(&["pickup", "--apply"]);
    let reason = line(&picked, "NOT applied");
    let below = stage.shop().join("below");
    fs::create_dir(&below).expect("folder");
    follow(&ann.within(&below), commands(reason)[0]);
    follow(&ann, commands(reason)[1]);
    assert_eq!(read(stage.shop(), "a.txt").as_deref(), Some("further\n"));
    assert_eq!(read(stage.shop(), "n [1].txt").as_deref(), Some("new\n"));
    git(&stage, stage.shop(), &["stash", "drop", "-q"]);
    assert_eq!(read(stage.shop(), "sec.txt"), Some(secret));
}

#[test]
fn renamed_and_removed_files_are_put_away_beside_one_that_stays() {
    let stage = committed();
    for file in ["gone.txt", "old.txt"] {
        stage.file(&format!("shop/{file}"), "text\n");
    }
    git(&stage, stage.shop(), &["add", "."]);
    git(&stage, stage.shop(), &["commit", "-qm", "files"]);
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    git(&stage, stage.shop(), &["mv", "old.txt", "new.txt"]);
    git(&stage, stage.shop(), &["rm", "-q", "gone.txt"]);
    let secret = format!("key = \"{}{}\"\n", "AKIA", "Q3EGRIFHJ7ZSKWML");
    stage.file("shop/sec.txt", &secret);
    git(&stage, stage.shop(), &["add", "-N", "sec.txt"]);
    let shown = ann.text(&WRAP);
    gone_on(&stage, "a.txt");
    follow(&ann, commands(line(&shown, "stays here, too"))[0]);
    assert_eq!(git(&stage, stage.shop(), &["status", "--porcelain"]).trim(), "?? sec.txt", "{shown}");
    ann.json(&["pickup", "--apply"]);
    assert_eq!(read(stage.shop(), "new.txt").as_deref(), Some("text\n"));
    assert_eq!((read(stage.shop(), "old.txt"), read(stage.shop(), "gone.txt")), (None, None));
    assert_eq!(read(stage.shop(), "sec.txt"), Some(secret));
}

#[test]
fn no_filter_of_a_repository_runs_for_an_advice() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    stage.file("shop/a.txt", "changed\n");
    ann.json(&WRAP);
    gone_on(&stage, "a.txt");
    let mark = stage.root().join("ran");
    stage.file("shop/.git/info/attributes", "* filter=x\n");
    git(&stage, stage.shop(), &["config", "filter.x.clean", &format!("touch '{}'; cat", mark.display())]);
    ann.text(&["pickup", "--apply"]);
    assert!(!mark.exists(), "a filter ran");
}

#[test]
fn other_changes_are_put_away_apart_and_come_back() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    stage.file("shop/run.sh", "run\n");
    git(&stage, stage.shop(), &["add", "run.sh"]);
    git(&stage, stage.shop(), &["commit", "-qm", "run"]);
    stage.file("shop/a.txt", "changed\n");
    ann.json(&WRAP);
    gone_on(&stage, "a.txt");
    stage.file("shop/run.sh", "own\n");
    let picked = ann.text(&["pickup", "--apply"]);
    let reason = line(&picked, "NOT applied");
    let all = commands(reason);
    assert_eq!(all[3], "git stash drop", "{reason}");
    follow(&ann, &all[..3].join(" && "));
    assert_eq!(read(stage.shop(), "a.txt").as_deref(), Some("further\n"), "{reason}");
    assert_eq!(read(stage.shop(), "run.sh").as_deref(), Some("run\n"));
    git(&stage, stage.shop(), &["add", "a.txt"]);
    git(&stage, stage.shop(), &["commit", "-qm", "work"]);
    follow(&ann, &format!("{} && {}", all[3], all[4]));
    assert_eq!(read(stage.shop(), "run.sh").as_deref(), Some("own\n"));
    assert_eq!(read(stage.shop(), "a.txt").as_deref(), Some("further\n"));
}

#[test]
fn a_file_that_was_edited_since_it_went_along_is_named() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    stage.file("shop/a.txt", "changed\n");
    stage.file("shop/new.txt", "new\n");
    ann.json(&WRAP);
    gone_on(&stage, "a.txt");
    let before = ann.json(&["pickup", "--apply"]);
    assert!(!before.to_string().contains("edited here since"), "{before:#}");
    stage.file("shop/new.txt", "own lines\n");
    let refused = ann.refused(4, "working_copy_changed", &["changes", "apply"]);
    assert!(text(&refused, "hint").contains("edited here since: new.txt,"), "{refused:#}");
}

#[test]
fn no_stash_is_advised_in_the_middle_of_a_merge_or_with_conflicts() {
    for is_resolved in [true, false] {
        let stage = committed();
        let commit = |text: &str| {
            stage.file("shop/a.txt", text);
            git(&stage, stage.shop(), &["commit", "-qam", text.trim()]);
        };
        let main = git(&stage, stage.shop(), &["branch", "--show-current"]);
        git(&stage, stage.shop(), &["switch", "-qc", "side"]);
        commit("side\n");
        git(&stage, stage.shop(), &["switch", "-q", main.trim()]);
        commit("main\n");
        let beside = worktree(&stage, "beside", "fix");
        let lola = stage.terminal("Lola").within(&beside);
        lola.json(&["start"]);
        fs::write(beside.join("a.txt"), "work\n").expect("written");
        lola.json(&WRAP);
        let ann = stage.terminal("Ann");
        ann.shell(&format!("{NAMES}; ! git merge -q side")).done();
        if is_resolved {
            stage.file("shop/a.txt", "both\n");
            git(&stage, stage.shop(), &["add", "a.txt"]);
        }
        let picked = ann.text(&["pickup", "--apply"]);
        let reason = line(&picked, "NOT applied");
        assert!(reason.contains("a merge is under way here") && !reason.contains("git stash"), "{reason}");
        let anew = commands(reason).pop().expect("a worktree");
        follow(&ann, anew);
        assert!(stage.shop().join(".git/MERGE_HEAD").exists());
        if is_resolved {
            let shown = ann.text(&WRAP);
            let advice = line(&shown, "stays here, too");
            assert!(advice.contains("in the middle of a merge") && !advice.contains("git stash"), "{shown}");
        }
    }
}

#[test]
fn a_file_that_is_only_marked_as_one_to_add_is_put_away_as_printed() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    stage.file("shop/ita", "i\n");
    git(&stage, stage.shop(), &["add", "-N", "ita"]);
    let shown = ann.text(&WRAP);
    gone_on(&stage, "ita");
    follow(&ann, commands(line(&shown, "stays here, too"))[0]);
    ann.json(&["pickup", "--apply"]);
    assert_eq!(read(stage.shop(), "ita").as_deref(), Some("further\n"));
}

#[test]
fn without_a_commit_files_are_moved_away() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    stage.file("shop/a.txt", "a\n");
    let shown = ann.text(&WRAP);
    let advice = line(&shown, "stays here, too");
    assert!(advice.contains("move the files to another folder") && !advice.contains("`git "), "{shown}");
    git(&stage, stage.root(), &["init", "-q", "new"]);
    let new = stage.root().join("new");
    let lola = stage.terminal("Lola").within(&new);
    lola.json(&["init", "--join", "shop"]);
    lola.json(&["pickup", "--apply"]);
    fs::write(new.join("a.txt"), "further\n").expect("written");
    lola.json(&WRAP);
    let picked = ann.text(&["pickup", "--apply"]);
    let reason = line(&picked, "NOT applied");
    assert!(reason.contains("move") && !reason.contains("`git "), "{reason}");
    fs::rename(stage.shop().join("a.txt"), stage.root().join("a.txt")).expect("moved");
    follow(&ann, commands(reason).pop().expect("a command"));
    assert_eq!(read(stage.shop(), "a.txt").as_deref(), Some("further\n"));
}

#[test]
fn from_a_folder_that_a_stash_removes_the_commands_lead_to_the_top_first() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let deep = stage.shop().join("deep/er");
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    stage.file("shop/deep/er/new.txt", "new\n");
    let ann = ann.within(&deep);
    let wrapped = ann.text(&["wrap", "--summary", "s", "--next", "n", "--with-changes"]);
    let top = format!("cd {} && git stash", stage.shop().display());
    assert!(wrapped.contains(&top), "{wrapped}");
    let lola = stage.terminal("Lola").within(&beside);
    lola.json(&["pickup", "--apply"]);
    fs::write(beside.join("a.txt"), "lola\n").expect("written");
    fs::write(beside.join("deep/er/new.txt"), "more\n").expect("written");
    lola.json(&["wrap", "--summary", "s", "--next", "n", "--with-changes"]);
    let picked = ann.text(&["pickup", "--apply"]);
    assert!(picked.contains("NOT applied") && picked.contains(&top), "{picked}");
    let parts: Vec<&str> = picked.split('`').skip(1).step_by(2).collect();
    let command = |begin: &str| *parts.iter().find(|part| part.starts_with(begin)).expect("a command");
    let typed = format!(
        "git config user.name a; git config user.email a@b; baton() {{ \"$BATON\" \"$@\"; }}; {} && {}",
        command("cd "),
        command("baton changes apply")
    );
    ann.shell(&typed).done();
    assert_eq!(fs::read_to_string(stage.shop().join("a.txt")).expect("read"), "lola\n");
    assert_eq!(fs::read_to_string(deep.join("new.txt")).expect("read"), "more\n");
}

#[test]
fn the_document_of_init_is_in_the_way_of_no_printed_command() {
    for (has_document, is_fetched, is_changed) in [
        (true, true, true),
        (true, true, false),
        (true, false, true),
        (true, false, false),
        (false, true, true),
        (false, false, true),
    ] {
        let what = format!("document: {has_document}, fetched: {is_fetched}, changed: {is_changed}");
        let stage = committed();
        let bare = stage.root().join("bare.git");
        git(&stage, stage.root(), &["clone", "-q", "--bare", "shop", "bare.git"]);
        git(&stage, stage.shop(), &["remote", "add", "origin", bare.to_str().expect("utf-8")]);
        let second = stage.root().join("second");
        git(&stage, stage.root(), &["clone", "-q", "bare.git", "second"]);
        let bob = stage.terminal("Bob").within(&second);
        bob.json(&["init", "--join", "shop"]);
        assert!(git(&stage, &second, &["status", "--porcelain", "-uall"]).contains("?? docs/PROJECT.md"));
        let branch = git(&stage, &second, &["branch", "--show-current"]);
        let ann = stage.terminal("Ann");
        ann.json(&["start"]);
        stage.file("shop/b.txt", "b\n");
        let files: &[&str] = if has_document { &["b.txt", "docs"] } else { &["b.txt"] };
        git(&stage, stage.shop(), &[&["add", "--"], files].concat());
        git(&stage, stage.shop(), &["commit", "-qm", "b"]);
        git(&stage, stage.shop(), &["push", "-q", "origin", &branch]);
        stage.file("shop/a.txt", "ann\n");
        ann.json(&WRAP);
        if is_fetched {
            git(&stage, &second, &["fetch", "-q", "origin"]);
        }
        fs::write(second.join("own.txt"), "own\n").expect("written");
        if is_changed {
            git(&stage, &second, &["add", "own.txt"]);
        }
        let picked = bob.text(&["pickup", "--apply"]);
        if !picked.contains("NOT applied") {
            // Changes of their own are merged where the commit is here and nothing is in the way.
            assert!(is_fetched && !is_changed, "{what}: {picked}");
            continue;
        }
        let all = commands(line(&picked, "NOT applied"));
        let end = all.iter().position(|one| one.contains("changes apply")).expect("the last command");
        follow(&bob, &all[..=end].join(" && "));
        assert_eq!(read(&second, "a.txt").as_deref(), Some("ann\n"), "{what}: {all:?}");
        assert_eq!(read(&second, "b.txt").as_deref(), Some("b\n"), "{what}: {all:?}");
        let Some(pop) = all.iter().find(|one| one.ends_with("git stash pop")) else { continue };
        git(&stage, &second, &["commit", "-qam", "ann's"]);
        follow(&bob, pop);
        assert_eq!(read(&second, "own.txt").as_deref(), Some("own\n"), "{what}: {all:?}");
    }
}

#[test]
fn a_name_that_begins_with_a_sign_of_gits_is_put_away_as_printed() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    let names = [
        "_config.yml",
        "@types.ts",
        "-dash",
        "#hash",
        "~tilde",
        "%percent",
        ",comma",
        "=is",
        ";semi",
        "&and",
        "'quote",
        "ü.txt",
    ];
    stage.file("shop/@own.txt", "before\n");
    git(&stage, stage.shop(), &["add", "-A"]);
    git(&stage, stage.shop(), &["commit", "-qm", "own"]);
    for name in names {
        stage.file(format!("shop/{name}").as_str(), "new\n");
    }
    stage.file("shop/a.txt", "changed\n");
    ann.json(&WRAP);
    gone_on(&stage, "a.txt");
    stage.file("shop/@own.txt", "own\n");
    let picked = ann.text(&["pickup", "--apply"]);
    let all = commands(line(&picked, "NOT applied"));
    follow(&ann, &all[..3].join(" && "));
    for name in names {
        assert_eq!(read(stage.shop(), name).as_deref(), Some("new\n"), "{name}");
    }
    assert_eq!(
        (read(stage.shop(), "a.txt").as_deref(), read(stage.shop(), "@own.txt")),
        (Some("further\n"), Some("before\n".to_owned()))
    );
    git(&stage, stage.shop(), &["add", "-A"]);
    git(&stage, stage.shop(), &["commit", "-qm", "work"]);
    follow(&ann, &format!("{} && {}", all[3], all[4]));
    assert_eq!(read(stage.shop(), "@own.txt").as_deref(), Some("own\n"));
}

#[test]
fn what_is_staged_apart_from_its_file_comes_back_staged() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    stage.file("shop/run.sh", "run\n");
    git(&stage, stage.shop(), &["add", "run.sh"]);
    git(&stage, stage.shop(), &["commit", "-qm", "run"]);
    stage.file("shop/a.txt", "changed\n");
    ann.json(&WRAP);
    gone_on(&stage, "a.txt");
    stage.file("shop/run.sh", "staged\n");
    git(&stage, stage.shop(), &["add", "run.sh"]);
    stage.file("shop/run.sh", "disk\n");
    let picked = ann.text(&["pickup", "--apply"]);
    let all = commands(line(&picked, "NOT applied"));
    follow(&ann, &all[..3].join(" && "));
    git(&stage, stage.shop(), &["add", "a.txt"]);
    git(&stage, stage.shop(), &["commit", "-qm", "work"]);
    assert_eq!(all[4], "git stash pop --index");
    follow(&ann, &format!("{} && {}", all[3], all[4]));
    assert_eq!(git(&stage, stage.shop(), &["show", ":run.sh"]), "staged");
    assert_eq!(read(stage.shop(), "run.sh").as_deref(), Some("disk\n"));
}
