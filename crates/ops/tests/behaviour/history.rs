//! Random histories: agents of several names and processes do what agents do, and what must always hold is looked at
//! after every step. Some calls crash in the middle, some answers are lost before their signals are marked as delivered. A
//! failure prints the seed of its history; `BATON_TEST_SEED` runs that one alone, `BATON_TEST_HISTORIES` sets how many run.

use std::collections::{BTreeMap, BTreeSet};

use baton_model::session::{Limits, Session};
use baton_store::session;
use serde_json::{Value, json};

use crate::backend::{Backend, NOW};
use crate::world::{Agent, LIVE, STALE, World, agent, text};

const STEPS: usize = 30;

/// The refusals that a history may meet.
const EXPECTED: [&str; 13] = [
    "session_not_yours",
    "identity_conflict",
    "predecessor_active",
    "baton_claimed",
    "baton_spent",
    "baton_addressed",
    "already_holding",
    "session_released",
    "session_ambiguous",
    "no_session",
    "version_conflict",
    "message_delivered",
    "message_unknown",
];

/// One agent: a name, a machine, and the number of its present process.
struct Actor {
    name: &'static str,
    machine: &'static str,
    lives: u32,
}

impl Actor {
    fn agent(&self) -> Agent {
        let process = format!("{} {} {}", self.name, self.machine, self.lives);
        agent(self.name).machine(self.machine).process(&process)
    }
}

/// What is remembered from step to step.
#[derive(Default)]
struct Memory {
    ledger: Vec<Value>,
    released: BTreeMap<String, String>,
    sessions: Vec<String>,
    batons: Vec<String>,
    signals: Signals,
}

/// What was sent, and what became of it.
#[derive(Default)]
struct Signals {
    sent: BTreeSet<String>,
    /// Written out and marked.
    delivered: BTreeSet<String>,
    recalled: BTreeSet<String>,
}

struct Baton {
    id: String,
    holder: Option<String>,
    spent: bool,
}

fn batons(w: &mut World) -> Vec<Baton> {
    let sql = "SELECT baton_id, holder_session_id, spent_by FROM baton ORDER BY seq";
    let rows = w.store.read(|tx| Ok(tx.query(sql, &[])?)).expect("readable");
    let read = |row: baton_store::Row| {
        let mut r = row.reader();
        let (id, holder, spent) = (r.text(), r.opt_text(), r.opt_text());
        Baton { id: id.expect("id"), holder: holder.expect("holder"), spent: spent.expect("spent").is_some() }
    };
    rows.into_iter().map(read).collect()
}

fn sessions(w: &mut World) -> Vec<Session> {
    w.store.read(|tx| Ok(session::newest(tx, "p", 10_000)?)).expect("readable")
}

/// A step: who does what. `None` when only time passes or a process ends.
fn choose(w: &mut World, cast: &mut [Actor], memory: &Memory) -> Option<(Agent, &'static str, Value)> {
    let at = w.dice.below(cast.len());
    let mut who = cast[at].agent();
    let any = |w: &mut World, ids: &[String]| (!ids.is_empty()).then(|| ids[w.dice.below(ids.len())].clone());
    if w.dice.below(8) == 0 {
        who.0.session = any(w, &memory.sessions);
    }
    let force = w.dice.below(4) == 0;
    let took = match w.dice.below(21) {
        0 | 1 => ("session_start", json!({ "force": force, "why": "history" })),
        2..=4 => ("session_start", json!({})),
        5 | 6 => ("session_checkpoint", json!({ "state": { "n": w.dice.below(9) } })),
        7..=9 => ("session_wrap", json!({ "summary": "wrapped" })),
        10 => ("session_wrap", json!({ "summary": "wrapped", "to": cast[w.dice.below(cast.len())].name })),
        11..=13 => ("hd_exec", json!({ "force": force, "why": "history" })),
        14 => ("hd_exec", json!({ "handoff_id": any(w, &memory.batons), "force": force })),
        15 => ("hd_exec", json!({ "from_session": any(w, &memory.sessions), "force": force })),
        16 => ("session_end", json!({})),
        17 => ("ledger_note", json!({ "text": "noted" })),
        18 => {
            let to = cast[w.dice.below(cast.len())].name;
            match memory.signals.sent.iter().next_back() {
                Some(id) if w.dice.below(4) == 0 => ("signal_recall", json!({ "message_id": id })),
                _ => ("signal_send", json!({ "to": to, "type": "Question", "subject": "s" })),
            }
        }
        19 => {
            let spans = [1, 1_000, LIVE, LIVE + 1, STALE, STALE + 1];
            let span = spans[w.dice.below(spans.len())];
            w.advance(span);
            return None;
        }
        _ => {
            w.kill(&cast[at].agent());
            cast[at].lives += 1;
            return None;
        }
    };
    Some((who, took.0, took.1))
}

