//! What is not committed goes along, or stays, in every way in which work ends: at a limit, under `baton run`, at a terminal, by a kill.
#![cfg(unix)]

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::picker::script;
use crate::run::agent;
use crate::stage::{Answer, Stage, Terminal, env, text};
use crate::worktree_changes::{WRAP, edited, second, status, tree, wrapped};
use crate::worktrees::git;

/// The names of the files that go with the newest baton with changes, once there is one.
fn travelling(stage: &Stage, seconds: u64) -> Option<Value> {
    (0..seconds * 10).find_map(|_| {
        let answer = stage.terminal("Zoe").run(&["changes", "show", "--json"]);
        if answer.code == 0 {
            return Some(answer.json()["changes"]["files"].clone());
        }
        std::thread::sleep(Duration::from_millis(100));
        None
    })
}

/// The hook of a limit speaks in a session of Claude Code whose folder has changes.
fn limited(stage: &Stage, setting: &str) {
    let line = |uuid: &str, parent: Value, role: &str, words: &str, is_error: bool| {
        let line = json!({ "type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s-1", "cwd": stage.shop(),
            "timestamp": "2026-11-26T10:00:00.000Z", "isApiErrorMessage": is_error,
            "message": { "role": role, "model": "m", "content": [{ "type": "text", "text": words }] } });
        format!("{line}\n")
    };
    let lines = [
        line("u1", Value::Null, "user", "Count the cart", false),
        line("a1", json!("u1"), "assistant", "You've hit your limit · resets 3pm (Europe/Berlin)", true),
    ];
    let path = stage.file("home/.claude/projects/-shop/s-1.jsonl", lines.concat());
    let payload = json!({ "session_id": "s-1", "cwd": stage.shop(), "transcript_path": path,
        "hook_event_name": "StopFailure" });
    let agent = stage.bare().with("BATON_WRAP_CHANGES", setting).with("BATON_AUTO_WRAP", "true");
    agent.feed(payload.to_string().as_bytes(), &["hook", "failure", "--agent", "claude"]).done();
}

#[test]
fn at_a_limit_the_hook_gives_them_to_its_baton_where_the_setting_says_so() {
    for setting in ["always", "never"] {
        let stage = edited();
        stage.terminal("Ann").json(&["end"]);
        limited(&stage, setting);
        let is_wrapped = (0..150).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            stage.ledger("shop").iter().any(|delta| delta["kind"] == "wrap")
        });
        assert!(is_wrapped, "{}", stage.terminal("Zoe").text(&["log"]));
        match setting {
            "always" => assert_eq!(travelling(&stage, 15), Some(json!(["a.txt", "new/b.txt"]))),
            _ => assert_eq!(travelling(&stage, 1), None),
        }
    }
}

#[test]
fn at_a_limit_what_is_too_large_is_said_to_stay_and_the_baton_waits() {
    let stage = edited();
    stage.terminal("Ann").json(&["end"]);
    stage.file("shop/large.bin", vec![7; 26 * 1024 * 1024]);
    limited(&stage, "always");
    let noted = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        stage
            .ledger("shop")
            .iter()
            .any(|delta| delta["kind"] == "note" && delta.to_string().contains("large.bin (27262976 bytes)"))
    });
    assert!(noted, "{}", stage.terminal("Zoe").text(&["log"]));
    let picked = stage.terminal("Lola").json(&["pickup"]);
    assert!(text(&picked["baton"], "body").contains("Count the cart"), "{picked:#}");
}

#[test]
fn a_supervised_agent_leaves_them_with_its_baton_with_and_without_a_transcript() {
    let saves = "\"$BATON\" checkpoint --summary 'half way' --json > /dev/null";
    for (program, prompt, does) in [("claude", "Round the prices", "true"), ("my-agent", "", saves)] {
        let stage = edited();
        stage.terminal("Ann").json(&["end"]);
        let does = format!("echo of-the-agent > new/c.txt; {does}");
        let donna = agent(&stage, program, prompt, &does).with("BATON_WRAP_CHANGES", "always");
        let answer = donna.run(&["run", "--", program]).done();
        let files = travelling(&stage, 1);
        assert_eq!(files, Some(json!(["a.txt", "new/b.txt", "new/c.txt"])), "{program}: {answer:#?}");
        // What does not fit stays; the baton waits all the same.
        let stage = edited();
        stage.terminal("Ann").json(&["end"]);
        stage.file("shop/large.bin", vec![7; 26 * 1024 * 1024]);
        let donna = agent(&stage, program, prompt, &does).with("BATON_WRAP_CHANGES", "always");
        let answer = donna.run(&["run", "--", program]).done();
        assert!(answer.err.contains("large.bin (27262976 bytes)"), "{program}: {answer:#?}");
        assert_eq!(travelling(&stage, 1), None, "{program}");
        assert!(stage.terminal("Lola").json(&["pickup"])["baton"]["delta_id"].is_string(), "{program}");
    }
}

