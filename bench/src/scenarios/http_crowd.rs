//! Many at once on one server: who writes, who listens, and what it costs in memory.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use serde_json::json;

use crate::bare::Bare;
use crate::http::Client;
use crate::lab::Lab;
use crate::process::{User, status_kib};
use crate::report::{Line, Target};
use crate::server::Server;
use crate::sides::{Sides, quantile, spread, timed};

/// Clients of a crowd that writes.
const CLIENTS: usize = 64;
/// Who listens.
const LISTENERS: usize = 1_000;
/// Threads that read the listeners' sockets.
const EARS: usize = 20;
/// Connections that say nothing.
const SILENT: usize = 10_000;

/// Notes a second against bare durable commits, by turns.
pub fn writes(lab: &Lab) -> Result<Vec<Line>> {
    let user = User::new(lab, "http-writes")?;
    let bare = Bare::create(&user.home().join("bare.db"))?;
    let server = Server::start(&user)?;
    (0..CLIENTS).try_for_each(|number| server.project(&format!("p{number}")))?;
    let span = Duration::from_millis(u64::try_from(lab.count(2_000, 500))?);
    let (mut one, mut many) = (Sides::default(), Sides::default());
    for _ in 0..lab.count(7, 2) {
        let commits = bare.rate(span / 2)?;
        one.push(commits, notes(server.address(), 1, span)?);
        many.push(commits, notes(server.address(), CLIENTS, span)?);
    }
    Ok(vec![
        Line::spread("one client: writes/s ÷ bare durable commits/s", one.ratio(), "×"),
        Line::spread("64 clients: writes/s ÷ bare durable commits/s", many.ratio(), "×"),
        Line::spread("one client", one.subject(), "/s"),
        Line::spread("64 clients", many.subject(), "/s"),
        Line::spread("bare durable commits", one.reference(), "/s"),
    ])
}

fn notes(address: SocketAddr, clients: usize, span: Duration) -> Result<f64> {
    let ready = Barrier::new(clients + 1);
    let (took, all) = std::thread::scope(|scope| {
        let ready = &ready;
        let clients: Vec<_> = (0..clients)
            .map(|number| {
                scope.spawn(move || -> Result<usize> {
                    let client = Client::new(address);
                    ready.wait();
                    let (mut client, begin, mut count) = (client?, Instant::now(), 0);
                    let note =
                        json!({ "project": format!("p{number}"), "identity": "Ann", "text": "half way" });
                    while begin.elapsed() < span {
                        client.call("ledger_note", &note)?;
                        count += 1;
                    }
                    Ok(count)
                })
            })
            .collect();
        ready.wait();
        let begin = Instant::now();
        let all: Vec<_> = clients.into_iter().map(|client| client.join()).collect();
        (begin.elapsed().as_secs_f64(), all)
    });
    let mut count = 0;
    for one in all {
        count += one.map_err(|_| anyhow!("a client panicked"))??;
    }
    Ok(count as f64 / took)
}

/// From the call that writes until each of a thousand listeners has the event.
pub fn listeners(lab: &Lab) -> Result<Vec<Line>> {
    let user = User::new(lab, "http-listeners")?;
    let server = Server::start(&user)?;
    server.project("p")?;
    let turns = lab.count(50, 5);
    let address = server.address();
    let (ready, go) = (Barrier::new(EARS + 1), Barrier::new(EARS + 1));
    let mut all: Vec<f64> = std::thread::scope(|scope| -> Result<Vec<f64>> {
        let (ready, go) = (&ready, &go);
        let ears: Vec<_> = (0..EARS)
            .map(|_| {
                scope.spawn(move || -> Result<Vec<(usize, Instant)>> {
                    let open = || -> Result<Client> {
                        let mut client = Client::new(address)?;
                        client.listen()?;
                        Ok(client)
                    };
                    let own: Result<Vec<Client>> = (0..LISTENERS / EARS).map(|_| open()).collect();
                    ready.wait();
                    let mut own = own?;
                    let mut heard = Vec::new();
                    for turn in 0..turns {
                        go.wait();
                        for client in &mut own {
                            client.wait_for_event(&format!("turn {turn}."))?;
                            heard.push((turn, Instant::now()));
                        }
                    }
                    Ok(heard)
                })
            })
            .collect();
        ready.wait();
        let mut writer = Client::new(address)?;
        let mut sent = Vec::new();
        for turn in 0..turns {
            go.wait();
            sent.push(Instant::now());
            let note = json!({ "project": "p", "identity": "Ann", "text": format!("turn {turn}.") });
            writer.call("ledger_note", &note)?;
            std::thread::sleep(Duration::from_millis(50));
        }
        let mut all = Vec::new();
        for ear in ears {
            let heard = ear.join().map_err(|_| anyhow!("a listener panicked"))??;
            all.extend(heard.iter().map(|(turn, at)| at.duration_since(sent[*turn]).as_secs_f64() * 1e3));
        }
        Ok(all)
    })?;
    all.sort_by(f64::total_cmp);
    let memory = status_kib(server.pid(), "VmRSS:").unwrap_or(0) as f64 / 1024.0;
    Ok(vec![
        Line::new("from the call to the event, half are faster", quantile(&all, 0.5), "ms")
            .note("the write and its flush included; twenty threads read a thousand sockets"),
        Line::new("from the call to the event, 99 of 100 are faster", quantile(&all, 0.99), "ms")
            .target(Target::AtMost(100.0)),
        Line::new("resident memory with a thousand listeners", memory, "MiB"),
    ])
}

/// Reads, writes and pickups for a while; then many connections that say nothing.
pub fn load(lab: &Lab) -> Result<Vec<Line>> {
    let user = User::new(lab, "http-load")?;
    let server = Server::start(&user)?;
    let projects: Vec<String> = (0..CLIENTS).map(|number| format!("p{number}")).collect();
    projects.iter().try_for_each(|project| server.project(project))?;
    let span = Duration::from_secs(u64::try_from(lab.count(600, 10))?);
    let crowd = server.crowd(&projects, span)?;
    let mib = |field: &str| status_kib(server.pid(), field).unwrap_or(0) as f64 / 1024.0;
    let mut lines = vec![
        Line::new("resident memory after the load", mib("VmRSS:"), "MiB")
            .target(Target::AtMost(100.0))
            .note(format!("{} s of 64 clients, {:.0} cycles/s", span.as_secs(), crowd.cycles)),
        Line::new("its peak", mib("VmHWM:"), "MiB"),
    ];
    let mut silent = Vec::new();
    let begin = Instant::now();
    while silent.len() < SILENT && begin.elapsed() < Duration::from_secs(30) {
        let Ok(mut stream) = TcpStream::connect_timeout(&server.address(), Duration::from_secs(2)) else {
            break;
        };
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")?;
        silent.push(stream);
    }
    lines.push(Line::new("silent connections that were opened", silent.len() as f64, ""));
    lines.push(Line::new("resident memory with them", mib("VmRSS:"), "MiB"));
    let mut took = Vec::new();
    for _ in 0..lab.count(20, 5) {
        let ask = || Client::new(server.address())?.get("/healthz").map(drop);
        took.push(timed(ask)?.0 * 1e3);
    }
    lines.push(
        Line::spread("a request of somebody else meanwhile", spread(took), "ms")
            .note("beyond 8,192 connections one waits until a silent one is let go of, after ten seconds"),
    );
    Ok(lines)
}
