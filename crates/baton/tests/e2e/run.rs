//! Wrapped agents: the terminal is theirs, and what they did is kept when they end. The agents are shell scripts that write
//! transcripts as Claude Code does.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::picker::{Seat, script};
use crate::stage::{Answer, BATON, Stage, Terminal, env, text};
use crate::worktrees::committed;

/// Writes a transcript of one question and one answer, of which its hook tells unless `$HOOKLESS` is set, then does what `$DO`
/// says.
const AGENT: &str = r#"#!/bin/sh
for arg in "$@"; do printf '%s\0' "$arg"; done > "$HOME/args"
if [ -n "$ASKED" ]; then
  folder="$HOME/.claude/projects/-shop"
  mkdir -p "$folder"
  at=$(date -u +%Y-%m-%dT%H:%M:%S.000Z)
  head="\"sessionId\":\"$ID\",\"cwd\":\"$(pwd)\",\"timestamp\":\"$at\""
  {
    echo "{\"type\":\"user\",\"uuid\":\"u1\",\"parentUuid\":null,$head,\"message\":{\"role\":\"user\",\"content\":\"$ASKED\"}}"
    echo "{\"type\":\"assistant\",\"uuid\":\"a1\",\"parentUuid\":\"u1\",$head,\"message\":{\"role\":\"assistant\",\"content\":\"Half of it.\"}}"
  } > "$folder/$ID.jsonl"
  if [ -z "$HOOKLESS" ]; then
    printf '{"session_id":"%s","transcript_path":"%s","cwd":"%s"}' "$ID" "$folder/$ID.jsonl" "$(pwd)" |
      "$BATON" hook session-start --agent claude > "$HOME/announced"
  fi
fi
eval "$DO"
"#;

/// Donna's terminal with this agent on the path; what it does, and what it is asked, if it writes that down.
pub(crate) fn agent<'a>(stage: &'a Stage, program: &str, prompt: &str, does: &str) -> Terminal<'a> {
    let path = stage.file(&format!("bin/{program}"), AGENT);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
    let bin = Path::new(&path).parent().expect("bin").display().to_string();
    let mut at = stage.bare();
    at.set("BATON_IDENTITY", "Donna");
    at.set("PATH", format!("{bin}:{}", env("PATH").expect("PATH")));
    at.set("ASKED", prompt);
    at.set("ID", "22222222-aaaa-4000-8000-00000000abcd");
    at.set("DO", does);
    at.set("BATON", BATON);
    at
}

/// The kinds of what Donna's sessions wrote.
fn kinds(stage: &Stage) -> Vec<String> {
    let mine = |delta: &Value| delta["identity"] == "Donna";
    stage.ledger("shop").iter().filter(|delta| mine(delta)).map(|delta| text(delta, "kind")).collect()
}

fn kept(answer: &Answer) -> Value {
    // The agent's own words come first.
    let from = answer.out.find('{').unwrap_or_else(|| panic!("no answer: {answer:#?}"));
    serde_json::from_str(&answer.out[from..]).unwrap_or_else(|error| panic!("{error}: {answer:#?}"))
}

#[test]
fn what_a_wrapped_agent_did_is_left_as_a_baton_and_its_exit_code_is_passed_on() {
    let stage = Stage::ready();
    let donna = agent(&stage, "claude", "Round the prices", "cat; echo out; echo err >&2; exit 7");
    let answer = donna.feed(b"typed\n", &["run", "--", "claude", "--model", "it's"]);
    assert_eq!((answer.code, answer.out.as_str()), (7, "typed\nout\n"), "{answer:#?}");
    assert!(answer.err.contains("err\n") && answer.err.contains("left baton"), "{answer:#?}");
    assert_eq!(fs::read_to_string(stage.home().join("args")).expect("args"), "--model\0it's\0");
    assert_eq!(kinds(&stage), ["start", "wrap"], "registered before, collected after");
    let picked = stage.terminal("Lola").json(&["pickup"]);
    let packet: Value = serde_json::from_str(&text(&picked["baton"], "body")).expect("a packet");
    assert!(packet.to_string().contains("Round the prices"), "{packet:#}");
    assert_eq!(packet["source"]["agent"], "claude");
    stage.assert_sound();
}

