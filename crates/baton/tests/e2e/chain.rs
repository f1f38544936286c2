//! A damaged store says where; a damaged export is refused; an isolated project's transcripts stay where they are.

use std::fs;

use serde_json::{Value, json};

use crate::stage::{Stage, items, text};

/// A project with some notes, one of which says this.
fn noted(stage: &Stage, words: &str) {
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    for note in ["the first", words, "the last"] {
        lola.json(&["note", note]);
    }
    lola.json(&["wrap", "--summary", "all of it"]);
}

#[test]
fn doctor_names_the_first_delta_that_a_flipped_bit_has_changed_and_says_what_to_do() {
    let stage = Stage::in_a_file("a bit of the file is flipped").registered();
    noted(&stage, "wombatmarker");
    let lola = stage.terminal("Lola");
    let seq = items(&lola.json(&["log", "--kind", "note"]))[1]["seq"].clone();
    let copy = stage.root().join("copy.db").display().to_string();
    lola.json(&["backup", &copy]);
    let mut bytes = fs::read(&copy).expect("a backup");
    let at = bytes.windows(12).position(|window| window == b"wombatmarker").expect("the note");
    bytes[at] ^= 2;
    fs::write(&copy, bytes).expect("a bit is flipped");
    let report = lola.run(&["--store", &copy, "doctor"]);
    assert_eq!(report.code, 1, "{report:#?}");
    assert!(report.out.contains(&format!("shop: the chain is broken at delta {seq}")), "{}", report.out);
    assert!(report.out.contains("next: ") && report.out.contains("baton restore"), "{}", report.out);
    let file = stage.root().join("out.jsonl").display().to_string();
    let other = stage.root().join("other.db").display().to_string();
    lola.refused(1, "chain_broken", &["--store", &copy, "log", "export", &file]);
    lola.refused(1, "chain_broken", &["store", "copy", &copy, &other]);
    // What can still be read of it makes a store whose chain begins anew.
    lola.json(&["--store", &copy, "log", "export", "--unverified", &file]);
    lola.refused(1, "export_invalid", &["--store", &other, "log", "import", &file]);
    let made = lola.json(&["--store", &other, "log", "import", "--unverified", &file]);
    assert_eq!(made["verified"], false);
    assert_eq!(lola.run(&["--store", &other, "doctor"]).code, 0);
    let as_it_is = stage.root().join("as-it-is.db").display().to_string();
    assert_eq!(lola.json(&["store", "copy", "--unverified", &copy, &as_it_is])["verified"], false);
    assert_eq!(lola.run(&["--store", &as_it_is, "doctor"]).code, 1);
    assert_eq!(lola.run(&["doctor"]).code, 0);
}

#[test]
fn an_export_that_was_cut_or_altered_is_refused_with_its_line_and_a_whole_one_is_imported() {
    let stage = Stage::in_a_file("the other store is a file").registered();
    noted(&stage, "naïve ✓");
    let lola = stage.terminal("Lola");
    let (file, other) = (stage.root().join("p.jsonl"), stage.root().join("other.db").display().to_string());
    lola.json(&["log", "export", &file.display().to_string()]);
    let whole = fs::read(&file).expect("an export");
    let refused = |bytes: &[u8], code: &str| -> Value {
        let damaged = stage.file("damaged.jsonl", bytes);
        lola.refused(1, code, &["--store", &other, "log", "import", &damaged])["line"].clone()
    };
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    assert_eq!(refused(&lines[..4].concat(), "export_invalid"), 5);
    assert_eq!(refused(&lines[1..].concat(), "export_invalid"), 1);
    assert_eq!(refused(&whole[..whole.len() - 1], "export_invalid"), lines.len());
    let mut altered = whole.clone();
    altered[lines[..3].concat().len() + 20] ^= 1;
    assert_eq!(refused(&altered, "export_invalid"), 4);
    let mut no_text = whole.clone();
    no_text[lines[0].len() + 3] = 0xff;
    assert_eq!(refused(&no_text, "export_invalid"), 2);
    let made = lola.json(&["--store", &other, "log", "import", &file.display().to_string()]);
    assert_eq!(made["verified"], true);
    assert_eq!(
        lola.run(&["--store", &other, "log", "export", "-", "--project", "shop"]).out.as_bytes(),
        whole
    );
    lola.refused(4, "project_exists", &["--store", &other, "log", "import", &file.display().to_string()]);
    assert_eq!(lola.run(&["--store", &other, "doctor"]).code, 0);
}

