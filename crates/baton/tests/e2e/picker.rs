//! The picker, in a terminal of its own: `script` gives one.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::json;

use crate::stage::{BATON, Stage, Terminal, env, skipped};
use crate::transcript_copies::{ID, TwoMachines};

/// A command in a terminal, and what it has drawn so far.
pub(crate) struct Seat {
    child: Child,
    keys: ChildStdin,
    drawn: Arc<(Mutex<String>, Condvar)>,
}

impl Seat {
    pub(crate) fn open(mut script: Command, line: &str) -> Self {
        script.args(["-qec", &format!("stty rows 24 cols 100; {line}"), "/dev/null"]);
        script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).env("TERM", "xterm");
        let mut child = script.spawn().expect("script runs");
        let (keys, mut screen) = (child.stdin.take().expect("keys"), child.stdout.take().expect("screen"));
        let drawn = Arc::new((Mutex::new(String::new()), Condvar::new()));
        let copy = drawn.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n) = screen.read(&mut bytes)
                && n > 0
            {
                copy.0.lock().expect("lock").push_str(&String::from_utf8_lossy(&bytes[..n]));
                copy.1.notify_all();
            }
        });
        Self { child, keys, drawn }
    }

    /// Waits until this was drawn, after what was waited for before.
    pub(crate) fn see(&self, part: &str) {
        let drawn = self.drawn.0.lock().expect("lock");
        let wait =
            self.drawn.1.wait_timeout_while(drawn, Duration::from_secs(60), |drawn| !drawn.contains(part));
        let (mut drawn, waited) = wait.expect("lock");
        assert!(!waited.timed_out(), "`{part}` was not drawn: {drawn}");
        // What was drawn after it may be waited for next.
        let end = drawn.find(part).map_or(0, |at| at + part.len());
        drawn.drain(..end);
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("keys");
        self.keys.flush().expect("keys");
    }

    /// What is drawn until the end.
    pub(crate) fn rest(mut self) -> String {
        let _ = self.child.wait();
        // The last words may be on their way still.
        std::thread::sleep(Duration::from_millis(200));
        self.drawn.0.lock().expect("lock").replace('\r', "")
    }

    pub(crate) fn end(mut self) -> i32 {
        self.child.wait().expect("it ends").code().unwrap_or(-1)
    }
}

pub(crate) fn script() -> bool {
    let there =
        Command::new("script").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !there {
        skipped("no terminal: `script` is not installed");
    }
    there
}

/// Three sessions, and a stand-in for Codex.
fn worked() -> Stage {
    let stage = Stage::ready();
    for (id, text) in
        [("aaaa1111", "Round the prices"), ("bbbb2222", "Paint the shed"), ("cccc3333", "Round the corners")]
    {
        let line = |kind: &str, uuid: &str, parent: Option<&str>, content: &str| {
            let record = json!({ "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": id, "cwd": stage.shop(),
                "timestamp": "2026-11-20T10:00:00.000Z", "message": { "role": kind, "content": content } });
            format!("{record}\n")
        };
        let content =
            line("user", "u1", None, text) + &line("assistant", "a1", Some("u1"), "Half of it is done.");
        stage.file(&format!("home/.claude/projects/-shop/{id}.jsonl"), content);
    }
    install_codex(&stage);
    stage
}

/// A stand-in that writes down how it was called.
fn install_codex(stage: &Stage) {
    let codex =
        stage.file("bin/codex", "#!/bin/sh\nfor arg in \"$@\"; do echo \"$arg\"; done > \"$HOME/called\"\n");
    fs::set_permissions(&codex, fs::Permissions::from_mode(0o755)).expect("executable");
}

fn seat(stage: &Stage, args: &str) -> Seat {
    seat_of(stage, &stage.terminal("Lola"), args)
}

fn seat_of(stage: &Stage, terminal: &Terminal<'_>, args: &str) -> Seat {
    let path = format!("{}:{}", stage.root().join("bin").display(), env("PATH").expect("PATH"));
    Seat::open(terminal.with("PATH", path).program("script"), &format!("{BATON} continue {args}"))
}