#[test]
fn an_agent_that_wraps_by_itself_is_left_alone() {
    let stage = Stage::ready();
    let donna = agent(
        &stage,
        "claude",
        "Round the prices",
        "\"$BATON\" wrap --summary 'my own words' --json > /dev/null",
    );
    let report = kept(&donna.run(&["--json", "run", "--", "claude"]).done());
    assert_eq!(report["kept"], "by_agent", "{report:#}");
    assert_eq!(kinds(&stage), ["start", "wrap"]);
    assert!(text(&stage.terminal("Lola").json(&["pickup"])["baton"], "body").contains("my own words"));
}

/// Its environment names the session of the run for all that it starts.
#[test]
fn an_agent_that_has_wrapped_is_told_how_it_goes_on_with_the_next_baton() {
    let stage = Stage::ready();
    stage.terminal("Lola").json(&["start"]);
    stage.terminal("Lola").json(&["wrap", "--summary", "the cart rounds"]);
    let does = "$BATON wrap --summary half >/dev/null; $BATON pickup 2> $HOME/hint
        BATON_SESSION= $BATON pickup >/dev/null && BATON_SESSION= $BATON note 'it rounds no more' >/dev/null";
    let lola = agent(&stage, "claude", "", does);
    lola.run(&["run", "--", "claude"]).done();
    let hint = fs::read_to_string(stage.root().join("home/hint")).expect("the refusal");
    assert!(hint.contains("session_released") && hint.contains("BATON_SESSION= baton pickup"), "{hint}");
    let noted = stage.ledger("shop").iter().any(|delta| delta.to_string().contains("it rounds no more"));
    assert!(noted, "the note of the second session");
}

#[test]
fn a_wrapped_agent_whose_session_another_took_is_not_said_to_have_ended_it() {
    let does = "\"$BATON\" reassign \"$BATON_SESSION\" --to Lola --wait --as Op --why 'on holiday' --json > /dev/null";
    for prompt in ["", "Round the prices"] {
        let stage = Stage::ready();
        let donna = agent(&stage, "claude", prompt, does);
        let answer = donna.run(&["run", "--", "claude"]).done();
        assert!(!answer.err.contains("by the agent itself"), "{answer:#?}");
        let words = if prompt.is_empty() { "was ended by another meanwhile" } else { "released meanwhile" };
        assert!(answer.err.contains(words), "{answer:#?}");
    }
}

#[test]
fn without_a_transcript_what_the_agent_saved_is_left_and_nothing_is_made_of_nothing() {
    let stage = Stage::ready();
    let donna =
        agent(&stage, "my-agent", "", "\"$BATON\" checkpoint --summary 'half way' --json > /dev/null");
    let left = kept(&donna.run(&["--json", "run", "--", "my-agent"]).done());
    assert_eq!((left["kept"].as_str(), left["transcript"].is_null()), (Some("baton"), true), "{left:#}");
    let picked = stage.terminal("Lola").json(&["pickup"]);
    assert!(text(&picked["baton"], "body").contains("half way"), "{picked:#}");
    let idle = kept(&agent(&stage, "my-agent", "", "true").run(&["--json", "run", "--", "my-agent"]).done());
    assert_eq!(idle["kept"], "nothing", "{idle:#}");
    assert!(
        stage.terminal("Lola").json(&["status"])["sessions"]
            .as_array()
            .expect("sessions")
            .iter()
            .all(|s| s["identity"] != "Donna")
    );
}

