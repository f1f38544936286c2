//! Hand-offs with faults at every call and `kill -9` at every step: one issue, one note, one seeded session for each that is
//! offered, nothing for every other. `BATON_E2E_HANDOFFS=1000` does a thousand, `BATON_E2E_AT_ONCE=8` eight at a time.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton_emulator::{Emulator, Fault, Issue, Options, Request};
use serde_json::{Value, json};

use crate::cross::{beside, with_github};
use crate::stage::{Answer, Stage, Terminal, env, items, text};

/// A number below `limit`, different in every run.
fn random(limit: u64) -> u64 {
    std::collections::hash_map::RandomState::new().build_hasher().finish() % limit
}

/// Sends a signal to a process that may have ended.
fn signal(name: &str, pid: u32) {
    let _ = Command::new("kill").args([name, &pid.to_string()]).stderr(Stdio::null()).status();
}

/// Processes that may be killed while they wait for the emulator, by the token that each shows.
#[derive(Clone, Default)]
struct KillTargets {
    callers: Arc<Mutex<HashMap<String, u32>>>,
    kills: Arc<AtomicU32>,
    sleeps: Arc<AtomicU32>,
}

impl KillTargets {
    fn caller(&self, request: &Request) -> Option<u32> {
        let token = request.headers.get("authorization")?.strip_prefix("Bearer ")?;
        self.callers.lock().expect("not poisoned").remove(token)
    }

    /// Kills whoever sent this request, after a while.
    fn kill(&self, request: &Request, after: Duration) {
        if let Some(pid) = self.caller(request) {
            self.kills.fetch_add(1, Ordering::Relaxed);
            std::thread::spawn(move || {
                std::thread::sleep(after);
                signal("-KILL", pid);
            });
        }
    }

    /// Stops whoever sent this request until its lease is over; then it wakes, or is killed in its sleep.
    fn sleep(&self, request: &Request) {
        if let Some(pid) = self.caller(request) {
            self.sleeps.fetch_add(1, Ordering::Relaxed);
            signal("-STOP", pid);
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(15_000 + random(4_000)));
                signal(if random(2) == 0 { "-KILL" } else { "-CONT" }, pid);
                signal("-CONT", pid);
            });
        }
    }
}

/// Everything that can go wrong with one call, the death of the caller included.
fn wild(request: &Request, doomed: &KillTargets) -> Fault {
    let soon = Duration::from_millis(20);
    match random(24) {
        0 => Fault::Refuse(503, None),
        1 => Fault::DropBefore,
        2 | 3 => Fault::DropAfter,
        4 => Fault::DropDuring,
        5 => Fault::FailAfter(502),
        6 => Fault::Refuse(403, Some(1)),
        7 => {
            doomed.kill(request, Duration::ZERO);
            Fault::DropBefore
        }
        8..=10 => {
            // Done, and the caller dies before it hears.
            doomed.kill(request, soon);
            Fault::Late(200)
        }
        11 => Fault::Refuse(404, None),
        _ => Fault::None,
    }
}

/// The same, with requests that arrive when their sender has been given up, and senders that sleep through their lease.
fn late(request: &Request, doomed: &KillTargets) -> Fault {
    if request.method != "POST" {
        return wild(request, doomed);
    }
    match random(8) {
        0 => {
            doomed.kill(request, Duration::ZERO);
            Fault::DoneLater(500 + random(4_000))
        }
        1 => Fault::DoneLater(200 + random(2_000)),
        2 => {
            doomed.sleep(request);
            if random(2) == 0 { Fault::DoneLater(16_000) } else { Fault::Late(100) }
        }
        _ => wild(request, doomed),
    }
}

struct Play<'a> {
    who: Terminal<'a>,
    doomed: KillTargets,
}

impl Play<'_> {
    /// Starts a command that may be killed; sometimes it is, after a random time.
    fn start(&self, args: &[&str]) -> Child {
        let token = format!("t{:016x}", random(u64::MAX));
        let mut callers = self.doomed.callers.lock().expect("not poisoned");
        let child = self.who.with("BATON_GITHUB_TOKEN", &token).spawn(args);
        callers.insert(token, child.id());
        child
    }

    fn end(&self, mut child: Child, args: &[&str]) -> Answer {
        if random(3) == 0 {
            std::thread::sleep(Duration::from_micros(random(60_000)));
            let _ = child.kill();
        }
        let pid = child.id();
        let answer = Answer::of(child, args);
        self.doomed.callers.lock().expect("not poisoned").retain(|_, known| *known != pid);
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
            let answered: Option<Value> = serde_json::from_str(&answer.out).ok();
            if let Some(id) = answered.and_then(|v| v["handoff_id"].as_str().map(str::to_owned)) {
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

/// Numbers below a limit, each taken by one of several threads.
pub(crate) fn shared_out<T: Send>(count: usize, at_once: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let one = work(number);
                    done.lock().expect("not poisoned").push(one);
                }
            });
        }
    });
    done.into_inner().expect("not poisoned")
}

