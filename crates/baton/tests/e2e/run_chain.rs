//! `baton run --then`: where a tool stops at a limit or a failure, the next goes on in the same terminal.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::picker::{Seat, script};
use crate::run::{agent, tell, wait_for};
use crate::stage::{Answer, BATON, Stage, Terminal, text};

/// Claude Code writes its limit where an answer would stand, and ends.
const LIMIT: &str = r#"
echo "{\"type\":\"assistant\",\"uuid\":\"a2\",\"parentUuid\":\"a1\",$head,\"isApiErrorMessage\":true,\"message\":{\"role\":\"assistant\",\"model\":\"<synthetic>\",\"content\":[{\"type\":\"text\",\"text\":\"You've hit your limit · resets 3pm (Europe/Berlin)\"}]}}" >> "$folder/$ID.jsonl"
exit 1"#;

/// A tool that writes down with what it was started and ends with this code.
fn follower(stage: &Stage, program: &str, code: i32) {
    let body = format!(
        "#!/bin/sh\nfor arg in \"$@\"; do printf '%s\\0' \"$arg\"; done > \"$HOME/{program}.args\"\nexit {code}\n"
    );
    let path = stage.file(&format!("bin/{program}"), body);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
}

/// Donna's terminal with Claude Code, which was asked for something and does this, and the two that go on.
fn chain<'a>(stage: &'a Stage, prompt: &str, does: &str, codex: i32, gemini: i32) -> Terminal<'a> {
    follower(stage, "codex", codex);
    follower(stage, "gemini", gemini);
    agent(stage, "claude", prompt, does)
}

const RUN: [&str; 5] = ["run", "--agent", "claude", "--then", "codex,gemini"];

/// The words with which a follower was started; none where it was not.
fn words(stage: &Stage, program: &str) -> Option<Vec<String>> {
    let words = fs::read_to_string(stage.home().join(format!("{program}.args"))).ok()?;
    Some(words.split_terminator('\0').map(str::to_owned).collect())
}

fn assert_alone(stage: &Stage, answer: &Answer) {
    assert_eq!((words(stage, "codex"), words(stage, "gemini")), (None, None), "{answer:#?}");
}

#[test]
fn at_a_limit_the_next_tool_goes_on_with_the_work_and_the_time_of_the_limit_is_kept() {
    let stage = Stage::ready();
    let donna = chain(&stage, "Round the prices", LIMIT, 0, 0);
    let answer = donna.run(&RUN);
    assert_eq!(answer.code, 0, "the last one's exit code: {answer:#?}");
    for part in ["Claude Code stopped at a limit", "again at 3pm (Europe/Berlin)", "Codex goes on with baton"]
    {
        assert!(answer.err.contains(part), "`{part}` in {answer:#?}");
    }
    let codex = words(&stage, "codex").expect("Codex was started");
    // Without a terminal it is started as it runs without one.
    assert!(codex.iter().any(|word| word == "exec"), "{codex:#?}");
    assert!(codex.iter().any(|word| word.contains("Round the prices")), "{codex:#?}");
    assert_eq!(words(&stage, "gemini"), None, "Codex was done");
    let ledger = stage.ledger("shop");
    let note = ledger.iter().find(|delta| text(delta, "kind") == "note").expect("a note");
    assert!(
        note.to_string().contains("3pm (Europe/Berlin)") && note.to_string().contains("next: Codex"),
        "{note:#}"
    );
    let audit = stage.terminal("Lola").json(&["audit"]);
    let threads = audit["threads"].as_array().unwrap_or_else(|| panic!("no threads: {audit:#}"));
    assert_eq!(threads.len(), 1, "both tools worked in one thread: {audit:#}");
    // Codex did nothing, so the work waits for the next.
    let picked = stage.terminal("Lola").json(&["pickup"]);
    assert!(picked.to_string().contains("Round the prices"), "{picked:#}");
    stage.assert_sound();
}