fn step(w: &mut World, cast: &mut [Actor], memory: &mut Memory) {
    let Some((who, verb, input)) = choose(w, cast, memory) else { return };
    if w.dice.below(6) == 0 {
        let (everything, at) = (w.everything(), w.dice.below(14));
        if w.call_failing(&who, verb, input.clone(), u32::try_from(at).unwrap_or_default()).is_none() {
            assert_eq!(w.everything(), everything, "{verb} crashed at step {at} and left something behind");
            return;
        }
        // It came through after all: what it wrote stands, its answer is lost.
        return learn_of_lost_answers(w, memory);
    }
    let before = w.ledger();
    match w.call(&who, verb, input.clone()) {
        Ok(answer) => follow_signals(w, &who, verb, &input, &answer, memory),
        Err(refusal) => {
            let code = text(&refusal, "code");
            assert!(EXPECTED.contains(&code.as_str()), "{verb} {input}: {refusal:#}");
            // The same late words are kept once.
            let id = refusal.get("kept_delta_id");
            let is_new = id.is_some_and(|id| before.iter().all(|delta| delta["delta_id"] != *id));
            assert_eq!(
                w.ledger().len(),
                before.len() + usize::from(is_new),
                "{verb} was refused as {code}, but wrote"
            );
        }
    }
}

/// Signals that were sent or taken back by calls whose answer nobody saw.
fn learn_of_lost_answers(w: &mut World, memory: &mut Memory) {
    let sql = "SELECT message_id, recalled_at FROM message WHERE subject = 's' ORDER BY message_id";
    for row in w.store.read(|tx| Ok(tx.query(sql, &[])?)).expect("readable") {
        let mut r = row.reader();
        let (id, recalled) = (r.text().expect("id"), r.opt_int().expect("time"));
        if recalled.is_some() {
            memory.signals.recalled.insert(id.clone());
        }
        memory.signals.sent.insert(id);
    }
}

/// A signal that is given out was sent, was not marked before, and was not taken back. Whoever takes the answer marks it,
/// unless it crashes in between: then the signal comes once more.
fn follow_signals(
    w: &mut World,
    who: &Agent,
    verb: &str,
    input: &Value,
    answer: &Value,
    memory: &mut Memory,
) {
    match verb {
        "signal_send" => drop(memory.signals.sent.insert(text(answer, "message_id"))),
        "signal_recall" => drop(memory.signals.recalled.insert(text(input, "message_id"))),
        "hd_exec" => {
            let pending = answer["pending_signals"].as_array().cloned().unwrap_or_default();
            let ids: Vec<String> =
                pending.iter().filter(|s| s["subject"] == "s").map(|s| text(s, "message_id")).collect();
            for id in &ids {
                assert!(memory.signals.sent.contains(id), "a signal that nobody sent");
                assert!(!memory.signals.delivered.contains(id), "a signal came twice without a crash");
                assert!(!memory.signals.recalled.contains(id), "a signal that was taken back came");
            }
            if !ids.is_empty() && w.dice.below(3) > 0 {
                w.ok(who, "signal_delivered", json!({ "message_ids": ids }));
                memory.signals.delivered.extend(ids);
            }
        }
        _ => {}
    }
}

/// What was sent and neither marked nor taken back still waits.
fn no_signal_is_lost(w: &mut World, memory: &Memory) {
    let signals = &memory.signals;
    let sql =
        "SELECT message_id FROM message WHERE subject = 's' AND delivered_at IS NULL AND recalled_at IS NULL";
    let rows = w.store.read(|tx| Ok(tx.query(sql, &[])?)).expect("readable");
    let waiting: BTreeSet<String> = rows.into_iter().map(|row| row.reader().text().expect("id")).collect();
    let gone = |id: &&String| !signals.delivered.contains(*id) && !signals.recalled.contains(*id);
    let expected: BTreeSet<String> = signals.sent.iter().filter(gone).cloned().collect();
    assert_eq!(waiting, expected, "signals that wait");
}

/// What must hold whatever happened.
fn check(w: &mut World, memory: &mut Memory) {
    let ledger = w.ledger();
    let (batons, sessions) = (batons(w), sessions(w));
    ledger_only_grows(&ledger, memory);
    holders_agree(w, &batons, &sessions);
    released_stays_released(&sessions, memory);
    wraps_have_batons(w, &ledger, &batons);
    names_are_unique(&sessions);
    no_signal_is_lost(w, memory);
    memory.batons = batons.into_iter().map(|baton| baton.id).collect();
    memory.sessions = sessions.into_iter().map(|session| session.session_id).collect();
    memory.ledger = ledger;
}

