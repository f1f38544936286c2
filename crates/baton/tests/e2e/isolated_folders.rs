//! Isolated projects: what was said and done in their folders stays there, whatever folder or project a call names.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::door::soon;
use crate::stage::{Stage, Terminal, items, text};
use crate::worktrees::git;

/// A stage with an isolated project beside the open one, and its folder.
fn with_isolated(name: &str) -> (Stage, PathBuf) {
    let stage = Stage::ready();
    let folder = stage.repo(name);
    stage.terminal("Setup").within(&folder).json(&["init", "--id", name, "--isolated"]);
    (stage, folder)
}

/// The file of a session of Claude Code that was asked this in a folder, and answered.
fn session(stage: &Stage, id: &str, cwd: &Path, asked_for: &str) -> String {
    journey(stage, id, &[(cwd, asked_for)])
}

/// The file of one whose agent went from folder to folder, and was asked something in each.
fn journey(stage: &Stage, id: &str, parts: &[(&Path, &str)]) -> String {
    let (mut lines, mut parent) = (String::new(), Value::Null);
    for (at, (cwd, asked_for)) in parts.iter().enumerate() {
        let answer = json!([{ "type": "text", "text": "fed" }]);
        for (kind, content) in [("user", json!(asked_for)), ("assistant", answer)] {
            let uuid = format!("{kind}{at}");
            let line = json!({
                "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": id, "cwd": cwd,
                "timestamp": "2026-11-20T10:00:00.000Z", "message": { "role": kind, "content": content },
            });
            (lines, parent) = (format!("{lines}{line}\n"), json!(uuid));
        }
    }
    stage.file(&format!("home/.claude/projects/-x/{id}.jsonl"), lines)
}

/// A conversation of an agent whose process is named.
struct Agent<'a> {
    stage: &'a Stage,
    id: &'a str,
    file: String,
}

impl Agent<'_> {
    /// Has a hook of it speak in a folder; settings come from `terminal`.
    fn hook_of(&self, terminal: &Terminal<'_>, event: &str, cwd: &Path) {
        let payload = json!({ "session_id": self.id, "cwd": cwd, "transcript_path": self.file });
        let place = if cwd.is_dir() { cwd } else { self.stage.root() };
        let terminal = terminal.within(place).with("BATON_PROCESS", self.id);
        terminal.feed(payload.to_string().as_bytes(), &["hook", event, "--agent", "claude"]).done();
    }

    fn hook(&self, event: &str, cwd: &Path) {
        self.hook_of(&self.stage.bare(), event, cwd);
    }

    /// Asserts that another project neither finds nor keeps its words, and that its own does.
    fn assert_confined(&self, own: &Terminal<'_>, word: &str) {
        let shop = self.stage.terminal("Eve");
        for args in [&["transcripts", "list"][..], &["transcripts", "search", word]] {
            let ids = |terminal: &Terminal<'_>| terminal.json(args).to_string().contains(self.id);
            assert_eq!((ids(&shop), ids(own)), (false, true), "{args:?}");
        }
        for args in [
            &["transcripts", "show", self.id][..],
            &["handoff", "from-transcript", self.id],
            &["import-transcript", self.id, "--agent", "claude"],
            &["import-transcript", &self.file, "--agent", "claude", "--again"],
        ] {
            shop.refused(1, "project_isolated", args);
        }
        assert!(own.json(&["transcripts", "show", self.id]).to_string().contains(word));
        assert!(!ledger(&shop).contains(word), "{word} is in the open project");
    }
}

/// What a project has been told.
fn ledger(terminal: &Terminal<'_>) -> String {
    terminal.run(&["log", "export", "-"]).out
}

/// Whether each session of a project is over.
fn are_over(terminal: &Terminal<'_>) -> bool {
    items(&terminal.json(&["sessions"])).iter().all(|one| !one["released_at"].is_null())
}

