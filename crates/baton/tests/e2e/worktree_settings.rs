//! A working copy whose project is named by a `.baton.toml` of its own, as a colleague with a lesser token writes it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::stage::{Stage, Terminal, text};
use crate::worktrees::{committed, git, worktree};

const WRAP: [&str; 6] = ["wrap", "--summary", "s", "--next", "n", "--with-changes"];
const SETTINGS: &str = "project = \"till\"\n";

/// A project `till` that no folder says by itself, and a clone for each of two colleagues with such a file, which they trust.
fn two_clones() -> (Stage, PathBuf, PathBuf) {
    let stage = Stage::new();
    stage.file("shop/a.txt", "a\n");
    stage.file("shop/b.txt", "b\n");
    git(&stage, stage.shop(), &["add", "-A"]);
    git(&stage, stage.shop(), &["commit", "-qm", "one"]);
    let [first, second] = ["first", "second"].map(|name| {
        git(&stage, stage.root(), &["clone", "-q", stage.shop().to_str().expect("utf-8"), name]);
        stage.root().join(name)
    });
    stage.terminal("Zoe").json(&["init", "--id", "till"]);
    for (name, folder, more) in [("Ann", &first, ""), ("Lola", &second, "# mine\n")] {
        let terminal = stage.terminal(name).within(folder);
        terminal.refused(4, "project_is_clone", &["status"]);
        fs::write(folder.join(".baton.toml"), format!("{more}{SETTINGS}")).expect("written");
        terminal.json(&["trust", "--yes"]);
        assert_eq!(project(&terminal), "till");
    }
    (stage, first, second)
}

fn project(terminal: &Terminal<'_>) -> String {
    text(&terminal.json(&["status"]), "project_id")
}

/// Commands as they are printed, typed in a folder.
fn typed(terminal: &Terminal<'_>, commands: &str) {
    terminal.shell(&format!("baton() {{ \"$BATON\" \"$@\"; }}; {commands}")).done();
}

/// The text between backticks that begins so.
fn command(text: &str, begin: &str) -> String {
    let commands: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
    let found = commands.iter().find(|command| command.starts_with(begin));
    (*found.unwrap_or_else(|| panic!("no `{begin}`: {text}"))).to_owned()
}

#[test]
fn what_the_answers_suggest_leaves_the_settings_of_a_working_copy_in_place() {
    let (stage, first, second) = two_clones();
    let (ann, lola) = (stage.terminal("Ann").within(&first), stage.terminal("Lola").within(&second));
    ann.json(&["start"]);
    fs::write(first.join("a.txt"), "ann\n").expect("written");
    fs::write(first.join("new.txt"), "new\n").expect("written");
    let shown = ann.text(&WRAP);
    assert!(shown.contains("2 uncommitted files go along") && !shown.contains(".baton.toml goes"), "{shown}");
    typed(
        &ann,
        &format!("git config user.name a; git config user.email a@b; {}", command(&shown, "git stash")),
    );
    assert!(!first.join("new.txt").exists());
    assert_eq!(project(&ann), "till", "the project is still named");
    // Another one's file of that name is not in the way, own changes are.
    fs::write(second.join("b.txt"), "lola\n").expect("written");
    git(&stage, &second, &["config", "user.name", "a"]);
    git(&stage, &second, &["config", "user.email", "a@b"]);
    let picked = lola.text(&["pickup", "--apply"]);
    assert!(picked.contains("NOT applied") && !picked.contains(": .baton.toml"), "{picked}");
    typed(
        &lola,
        &format!("{} && {}", command(&picked, "git stash"), command(&picked, "baton changes apply")),
    );
    assert_eq!(fs::read_to_string(second.join("a.txt")).expect("read"), "ann\n");
    assert_eq!(fs::read_to_string(second.join(".baton.toml")).expect("read"), format!("# mine\n{SETTINGS}"));
    assert_eq!(project(&lola), "till");
}

#[test]
fn a_new_worktree_belongs_to_the_project_that_the_main_working_copy_names() {
    let (stage, first, second) = two_clones();
    let (ann, lola) = (stage.terminal("Ann").within(&first), stage.terminal("Lola").within(&second));
    ann.json(&["start"]);
    fs::write(first.join("a.txt"), "ann\n").expect("written");
    ann.json(&WRAP);
    fs::write(second.join("a.txt"), "lola\n").expect("written");
    let picked = lola.text(&["pickup", "--apply"]);
    let anew = command(&picked, "git worktree add");
    typed(&lola, &anew);
    let base = git(&stage, &second, &["rev-parse", "HEAD"]);
    let fresh = PathBuf::from(format!("{}-{}", second.display(), &base[..7]));
    assert_eq!(fs::read_to_string(fresh.join("a.txt")).expect("read"), "ann\n");
    let there = lola.within(&fresh);
    assert_eq!(project(&there), "till");
    let shown = there.json(&["doctor"])["repository"].clone();
    assert_eq!(shown["trusted"], json!(true));
    assert!(text(&shown, "path").starts_with(second.to_str().expect("utf-8")), "{shown}");
    // A file of its own is not trusted by itself, and does not take the place of the one that is; what was changed in the main working
    // copy is not trusted either.
    fs::write(fresh.join(".baton.toml"), "project = \"evil\"\n").expect("written");
    let shown = there.json(&["doctor"])["repository"].clone();
    assert_eq!((&shown["trusted"], &shown["outranked"][0]["ignored"]), (&json!(true), &json!(["project"])));
    assert_eq!(project(&there), "till");
    fs::remove_file(fresh.join(".baton.toml")).expect("removed");
    fs::write(second.join(".baton.toml"), "project = \"evil\"\n").expect("written");
    assert!(there.json(&["doctor"])["repository"].is_null());
    there.refused(4, "project_is_clone", &["status"]);
}