#[test]
fn what_a_command_without_a_transcript_did_in_its_working_copy_is_left_as_a_baton() {
    let stage = committed();
    let donna = agent(&stage, "my-agent", "", "true");
    stage.file("shop/mine.txt", "before");
    // What lay there before is no work of the command.
    let idle = donna.run(&["run", "--", "sh", "-c", "git status > /dev/null"]).done();
    assert!(idle.err.contains("there was nothing to keep"), "{idle:#?}");
    let script = "git -c user.name=a -c user.email=a@b commit -qam 'by the command' --allow-empty; echo half > half.txt";
    let always = donna.with("BATON_WRAP_CHANGES", "always");
    let left = kept(&always.run(&["--json", "run", "--", "sh", "-c", script]).done());
    assert_eq!(left["kept"], "baton", "{left:#}");
    let lola = stage.terminal("Lola");
    let shown = lola.json(&["changes", "show"]);
    assert!(shown.to_string().contains("half.txt"), "{shown:#}");
    let picked = lola.json(&["pickup"]);
    let body = text(&picked["baton"], "body");
    for word in ["by the command", "not committed: half.txt", "`sh`"] {
        assert!(body.contains(word), "{word}: {body}");
    }
    assert!(!body.contains("not committed: mine.txt"), "{body}");
    lola.json(&["end"]);
    // Without changes, and where an edit of a file that was there before is all.
    let edited = kept(&donna.run(&["--json", "run", "--", "sh", "-c", "echo more >> mine.txt; exit 3"]));
    assert_eq!((&edited["kept"], &edited["exit_code"]), (&json!("baton"), &json!(3)), "{edited:#}");
    let checked = donna.run(&["run", "--no-wrap", "--", "sh", "-c", "echo again >> mine.txt"]).done();
    assert!(checked.err.contains("ended with a checkpoint"), "{checked:#?}");
}

#[test]
fn an_agent_that_noted_something_and_failed_is_not_said_to_have_kept_nothing() {
    let stage = Stage::ready();
    let donna = agent(&stage, "my-agent", "", "\"$BATON\" note 'mind the cents' --json > /dev/null; exit 3");
    let answer = donna.run(&["run", "--", "my-agent"]);
    assert_eq!(answer.code, 3, "{answer:#?}");
    let words = format!("{}{}", answer.out, answer.err);
    for wrong in ["saved nothing", "nothing to keep"] {
        assert!(!words.contains(wrong), "{words}");
    }
    let picked = stage.terminal("Lola").json(&["pickup"]);
    assert!(picked.to_string().contains("mind the cents"), "{picked:#}");
}

#[test]
fn without_a_wrap_a_checkpoint_stays() {
    let stage = Stage::ready();
    let donna = agent(&stage, "claude", "Round the prices", "true");
    let report = kept(&donna.run(&["--json", "run", "--no-wrap", "--", "claude"]).done());
    assert_eq!(report["kept"], "checkpoint", "{report:#}");
    assert_eq!(kinds(&stage), ["start", "checkpoint", "release"]);
}

#[test]
fn an_agent_that_cannot_be_started_leaves_no_session_open() {
    let stage = Stage::ready();
    let donna = agent(&stage, "other", "", "true");
    donna.run(&["--json", "run", "--", "no-such-agent"]).refused(5, "command_unstartable");
    donna.refused(1, "tool_not_installed", &["run", "--agent", "crush"]);
    donna.refused(1, "command_missing", &["run"]);
    donna.refused(1, "tool_unknown", &["run", "--agent", "vim"]);
    let crush = agent(&stage, "crush", "", "true");
    crush.refused(1, "mode_unsupported", &["run", "--agent", "crush", "--mode", "plan"]);
    assert_eq!(kinds(&stage), ["start", "release"]);
}