#[test]
fn a_session_is_searched_looked_at_and_continued() {
    if !script() {
        return;
    }
    let stage = worked();
    let mut seat = seat(&stage, "");
    seat.see("Half of it is done.");
    seat.press("round");
    seat.see("2/3");
    seat.press(" corn");
    seat.see("1/3");
    seat.see("cccc3333");
    seat.press("\r");
    seat.see("continue in");
    seat.press("codex");
    seat.see("starts `codex`");
    seat.press("\r");
    seat.see("goes on in Codex");
    assert_eq!(seat.end(), 0);
    let called = fs::read_to_string(stage.home().join("called")).expect("it was started");
    assert!(called.contains("Round the corners") && called.contains("\n-C\n"), "{called}");
}

#[test]
fn who_leaves_the_picker_has_changed_nothing() {
    if !script() {
        return;
    }
    let stage = worked();
    let before = stage.deltas();
    for key in ["\u{1b}", "\u{3}"] {
        let mut seat = seat(&stage, "--in codex");
        seat.see("3/3");
        seat.press("nothing of that name");
        seat.see("nothing is found");
        seat.press(key);
        // The terminal is given back: the cursor is seen again, the other screen is left.
        seat.see("\u{1b}[?1049l");
        assert_eq!(seat.end(), 130);
    }
    assert_eq!(stage.deltas(), before);
    assert!(!Path::new(&stage.home().join("called")).exists());
}

#[test]
fn a_session_of_another_machine_is_marked_looked_at_and_continued() {
    if !script() {
        return;
    }
    let of = TwoMachines::new();
    let (ann, donna) = (of.ann(), of.donna());
    install_codex(&of.desktop);
    let local = json!({ "type": "user", "uuid": "u1", "sessionId": "dddd4444", "cwd": "/elsewhere",
        "timestamp": "2026-11-20T10:00:00.000Z", "message": { "role": "user", "content": "Paint the shed" } });
    of.desktop.file("home/.claude/projects/-elsewhere/dddd4444.jsonl", format!("{local}\n"));
    ann.json(&["project", "set", "--transcripts", "yes"]);
    ann.json(&["transcripts", "push"]);
    // What was pushed to the project of this folder comes before what another folder holds.
    let mut first = seat_of(&of.desktop, &donna, "--in codex");
    for part in ["2/2", "pushed by Ann", "from machine laptop"] {
        first.see(part);
    }
    first.press("laptop");
    first.see("1/2");
    first.press("\r");
    first.see("goes on in Codex");
    assert_eq!(first.end(), 0);
    let called = fs::read_to_string(of.desktop.home().join("called")).expect("it was started");
    assert!(called.contains("make test"), "{called}");
    assert_eq!(of.leftovers(), 0, "what was fetched for the preview is gone");
    // On the machine that has the session it is listed once, as its own.
    let mut own = seat_of(&of.laptop, &ann, "--in codex");
    own.see("1/1");
    own.press("\u{1b}");
    own.end();
    // One that no key of hers opens says so before it is chosen.
    ann.json(&["key", "create"]);
    ann.json(&["transcripts", "push"]);
    let mut locked = seat_of(&of.desktop, &donna, "--in codex");
    locked.press(&ID[..8]);
    for part in ["(encrypted)", "pushed by Ann", "no key of yours opens it"] {
        locked.see(part);
    }
    locked.press("\u{1b}");
    assert_eq!(locked.end(), 130);
}

#[test]
fn without_a_terminal_the_ways_to_name_a_session_are_listed() {
    let stage = worked();
    let refused = stage.terminal("Lola").refused(1, "session_needed", &["continue"]);
    let hint = refused["hint"].as_str().unwrap_or_default();
    assert!(hint.contains("latest") && hint.contains("transcripts list") && hint.contains("path"), "{hint}");
}