#[test]
fn the_settings_of_a_worktree_are_none_of_its_siblings_and_the_commands_say_the_project() {
    let (stage, first, second) = two_clones();
    let ann = stage.terminal("Ann").within(&first);
    ann.json(&["start"]);
    fs::write(first.join("a.txt"), "ann\n").expect("written");
    ann.json(&WRAP);
    // The one that is trusted lies in a linked worktree.
    fs::remove_file(second.join(".baton.toml")).expect("removed");
    let beside: &Path = &stage.root().join("beside");
    git(&stage, &second, &["worktree", "add", "-q", "-b", "fix", beside.to_str().expect("utf-8")]);
    fs::write(beside.join(".baton.toml"), SETTINGS).expect("written");
    let lola = stage.terminal("Lola").within(beside);
    lola.json(&["trust", "--yes"]);
    lola.json(&["pickup"]);
    fs::write(beside.join("a.txt"), "lola\n").expect("written");
    let refused = lola.refused(4, "working_copy_changed", &["changes", "apply"]);
    let anew = command(&text(&refused, "hint"), "git worktree add");
    assert!(anew.contains("baton --project till changes apply "), "{anew}");
    typed(&lola, &anew);
}

#[test]
fn the_file_of_the_main_working_copy_names_no_tasks_file_of_a_worktree() {
    let stage = Stage::ready();
    stage.file("shop/a.txt", "a\n");
    git(&stage, stage.shop(), &["add", "-A"]);
    git(&stage, stage.shop(), &["commit", "-qm", "one"]);
    stage.file("shop/.baton.toml", "project = \"shop\"\n[tasks]\nmirror = true\n");
    let ann = stage.terminal("Ann");
    ann.json(&["trust", "--yes"]);
    let beside = worktree(&stage, "beside", "fix");
    ann.within(&beside).json(&["task", "create", "t"]);
    assert!(!beside.join(".beads").exists() && !stage.shop().join(".beads").exists());
    let settings = ann.within(&beside).json(&["doctor"])["repository"]["settings"].clone();
    assert_eq!(settings.as_array().map(Vec::len), Some(1), "{settings:#}");
}

#[test]
fn a_file_that_is_not_trusted_makes_the_trusted_one_above_it_not_void() {
    let stage = committed();
    stage.repo("other");
    stage.terminal("Zoe").within(stage.root().join("other")).json(&["init", "--id", "other"]);
    let ann = stage.terminal("Ann");
    stage.file("shop/.baton.toml", "project = \"other\"\n");
    ann.json(&["trust", "--yes"]);
    stage.file("shop/sub/.baton.toml", "[wrap]\nchanges = \"ask\"\n");
    let sub = stage.shop().join("sub");
    let beside = worktree(&stage, "beside", "fix");
    fs::write(beside.join(".baton.toml"), "project = \"shop\"\n").expect("written");
    for (folder, key) in [(&sub, "wrap.changes"), (&beside, "project")] {
        let there = ann.within(folder);
        let output = there.run(&["status"]).done();
        let note = format!(
            "is not trusted, and {}/.baton.toml is, which decides: {key} of the former is ignored",
            stage.shop().display()
        );
        let trust = format!("`baton trust {}`", folder.display());
        assert!(output.err.contains(&note) && output.err.contains(&trust), "{output:#?}");
        assert!(!there.run(&["status"]).done().err.contains("is ignored"), "it is named once");
        assert_eq!(project(&there), "other", "{key}");
        assert!(there.text(&["config", "show"]).contains(&note));
        // What the note says has it count.
        there.json(&["trust", "--yes"]);
        assert_eq!(project(&there), "shop", "{key}: the nearest that is trusted");
        there.json(&["untrust"]);
        assert_eq!(project(&there), "other");
    }
}

#[test]
fn a_stash_that_leaves_a_secret_beside_a_removed_file_leaves_the_settings_in_place_too() {
    let (stage, first, _second) = two_clones();
    let ann = stage.terminal("Ann").within(&first);
    ann.json(&["start"]);
    git(&stage, &first, &["rm", "-q", "b.txt"]);
    let secret = format!("key = \"{}{}\"\n", "AKIA", "Q3EGRIFHJ7ZSKWML");
    fs::write(first.join("sec.txt"), &secret).expect("written");
    let shown = ann.text(&WRAP);
    let stash = command(&shown, "git stash push");
    typed(&ann, &format!("git config user.name a; git config user.email a@b; {stash}; git stash drop -q"));
    assert_eq!(fs::read_to_string(first.join("sec.txt")).expect("read"), secret);
    assert!(first.join("b.txt").exists(), "{stash}");
    assert_eq!(project(&ann), "till", "{stash}");
}

#[test]
fn trust_is_not_said_to_have_a_setting_count_that_no_repository_sets() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    stage.file("shop/.baton.toml", "project = \"shop\"\n");
    ann.json(&["trust", "--yes"]);
    let below = stage.shop().join("sub");
    fs::create_dir(&below).expect("folder");
    let message = |content: &str| {
        fs::write(below.join(".baton.toml"), content).expect("written");
        text(&ann.within(&below).json(&["doctor"])["repository"]["outranked"][0], "message")
    };
    let never = message("[notify]\ncommand = \"true\"\n");
    assert!(
        never.ends_with(
            "(no file of a repository sets that, trusted or not: it belongs in your own config.toml)"
        ),
        "{never}"
    );
    let both = message("identity = \"Zoe\"\n[notify]\ncommand = \"true\"\n");
    assert!(both.ends_with(" has that count, but never notify.command)"), "{both}");
    let one = message("identity = \"Zoe\"\n");
    assert!(one.ends_with("/sub` has that count)"), "{one}");
}
