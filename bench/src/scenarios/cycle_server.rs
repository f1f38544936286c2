//! Batons handed over on one server: what group commit gives to a crowd.

use std::time::Duration;

use anyhow::Result;

use crate::bare::Bare;
use crate::lab::Lab;
use crate::process::{User, status_kib};
use crate::report::{Line, Target};
use crate::server::{Crowd, Server};
use crate::sides::{Sides, Spread, quantile, spread};

const CLIENTS: usize = 64;

/// One client, bare commits, many clients, by turns.
pub fn run(lab: &Lab) -> Result<Vec<Line>> {
    let user = User::new(lab, "cycle-server")?;
    let bare = Bare::create(&user.home().join("bare.db"))?;
    let server = Server::start(&user)?;
    let many: Vec<String> = (0..CLIENTS).map(|number| format!("p{number}")).collect();
    let alone = ["alone".to_owned()];
    many.iter().chain(&alone).try_for_each(|project| server.project(project))?;
    let span = Duration::from_millis(lab.count(2_500, 1_000) as u64);
    let (mut gain, mut one_bare, mut many_bare) = (Sides::default(), Vec::new(), Vec::new());
    let (mut ones, mut crowds) = (Vec::new(), Vec::new());
    for _ in 0..lab.count(7, 2) {
        let one = server.crowd(&alone, span)?;
        let commits = bare.rate(span / 2)?;
        let crowd = server.crowd(&many, span)?;
        gain.push(one.cycles, crowd.cycles);
        one_bare.push(commits / one.cycles);
        many_bare.push(commits / crowd.cycles);
        ones.push(one);
        crowds.push(crowd);
    }
    let peak = status_kib(server.pid(), "VmHWM:").unwrap_or(0) as f64 / 1024.0;
    Ok(vec![
        Line::spread("cycles/s of 64 clients ÷ of one", gain.ratio(), "×").target(Target::AtLeast(8.0)),
        Line::spread("64 clients: a cycle in bare durable commits", spread(many_bare), "×"),
        Line::spread("one client: a cycle in bare durable commits", spread(one_bare), "×")
            .note("two flushes are its floor"),
        Line::spread("64 clients: the server's processor time a cycle", cpu(&crowds), "µs")
            .target(Target::AtMost(250.0)),
        Line::spread("one client: the server's processor time a cycle", cpu(&ones), "µs")
            .target(Target::AtMost(600.0)),
        Line::spread("64 clients", spread(crowds.iter().map(|crowd| crowd.cycles).collect()), "/s"),
        Line::spread("one client", spread(ones.iter().map(|crowd| crowd.cycles).collect()), "/s"),
        latency("64 clients: a request, half are faster", &crowds, 0.5),
        latency("64 clients: a request, 99 of 100 are faster", &crowds, 0.99),
        latency("one client: a request, half are faster", &ones, 0.5),
        latency("one client: a request, 99 of 100 are faster", &ones, 0.99),
        Line::new("peak memory of the server", peak, "MiB"),
    ])
}

fn cpu(crowds: &[Crowd]) -> Spread {
    spread(crowds.iter().map(|crowd| crowd.cpu).collect())
}

fn latency(name: &str, crowds: &[Crowd], part: f64) -> Line {
    let all = crowds.iter().map(|crowd| quantile(&crowd.latencies, part) * 1e3).collect();
    Line::spread(name, spread(all), "ms")
}