/// The hook of a limit keeps what there is; the user then waits, and goes on in the same process.
#[test]
fn an_agent_that_goes_on_after_its_limit_or_its_wrap_has_all_its_work_in_the_baton() {
    let limit = format!(
        "{}\nprintf '{{\"session_id\":\"%s\",\"transcript_path\":\"%s\",\"cwd\":\"%s\"}}' \"$ID\" \"$folder/$ID.jsonl\" \"$(pwd)\" | \
         \"$BATON\" hook failure --agent claude\nfor i in $(seq 150); do \"$BATON\" log --json | grep -q failure && break; sleep 0.1; done",
        LIMIT.replace("exit 1", "")
    );
    let wrap = r#"said=$("$BATON" wrap --summary 'in my own words' --json | tr -d '\n' | sed 's/"/\\"/g')
echo "{\"type\":\"assistant\",\"uuid\":\"a2\",\"parentUuid\":\"a1\",$head,\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"Bash\",\"input\":{\"command\":\"baton wrap --json\"}}]}}" >> "$folder/$ID.jsonl"
echo "{\"type\":\"user\",\"uuid\":\"r1\",\"parentUuid\":\"a2\",$head,\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":\"$said\"}]}}" >> "$folder/$ID.jsonl""#;
    let more = r#"
echo "{\"type\":\"user\",\"uuid\":\"u9\",\"parentUuid\":\"LAST\",$head,\"message\":{\"role\":\"user\",\"content\":\"Now the taxes\"}}" >> "$folder/$ID.jsonl"
echo "{\"type\":\"assistant\",\"uuid\":\"a9\",\"parentUuid\":\"u9\",$head,\"message\":{\"role\":\"assistant\",\"content\":\"They add up.\"}}" >> "$folder/$ID.jsonl""#;
    for (before, last) in [(limit.as_str(), "a2"), (wrap, "r1")] {
        let stage = Stage::ready();
        let does = format!("{before}{}", more.replace("LAST", last));
        let answer = agent(&stage, "claude", "Round the prices", &does).run(&["run", "--", "claude"]).done();
        let picked = stage.terminal("Lola").json(&["pickup"]);
        let body = text(&picked["baton"], "body");
        assert!(body.contains("Round the prices") && body.contains("Now the taxes"), "{answer:#?}\n{body}");
        assert_eq!(body.contains("in my own words"), last == "r1", "{body}");
        stage.assert_sound();
    }
}

#[test]
fn a_chain_that_fails_throughout_ends_with_the_last_exit_code_and_loses_no_work() {
    let stage = Stage::ready();
    let donna = chain(&stage, "Round the prices", "exit 7", 9, 5);
    let answer = donna.run(&RUN);
    assert_eq!(answer.code, 5, "{answer:#?}");
    for part in [
        "Claude Code failed with exit code 7",
        "Codex failed with exit code 9",
        "Gemini CLI failed with exit code 5",
    ] {
        assert!(answer.err.contains(part), "`{part}` in {answer:#?}");
    }
    for program in ["codex", "gemini"] {
        let words = words(&stage, program).expect("it was started");
        assert!(words.iter().any(|word| word.contains("Round the prices")), "{program}: {words:#?}");
    }
    let picked = stage.terminal("Lola").json(&["pickup"]);
    assert!(picked.to_string().contains("Round the prices"), "{picked:#}");
    stage.assert_sound();
}

#[test]
fn an_agent_that_is_done_or_that_somebody_ended_starts_no_other() {
    let stage = Stage::ready();
    let answer = chain(&stage, "Round the prices", "exit 0", 0, 0).run(&RUN).done();
    assert_alone(&stage, &answer);
    let there = stage.root().join("there");
    let does = format!("touch {}; while :; do sleep 0.05; done", there.display());
    let child = chain(&stage, "Round the prices", &does, 0, 0).spawn(&RUN);
    wait_for(&there);
    tell(&child, "-TERM");
    let answer = Answer::of(child, &RUN);
    assert_eq!(answer.code, 143, "{answer:#?}");
    assert_alone(&stage, &answer);
}

#[test]
fn work_that_another_took_over_is_not_passed_on() {
    let stage = Stage::ready();
    let does = "\"$BATON\" reassign \"$BATON_SESSION\" --to Lola --wait --as Op --why 'on holiday' --json > /dev/null; exit 3";
    let answer = chain(&stage, "", does, 0, 0).run(&RUN);
    assert_eq!(answer.code, 3, "{answer:#?}");
    assert!(answer.err.contains("Codex is not started"), "{answer:#?}");
    assert_alone(&stage, &answer);
}