/// A conversation of Claude Code in the shop, begun so long ago.
const OTHERS: &str = r#"folder="$HOME/.claude/projects/-shop"; mkdir -p "$folder"; at=$(date -u -d "$AGO ago" +%Y-%m-%dT%H:%M:%S.000Z)
  now=$(date -u +%Y-%m-%dT%H:%M:%S.000Z)
  echo "{\"type\":\"user\",\"uuid\":\"u1\",\"parentUuid\":null,\"sessionId\":\"$OTHER\",\"cwd\":\"$(pwd)\",\"timestamp\":\"$at\",\"message\":{\"role\":\"user\",\"content\":\"Somebody else's work\"}}" > "$folder/$OTHER.jsonl"
  echo "{\"type\":\"user\",\"uuid\":\"u2\",\"parentUuid\":\"u1\",\"sessionId\":\"$OTHER\",\"cwd\":\"$(pwd)\",\"timestamp\":\"$now\",\"message\":{\"role\":\"user\",\"content\":\"and more of it\"}}" >> "$folder/$OTHER.jsonl""#;
const OTHER: &str = "33333333-bbbb-4000-8000-00000000abcd";

#[test]
fn another_agents_live_conversation_is_not_taken() {
    let stage = Stage::ready();
    let mut donna = agent(&stage, "claude", "", OTHERS);
    donna.set("OTHER", OTHER);
    donna.set("AGO", "60 seconds");
    for command in [&["claude"][..], &["sh", "-c", OTHERS]] {
        let report = kept(&donna.run(&[&["--json", "run", "--"], command].concat()).done());
        assert_eq!(
            (report["kept"].as_str(), &report["transcript"]),
            (Some("nothing"), &Value::Null),
            "{report:#}"
        );
        // It may be one that a known tool took up again: then its name is said, and how it is taken.
        let text = report["warnings"]
            .to_string()
            .contains(&format!("baton import-transcript {OTHER} --agent claude"));
        assert_eq!(text, command == ["claude"], "{report:#}");
    }
    // Named on the command line, it is the run's own.
    let named = kept(&donna.run(&["--json", "run", "--", "claude", "--resume", OTHER]).done());
    assert_eq!(
        (named["kept"].as_str(), named["transcript"]["id"].as_str()),
        (Some("baton"), Some(OTHER)),
        "{named:#}"
    );
}

#[test]
fn what_came_into_being_beside_a_run_is_not_its_own_without_proof() {
    let stage = Stage::ready();
    let mut donna = agent(&stage, "claude", "", OTHERS);
    donna.set("OTHER", OTHER);
    donna.set("AGO", "0 seconds");
    // Somebody else's conversation that begins meanwhile, and one that ended just before.
    for command in [&["sh", "-c", OTHERS][..], &["true"], &["claude"]] {
        let report = kept(&donna.run(&[&["--json", "run", "--"], command].concat()).done());
        assert_eq!(
            (report["kept"].as_str(), &report["transcript"]),
            (Some("nothing"), &Value::Null),
            "{report:#}"
        );
        let way = format!("baton import-transcript {OTHER} --agent claude");
        assert!(report["warnings"].to_string().contains(&way), "{report:#}");
    }
    assert!(!kinds(&stage).contains(&"wrap".to_owned()));
}

#[test]
fn a_file_that_the_agent_holds_open_is_its_own() {
    let stage = Stage::ready();
    let does = r#"exec 3>>"$HOME/.claude/projects/-shop/$ID.jsonl"; sleep 2"#;
    let mut donna = agent(&stage, "claude", "Round the prices", does);
    donna.set("HOOKLESS", "1");
    let report = kept(&donna.run(&["--json", "run", "--", "claude"]).done());
    assert_eq!(report["kept"], "baton", "{report:#}");
}

