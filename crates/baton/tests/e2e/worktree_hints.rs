//! What the answers say of changes that cannot be applied, or lie where they were given along from, works when it is followed.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::stage::{Stage, Terminal, text};
use crate::worktree_changes::{edited, second, wrapped};
use crate::worktrees::{committed, git, worktree};

const WRAP: [&str; 5] = ["wrap", "--summary", "s", "--next", "n"];

/// The last command that a text names.
fn last_command(text: &str) -> String {
    let commands: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
    (*commands.last().unwrap_or_else(|| panic!("no command: {text}"))).to_owned()
}

/// A worktree with a commit of its own, in which Ann has begun a session and changed the file since.
fn half_done(stage: &Stage) -> PathBuf {
    let beside = worktree(stage, "beside", "fix");
    fs::write(beside.join("t"), "t\n").expect("written");
    git(stage, &beside, &["add", "t"]);
    git(stage, &beside, &["commit", "-qm", "t"]);
    stage.terminal("Ann").within(&beside).json(&["start"]);
    fs::write(beside.join("t"), "t\nhalf\n").expect("written");
    beside
}

#[test]
fn what_helps_where_changes_cannot_be_applied_works_as_it_stands() {
    for what in ["changes of its own", "a file in the way", "another branch"] {
        let stage = committed();
        let beside = half_done(&stage);
        let ann = stage.terminal("Ann").within(&beside);
        fs::write(beside.join("u"), "u\n").expect("written");
        ann.json(&[&WRAP[..], &["--with-changes"]].concat());
        if what != "another branch" {
            git(&stage, stage.shop(), &["merge", "-q", "--ff-only", "fix"]);
        }
        match what {
            "changes of its own" => drop(stage.file("shop/a.txt", "own\n")),
            "a file in the way" => drop(stage.file("shop/u", "own\n")),
            _ => {}
        }
        let lola = stage.bare().with("BATON_PROCESS", "p");
        let picked = lola.text(&["pickup", "--as", "Lola", "--apply"]);
        assert!(picked.contains("were NOT applied"), "{what}: {picked}");
        assert!(!picked.contains("in a clean working copy"), "{what}: {picked}");
        let reason = picked.lines().find(|line| line.contains("NOT applied")).expect("a reason");
        let command = last_command(reason);
        lola.shell(&format!("baton() {{ \"$BATON\" \"$@\"; }}; {command}")).done();
        let fresh =
            stage.root().join(format!("shop-{}", git(&stage, &beside, &["rev-parse", "--short=7", "HEAD"])));
        assert_eq!(fs::read_to_string(fresh.join("t")).expect("applied"), "t\nhalf\n", "{what}");
        // The session of the one who picked up has them.
        let left = lola.within(&fresh).text(&["wrap", "--as", "Lola", "--summary", "s", "--next", "n"]);
        assert!(left.contains("applied already where the session worked"), "{what}: {left}");
    }
}

#[test]
fn where_the_commit_of_the_changes_is_checked_out_is_named() {
    let stage = committed();
    let beside = half_done(&stage);
    let ann = stage.terminal("Ann").within(&beside);
    ann.json(&[&WRAP[..], &["--with-changes"]].concat());
    let refused = stage.terminal("Lola").refused(4, "changes_conflict", &["changes", "apply"]);
    let there = format!("`cd {} && baton changes apply ", beside.display());
    assert!(text(&refused, "hint").contains(&there), "{refused:#}");
}

#[test]
fn what_went_along_is_put_away_as_the_answers_say_before_the_work_comes_back() {
    let stage = edited();
    let shown = stage.terminal("Ann").text(&[&WRAP[..], &["--with-changes"]].concat());
    assert!(shown.contains("what goes along stays here, too") && shown.contains("`git stash -u`"), "{shown}");
    let second = second(&stage);
    let lola = stage.terminal("Lola").within(&second);
    lola.json(&["pickup", "--apply"]);
    fs::write(second.join("a.txt"), "further\n").expect("written");
    lola.json(&[&WRAP[..], &["--with-changes"]].concat());
    let ann = stage.terminal("Ann");
    let picked = ann.text(&["pickup", "--apply"]);
    assert!(
        picked.contains("`git stash -u` puts them away") && picked.contains("do not commit it"),
        "{picked}"
    );
    git(&stage, stage.shop(), &["stash", "-qu"]);
    ann.json(&["changes", "apply"]);
    assert_eq!(fs::read_to_string(stage.shop().join("a.txt")).expect("read"), "further\n");
}

