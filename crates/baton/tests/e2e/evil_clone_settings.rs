//! What a clone's settings file and project document claim, where they are none or name a stranger's tracker.
#![cfg(unix)]

use std::fs;

use serde_json::{Value, json};

use crate::evil_clone::Clone;

#[test]
fn its_settings_file_is_no_file_and_stops_no_command() {
    type Trick = fn(&Clone);
    let tricks: [Trick; 9] = [
        |clone| clone.fifo(".baton.toml"),
        |clone| clone.link("/dev/zero", ".baton.toml"),
        |clone| clone.link("../outside/settings.toml", ".baton.toml"),
        |clone| clone.sparse(".baton.toml", 1 << 33),
        |clone| clone.write(".baton.toml", [0xff, 0xfe, 0x00]),
        |clone| clone.write(".baton.toml/x", "a folder"),
        |clone| clone.write(".baton.toml", format!("project = {}", "[".repeat(100_000))),
        |clone| clone.write(".baton.toml", "project = \"x\"\nprojct = \"shop\"\n"),
        |clone| clone.write(".baton.toml", "stale_after = { a = 1 }\n"),
    ];
    let clone = Clone::new();
    let ann = clone.terminal();
    ann.json(&["init"]);
    let mut named = std::collections::BTreeSet::new();
    for trick in tricks {
        trick(&clone);
        let payload = json!({ "session_id": "s", "cwd": clone.path("") }).to_string();
        // A text command names it once; an answer for a program has nothing beside it.
        let fault = ann.json(&["config", "show"])["repository"]["fault"].to_string();
        let first = clone.give(&ann, &["status"], "");
        // Two of the tricks have the same fault, which is named once.
        assert!(
            first.code == 0 && first.err.contains("ignored as a whole") == named.insert(fault),
            "{first:#?}"
        );
        for args in [&["status"][..], &["start"], &["note", "n"], &["task", "list"], &["status", "--json"]] {
            let answer = clone.give(&ann, args, "");
            assert!(answer.code == 0 && !answer.err.contains(".baton.toml"), "{answer:#?}");
        }
        for args in [&["doctor"][..], &["config", "show"]] {
            let answer = clone.give(&ann, args, "");
            assert!(answer.code == 0 && answer.out.contains("is ignored as a whole"), "{answer:#?}");
        }
        assert!(ann.json(&["config", "show"])["repository"]["fault"].is_string());
        // The command that is about it says what is wrong with it.
        let refused = clone.give(&ann, &["trust", "--yes"], "");
        assert!(refused.code != 0 && refused.err.contains(".baton.toml"), "{refused:#?}");
        clone.give(&ann, &["hook", "session-start", "--agent", "claude"], &payload);
        let path = clone.path(".baton.toml");
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
    }
}

#[test]
fn its_project_document_chooses_no_tracker() {
    for front in [
        "ims:\n  issues:\n    github_repo: mallory/loot\n",
        "ims:\n  vcs:\n    provider: github\n    remote_url: https://github.com/mallory/loot\n",
    ] {
        let clone = Clone::new();
        clone.git(&["remote", "add", "origin", "git@github.com:o/evil.git"]);
        clone.write("docs/PROJECT.md", format!("---\n{front}---\n"));
        let ann = clone.terminal();
        let first = clone.give(&ann, &["init"], "");
        assert_eq!(first.code, 0, "{first:#?}");
        assert!(first.err.contains("mallory/loot") && first.err.contains("--issues-repo"), "{first:#?}");
        clone.suffer();
        let donna = clone.stage.terminal("Donna");
        let mut donna = donna;
        donna.set("BATON_GITHUB_TOKEN", "token-of-the-user");
        donna.set("BATON_GITHUB_API", &clone.url);
        let hand = ["handoff", "create", "--to", "evil", "--subject", "s"];
        let refused = donna.refused(1, "tracker_untrusted", &hand);
        assert!(refused["hint"].as_str().is_some_and(|hint| hint.contains("mallory/loot")), "{refused:#}");
        // Trust is of this content: `baton trust`, then `baton init`.
        assert_eq!(ann.json(&["trust", "--yes"])["settings"][0]["value"], "mallory/loot");
        let project = ann.json(&["init"])["project"].clone();
        assert_eq!(project["suggested_issues_repo"], Value::Null, "{project:#}");
        let text = fs::read_to_string(clone.path("docs/PROJECT.md")).expect("kept");
        clone.write("docs/PROJECT.md", text.replace("mallory/loot", "mallory/more"));
        let again = ann.json(&["init", "--sync"]);
        assert_eq!(again["suggestion"]["issues_repo"], "mallory/more", "{again:#}");
        assert_ne!(again["project"]["issues_github_repo"], "mallory/more");
    }
}