fn number(name: &str, usual: usize) -> usize {
    env(name).and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Plays so many hand-offs, lets everything come to rest, and counts. Returns how many doubles were made and closed again.
fn play(runs: usize, faults: fn(&Request, &KillTargets) -> Fault, rest: Duration) -> usize {
    let at_once = number("BATON_E2E_AT_ONCE", 3);
    let (stage, hub) = (Stage::ready(), Emulator::start(Options::default()).expect("an emulator"));
    beside(&stage);
    let doomed = KillTargets::default();
    let other = doomed.clone();
    hub.script(Some(Box::new(move |request| faults(request, &other))));
    let play = Play { who: with_github(&stage.terminal("Ann"), &hub), doomed };
    let ids = shared_out(runs, at_once, |run| play.one(run));
    hub.script(None);
    std::thread::sleep(rest);
    let ended = shared_out(ids.len(), at_once, |at| settle(&play.who, &ids[at]));
    let count = |of: &AtomicU32| of.load(Ordering::Relaxed);
    eprintln!(
        "{runs} hand-offs: {} callers killed at a call, {} put to sleep",
        count(&play.doomed.kills),
        count(&play.doomed.sleeps)
    );
    check(&stage, &hub, &ended)
}

#[test]
fn a_thousand_handoffs_are_whole_or_not_there() {
    assert_eq!(play(number("BATON_E2E_HANDOFFS", 12), wild, Duration::ZERO), 0, "never a double");
}

#[test]
fn requests_that_arrive_when_others_have_gone_on_leave_one_issue() {
    let doubles = play(number("BATON_E2E_LATE", 4), late, Duration::from_secs(17));
    eprintln!("{doubles} doubles were made by what came late, and closed");
}

/// Drives a hand-off until none of its steps waits.
fn settle(who: &Terminal<'_>, id: &str) -> Value {
    for _ in 0..200 {
        let shown = who.json(&["handoff", "show", id]);
        let waits = items(&json!({ "items": shown["steps"] })).iter().any(waits);
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

/// Counts what is there in the three systems. Returns how many doubles there are, all of them closed.
fn check(stage: &Stage, hub: &Emulator, ended: &[Value]) -> usize {
    let reader = stage.terminal("Reader");
    let hub = hub.hub();
    let mut issues: HashMap<&str, Vec<&Issue>> = HashMap::new();
    for issue in hub.issues("o/lib") {
        issues.entry(issue.title.as_str()).or_default().push(issue);
    }
    let (mut states, mut doubles) = (HashMap::<String, usize>::new(), 0);
    for handoff in ended {
        let (subject, state) = (text(handoff, "subject"), text(handoff, "state"));
        *states.entry(state.clone()).or_default() += 1;
        let offered = usize::from(state == "offered");
        assert!(offered == 1 || ["failed", "cancelled"].contains(&state.as_str()), "{handoff:#}");
        assert!(state != "failed" || handoff["last_error"].is_string(), "a reason: {handoff:#}");
        let mine = issues.get(subject.as_str()).map_or(&[][..], Vec::as_slice);
        assert_eq!(mine.iter().filter(|issue| issue.open).count(), offered, "open: {mine:#?} {handoff:#}");
        let remains = |issue: &Issue| issue.open || issue.reason.as_deref() != Some("duplicate");
        assert!(mine.iter().filter(|issue| remains(issue)).count() <= 1, "a double: {mine:#?} {handoff:#}");
        doubles += mine.iter().filter(|issue| !remains(issue)).count();
        if let Some(open) = mine.iter().find(|issue| issue.open) {
            assert_eq!(handoff["task"]["id"], format!("gh-o/lib-{}", open.number), "{handoff:#}");
        }
        let note = handoff["note"]["withdrawn_at"].is_null() && handoff["note"].is_object();
        assert_eq!(usize::from(note), offered, "notes: {handoff:#}");
        let task = format!("handoff-{}", text(handoff, "handoff_id").rsplit('-').next().expect("an end"));
        assert_eq!(seeds(&reader, &task), offered, "seeded sessions: {handoff:#}");
    }
    assert_eq!(ended.len(), issues.len().max(ended.len()), "no issue of a hand-off that is not there");
    eprintln!("{states:?}, {doubles} doubles closed");
    stage.assert_sound();
    doubles
}

/// How many seeded sessions there are of this tuple.
fn seeds(reader: &Terminal<'_>, task: &str) -> usize {
    let shown = reader.json(&["resolve", "--project", "lib", "--as", "Bot", "--task", task]);
    usize::from(shown["resolution"] == "resume")
}