#[test]
fn without_any_work_nothing_is_passed_on() {
    let stage = Stage::ready();
    let answer = chain(&stage, "", "exit 3", 0, 0).run(&RUN);
    assert_eq!(answer.code, 3, "{answer:#?}");
    assert!(answer.err.contains("nothing was done that Codex could go on with"), "{answer:#?}");
    assert_alone(&stage, &answer);
}

/// Another agent's baton is newer, and is not the work of this chain.
#[test]
fn an_agent_that_wraps_and_fails_hands_on_its_own_baton() {
    let stage = Stage::ready();
    let does = "\"$BATON\" wrap --summary 'my own words' --json > /dev/null
        BATON_SESSION= BATON_IDENTITY=Lola \"$BATON\" start > /dev/null
        BATON_SESSION= BATON_IDENTITY=Lola \"$BATON\" wrap --summary 'of somebody else' > /dev/null; exit 3";
    let answer = chain(&stage, "", does, 0, 0).run(&RUN).done();
    let codex =
        words(&stage, "codex").unwrap_or_else(|| panic!("Codex was not started: {answer:#?}")).join(" ");
    assert!(codex.contains("my own words") && !codex.contains("of somebody else"), "{codex}");
}

#[test]
fn a_chain_that_cannot_go_on_is_refused_before_it_begins() {
    let stage = Stage::ready();
    let donna = agent(&stage, "claude", "Round the prices", "exit 1");
    donna.refused(1, "tool_unknown", &["run", "--agent", "claude", "--then", "vim"]);
    donna.refused(1, "tool_not_installed", &["run", "--agent", "claude", "--then", "crush"]);
    follower(&stage, "crush", 0);
    donna.refused(1, "mode_unsupported", &["run", "--agent", "claude", "--mode", "plan", "--then", "crush"]);
    let of_donna =
        stage.ledger("shop").into_iter().filter(|delta| text(delta, "identity") == "Donna").count();
    assert_eq!(of_donna, 0, "no session was begun");
}

#[test]
fn an_answer_for_programs_says_why_each_tool_stopped() {
    let stage = Stage::ready();
    let args = [&["--json"][..], &RUN].concat();
    let answer = chain(&stage, "Round the prices", LIMIT, 0, 0).run(&args).done();
    let answers: Vec<Value> = serde_json::Deserializer::from_str(&answer.out)
        .into_iter()
        .collect::<Result<_, _>>()
        .unwrap_or_else(|error| panic!("{error}: {answer:#?}"));
    assert_eq!(answers.len(), 2, "one for each tool: {answers:#?}");
    let stop = &answers[0]["stop"];
    assert_eq!(
        (stop["kind"].as_str(), stop["again"].as_str()),
        (Some("limit"), Some("3pm (Europe/Berlin)")),
        "{stop:#}"
    );
    assert!(answers[1]["stop"].is_null(), "{answers:#?}");
}

#[test]
fn on_a_terminal_the_user_decides_whether_the_next_tool_goes_on() {
    if !script() {
        return;
    }
    for (answer, usual, goes_on) in [
        ("\n", "true", true),
        ("\n", "false", false),
        ("y\n", "false", true),
        ("n\n", "true", false),
        ("\u{3}", "true", false),
    ] {
        let stage = Stage::ready();
        let donna = chain(&stage, "Round the prices", LIMIT, 0, 0).with("BATON_RUN_CONTINUE", usual);
        let mut seat = Seat::open(donna.program("script"), &format!("{BATON} {}", RUN.join(" ")));
        seat.see("stopped at a limit");
        seat.see(if usual == "true" { "[Y/n]" } else { "[y/N]" });
        seat.press(answer);
        let code = seat.end();
        let codex = words(&stage, "codex");
        // The shell around it gives its own exit code for the key.
        let expected = if answer == "\u{3}" { 130 } else { i32::from(!goes_on) };
        assert_eq!((codex.is_some(), code), (goes_on, expected), "{answer:?} {usual}");
        // On a terminal it starts as it does on one.
        assert!(codex.iter().flatten().all(|word| word != "exec"), "{codex:#?}");
        stage.assert_sound();
    }
}
