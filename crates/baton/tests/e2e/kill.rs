//! `kill -9` at random moments: nothing that was acknowledged is lost, nothing is held twice, the store stays sound.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

use serde_json::Value;

use crate::stage::{Answer, Stage, Terminal, env, text};

/// A number below `limit`, different in every run.
fn random(limit: u64) -> u64 {
    std::collections::hash_map::RandomState::new().build_hasher().finish() % limit
}

/// Runs a command, killed after a random time when `doomed`; what it acknowledged before it died counts.
fn attempt(terminal: &Terminal<'_>, args: &[&str], doomed: bool) -> Option<Value> {
    let mut child = terminal.spawn(args);
    if doomed {
        std::thread::sleep(Duration::from_micros(random(30_000)));
        let _ = child.kill();
    }
    let answer = Answer::of(child, args);
    let answered: Option<Value> = serde_json::from_str(&answer.out).ok();
    answered.filter(|value| value.get("error").is_none())
}

/// What one run of the chain is known to have left.
struct Acknowledged {
    packet: String,
    wrap: Option<String>,
    pickup: Option<(String, String)>,
}

/// start → checkpoint → wrap by one identity, pickup by another. One of the four is killed, then tried again.
fn chain(stage: &Stage, run: usize) -> Acknowledged {
    let doomed = random(4);
    let (giver, taker) = (stage.terminal(&format!("Giver{run}")), stage.terminal(&format!("Taker{run}")));
    let packet =
        format!("{{ \"summary\":\"run {run}\" ,\"metadata\": {{\"fill\":\"{}\"}}}}", "·".repeat(2_000));
    let file = stage.file(&format!("packets/{run}.json"), &packet);
    let twice = |who: &Terminal<'_>, step: u64, args: &[&str]| {
        if doomed != step {
            return Some(attempt(who, args, false).unwrap_or_else(|| panic!("run {run}: {args:?} failed")));
        }
        let first = attempt(who, args, true);
        let second = attempt(who, args, false);
        first.or(second)
    };
    twice(&giver, 0, &["start", "--json"]);
    twice(&giver, 1, &["checkpoint", "--summary", "half way", "--json"]);
    let wrap = twice(&giver, 2, &["wrap", "--packet", &file, "--json"]).map(|w| text(&w, "delta_id"));
    let picked = twice(&taker, 3, &["pickup", "--json"]).unwrap_or_else(|| panic!("run {run}: no pickup"));
    assert_eq!(
        text(&picked["baton"], "body"),
        packet,
        "run {run}: the baton on top is the one just laid down"
    );
    let pickup = Some((text(&picked["baton"], "delta_id"), text(&picked, "session_id")));
    Acknowledged { packet, wrap, pickup }
}

#[test]
fn killed_processes_lose_nothing_and_hold_nothing_twice() {
    let runs = env("BATON_E2E_KILLS").and_then(|text| text.parse().ok()).unwrap_or(60);
    let stage = Stage::ready();
    let known: Vec<Acknowledged> = (0..runs).map(|run| chain(&stage, run)).collect();
    stage.assert_sound();

    let ledger = stage.ledger("shop");
    let of_kind = |kind: &'static str| ledger.iter().filter(move |delta| delta["kind"] == kind);
    let wraps: HashMap<&str, &str> =
        of_kind("wrap").filter_map(|d| Some((d["delta_id"].as_str()?, d["body"].as_str()?))).collect();
    assert_eq!(wraps.len(), runs, "each run left one wrap, neither none nor two");
    let mut holders: HashMap<String, Vec<String>> = HashMap::new();
    for delta in of_kind("pickup") {
        let body: Value = match &delta["body"] {
            Value::String(body) => serde_json::from_str(body).expect("JSON"),
            body => body.clone(),
        };
        holders
            .entry(text(&body, "inherited_from_wrap_delta_id"))
            .or_default()
            .push(text(delta, "session_id"));
    }
    for (run, known) in known.iter().enumerate() {
        if let Some(wrap) = &known.wrap {
            assert_eq!(
                wraps.get(wrap.as_str()).copied(),
                Some(known.packet.as_str()),
                "run {run}: the wrap is lost"
            );
        }
        let (baton, session) = known.pickup.as_ref().expect("a pickup");
        assert_eq!(holders.get(baton), Some(&vec![session.clone()]), "run {run}: exactly one holder");
    }
    let seqs: Vec<i64> = ledger.iter().filter_map(|delta| delta["seq"].as_i64()).collect();
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "{seqs:?}");
}