#[test]
fn the_end_of_a_conversation_within_a_run_does_not_end_the_session_of_the_run() {
    let stage = Stage::ready();
    let does = r#"printf '{"session_id":"%s","transcript_path":"%s","cwd":"%s"}' "$ID" "$folder/$ID.jsonl" "$(pwd)" |
      "$BATON" hook session-end --agent claude
      for i in $(seq 150); do "$BATON" log --json | grep -q session-end && break; sleep 0.1; done
      "$BATON" note 'still at work' --json > "$HOME/noted" || exit 9"#;
    let donna = agent(&stage, "claude", "Round the prices", does);
    let report = kept(&donna.run(&["--json", "run", "--", "claude"]).done());
    assert_eq!(
        (report["kept"].as_str(), &report["exit_code"]),
        (Some("baton"), &Value::from(0)),
        "{report:#}"
    );
    assert_eq!(kinds(&stage), ["start", "checkpoint", "note", "wrap"]);
}

#[test]
fn between_two_conversations_nothing_is_guessed_and_both_are_named() {
    let stage = Stage::ready();
    let mut donna = agent(&stage, "claude", "Round the prices", OTHERS);
    donna.set("HOOKLESS", "1");
    donna.set("OTHER", OTHER);
    donna.set("AGO", "0 seconds");
    let report = kept(&donna.run(&["--json", "run", "--", "claude"]).done());
    assert_eq!(
        (report["kept"].as_str(), &report["transcript"]),
        (Some("nothing"), &Value::Null),
        "{report:#}"
    );
    let warnings = report["warnings"].to_string();
    for id in [OTHER, "22222222-aaaa-4000-8000-00000000abcd"] {
        assert!(warnings.contains(&format!("baton import-transcript {id} --agent claude")), "{report:#}");
    }
    assert_eq!(kinds(&stage), ["start", "release"]);
}

