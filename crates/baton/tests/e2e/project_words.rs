//! What people read of projects: those without git, those that were merged, and those that were renamed.

use std::process::Command;

use crate::cross::beside;
use crate::stage::{Stage, text};
use crate::worktrees::{committed, git, worktree};

#[test]
fn a_folder_without_git_is_told_nothing_of_commits() {
    let stage = Stage::new();
    let folder = stage.root().join("plain");
    std::fs::create_dir_all(&folder).expect("a folder");
    let ann = stage.terminal("Ann").within(&folder);
    let refused = ann.run(&["status"]);
    assert!(refused.err.contains("run `baton init` in the folder of the project"), "{refused:#?}");
    let made = ann.text(&["init"]);
    assert!(made.contains("wrote docs/PROJECT.md\n"), "{made}");
    assert!(!made.contains("commit") && !made.contains("git"), "{made}");
}

#[test]
fn a_project_that_was_merged_is_marked_in_the_list() {
    let stage = Stage::ready();
    beside(&stage);
    let ann = stage.terminal("Ann");
    let line = |ann: &crate::stage::Terminal<'_>| {
        let listed = ann.text(&["project", "list"]);
        listed.lines().find(|line| line.starts_with("lib")).expect("its line").to_owned()
    };
    assert!(!line(&ann).contains("merged"), "{}", line(&ann));
    ann.text(&["project", "merge", "lib", "--into", "shop"]);
    assert!(line(&ann).ends_with("merged into shop"), "{}", line(&ann));
}

#[test]
fn a_project_is_called_by_its_new_name_wherever_people_read_of_it() {
    let stage = committed();
    beside(&stage);
    let fix = worktree(&stage, "fix", "fix");
    let (ann, bob) = (stage.terminal("Ann"), stage.terminal("Bob").within(stage.root().join("lib")));
    ann.text(&["project", "rename", "shop", "--to", "store"]);
    bob.text(&["project", "rename", "lib", "--to", "tools"]);
    let create = ["handoff", "create", "--to", "lib", "--subject", "Add it", "--local"];
    let id = text(&ann.json(&create), "handoff_id");
    let sent = ann.text(&["status"]);
    assert!(sent.contains("\"Add it\"  to tools"), "{sent}");
    let waiting = bob.text(&["status"]);
    assert!(waiting.contains("from store/Ann"), "{waiting}");
    let open = ann.run(&["project", "merge", "lib", "--into", "shop"]);
    assert!(open.err.contains("hand-offs to project tools (id lib) are open"), "{open:#?}");
    let shown = ann.text(&["handoff", "show", &id]);
    assert!(shown.contains("store → tools") && shown.contains("Ann of store"), "{shown}");
    assert_eq!(ann.json(&["handoff", "show", &id])["to_project_id"], "lib");
    assert!(ann.text(&["handoff", "list"]).contains("store → tools"));
    bob.json(&[
        "mail",
        "send",
        "--to",
        "Ann",
        "--to-project",
        "shop",
        "--subject",
        "hello",
        "--text",
        "t",
        "--wait",
    ]);
    let inbox = ann.text(&["mail", "inbox"]);
    assert!(inbox.contains("from Bob in tools"), "{inbox}");
    bob.text(&["handoff", "decline", &id, "--why", "no"]);
    let heard = ann.text(&["signal", "pending"]);
    assert!(heard.contains("was declined by Bob of tools"), "{heard}");
    let split = ann.text(&["project", "split", &fix.display().to_string(), "--to", "lib"]);
    assert!(split.contains("from project store (id shop) to project tools (id lib)"), "{split}");
    let merged = ann.text(&["project", "merge", "lib", "--into", "shop"]);
    assert!(merged.contains("project tools (id lib) merged into store (id shop)"), "{merged}");
    let refused = stage.terminal("Cem").run(&["--project", "lib", "start"]);
    assert!(refused.err.contains("project tools (id lib) was merged into store (id shop)"), "{refused:#?}");
}

#[test]
fn a_second_pickup_of_nothing_says_that_nothing_waited() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    let (first, second) = (ann.text(&["pickup"]), ann.text(&["pickup"]));
    assert!(first.starts_with("began session"), "{first}");
    assert!(
        second.starts_with("session ") && second.contains("nothing waited that it could go on with"),
        "{second}"
    );
}