#[test]
fn who_gave_nothing_along_is_told_how_own_files_come_back_and_it_works_as_typed() {
    let stage = edited();
    wrapped(&stage, &["--with-changes"]);
    let second = second(&stage);
    let lola = stage.bare().with("BATON_PROCESS", "p").within(&second);
    fs::write(second.join("a.txt"), "own\n").expect("written");
    let picked = lola.text(&["pickup", "--as", "Lola", "--apply"]);
    let reason = picked.lines().find(|line| line.contains("NOT applied")).expect("a reason");
    assert!(!reason.contains("gave along") && reason.contains("`git stash pop`"), "{reason}");
    let commands: Vec<&str> = reason.split('`').skip(1).step_by(2).collect();
    assert_eq!((commands[0], commands[2]), ("git stash -u", "git stash pop"), "{commands:?}");
    assert!(
        commands[1].starts_with("baton changes apply ") && commands[1].ends_with(" --as Lola"),
        "{commands:?}"
    );
    let script = format!("{} && {}", commands[0], commands[1]);
    lola.shell(&format!("baton() {{ \"$BATON\" \"$@\"; }}; {script}")).done();
    assert_eq!(fs::read_to_string(second.join("a.txt")).expect("applied"), "later\n");
}

#[test]
fn commands_of_a_pickup_keep_the_name_that_it_was_given() {
    let stage = edited();
    wrapped(&stage, &["--with-changes"]);
    let second = second(&stage);
    let lola = stage.bare().with("BATON_PROCESS", "p").within(&second);
    let id = text(&lola.json(&["changes", "show"])["changes"], "baton_id");
    let named = stage.terminal("Rex").within(&second).text(&["pickup", "--dry-run"]);
    assert!(
        named.contains(&format!("`baton changes apply {id}`")),
        "whoever the environment names says no name: {named}"
    );
    let picked = lola.text(&["pickup", "--as", "Lola"]);
    assert!(picked.contains(&format!("`baton changes apply {id} --as Lola`")), "{picked}");
    assert!(!picked.contains(&format!("`baton changes apply {id}`")), "{picked}");
}

#[test]
fn what_was_applied_is_judged_in_the_folder_in_which_it_was_wherever_the_wrap_is_said() {
    const BACK: &[&[&str]] = &[&["reset", "-q", "--hard"], &["clean", "-qfd"]];
    const COMMIT: &[&[&str]] = &[&["add", "-A"], &["commit", "-qm", "done"]];
    for (what, then, words) in [
        ("left", &[][..], "and left there"),
        ("committed", COMMIT, "and committed there"),
        ("taken back", BACK, "and taken back there"),
    ] {
        let stage = edited();
        wrapped(&stage, &["--with-changes"]);
        let second = second(&stage);
        let lola = stage.terminal("Lola").within(&second);
        lola.json(&["pickup", "--apply"]);
        then.iter().for_each(|args| drop(git(&stage, &second, args)));
        // In the first working copy they were never applied by this session, and the same files lie there.
        let shown = stage.terminal("Lola").text(&["wrap", "--summary", "s", "--next", "n"]);
        let place = format!("in {}", second.display());
        assert!(shown.contains(words) && shown.contains(&place), "{what}: {shown}");
    }
}

