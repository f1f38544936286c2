//! Reading over HTTP: paths against `/healthz` of the same server, how many a second, and how soon a page is there.

use std::net::SocketAddr;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

use super::cycle_embedded::ledger;
use super::pickup_large::fill;
use crate::http::Client;
use crate::lab::Lab;
use crate::machine::cores;
use crate::process::User;
use crate::report::{Line, Target};
use crate::server::Server;
use crate::sides::{Sides, quantile, spread, timed};

/// Clients that read at a time.
const CLIENTS: usize = 16;

/// What people and programs read most.
const PATHS: [(&str, &str); 5] = [
    ("a status", "/api/v1/projects/p-1/status"),
    ("a project", "/api/v1/projects/p-1"),
    ("the hand-offs", "/api/v1/projects/p-1/handoffs"),
    ("the board", "/api/v1/projects/p-1/board"),
    ("20 deltas", "/api/v1/projects/p-1/ledger?after=900&limit=20&brief=true"),
];

/// What the page asks for when it opens, after its own files.
const PAGE: [&str; 4] = ["/", "/page/main.js", "/page/style.css", "/api/v1/overview"];

/// A store of a million deltas, a server on it, and readers.
pub fn run(lab: &Lab) -> Result<Vec<Line>> {
    let folder = lab.folder("http-store")?;
    let projects = lab.count(1_000, 50);
    {
        let mut large = ledger(&folder)?;
        (0..projects).try_for_each(|number| fill(&mut large, &format!("p-{number}")))?;
    }
    let user = User::new(lab, "http-reads")?;
    let store = folder.join("store.db").display().to_string();
    let server = Server::start_on(&user, &["--store", &store])?;
    let note = format!("{} deltas in the store", projects * 1_000);
    let mut lines = vec![page(lab, server.address())?.note(note)];
    for (name, path) in PATHS {
        lines.extend(one(lab, server.address(), name, path)?);
    }
    Ok(lines)
}

/// From the first byte that is asked to the last that the first picture needs.
fn page(lab: &Lab, address: SocketAddr) -> Result<Line> {
    let mut took = Vec::new();
    for _ in 0..lab.count(50, 10) {
        let open = || -> Result<()> {
            let mut client = Client::new(address)?;
            PAGE.iter().try_for_each(|path| client.get(path).map(drop))
        };
        took.push(timed(open)?.0 * 1e3);
    }
    Ok(Line::spread("the first page, one request after the other", spread(took), "ms")
        .target(Target::AtMost(300.0)))
}

/// A path against `/healthz`, by turns.
fn one(lab: &Lab, address: SocketAddr, name: &str, path: &str) -> Result<Vec<Line>> {
    let span = Duration::from_millis(u64::try_from(lab.count(1_500, 300))?);
    let (mut sides, mut slow) = (Sides::default(), Vec::new());
    for _ in 0..lab.count(5, 2) {
        let (health, _) = rate(address, "/healthz", span)?;
        let (reads, latencies) = rate(address, path, span)?;
        sides.push(health, reads);
        slow.push(quantile(&latencies, 0.99) * 1e3);
    }
    Ok(vec![
        Line::spread(format!("{name}: reads/s ÷ /healthz"), sides.ratio(), "×"),
        Line::spread(format!("{name}: reads/s of {CLIENTS} clients"), sides.subject(), "/s")
            .target(Target::AtLeast(5_000.0))
            .note(format!("{} cores, the clients on the same", cores())),
        Line::spread(format!("{name}: 99 of 100 are faster"), spread(slow), "ms"),
    ])
}

/// Requests a second, and the seconds of each, sorted.
fn rate(address: SocketAddr, path: &str, span: Duration) -> Result<(f64, Vec<f64>)> {
    let ready = Barrier::new(CLIENTS + 1);
    let (took, all) = std::thread::scope(|scope| {
        let ready = &ready;
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                scope.spawn(move || -> Result<Vec<f64>> {
                    let client = Client::new(address);
                    ready.wait();
                    let (mut client, begin, mut latencies) = (client?, Instant::now(), Vec::new());
                    while begin.elapsed() < span {
                        latencies.push(timed(|| client.get(path))?.0);
                    }
                    Ok(latencies)
                })
            })
            .collect();
        ready.wait();
        let begin = Instant::now();
        let all: Vec<_> = clients.into_iter().map(|client| client.join()).collect();
        (begin.elapsed().as_secs_f64(), all)
    });
    let mut latencies = Vec::new();
    for one in all {
        latencies.extend(one.map_err(|_| anyhow!("a client panicked"))??);
    }
    latencies.sort_by(f64::total_cmp);
    Ok((latencies.len() as f64 / took, latencies))
}