#[test]
fn an_isolated_projects_transcripts_are_found_in_its_folder_and_nowhere_else() {
    let stage = Stage::ready();
    let thesis = stage.repo("thesis");
    let ann = stage.terminal("Ann");
    ann.within(&thesis).json(&["init", "--id", "thesis", "--isolated"]);
    for (id, folder) in [("aaaaaaaa", stage.shop()), ("bbbbbbbb", thesis.clone())] {
        let id = format!("{id}-aaaa-4000-8000-000000000001");
        let line = json!({
            "type": "user", "uuid": "u", "parentUuid": null, "sessionId": id, "cwd": folder,
            "timestamp": "2026-11-20T10:00:00.000Z", "message": { "role": "user", "content": "the wombat is here" },
        });
        stage.file(&format!("home/.claude/projects/-x/{id}.jsonl"), format!("{line}\n"));
    }
    let seen = |args: &[&str], folder: &std::path::Path| -> Vec<String> {
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
    let stage = Stage::ready();
    let thesis = stage.repo("thesis");
    let ann = stage.terminal("Ann");
    ann.within(&thesis).json(&["init", "--id", "thesis", "--isolated"]);
    let (shop, home) = (stage.shop(), stage.root().join("home/.claude/projects/-x"));
    for (at, (begun, stands, other)) in
        [(&thesis, &shop, &shop), (&shop, &thesis, &thesis)].into_iter().enumerate()
    {
        for event in ["before-compaction", "session-end"] {
            let id = format!("aaaaaaa{at}-{:04x}-4000-8000-000000000001", event.len());
            let wombat = format!("the wombat{at} is here");
            let line = |kind: &str, content: serde_json::Value| {
                json!({
                    "type": kind, "uuid": kind, "parentUuid": null, "sessionId": id, "cwd": begun,
                    "timestamp": "2026-11-20T10:00:00.000Z", "message": { "role": kind, "content": content },
                })
            };
            let answer = json!([{ "type": "text", "text": "fed" }]);
            let lines = format!("{}\n{}\n", line("user", json!(wombat)), line("assistant", answer));
            stage.file(&format!("home/.claude/projects/-x/{id}.jsonl"), lines);
            let payload = json!({ "session_id": id, "cwd": stands, "transcript_path": home.join(format!("{id}.jsonl")) });
            let hook = ["hook", event, "--agent", "claude"];
            stage.bare().within(stands).feed(payload.to_string().as_bytes(), &hook).done();
            let written = |folder: &std::path::Path| {
                ann.within(folder).run(&["log", "export", "-"]).out.contains(&wombat)
            };
            // A process of its own reads the transcript.
            let begin = std::time::Instant::now();
            while !written(begun) {
                assert!(begin.elapsed() < std::time::Duration::from_secs(20), "{event}: {wombat}");
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
            assert!(!written(other), "{event}: {wombat}");
        }
    }
}

/// A clone in which only a variable names the isolated project keeps what its agents did there.
#[test]
fn a_clone_of_an_isolated_project_that_a_variable_ties_keeps_its_sessions() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    ann.within(stage.repo("vault")).json(&["init", "--id", "vault", "--isolated"]);
    let clone = stage.repo("clone");
    let id = "aaaaaaaa-aaaa-4000-8000-000000000009";
    let line = |kind: &str, content: serde_json::Value| {
        json!({
            "type": kind, "uuid": kind, "parentUuid": null, "sessionId": id, "cwd": clone,
            "timestamp": "2026-11-20T10:00:00.000Z", "message": { "role": kind, "content": content },
        })
    };
    let answer = json!([{ "type": "text", "text": "fed" }]);
    let lines = format!("{}\n{}\n", line("user", json!("the wombat is here")), line("assistant", answer));
    let file = stage.file(&format!("home/.claude/projects/-x/{id}.jsonl"), lines);
    let tied = stage.bare().within(&clone).with("BATON_PROJECT", "vault");
    for payload in [
        json!({ "session_id": id, "cwd": clone }),
        json!({ "session_id": id, "cwd": clone, "transcript_path": file }),
    ] {
        tied.feed(payload.to_string().as_bytes(), &["hook", "session-end", "--agent", "claude"]).done();
    }
    let begin = std::time::Instant::now();
    let ledger = || ann.with("BATON_PROJECT", "vault").within(&clone).run(&["log", "export", "-"]).out;
    while !ledger().contains("the wombat is here") {
        assert!(begin.elapsed() < std::time::Duration::from_secs(20), "{}", ledger());
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let listed = items(&ann.with("BATON_PROJECT", "vault").within(&clone).json(&["transcripts", "list"]));
    assert_eq!(listed.len(), 1, "{listed:#?}");
}

/// A variable names another project than that of the folder.
#[test]
fn a_variable_gives_a_folders_files_to_no_other_project() {
    let stage = Stage::ready();
    let vault = stage.repo("vault");
    let ann = stage.terminal("Ann");
    ann.within(&vault).json(&["init", "--id", "vault", "--isolated"]);
    ann.within(&vault).json(&["task", "create", "VAULT-SECRET"]);
    stage.file("shop/.baton.toml", "[tasks]\nmirror = true\n");
    ann.json(&["task", "create", "of the shop"]);
    let strange = ann.with("BATON_PROJECT", "vault");
    for args in [&["task", "list"][..], &["start", "--as", "Eve"], &["bd", "ready"], &["bd", "sync"]] {
        strange.run(args);
    }
    let file = std::fs::read_to_string(stage.shop().join(".beads/issues.jsonl")).expect("the file");
    assert!(file.contains("of the shop") && !file.contains("VAULT-SECRET"), "{file}");
    let tasks = ann.within(&vault).json(&["task", "list"]).to_string();
    assert!(!tasks.contains("of the shop"), "{tasks}");
    // Nor do files that are not committed go with a baton of the other project.
    stage.file("shop/a.txt", "mine");
    let wrap = ["wrap", "--as", "Eve", "--summary", "s", "--next", "n"];
    let refused = strange.refused(3, "place_elsewhere", &[&wrap[..], &["--with-changes"]].concat());
    assert!(text(&refused, "message").contains("those of project shop"), "{refused}");
    let left = strange.with("BATON_WRAP_CHANGES", "always").json(&wrap);
    assert_eq!(left["changes"], serde_json::Value::Null, "{left}");
}

/// The row of a project has columns behind the head of its chain.
#[test]
fn a_store_with_a_merged_project_is_copied() {
    let stage = Stage::in_a_file("another store is a file").registered();
    let lola = stage.terminal("Lola");
    let other = stage.repo("other");
    lola.within(&other).json(&["init"]);
    noted(&stage, "before");
    lola.json(&["project", "merge", "other", "--into", "shop"]);
    let [backup, copy] = ["backup.db", "copy.db"].map(|name| stage.root().join(name).display().to_string());
    lola.json(&["backup", &backup]);
    assert_eq!(lola.json(&["store", "copy", &backup, &copy])["verified"], true);
    assert_eq!(lola.run(&["--store", &copy, "doctor"]).code, 0);
    let projects = lola.json(&["--store", &copy, "project", "list"]);
    assert!(projects.to_string().contains("\"other\""), "{projects:#}");
}