#[test]
fn an_isolated_projects_transcripts_are_found_in_its_folder_and_nowhere_else() {
    let (stage, thesis) = with_isolated("thesis");
    let ann = stage.terminal("Ann");
    for (id, folder) in [("aaaaaaaa", stage.shop()), ("bbbbbbbb", thesis.clone())] {
        let id = format!("{id}-aaaa-4000-8000-000000000001");
        session(&stage, &id, &folder, "the wombat is here");
    }
    let seen = |args: &[&str], folder: &Path| -> Vec<String> {
        let found = items(&ann.within(folder).json(args));
        found.iter().map(|item| text(item, "id")[..8].to_owned()).collect()
    };
    for args in [&["transcripts", "search", "wombat"][..], &["transcripts", "list"]] {
        assert_eq!(seen(args, &stage.shop()), ["aaaaaaaa"], "{args:?}");
        assert_eq!(seen(args, &thesis), ["bbbbbbbb"], "{args:?}");
    }
    let refused = ann.refused(1, "project_isolated", &["transcripts", "show", "bbbbbbbb"]);
    assert_eq!(refused["project_id"], "thesis");
    ann.within(&thesis).json(&["transcripts", "show", "bbbbbbbb"]);
    ann.json(&["--project", "thesis", "transcripts", "show", "bbbbbbbb"]);
}

/// An agent that began in one project stands in another one when its hook speaks.
#[test]
fn what_was_done_in_an_isolated_project_is_kept_there_wherever_the_agent_stands() {
    let (stage, thesis) = with_isolated("thesis");
    let ann = stage.terminal("Ann");
    let shop = stage.shop();
    for (at, (begun, stands, other)) in
        [(&thesis, &shop, &shop), (&shop, &thesis, &thesis)].into_iter().enumerate()
    {
        for event in ["before-compaction", "session-end"] {
            let id = format!("aaaaaaa{at}-{:04x}-4000-8000-000000000001", event.len());
            let wombat = format!("the wombat{at} is here");
            let file = session(&stage, &id, begun, &wombat);
            let payload = json!({ "session_id": id, "cwd": stands, "transcript_path": file });
            let hook = ["hook", event, "--agent", "claude"];
            stage.bare().within(stands).feed(payload.to_string().as_bytes(), &hook).done();
            let written =
                |folder: &Path| ann.within(folder).run(&["log", "export", "-"]).out.contains(&wombat);
            soon(&format!("{event}: {wombat}"), || written(begun));
            assert!(!written(other), "{event}: {wombat}");
        }
    }
}

/// A clone in which only a variable names the isolated project keeps what its agents did there.
#[test]
fn a_clone_of_an_isolated_project_that_a_variable_ties_keeps_its_sessions() {
    let (stage, _) = with_isolated("vault");
    let ann = stage.terminal("Ann");
    let clone = stage.repo("clone");
    let id = "aaaaaaaa-aaaa-4000-8000-000000000009";
    let file = session(&stage, id, &clone, "the wombat is here");
    let tied = stage.bare().within(&clone).with("BATON_PROJECT", "vault");
    for payload in [
        json!({ "session_id": id, "cwd": clone }),
        json!({ "session_id": id, "cwd": clone, "transcript_path": file }),
    ] {
        tied.feed(payload.to_string().as_bytes(), &["hook", "session-end", "--agent", "claude"]).done();
    }
    let ledger = || ann.with("BATON_PROJECT", "vault").within(&clone).run(&["log", "export", "-"]).out;
    soon("what was done in the clone", || ledger().contains("the wombat is here"));
    let listed = items(&ann.with("BATON_PROJECT", "vault").within(&clone).json(&["transcripts", "list"]));
    assert_eq!(listed.len(), 1, "{listed:#?}");
}

/// A variable names another project than that of the folder.
#[test]
fn a_variable_gives_a_folders_files_to_no_other_project() {
    let (stage, vault) = with_isolated("vault");
    let ann = stage.terminal("Ann");
    ann.within(&vault).json(&["task", "create", "VAULT-SECRET"]);
    stage.file("shop/.baton.toml", "[tasks]\nmirror = true\n");
    ann.json(&["task", "create", "of the shop"]);
    let strange = ann.with("BATON_PROJECT", "vault");
    for args in [&["task", "list"][..], &["start", "--as", "Eve"], &["bd", "ready"], &["bd", "sync"]] {
        strange.run(args);
    }
    let file = fs::read_to_string(stage.shop().join(".beads/issues.jsonl")).expect("the file");
    assert!(file.contains("of the shop") && !file.contains("VAULT-SECRET"), "{file}");
    let tasks = ann.within(&vault).json(&["task", "list"]).to_string();
    assert!(!tasks.contains("of the shop"), "{tasks}");
    let named = [&["--project", "vault"][..], &["export", "beads", "."]].concat();
    for (who, args) in [(&ann, &named[..]), (&strange, &named[2..])] {
        let refused = who.refused(3, "place_elsewhere", args);
        assert!(text(&refused, "message").contains("is the file of project shop"), "{refused}");
    }
    let refused = ann.run(&["--project", "vault", "bd", "sync"]);
    assert!(refused.code == 1 && refused.err.contains("is the file of project shop"), "{refused:#?}");
    // Nor do files that are not committed go with a baton of the other project.
    stage.file("shop/a.txt", "mine");
    let wrap = ["wrap", "--as", "Eve", "--summary", "s", "--next", "n"];
    let refused = strange.refused(3, "place_elsewhere", &[&wrap[..], &["--with-changes"]].concat());
    assert!(text(&refused, "message").contains("those of project shop"), "{refused}");
    let left = strange.with("BATON_WRAP_CHANGES", "always").json(&wrap);
    assert_eq!(left["changes"], Value::Null, "{left}");
}