#[test]
fn what_became_of_applied_changes_is_said_by_what_the_files_and_the_history_hold() {
    const BACK: &[&[&str]] = &[&["reset", "-q", "--hard"], &["clean", "-qfd"]];
    const COMMIT: &[&[&str]] = &[&["add", "-A"], &["commit", "-qm", "done"]];
    const ASIDE: &[&[&str]] = &[&["commit", "-q", "--allow-empty", "-m", "unrelated"]];
    const UNDONE: &[&[&str]] = &[&["reset", "-q", "--hard", "HEAD~1"]];
    const AWAY: &[&[&str]] = &[&["switch", "-qc", "elsewhere"]];
    const OTHER: &str = "hold something else there by now";
    const A_PART: &str = "and a part taken back there: new/b.txt;";
    const ONE: &[(&str, &str)] = &[("a.txt", "other\n")];
    const ALL: &[(&str, &str)] = &[("a.txt", "other\n"), ("new/b.txt", "other\n")];
    for (what, before, write, after, words) in [
        ("left", &[][..], &[][..], &[][..], "and left there"),
        ("committed", COMMIT, &[], &[][..], "and committed there"),
        ("committed, and changed again", COMMIT, &[("a.txt", "more\n")], COMMIT, "and committed there"),
        ("taken back", BACK, &[], &[][..], "and taken back there"),
        ("taken back, and another commit", BACK, &[], ASIDE, "and taken back there"),
        ("taken back, and on another branch", BACK, &[], AWAY, "and taken back there"),
        ("committed, and that reset away", COMMIT, &[], UNDONE, "and taken back there"),
        ("taken back, and one edited otherwise", BACK, ONE, &[][..], A_PART),
        ("taken back, and one committed otherwise", BACK, ONE, COMMIT, A_PART),
        ("all edited otherwise", &[][..], ALL, &[][..], OTHER),
        ("all committed otherwise", &[][..], ALL, COMMIT, OTHER),
    ] {
        let stage = edited();
        wrapped(&stage, &["--with-changes"]);
        let second = second(&stage);
        let lola = stage.terminal("Lola").within(&second);
        lola.json(&["pickup", "--apply"]);
        before.iter().for_each(|args| drop(git(&stage, &second, args)));
        for (path, text) in write {
            fs::write(second.join(path), text).expect("written");
        }
        after.iter().for_each(|args| drop(git(&stage, &second, args)));
        let shown = lola.text(&["wrap", "--summary", "s", "--next", "n"]);
        assert!(shown.contains(words), "{what}: {shown}");
    }
}

#[test]
fn changes_that_were_applied_in_a_folder_which_is_gone_are_not_said_to_be_there() {
    let stage = edited();
    wrapped(&stage, &["--with-changes"]);
    let second = second(&stage);
    let lola = stage.terminal("Lola").within(&second);
    lola.json(&["pickup", "--apply"]);
    fs::remove_dir_all(&second).expect("gone");
    git(&stage, stage.shop(), &["reset", "-q", "--hard"]);
    git(&stage, stage.shop(), &["clean", "-qfd"]);
    let lola = stage.terminal("Lola");
    let shown = lola.text(&["wrap", "--summary", "s", "--next", "n"]);
    assert!(shown.contains("applied in a folder that is not there any more"), "{shown}");
    let named = shown.split('`').find(|words| words.starts_with("baton changes apply")).expect("a command");
    let id = named.rsplit(' ').next().expect("an id");
    stage.terminal("Mia").json(&["changes", "apply", id]);
    assert_eq!(fs::read_to_string(stage.shop().join("a.txt")).expect("read"), "later\n");
}

#[test]
fn a_repository_without_a_commit_that_joins_can_check_out_what_the_changes_stand_on() {
    let stage = edited();
    git(&stage, stage.shop(), &["add", "docs"]);
    git(&stage, stage.shop(), &["commit", "-q", "--allow-empty", "-m", "registered"]);
    wrapped(&stage, &["--with-changes"]);
    let empty = stage.root().join("empty");
    git(&stage, stage.root(), &["init", "-q", "empty"]);
    git(&stage, &empty, &["fetch", "-q", &stage.shop().display().to_string(), "main"]);
    let lola = stage.terminal("Lola").within(&empty);
    assert!(!lola.text(&["init", "--join", "shop"]).contains("wrote docs/PROJECT.md"));
    let refused = lola.refused(4, "commit_none", &["changes", "apply"]);
    let command = last_command(&text(&refused, "hint")).replace("NAME", "work");
    lola.shell(&command).done();
    lola.json(&["changes", "apply"]);
}

/// Runs the commands that an answer names before these words, as they stand.
fn follow(terminal: &Terminal<'_>, line: &str, until: &str) {
    let before = line.split(until).next().unwrap_or_default();
    let commands: Vec<&str> = before.split('`').skip(1).step_by(2).collect();
    assert!(!commands.is_empty(), "no command: {line}");
    let script = commands.join(" && ");
    let name = "export GIT_AUTHOR_NAME=b GIT_AUTHOR_EMAIL=b@b GIT_COMMITTER_NAME=b GIT_COMMITTER_EMAIL=b@b";
    terminal.shell(&format!("baton() {{ \"$BATON\" \"$@\"; }}; {name}; {script}")).done();
}

fn reason(picked: &str) -> &str {
    picked.lines().find(|line| line.contains("NOT applied")).unwrap_or_else(|| panic!("no reason: {picked}"))
}

