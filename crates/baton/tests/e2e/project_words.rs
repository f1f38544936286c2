//! What people read of projects: those without git, those that were merged, and those that were renamed.

use crate::cross::beside;
use crate::stage::{Stage, text};
use crate::worktrees::{committed, worktree};

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