/// The clone is in no project's folder: only a variable ties it to one.
#[test]
fn a_conversation_belongs_to_the_project_in_which_its_hooks_spoke() {
    let (stage, vault) = with_isolated("vault");
    let clone = stage.repo("clone");
    let id = "aaaaaaaa-aaaa-4000-8000-000000000011";
    let agent = Agent { stage: &stage, id, file: session(&stage, id, &clone, "the zebra is here") };
    let tied = stage.bare().with("BATON_PROJECT", "vault");
    agent.hook_of(&tied, "session-start", &clone);
    let own = stage.terminal("Ann").within(&vault);
    agent.assert_confined(&own, "zebra");
    agent.hook_of(&tied, "session-end", &clone);
    soon("its end is kept", || ledger(&own).contains("zebra"));
    // Nor does the folder have to be there, and a later word of an open project takes nothing out.
    fs::remove_dir_all(&clone).expect("the clone goes");
    agent.hook("session-start", &stage.shop());
    agent.assert_confined(&own, "zebra");
}

#[test]
fn a_worktree_that_is_gone_leaves_its_conversations_to_its_project() {
    let (stage, vault) = with_isolated("vault");
    git(&stage, &vault, &["commit", "-qm", "one", "--allow-empty"]);
    let outer = stage.root().join("outer");
    let path = outer.to_str().expect("utf-8");
    git(&stage, &vault, &["worktree", "add", "-q", "-b", "x", path]);
    let id = "aaaaaaaa-aaaa-4000-8000-000000000012";
    let agent = Agent { stage: &stage, id, file: session(&stage, id, &outer, "the zebra is here") };
    agent.hook("session-start", &outer);
    git(&stage, &vault, &["worktree", "remove", "--force", path]);
    agent.hook("session-end", &outer);
    let own = stage.terminal("Ann").within(&vault);
    soon("its end is kept", || ledger(&own).contains("zebra"));
    agent.assert_confined(&own, "zebra");
}

#[test]
fn a_folder_that_leaves_an_isolated_project_leaves_its_conversations_there() {
    for is_moved in [true, false] {
        let (stage, vault) = with_isolated("vault");
        let id = "aaaaaaaa-aaaa-4000-8000-000000000013";
        let agent = Agent { stage: &stage, id, file: session(&stage, id, &vault, "the zebra is here") };
        agent.hook("session-start", &vault);
        agent.hook("session-end", &vault);
        let named = stage.terminal("Ann").with("BATON_PROJECT", "vault");
        soon("its end is kept", || ledger(&named).contains("zebra"));
        let ann = stage.terminal("Ann");
        if is_moved {
            let moved = stage.root().join("moved");
            fs::rename(&vault, &moved).expect("moved");
            ann.within(&moved).json(&["init", "--join", "vault"]);
        } else {
            ann.within(&vault).json(&["project", "remove"]);
        }
        agent.assert_confined(&named, "zebra");
    }
}

/// Part of what was said is of the isolated project.
#[test]
fn words_of_an_isolated_project_do_not_go_into_the_one_in_which_their_conversation_began() {
    for (at, event) in ["session-end", "failure"].into_iter().enumerate() {
        let (stage, vault) = with_isolated("vault");
        let (ann, own, shop) = (stage.terminal("Vic"), stage.terminal("Ann").within(&vault), stage.shop());
        for (number, stands) in [&vault, &shop].into_iter().enumerate() {
            let id = format!("aaaaaaaa-000{at}-4000-8000-00000000002{number}");
            let zebra = format!("zebra{number}");
            let asked_for = format!("the {zebra} is here");
            let parts = [(&*shop, "an alpaca"), (&*vault, &*asked_for), (&*shop, "and a giraffe")];
            let agent = Agent { stage: &stage, id: &id, file: journey(&stage, &id, &parts) };
            ann.with("BATON_PROCESS", &id).json(&["start"]);
            agent.hook("session-start", &shop);
            assert_eq!(items(&ann.json(&["transcripts", "search", &zebra])).len(), 0, "before its end");
            agent.hook(event, stands);
            soon(&format!("{event}: {zebra}"), || ledger(&own).contains(&zebra));
            soon("the session is over", || are_over(&ann));
            agent.assert_confined(&own, &zebra);
            let open = ledger(&ann);
            assert!(open.contains("is kept in an isolated project") && open.contains(&id), "{open}");
        }
    }
}

