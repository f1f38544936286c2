//! Which process stands behind a call: the agent, else the shell that lives long.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::Value;

use crate::stage::{Answer, BATON, Stage, Terminal, skipped, text};

/// A shell that stays: commands go in, answers come out. Its name may be that of an agent.
struct Shell {
    child: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Shell {
    /// A plain shell.
    fn open(terminal: &Terminal<'_>) -> Self {
        Self::of(terminal.program("sh"))
    }

    /// A script that runs what it is told, under the name of an agent's program.
    fn agent(stage: &Stage, terminal: &Terminal<'_>, name: &str) -> Self {
        let path =
            stage.file(&format!("bin/{name}"), "#!/bin/sh\nwhile read -r line; do eval \"$line\"; done\n");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
        Self::of(terminal.program(&path))
    }

    fn of(mut command: std::process::Command) -> Self {
        command.env("BATON", BATON).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("a shell starts");
        let commands = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("stdout"));
        Self { child, commands, answers }
    }

    /// The JSON answer, or refusal, of a command in this shell.
    fn say(&mut self, command: &str) -> Value {
        let commands = self.commands.as_mut().expect("open");
        writeln!(commands, "{command}; echo; echo :done:").expect("the shell reads");
        let mut output = String::new();
        while self.answers.read_line(&mut output).expect("the shell answers") > 0
            && !output.ends_with(":done:\n")
        {}
        let output = output.trim_end_matches(":done:\n");
        serde_json::from_str(output).unwrap_or_else(|error| panic!("{command}: {error}: {output}"))
    }