#[test]
fn two_runs_in_one_folder_leave_a_baton_each() {
    let stage = Stage::ready();
    let (there, done) = (stage.root().join("there"), stage.root().join("done"));
    let does = format!("touch {}; while [ ! -e {} ]; do sleep 0.05; done", there.display(), done.display());
    let args = ["--json", "run", "--", "claude"];
    let first = agent(&stage, "claude", "Round the prices", &does).spawn(&args);
    wait_for(&there);
    // The first has found its own before the second begins.
    let runs = stage.home().join("data/baton/runs");
    let began = Instant::now();
    while !fs::read_dir(&runs)
        .into_iter()
        .flatten()
        .flatten()
        .any(|run| fs::read_to_string(run.path()).is_ok_and(|text| text.contains("22222222-aaaa")))
    {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "the first run never found its transcript in {}",
            runs.display()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut second = agent(&stage, "claude", "Count the stock", "true");
    second.set("ID", OTHER);
    second.set("BATON_IDENTITY", "Lola");
    let of_second = kept(&second.run(&args).done());
    fs::write(&done, "").expect("a sign");
    let of_first = kept(&Answer::of(first, &args).done());
    assert_eq!(
        (of_second["kept"].as_str(), of_second["transcript"]["id"].as_str()),
        (Some("baton"), Some(OTHER))
    );
    assert_eq!(
        (of_first["kept"].as_str(), of_first["transcript"]["id"].as_str()),
        (Some("baton"), Some("22222222-aaaa-4000-8000-00000000abcd")),
        "{of_first:#}"
    );
    assert_ne!(of_first["baton_id"], of_second["baton_id"]);
    stage.assert_sound();
}

/// Waits until a file is there.
pub(crate) fn wait_for(path: &Path) {
    let began = Instant::now();
    while !path.exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "{} never came", path.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn tell(child: &Child, signal: &str) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
    assert!(status.success());
}

#[test]
fn signals_reach_the_agent_and_what_it_did_is_kept_all_the_same() {
    for (signal, name, code) in
        [("-TERM", "TERM", 4), ("-HUP", "HUP", 4), ("-INT", "INT", 4), ("-TERM", "none", 143)]
    {
        let stage = Stage::ready();
        let there = stage.root().join("there");
        let trap = format!("trap 'exit 4' {name}; touch {}; while :; do sleep 0.05; done", there.display());
        let does = if name == "none" { trap.split_once("; ").expect("two").1 } else { &trap };
        let args = ["--json", "run", "--", "claude"];
        let child = agent(&stage, "claude", "Round the prices", does).spawn(&args);
        wait_for(&there);
        tell(&child, signal);
        let answer = Answer::of(child, &args);
        assert_eq!(answer.code, code, "{signal}: {answer:#?}");
        assert_eq!(kept(&answer)["kept"], "baton", "{signal}");
    }
}

#[test]
fn what_was_done_is_kept_while_it_runs_and_survives_the_end_of_everything() {
    let stage = Stage::ready();
    let there = stage.root().join("there");
    let does = format!("touch {}; exec sleep 60", there.display());
    let mut child = agent(&stage, "claude", "Round the prices", &does)
        .with("BATON_STALE_AFTER", "2s")
        .spawn(&["run", "--checkpoint-every", "1s", "--", "claude"]);
    wait_for(&there);
    let began = Instant::now();
    while !kinds(&stage).contains(&"checkpoint".to_owned()) {
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", kinds(&stage));
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().expect("killed");
    child.wait().expect("gone");
    let lola = stage.terminal("Lola").with("BATON_STALE_AFTER", "2s");
    let picked = loop {
        let answer = lola.run(&["--json", "pickup"]);
        if answer.code == 0 {
            break answer.json();
        }
        answer.refused(4, "predecessor_active");
        assert!(began.elapsed() < Duration::from_secs(60), "{answer:#?}");
        std::thread::sleep(Duration::from_millis(200));
    };
    assert!(picked.to_string().contains("Round the prices"), "{picked:#}");
}

#[test]
fn a_tool_begins_with_the_document_of_the_baton_that_is_picked_up() {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    let left = lola.json(&["wrap", "--summary", "half of the cart", "--next", "taxes"]);
    let donna = agent(&stage, "claude", "", "true");
    donna.run(&["run", "--agent", "claude", "--mode", "plan", "--pickup", "--", "--model", "m"]).done();
    let args = || fs::read_to_string(stage.home().join("args")).expect("args");
    let whole = args();
    let (words, document) = whole.trim_end_matches('\0').rsplit_once('\0').expect("a prompt");
    // Without a terminal it is asked to print its answer.
    assert_eq!(words.split('\0').collect::<Vec<_>>(), ["--permission-mode", "plan", "--model", "m", "-p"]);
    let baton = text(&left, "baton_id");
    for part in ["half of the cart", "taxes", &baton] {
        assert!(document.contains(part), "{document}");
    }
    // What the user says about that comes first.
    donna.run(&["run", "--agent", "claude", "--pickup", "--", "--print"]).done();
    assert!(args().ends_with("\0--print\0"), "{}", args());
    // Nothing was done, so the baton waits for the next.
    assert_eq!(text(&lola.json(&["pickup"])["baton"], "delta_id"), baton);
}

#[test]
fn the_terminal_is_the_agents() {
    if !script() {
        return;
    }
    let stage = Stage::ready();
    // Ctrl-C is the agent's own business, and reaches it once; stopping, it gives the shell its terminal back.
    let does = "trap 'echo once' INT; stty size; echo ready; read x; echo got $x; kill -STOP $$; echo back; read y; exit 3";
    let donna = agent(&stage, "claude", "Round the prices", does).with("PS1", "prompt> ");
    let mut seat = Seat::open(donna.program("script"), "exec bash --norc --noprofile -i");
    seat.see("prompt>");
    seat.press(&format!("{BATON} run -- claude\n"));
    seat.see("24 100");
    seat.see("ready");
    seat.press("\u{3}");
    seat.see("once");
    seat.press("typed\n");
    seat.see("got");
    seat.see("Stopped");
    seat.press("fg\n");
    seat.see("back");
    seat.press("\n");
    seat.see("left baton");
    seat.press("echo code $?; exit 0\n");
    seat.see("code 3");
    assert_eq!(seat.end(), 0);
}