#[test]
fn what_was_held_in_two_isolated_projects_is_kept_in_neither() {
    let (stage, vault) = with_isolated("vault");
    let thesis = stage.repo("thesis");
    let ann = stage.terminal("Ann");
    ann.within(&thesis).json(&["init", "--id", "thesis", "--isolated"]);
    let id = "aaaaaaaa-aaaa-4000-8000-000000000014";
    let parts = [(&*vault, "the zebra is here"), (&*thesis, "the gnu is here")];
    let agent = Agent { stage: &stage, id, file: journey(&stage, id, &parts) };
    ann.within(&vault).with("BATON_PROCESS", id).json(&["start"]);
    agent.hook("session-start", &vault);
    agent.hook("session-end", &thesis);
    let held = [ann.within(&vault), ann.within(&thesis)];
    soon("the session is over", || are_over(&held[0]));
    assert!(ledger(&held[0]).contains("no project keeps it"));
    for terminal in &held {
        terminal.refused(1, "project_isolated", &["transcripts", "show", id]);
        assert!(!ledger(terminal).contains("zebra") && !ledger(terminal).contains("gnu"));
    }
    let refused = held[0].refused(1, "project_isolated", &["transcripts", "show", id]);
    assert_eq!(refused["projects"], json!(["thesis", "vault"]));
    ann.json(&["transcripts", "show", &agent.file]);
}

/// A hook at the end that stands in no project.
#[test]
fn an_end_in_no_project_is_kept_where_the_first_hook_spoke() {
    let places = ["shop/nested", "plain", "gone"];
    for (at, event) in ["session-end", "failure", "before-compaction"].into_iter().enumerate() {
        let stage = Stage::ready();
        let ann = stage.terminal("Ann");
        for (number, place) in places.into_iter().enumerate() {
            let place = stage.root().join(place);
            match number {
                0 => drop(stage.repo("shop/nested")),
                1 => fs::create_dir_all(&place).expect("a folder"),
                _ => {}
            }
            let id = format!("aaaaaaaa-000{at}-4000-8000-00000000003{number}");
            let asked_for = format!("the wombat{number} is here");
            let file = session(&stage, &id, &stage.shop(), &asked_for);
            let agent = Agent { stage: &stage, id: &id, file };
            ann.with("BATON_PROCESS", &id).json(&["start", "--as", &format!("Vic{number}")]);
            agent.hook("session-start", &stage.shop());
            agent.hook(event, &place);
            soon(&format!("{event} in {}", place.display()), || ledger(&ann).contains(&asked_for));
            if event != "before-compaction" {
                soon("the session is over", || are_over(&ann));
            }
        }
    }
}

#[test]
fn what_was_said_in_a_worktree_of_an_open_project_stays_its_own_when_the_worktree_is_removed() {
    let stage = crate::worktrees::committed();
    let beside = crate::worktrees::worktree(&stage, "beside", "fix");
    let id = "abababab-aaaa-4000-8000-000000000001";
    let file = session(&stage, id, &beside, "the taxes");
    Agent { stage: &stage, id, file }.hook("session-start", &beside);
    let other =
        session(&stage, "cdcdcdcd-aaaa-4000-8000-000000000001", &stage.root().join("gone"), "of nobody");
    crate::worktrees::git(&stage, stage.shop(), &["worktree", "remove", "--force", "../beside"]);
    let ann = stage.terminal("Ann");
    let here = |terminal: &Terminal<'_>| -> Vec<String> {
        let listed = items(&terminal.json(&["transcripts", "list"]));
        listed.iter().filter(|one| one["here"] == true).map(|one| text(one, "id")).collect()
    };
    assert_eq!(here(&ann), [id], "{other}");
    assert!(ann.text(&["handoff", "from-transcript", "latest"]).contains("the taxes"));
    assert_eq!(ann.json(&["import-transcript", "latest"])["transcript_id"], id);
}
