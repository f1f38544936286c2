//! Isolated projects: what was said and done in their folders stays there, whatever folder or project a call names.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::door::soon;
use crate::stage::{Stage, items, text};

/// A stage with an isolated project beside the open one, and its folder.
fn with_isolated(name: &str) -> (Stage, PathBuf) {
    let stage = Stage::ready();
    let folder = stage.repo(name);
    stage.terminal("Setup").within(&folder).json(&["init", "--id", name, "--isolated"]);
    (stage, folder)
}

/// The file of a session of Claude Code that was asked this in a folder, and answered.
fn session(stage: &Stage, id: &str, cwd: &Path, asked_for: &str) -> String {
    let line = |kind: &str, content: Value| {
        json!({
            "type": kind, "uuid": kind, "parentUuid": null, "sessionId": id, "cwd": cwd,
            "timestamp": "2026-11-20T10:00:00.000Z", "message": { "role": kind, "content": content },
        })
    };
    let answer = json!([{ "type": "text", "text": "fed" }]);
    let lines = format!("{}\n{}\n", line("user", json!(asked_for)), line("assistant", answer));
    stage.file(&format!("home/.claude/projects/-x/{id}.jsonl"), lines)
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