fn ledger_only_grows(ledger: &[Value], memory: &Memory) {
    assert!(ledger.is_sorted_by(|a, b| a["seq"].as_i64() < b["seq"].as_i64()), "numbers rise");
    assert_eq!(ledger[..memory.ledger.len()], memory.ledger, "what was written stays");
}

fn holders_agree(w: &World, batons: &[Baton], sessions: &[Session]) {
    let fresh = |s: &&Session| s.is_fresh(w.now, Limits::default());
    for baton in batons {
        let says: Vec<_> =
            sessions.iter().filter(|s| s.is_open() && s.baton_id.as_ref() == Some(&baton.id)).collect();
        assert!(says.iter().copied().filter(fresh).count() <= 1, "baton {} is held twice", baton.id);
        for session in says {
            assert_eq!(baton.holder.as_ref(), Some(&session.session_id), "the session holds what it has");
            assert!(!baton.spent, "a spent baton is in nobody's hands");
        }
        let holder = baton.holder.as_ref().map(|id| sessions.iter().find(|s| s.session_id == *id));
        if let Some(holder) = holder {
            let holder = holder.expect("a holder that exists");
            assert_eq!(
                holder.has_wrapped(),
                baton.spent,
                "a baton is spent when its holder wraps, and only then"
            );
            assert!(
                !holder.is_open() || holder.baton_id.as_ref() == Some(&baton.id),
                "the holder knows of it"
            );
        }
    }
}

fn released_stays_released(sessions: &[Session], memory: &mut Memory) {
    for session in sessions {
        let now = session.release.as_ref().map(|release| format!("{release:?}"));
        let id = session.session_id.clone();
        match (memory.released.get(&id), now) {
            (Some(then), now) => assert_eq!(now.as_ref(), Some(then), "{id} was released"),
            (None, Some(now)) => drop(memory.released.insert(id, now)),
            (None, None) => {}
        }
    }
}

fn wraps_have_batons(w: &mut World, ledger: &[Value], batons: &[Baton]) {
    let wraps: Vec<String> =
        ledger.iter().filter(|d| d["kind"] == "wrap").map(|d| text(d, "delta_id")).collect();
    let ids: Vec<&String> = batons.iter().map(|baton| &baton.id).collect();
    assert_eq!(ids, wraps.iter().collect::<Vec<_>>(), "one wrap, one baton");
    let last = w.project().get("last_wrapped_delta_id").cloned();
    assert_eq!(last, wraps.last().map(|id| json!(id)), "the last wrap is the newest");
}

fn names_are_unique(sessions: &[Session]) {
    let mut names = BTreeSet::new();
    for session in sessions.iter().filter(|s| s.is_open() && s.identity != "Bot") {
        assert!(names.insert(&session.identity), "{} has two open sessions", session.identity);
    }
}

/// Says which history failed.
struct Seed(u64, Backend);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "the history of seed {} failed on {:?}: BATON_TEST_SEED={} runs it alone",
                self.0, self.1, self.0
            );
        }
    }
}

fn live(backend: Backend, seed: u64) {
    let _said = Seed(seed, backend);
    let Some(mut w) = World::new(backend, seed) else { return };
    let actor = |(name, machine)| Actor { name, machine, lives: 1 };
    let cast = [
        ("Donna", "m1"),
        ("Donna", "m2"),
        ("Lola", "m1"),
        ("lola", "m1"),
        ("Rex", "m2"),
        ("Bot", "m1"),
        ("Bot", "m2"),
    ];
    let mut cast = cast.map(actor);
    let mut memory = Memory::default();
    for _ in 0..STEPS {
        step(&mut w, &mut cast, &mut memory);
        check(&mut w, &mut memory);
    }
    assert!(w.now >= NOW);
    w.assert_sound();
}

#[allow(clippy::disallowed_methods, reason = "a person replays a seed, or wants more of them")]
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn seeds(count: u64) -> Vec<u64> {
    match number("BATON_TEST_SEED") {
        Some(seed) => vec![seed],
        None => (1..=number("BATON_TEST_HISTORIES").unwrap_or(count)).collect(),
    }
}

#[test]
fn three_hundred_histories_in_memory() {
    seeds(300).into_iter().for_each(|seed| live(Backend::Memory, seed));
}

#[test]
fn twenty_histories_in_a_file() {
    seeds(20).into_iter().for_each(|seed| live(Backend::File, seed));
}

#[test]
fn twenty_histories_on_postgres() {
    seeds(20).into_iter().for_each(|seed| live(Backend::Postgres, seed));
}
