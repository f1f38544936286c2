//! Hand-offs with faults at every call and `kill -9` at every step: one issue, one note, one seeded session for each that is
//! offered, nothing for every other. `BATON_E2E_HANDOFFS=1000` does a thousand.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton_emulator::{Emulator, Fault, Options, Request};
use serde_json::Value;

use crate::cross::{beside, github, with_github};
use crate::stage::{Answer, Stage, Terminal, env, items, text};

/// A number below `limit`, different in every run.
fn random(limit: u64) -> u64 {
    std::collections::hash_map::RandomState::new().build_hasher().finish() % limit
}

/// Processes that may be killed by the emulator while they wait for it.
type Doomed = Arc<Mutex<Vec<u32>>>;

fn kill(doomed: &Doomed) {
    for pid in doomed.lock().expect("not poisoned").drain(..) {
        let _ =
            Command::new("kill").args(["-9", &pid.to_string()]).stderr(std::process::Stdio::null()).status();
    }
}

/// Everything that can go wrong with one call, the death of the caller included.
fn wild(_: &Request, doomed: &Doomed, kills: &AtomicU32) -> Fault {
    let death = |fault| {
        kill(doomed);
        kills.fetch_add(1, Ordering::Relaxed);
        fault
    };
    match random(24) {
        0 => Fault::Refuse(503, None),
        1 => Fault::DropBefore,
        2 | 3 => Fault::DropAfter,
        4 => Fault::DropDuring,
        5 => Fault::FailAfter(502),
        6 => Fault::Refuse(403, Some(1)),
        7 => death(Fault::DropBefore),
        8 | 9 => death(Fault::DropAfter),
        10 => death(Fault::None),
        11 => Fault::Refuse(404, None),
        _ => Fault::None,
    }
}

struct Play<'a> {
    who: Terminal<'a>,
    doomed: Doomed,
}

impl Play<'_> {
    /// Starts a command that may be killed; sometimes it is, after a random time.
    fn start(&self, args: &[&str]) -> Child {
        let child = self.who.spawn(args);
        self.doomed.lock().expect("not poisoned").push(child.id());
        child
    }

    fn end(&self, mut child: Child, args: &[&str]) -> Answer {
        if random(3) == 0 {
            std::thread::sleep(Duration::from_micros(random(60_000)));
            let _ = child.kill();
        }
        let pid = child.id();
        let answer = Answer::of(child, args);
        self.doomed.lock().expect("not poisoned").retain(|known| *known != pid);
        answer
    }

    /// One hand-off: made, driven by two processes at a time, now and then taken back.
    fn one(&self, run: usize) -> String {
        let (request, subject) = (format!("r{run}"), format!("run {run}"));
        let create = [
            "handoff",
            "create",
            "--to",
            "lib",
            "--subject",
            &subject,
            "--repo",
            "o/lib",
            "--request-id",
            &request,
            "--json",
        ];
        let first = self.start(&create);
        self.end(first, &create);
        // The same request, until it is known; a second process goes on with what the first left, at the same time.
        let id = loop {
            let beside = self.start(&["status", "--json"]);
            let again = self.start(&create);
            let answer = self.end(again, &create);
            self.end(beside, &["status"]);
            let said: Option<Value> = serde_json::from_str(&answer.out).ok();
            if let Some(id) = said.and_then(|v| v["handoff_id"].as_str().map(str::to_owned)) {
                break id;
            }
        };
        let verb = ["retry", "cancel", "retry", "show"][usize::try_from(random(4)).expect("small")];
        let args = ["handoff", verb, &id, "--json"];
        let child = self.start(&args);
        self.end(child, &args);
        id
    }
}

#[test]
fn a_thousand_handoffs_are_whole_or_not_there() {
    let runs = env("BATON_E2E_HANDOFFS").and_then(|text| text.parse().ok()).unwrap_or(12);
    let (stage, hub) = (Stage::ready(), github(Options::default()));
    beside(&stage);
    let (doomed, kills) = (Doomed::default(), Arc::new(AtomicU32::new(0)));
    let (d, k) = (Arc::clone(&doomed), Arc::clone(&kills));
    hub.script(Some(Box::new(move |request| wild(request, &d, &k))));
    let play = Play { who: with_github(&stage.terminal("Ann"), &hub), doomed };
    let ids: Vec<String> = (0..runs).map(|run| play.one(run)).collect();
    hub.script(None);
    let ended: Vec<Value> = ids.iter().map(|id| settle(&play.who, id)).collect();
    eprintln!("{runs} hand-offs, {} callers killed by the emulator", kills.load(Ordering::Relaxed));
    check(&stage, &hub, &ended);
}

/// Drives a hand-off until none of its steps waits.
fn settle(who: &Terminal<'_>, id: &str) -> Value {
    for _ in 0..200 {
        let shown = who.json(&["handoff", "show", id]);
        let waits = items(&serde_json::json!({ "items": shown["steps"] })).iter().any(waits);
        if !waits {
            return shown;
        }
        // A failed one that may have left something is looked for in ten minutes; taking it back does so now.
        if shown["state"] == "failed" {
            who.run(&["handoff", "cancel", id, "--result", "given up"]);
        }
        who.run(&["handoff", "retry", id]);
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("hand-off {id} does not come to an end: {:#}", who.json(&["handoff", "show", id]));
}

/// A step that is to be done; one on the way back that failed for good waits for a person, who tries it again.
fn waits(step: &Value) -> bool {
    let back = step["step"].as_str().is_some_and(|kind| kind.starts_with("undo"));
    match step["state"].as_str() {
        Some("pending" | "running") => true,
        state => back && state == Some("failed"),
    }
}

/// Counts what is there in the three systems.
fn check(stage: &Stage, hub: &Emulator, ended: &[Value]) {
    let reader = stage.terminal("Reader");
    let hub = hub.hub();
    let mut open: HashMap<&str, usize> = HashMap::new();
    let mut all: HashMap<&str, usize> = HashMap::new();
    for issue in hub.issues("o/lib") {
        *all.entry(issue.title.as_str()).or_default() += 1;
        *open.entry(issue.title.as_str()).or_default() += usize::from(issue.open);
    }
    let mut states: HashMap<String, usize> = HashMap::new();
    for handoff in ended {
        let (subject, state) = (text(handoff, "subject"), text(handoff, "state"));
        *states.entry(state.clone()).or_default() += 1;
        let offered = usize::from(state == "offered");
        assert!(offered == 1 || ["failed", "cancelled"].contains(&state.as_str()), "{handoff:#}");
        assert!(state != "failed" || handoff["last_error"].is_string(), "a reason: {handoff:#}");
        assert_eq!(open.get(subject.as_str()).copied().unwrap_or(0), offered, "open issues: {handoff:#}");
        assert!(all.get(subject.as_str()).copied().unwrap_or(0) <= 1, "never a double: {handoff:#}");
        let note = handoff["note"]["withdrawn_at"].is_null() && handoff["note"].is_object();
        assert_eq!(usize::from(note), offered, "notes: {handoff:#}");
        let task = format!("handoff-{}", text(handoff, "handoff_id").rsplit('-').next().expect("an end"));
        let seeded = seeds(&reader, &task);
        assert_eq!(seeded, offered, "seeded sessions: {handoff:#}");
    }
    eprintln!("{states:?}");
    stage.assert_sound();
}

/// How many seeded sessions there are of this tuple.
fn seeds(reader: &Terminal<'_>, task: &str) -> usize {
    let shown = reader.json(&["resolve", "--project", "lib", "--as", "Bot", "--task", task]);
    usize::from(shown["resolution"] == "resume")
}