    /// Ends the shell as a user does who closes its window.
    fn close(mut self) {
        drop(self.commands.take());
        self.child.wait().expect("the shell ends");
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const START: &str = "\"$BATON\" start --as Lola --json";

/// Whether these tests are run by an agent: it would stand behind every plain shell.
fn under_an_agent(stage: &Stage) -> bool {
    let surface = text(&stage.bare().json(&["start", "--as", "Probe"])["sessions"][0], "surface");
    if surface != "human" {
        skipped("an agent runs these tests: plain shells are not told apart");
    }
    surface != "human"
}

#[test]
fn one_shell_is_one_process_however_it_calls() {
    let stage = Stage::ready();
    let mut shell = Shell::open(&stage.bare());
    let first = shell.say(START);
    for command in [
        START,
        "sh -c '\"$BATON\" start --as Lola --json'",
        "sh -c '\"$BATON\" start --as Lola --json; true'",
        "env A=b timeout 60 \"$BATON\" start --as Lola --json",
        "(\"$BATON\" start --as Lola --json)",
        "\"$BATON\" start --as Lola --json | cat",
    ] {
        let again = shell.say(command);
        assert_eq!(again["session_id"], first["session_id"], "{command}: {again:#}");
    }
}

#[test]
fn two_shells_are_two_processes_until_one_has_ended() {
    let stage = Stage::ready();
    if under_an_agent(&stage) {
        return;
    }
    let (mut one, mut two) = (Shell::open(&stage.bare()), Shell::open(&stage.bare()));
    let first = one.say(START);
    let conflict = two.say(START);
    assert_eq!(conflict["error"]["code"], "identity_conflict", "{conflict:#}");
    one.close();
    reconnects(&stage, &first, &two.say(START));
}

/// The second session took the place of the first, whose process had gone.
fn reconnects(stage: &Stage, first: &Value, second: &Value) {
    assert_ne!(second["session_id"], first["session_id"], "{second:#}");
    let ledger = stage.ledger("shop");
    let release = ledger.iter().find(|delta| delta["kind"] == "release").expect("a release");
    assert_eq!(release["session_id"], first["session_id"]);
    assert!(release["body"].to_string().contains("reconnect"), "{release:#}");
}

#[test]
fn the_nearest_agent_stands_behind_a_call() {
    let stage = Stage::ready();
    let bare = stage.bare();
    let (mut claude, mut codex) =
        (Shell::agent(&stage, &bare, "claude"), Shell::agent(&stage, &bare, "codex"));
    let first = claude.say(START);
    assert_eq!(first["sessions"][0]["surface"], "claude_code", "{first:#}");
    // Each tool call of an agent is a shell of its own, and still the same agent.
    let script = stage.file("call.sh", "\"$BATON\" start --as Lola --json\n");
    for command in [
        "sh -c '\"$BATON\" start --as Lola --json'".to_owned(),
        format!("sh {script}"),
        format!("sh -c 'sh {script}; true'"),
    ] {
        assert_eq!(claude.say(&command)["session_id"], first["session_id"], "{command}");
    }
    assert_eq!(codex.say(START)["error"]["code"], "identity_conflict");
    assert_eq!(codex.say("\"$BATON\" start --as Donna --json")["identity"], "Donna");
    claude.close();
    reconnects(&stage, &first, &codex.say(START));
}

#[test]
fn a_baton_stays_with_an_identity_that_reconnects() {
    let stage = Stage::ready();
    let bare = stage.bare();
    stage.terminal("Lola").json(&["start"]);
    stage.terminal("Lola").json(&["wrap", "--summary", "x"]);
    let mut claude = Shell::agent(&stage, &bare, "claude");
    let first = claude.say("\"$BATON\" pickup --as Donna --json");
    claude.close();
    let mut again = Shell::agent(&stage, &bare, "claude");
    let second = again.say("\"$BATON\" pickup --as Donna --json");
    assert_eq!(second["baton"]["delta_id"], first["baton"]["delta_id"], "{second:#}");
    assert_ne!(second["session_id"], first["session_id"]);
    stage.terminal("Late").refused(4, "baton_claimed", &["pickup"]);
    stage.assert_sound();
}

#[test]
fn a_script_is_one_process_from_its_start_to_its_wrap() {
    let stage = Stage::ready();
    let body = "\"$BATON\" start --as Lola >/dev/null && \"$BATON\" checkpoint --as Lola --summary half >/dev/null &&\n\
        \"$BATON\" wrap --as Lola --summary done --json\n";
    let script = stage.file("work.sh", body);
    let mut command = stage.bare().program("sh");
    command
        .arg(&script)
        .env("BATON", BATON)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let wrapped = Answer::of(command.spawn().expect("sh runs"), &[&script]).done().json();
    assert_eq!(stage.terminal("Donna").json(&["pickup"])["baton"]["delta_id"], wrapped["delta_id"]);
}

#[test]
fn callers_without_a_name_hold_what_they_hold_alone() {
    let stage = Stage::ready();
    let process = |name: &str| stage.bare().with("BATON_PROCESS", name);
    let (one, two) = (process("one"), process("two"));
    let id = text(&one.json(&["task", "create", "paint"]), "id");
    let first = one.json(&["task", "claim", &id]);
    let refusal = two.refused(4, "task_claimed", &["task", "claim", &id]);
    assert_eq!(
        (&first["identity"], &refusal["holder_process"]),
        (&"Bot".into(), &"one".into()),
        "{refusal:#}"
    );
    one.json(&["lease", "take", "src/"]);
    two.refused(4, "lease_not_yours", &["lease", "release", "src/"]);
    let begun = one.json(&["start"]);
    two.refused(3, "no_session", &["wrap", "--summary", "of another"]);
    let session = text(&begun, "session_id");
    two.refused(4, "session_not_yours", &["wrap", "--summary", "of another", "--session", &session]);
    let checkpoint = two.with("BATON_SESSION", &session).json(&["checkpoint", "--summary", "half"]);
    assert_eq!(checkpoint["session_id"], session.as_str());
    let forced = two.json(&["wrap", "--summary", "s", "--session", &session, "--force", "--why", "it hangs"]);
    assert_eq!(forced["forced_by"], "Bot");
    stage.assert_sound();
}

#[test]
fn a_retry_says_first_what_is_not_so_any_more() {
    let stage = Stage::ready();
    let (ann, ben) = (stage.terminal("Ann"), stage.terminal("Ben"));
    stage.terminal("Lola").json(&["start"]);
    stage.terminal("Lola").json(&["wrap", "--summary", "x"]);
    ann.json(&["pickup", "--request-id", "r"]);
    assert!(ann.text(&["pickup", "--request-id", "r"]).starts_with("picked up by this request before: "));
    ann.json(&["end"]);
    ben.json(&["pickup"]);
    let over = ann.text(&["pickup", "--request-id", "r"]);
    assert!(over.starts_with("not yours any more: ") && over.contains("taken by Ben"), "{over}");
    ann.json(&["start", "--request-id", "s"]);
    ann.json(&["end"]);
    let over = ann.text(&["start", "--request-id", "s"]);
    assert!(over.starts_with("not at work any more: session "), "{over}");
}

#[test]
fn a_folder_is_leased_with_what_lies_below_it_and_a_name_of_nothing_is_told() {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    std::fs::create_dir_all(stage.shop().join("lib")).expect("made");
    std::fs::write(stage.shop().join("lib/a.txt"), "a").expect("written");
    let taken = lola.text(&["lease", "take", "lib"]);
    assert!(taken.contains("lib is a folder: everything below it is leased"), "{taken}");
    stage.terminal("Donna").refused(4, "lease_conflict", &["lease", "take", "lib/a.txt"]);
    assert!(lola.text(&["lease", "take", "lbi"]).contains("there is no lbi"), "a slip of the hand");
    assert!(lola.text(&["lease", "take", "lbi/*"]).contains("lbi/* matches no file that is there"));
}

#[test]
fn a_token_that_is_made_as_somebody_is_bound_to_them() {
    let stage = Stage::ready();
    let made = stage.terminal("Owner").json(&["token", "create", "--as", "Ann", "--scope", "read"]);
    assert_eq!(
        (&made["identities"], &made["name"]),
        (&serde_json::json!(["Ann"]), &"Ann".into()),
        "{made:#}"
    );
    assert_eq!(made["created_by"], "Owner");
}

#[test]
fn a_fingerprint_of_another_machine_is_never_taken_for_gone() {
    let stage = Stage::ready();
    let far = stage
        .bare()
        .with("BATON_MACHINE", "laptop")
        .with("BATON_PROCESS", "1:1@1")
        .with("BATON_PROJECT", "shop");
    far.json(&["start", "--as", "Lola"]);
    stage.terminal("Lola").refused(4, "identity_conflict", &["start"]);
}

#[test]
fn a_caller_without_a_name_is_who_its_process_is() {
    let stage = Stage::ready();
    let shell = |process: &str| {
        let mut terminal = stage.bare();
        terminal.set("BATON_PROCESS", process);
        terminal
    };
    let agent = shell("agent-1");
    let session = text(&agent.json(&["start", "--as", "Worker"]), "session_id");
    assert_eq!(agent.json(&["note", "prices are in cents"])["identity"], "Worker");
    let other = shell("agent-2");
    assert_eq!(other.json(&["note", "somebody else"])["identity"], "Bot");
    let mut named = shell("agent-3");
    named.set("BATON_SESSION", &session);
    assert_eq!(named.json(&["note", "in its session"])["identity"], "Worker");
    let wrapped = agent.json(&["wrap", "--summary", "half of the cart"]);
    assert_eq!((&wrapped["identity"], text(&wrapped, "session_id")), (&"Worker".into(), session));
    assert_eq!(agent.json(&["pickup"])["identity"], "Worker", "the name is kept after its session");
    // Of two names, neither is guessed.
    agent.json(&["start", "--as", "Second"]);
    assert_eq!(agent.json(&["note", "one of two"])["identity"], "Bot");
    stage.assert_sound();
}

#[test]
fn a_process_that_has_a_name_in_each_project_is_known_by_it_in_each() {
    let stage = Stage::ready();
    crate::cross::beside(&stage);
    let shop = stage.bare().with("BATON_PROCESS", "p");
    let lib = shop.within(stage.root().join("lib"));
    shop.json(&["start", "--as", "Eva"]);
    lib.json(&["start", "--as", "Xaver"]);
    assert_eq!(lib.json(&["note", "hello"])["identity"], "Xaver");
    assert_eq!(shop.json(&["note", "hello"])["identity"], "Eva");
    assert_eq!(lib.json(&["end"])["identity"], "Xaver");
    // Two names in one project: which of them speaks is not guessed, and the refusal names one.
    shop.json(&["start", "--as", "Zoe"]);
    let refused = shop.refused(3, "no_session", &["end"]);
    assert!(text(&refused, "hint").contains("say `--as "), "{refused:#}");
}