#[test]
fn a_wrap_at_a_terminal_says_what_stays_unless_the_setting_is_silent() {
    if !script() {
        return;
    }
    let hint = "2 files are not committed and stay here; `baton changes keep ";
    for (setting, option, is_said) in [
        ("ask", "", true),
        ("never", "", false),
        ("ask", " --without-changes", false),
        ("never", " --without-changes", false),
    ] {
        let stage = edited();
        let ann = stage.terminal("Ann").with("BATON_WRAP_CHANGES", setting);
        let line = format!("\"$BATON\" wrap --summary s --next n{option}");
        let answer = ann.with("LINE", line).shell("script -qec \"$LINE\" /dev/null").done();
        assert_eq!(answer.out.contains(hint), is_said, "{setting}{option}: {answer:#?}");
        assert_eq!(answer.out.contains("not committed"), is_said, "{setting}{option}: {answer:#?}");
        assert!(answer.out.contains("wrapped"), "{answer:#?}");
        // What it names does what it says.
        if is_said {
            let rest = answer.out.split("changes keep ").nth(1).expect("a baton");
            ann.json(&["changes", "keep", rest.split('`').next().expect("its id")]);
            assert_eq!(travelling(&stage, 1), Some(json!(["a.txt", "new/b.txt"])));
        } else {
            assert_eq!(travelling(&stage, 1), None);
        }
    }
    // An agent's shell has no terminal, and the agent reads it: in a line, with the first of the files.
    let stage = edited();
    let answer = stage.terminal("Ann").run(&WRAP).done();
    assert!(answer.err.starts_with(hint) && answer.err.ends_with(": a.txt, new/b.txt\n"), "{answer:#?}");
    assert_eq!(answer.err.lines().count(), 1, "{answer:#?}");
}

/// `BATON_TEST_KILLS=200` kills 200 times.
#[test]
fn a_kill_of_a_wrap_leaves_the_session_open_or_a_baton_with_all_of_them() {
    let stage = edited();
    for n in 0..40 {
        stage.file(&format!("shop/many/{n}.txt"), format!("{n}\n").repeat(200));
    }
    let ann = stage.terminal("Ann");
    let before = (status(&stage, stage.shop()), tree(&stage.shop().join(".git")));
    let kills = env("BATON_TEST_KILLS").and_then(|text| text.parse().ok()).unwrap_or(8_u64);
    let scratch = stage.home().join("data/baton/scratch");
    for run in 0..kills {
        let mut child = ann.spawn(&[&WRAP[..], &["--with-changes"]].concat());
        std::thread::sleep(Duration::from_millis(10 + run * 240 / kills));
        let _ = child.kill();
        let _ = child.wait();
        assert_eq!((status(&stage, stage.shop()), tree(&stage.shop().join(".git"))), before, "run {run}");
        let card = ann.json(&["status"]);
        let is_open =
            card["sessions"].as_array().expect("sessions").iter().any(|one| one["identity"] == "Ann");
        // What she holds since the run before waits for no one.
        let is_waiting = |one: &&Value| one["state"] != "held";
        let waiting: Vec<&Value> =
            card["handoffs"].as_array().expect("batons").iter().filter(is_waiting).collect();
        match waiting.first() {
            None => assert!(is_open, "run {run}: neither a session nor a baton: {card:#}"),
            Some(_) => {
                assert!(!is_open && waiting.len() == 1, "run {run}: {card:#}");
                assert_whole(&ann, run);
                ann.json(&["pickup"]);
            }
        }
    }
    let left = wrapped(&stage, &["--with-changes"]);
    assert_eq!(left["changes"]["files"].as_array().map(Vec::len), Some(42), "{left:#}");
    let copies = fs::read_dir(&scratch).map_or(0, Iterator::count);
    assert_eq!(copies, 0, "what killed wraps copied is removed by the next: {}", scratch.display());
    stage.assert_sound();
}

/// What waits has every file, and its content can be read.
fn assert_whole(ann: &Terminal<'_>, run: u64) {
    let shown = ann.json(&["changes", "show"]);
    assert_eq!(shown["changes"]["files"].as_array().map(Vec::len), Some(42), "run {run}: {shown:#}");
    let diff = ann.text(&["changes", "diff"]);
    assert!(diff.contains("+later") && diff.contains("+++ b/many/39.txt"), "run {run}");
}

#[test]
fn of_two_batons_that_two_processes_apply_in_one_copy_one_is_there_alone() {
    for round in 0..3 {
        let stage = edited();
        let first = text(&wrapped(&stage, &["--with-changes"]), "baton_id");
        git(&stage, stage.shop(), &["stash", "-q", "-u"]);
        stage.terminal("Ann").json(&["start"]);
        stage.file("shop/a.txt", "of the other\n");
        stage.file("shop/other.txt", "other\n");
        let other = text(&wrapped(&stage, &["--with-changes"]), "baton_id");
        let copy = second(&stage);
        let children = [("Lola", &first), ("Max", &other)].map(|(name, baton)| {
            stage.terminal(name).within(&copy).spawn(&["pickup", "--apply", "--handoff", baton, "--json"])
        });
        let outcomes = children.map(|child| {
            let answer = Answer::of(child, &["pickup"]).done();
            answer.json()["changes"]["outcome"].clone()
        });
        let applied = [0, 1].map(|nth: usize| outcomes[nth]["applied"] == true);
        assert!(applied[0] != applied[1], "round {round}: {outcomes:#?}");
        let failure = text(&outcomes[usize::from(applied[0])], "failure");
        assert!(
            failure.contains("another process") || failure.contains("has changes of its own"),
            "{failure}"
        );
        let read = |name: &str| fs::read_to_string(copy.join(name)).ok();
        let found = (read("a.txt"), read("new/b.txt").is_some(), read("other.txt").is_some());
        let expected = match applied[0] {
            true => (Some("later\n".to_owned()), true, false),
            false => (Some("of the other\n".to_owned()), false, true),
        };
        assert_eq!(found, expected, "round {round}: {outcomes:#?}");
        assert!(!copy.join(".git/index.lock").exists() && !copy.join(".git/baton-apply").exists());
        // The other one waits for a copy of its own: nothing of it was lost.
        let loser = if applied[0] { &other } else { &first };
        git(&stage, &copy, &["stash", "-q", "-u"]);
        stage.terminal("Zoe").within(&copy).json(&["changes", "apply", loser]);
        stage.assert_sound();
    }
}