#[test]
fn a_folder_of_another_machine_is_called_by_its_host() {
    let stage = committed();
    let host = Command::new("uname").arg("-n").output().expect("uname runs");
    let host = String::from_utf8_lossy(&host.stdout).trim().to_owned();
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    donna.json(&["wrap", "--summary", "s", "--next", "n"]);
    assert!(!donna.json(&["batons"]).to_string().contains("\"host\""), "here it is this machine");
    let mut lola = stage.terminal("Lola");
    lola.set("BATON_MACHINE", "server");
    let listed = lola.text(&["--project", "shop", "batons"]);
    assert!(listed.contains(&format!("on {host}")), "{listed}");
    let places = lola.text(&["--project", "shop", "project", "places"]);
    assert!(places.contains(&format!("{host} (")), "{places}");
    let preview = lola.run(&["--project", "shop", "pickup", "--dry-run"]);
    assert!(preview.out.contains(&format!("on another machine, {host}, in")), "{preview:#?}");
    let there = lola.run(&["--project", "shop", "pickup", "--there"]);
    assert!(there.err.contains(&format!("on machine {host} (")), "{there:#?}");
}

#[test]
fn in_the_git_folder_of_a_bare_repository_the_way_on_is_a_worktree() {
    let stage = committed();
    git(&stage, stage.root(), &["clone", "-q", "--bare", "shop", "bare.git"]);
    let refused = stage.terminal("Ann").within(stage.root().join("bare.git")).run(&["status"]);
    assert!(refused.err.contains("it is the git folder of a bare repository"), "{refused:#?}");
    assert!(!refused.err.contains("run `baton init`"), "{refused:#?}");
}

#[test]
fn a_clone_of_one_branch_does_not_say_of_another_that_it_was_not_pushed() {
    let stage = committed();
    let root = stage.root();
    git(&stage, root, &["clone", "-q", "--bare", "shop", "o.git"]);
    let url = format!("file://{}", root.join("o.git").display());
    for (name, more) in [("one", &["--single-branch"][..]), ("all", &[])] {
        git(&stage, root, &[&["clone", "-q"], more, &[&url, name]].concat());
        let folder = root.join(name);
        let ann = stage.terminal("Ann").within(&folder);
        ann.json(&["init", "--separate"]);
        git(&stage, &folder, &["switch", "-qc", &format!("fix-{name}")]);
        git(&stage, &folder, &["commit", "-q", "--allow-empty", "-m", name]);
        ann.json(&["start"]);
        ann.json(&["wrap", "--summary", "s", "--next", "n"]);
        let before = ann.run(&["handoff", "export", "--dry-run"]);
        assert_eq!(before.err.contains("push it"), name == "all", "{before:#?}");
        git(&stage, &folder, &["push", "-qu", "origin", "HEAD"]);
        let after = ann.run(&["handoff", "export", "--dry-run"]);
        assert!(!after.err.contains("push it"), "{after:#?}");
    }
}

#[test]
fn a_folder_of_which_only_the_environment_says_the_project_stays_listed_while_its_baton_waits() {
    let stage = Stage::ready();
    let clone = stage.repo("clone");
    let lola = stage.terminal("Lola").within(&clone).with("BATON_PROJECT", "shop");
    lola.json(&["start"]);
    let is_listed =
        || stage.terminal("Ann").text(&["project", "places"]).contains(&clone.display().to_string());
    assert!(is_listed());
    lola.json(&["wrap", "--summary", "s", "--next", "n"]);
    assert!(is_listed(), "its baton waits");
    stage.terminal("Ann").json(&["pickup"]);
    stage.terminal("Ann").json(&["end"]);
    lola.json(&["start"]);
    lola.json(&["end"]);
    stage.terminal("Ann").json(&["pickup"]);
    assert!(!is_listed(), "nobody is there, and nothing waits");
}

#[test]
fn work_that_the_environment_sends_away_from_the_project_of_its_folder_is_told() {
    let stage = Stage::ready();
    crate::cross::beside(&stage);
    let lib = stage.root().join("lib");
    let lola = stage.terminal("Lola").within(&lib);
    let words = "this folder is one of project lib, and BATON_PROJECT sends this to project shop";
    let sent = lola.with("BATON_PROJECT", "shop").run(&["start"]).done();
    assert!(sent.err.contains(words), "{sent:#?}");
    let sent = lola.with("BATON_PROJECT", "shop").run(&["wrap", "--summary", "s", "--next", "n"]).done();
    assert!(sent.err.contains(words), "{sent:#?}");
    let own = lola.with("BATON_PROJECT", "lib").run(&["start"]).done();
    assert!(!own.err.contains("BATON_PROJECT"), "{own:#?}");
}
