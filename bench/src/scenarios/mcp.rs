//! Agents on pipes: how soon a server answers its client, what a call costs beyond the store, and twenty of them at once.

use std::path::Path;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use serde_json::{Value, json};

use super::cycle_embedded::ledger;
use super::pickup_large::fill;
use crate::lab::Lab;
use crate::pipe::Pipe;
use crate::process::{User, status_kib};
use crate::report::{Line, Target};
use crate::sides::{quantile, spread, timed};

const SERVERS: usize = 20;

/// A ledger of a million deltas, and servers on it.
pub fn run(lab: &Lab) -> Result<Vec<Line>> {
    let folder = lab.folder("mcp-store")?;
    let mut large = ledger(&folder)?;
    let projects = lab.count(1_000, 50);
    for number in 0..projects {
        fill(&mut large, &format!("p-{number}"))?;
    }
    let store = folder.join("store.db");
    let user = User::new(lab, "mcp")?;
    let note = format!("{} deltas in the store", projects * 1_000);
    let mut lines = vec![greeting(lab, &user, &store)?.note(note)];
    lines.extend(calls(lab, &user)?);
    lines.extend(crowd(lab, &user, &store)?);
    Ok(lines)
}

fn greeting(lab: &Lab, user: &User, store: &Path) -> Result<Line> {
    let mut took = Vec::new();
    for _ in 0..lab.count(50, 10) {
        took.push(timed(|| Pipe::open(user, store, "Ann"))?.0 * 1e3);
    }
    Ok(Line::spread("from the start of the process to its greeting", spread(took), "ms")
        .target(Target::AtMost(200.0)))
}

/// The same operation through the pipe and through the library, by turns: the difference is what the face costs. Each has a
/// store of its own, because two processes on one would make each other's pages stale.
fn calls(lab: &Lab, user: &User) -> Result<Vec<Line>> {
    let (theirs, ours) = (lab.folder("mcp-pipe")?, lab.folder("mcp-library")?);
    let mut library = ledger(&ours)?;
    for store in [&mut ledger(&theirs)?, &mut library] {
        fill(store, "p-1")?;
        store.call("session_start", json!({ "project": "p-1", "identity": "Ann" }))?;
    }
    let mut pipe = Pipe::open(user, &theirs.join("store.db"), "Ann")?;
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let status = json!({ "project": "p-1" });
    let note = json!({ "project": "p-1", "kind": "note", "text": "half way" });
    let with = |input: &Value, action: &str| {
        let mut input = input.clone();
        input["action"] = json!(action);
        input
    };
    for _ in 0..lab.count(400, 100) {
        let own = timed(|| library.call("session_status", status.clone()))?.0;
        let through = timed(|| pipe.tool("handoff", with(&status, "status")))?.0;
        reads.push((through - own) * 1e3);
        let own = timed(|| library.call("ledger_note", note.clone()))?.0;
        let through = timed(|| pipe.tool("session_checkpoint", with(&note, "note")))?.0;
        writes.push((through - own) * 1e3);
    }
    let resident = status_kib(pipe.pid(), "VmRSS:").unwrap_or(0) as f64 / 1024.0;
    let own = status_kib(pipe.pid(), "RssAnon:").unwrap_or(0) as f64 / 1024.0;
    Ok(vec![
        Line::spread("a reading call, beyond the same operation in the library", spread(reads), "ms")
            .target(Target::AtMost(1.0)),
        Line::spread("a writing call, beyond the same operation in the library", spread(writes), "ms")
            .target(Target::AtMost(1.0)),
        Line::new("memory of a server after these calls", resident, "MiB").target(Target::AtMost(14.0)),
        Line::new("of which its own", own, "MiB"),
    ])
}

/// Servers of their own, half of them in one project, with mixed calls for a while. A refusal or an error ends the run.
fn crowd(lab: &Lab, user: &User, store: &Path) -> Result<Vec<Line>> {
    let span = Duration::from_secs(lab.count(60, 5) as u64);
    let ready = Barrier::new(SERVERS);
    let all: Vec<_> = std::thread::scope(|scope| {
        let client = |number: usize| {
            let ready = &ready;
            scope.spawn(move || client(user, store, number, span, ready))
        };
        let clients: Vec<_> = (0..SERVERS).map(client).collect();
        clients.into_iter().map(|client| client.join()).collect()
    });
    let (mut counts, mut latencies) = (Vec::new(), Vec::new());
    for one in all {
        let took = one.map_err(|_| anyhow!("a client panicked"))??;
        counts.push(took.len() as f64);
        latencies.extend(took);
    }
    latencies.sort_by(f64::total_cmp);
    counts.sort_by(f64::total_cmp);
    let (least, middle) = (counts.first().copied().unwrap_or_default(), quantile(&counts, 0.5));
    let per_second = counts.iter().sum::<f64>() / span.as_secs_f64();
    Ok(vec![
        Line::new("twenty servers: calls that failed", 0.0, "")
            .note(format!("{} s, mixed calls", span.as_secs())),
        Line::new("twenty servers: calls of the slowest ÷ of the middle one", least / middle, "×")
            .target(Target::AtLeast(0.5)),
        Line::new("twenty servers: all of them", per_second, "/s"),
        Line::new("twenty servers: a call, half are faster", quantile(&latencies, 0.5) * 1e3, "ms"),
        Line::new("twenty servers: a call, 99 of 100 are faster", quantile(&latencies, 0.99) * 1e3, "ms"),
        Line::new("twenty servers: the slowest call", quantile(&latencies, 1.0) * 1e3, "ms"),
    ])
}

fn client(user: &User, store: &Path, number: usize, span: Duration, ready: &Barrier) -> Result<Vec<f64>> {
    let project = if number.is_multiple_of(2) { "p-3".to_owned() } else { format!("p-{}", 3 + number) };
    let own = format!("Agent{number}");
    let opened = Pipe::open(user, store, &own);
    ready.wait();
    let (mut pipe, began) = (opened?, Instant::now());
    let mut took = Vec::new();
    while began.elapsed() < span {
        let calls = [
            ("session_start", json!({ "project": project })),
            ("session_checkpoint", json!({ "project": project, "summary": "half way" })),
            ("handoff", json!({ "project": project, "action": "status" })),
            ("mail", json!({ "project": project, "action": "send", "to": own, "subject": "look" })),
            ("mail", json!({ "project": project, "action": "inbox", "identity": own })),
            ("recall", json!({ "project": project, "action": "ledger", "after": 990, "limit": 5 })),
            ("session_wrap", json!({ "project": project, "summary": "done", "next": ["go on"] })),
        ];
        for (tool, arguments) in calls {
            took.push(timed(|| pipe.tool(tool, arguments))?.0);
        }
    }
    Ok(took)
}