#[test]
fn the_commit_of_the_work_is_merged_first_where_it_is_here_and_not_in_the_branch() {
    let stage = edited();
    git(&stage, stage.shop(), &["switch", "-qc", "fix"]);
    wrapped(&stage, &["--with-changes"]);
    let beside = stage.root().join("beside");
    git(&stage, stage.shop(), &["worktree", "add", "-q", "--detach", "../beside", "fix"]);
    let lola = stage.terminal("Lola").within(&beside);
    lola.json(&["pickup", "--apply"]);
    git(&stage, &beside, &["add", "a.txt"]);
    git(&stage, &beside, &["commit", "-qm", "of Lola"]);
    fs::write(beside.join("new/b.txt"), "further\n").expect("written");
    lola.json(&[&WRAP[..], &["--with-changes"]].concat());
    let ann = stage.terminal("Ann");
    let picked = ann.text(&["pickup", "--apply"]);
    let line = reason(&picked);
    assert!(line.contains("comes back with the work"), "{line}");
    follow(&ann, line, "; what you gave along");
    assert_eq!(fs::read_to_string(stage.shop().join("a.txt")).expect("read"), "later\n", "committed by Lola");
    assert_eq!(fs::read_to_string(stage.shop().join("new/b.txt")).expect("read"), "further\n");
}

#[test]
fn an_untracked_file_at_a_path_of_the_work_is_moved_away_beside_a_stash() {
    let stage = edited();
    wrapped(&stage, &["--with-changes"]);
    let second = second(&stage);
    let lola = stage.terminal("Lola").within(&second);
    fs::write(second.join("a.txt"), "own\n").expect("written");
    fs::create_dir_all(second.join("new")).expect("made");
    fs::write(second.join("new/b.txt"), "mine\n").expect("written");
    let picked = lola.text(&["pickup", "--apply"]);
    let line = reason(&picked);
    assert!(line.contains("move new/b.txt away, which the work has, too; `git stash -u`"), "{line}");
    fs::rename(second.join("new/b.txt"), second.join("new/mine.txt")).expect("moved");
    follow(&lola, line, ", and `git stash pop`");
    git(&stage, &second, &["add", "-A"]);
    git(&stage, &second, &["commit", "-qm", "the work"]);
    // Git merges what was put away, and nothing of it is refused.
    let popped = lola.shell("git stash pop");
    assert!(!popped.err.contains("already exists"), "{}", popped.err);
    assert_eq!(fs::read_to_string(second.join("new/mine.txt")).expect("kept"), "mine\n");
}

#[test]
fn where_nothing_waits_the_place_of_the_work_is_not_said_to_be_unknown() {
    let stage = committed();
    let refused = stage.terminal("Lola").refused(3, "baton_none", &["pickup", "--there"]);
    assert!(text(&refused, "message").contains("no baton waits"), "{refused:#}");
    // Nor after a session that left nothing.
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    donna.json(&["end"]);
    stage.terminal("Lola").refused(3, "baton_none", &["pickup", "--there"]);
}

#[test]
fn hints_keep_the_name_and_the_options_that_a_command_was_given() {
    let stage = edited();
    let left = wrapped(&stage, &["--with-changes"]);
    let id = text(&left, "baton_id");
    stage.file("shop/a.txt", "other\n");
    let max = stage.bare().with("BATON_PROCESS", "p");
    let refused = max.refused(4, "changes_present", &["changes", "keep", &id, "--as", "Ann"]);
    assert!(
        text(&refused, "hint").contains(&format!("`baton changes keep {id} --replace --as Ann`")),
        "{refused:#}"
    );
    stage.terminal("Lola").json(&["pickup"]);
    let refused = max.refused(4, "baton_claimed", &["pickup", "--handoff", &id, "--as", "Max", "--apply"]);
    assert!(text(&refused, "hint").contains("--force --why REASON --as Max --apply`"), "{refused:#}");
}

#[test]
fn a_moved_worktree_is_listed_with_its_branch() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    stage.terminal("Ann").within(&beside).json(&["start"]);
    stage.terminal("Ann").within(&beside).json(&WRAP);
    git(&stage, stage.shop(), &["worktree", "move", "../beside", "../moved"]);
    let places = stage.terminal("Ann").json(&["project", "places"]);
    let row = places["items"].as_array().expect("rows").iter().find(|row| row["moved_to"] != Value::Null);
    let row = row.unwrap_or_else(|| panic!("{places:#}"));
    assert_eq!(row["branch"], "fix", "{row:#}");
}
