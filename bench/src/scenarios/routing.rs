//! The router with a thousand agents, and sixty-four claimers on one server.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::time::Instant;

use anyhow::{Result, anyhow, ensure};
use serde_json::{Value, json};

use super::cycle_embedded::{Ledger, ledger};
use crate::bare::Bare;
use crate::http::Client;
use crate::lab::Lab;
use crate::process::User;
use crate::report::{Line, Target};
use crate::server::Server;
use crate::sides::{quantile, spread, timed};

const CLAIMERS: usize = 64;
/// What tasks want and agents are, by turns.
const ROLES: [&str; 3] = ["implementation", "testing", "fixing"];

/// Deciding, deciding and writing, claiming.
pub fn run(lab: &Lab) -> Result<Vec<Line>> {
    let mut lines = routing(lab)?;
    lines.extend(claiming(lab)?);
    Ok(lines)
}

fn routing(lab: &Lab) -> Result<Vec<Line>> {
    let folder = lab.folder("routing")?;
    let bare = Bare::create(&folder.join("bare.db"))?;
    let mut ledger = ledger(&folder)?;
    let count = lab.count(1_000, 100);
    ledger.call("project_init", json!({ "id": "shop", "vcs": "none" }))?;
    for number in 0..count {
        let agent = json!({ "project": "shop", "identity": format!("agent-{number}"),
            "roles": [ROLES[number % ROLES.len()]], "skills": [format!("skill-{}", number % 40)] });
        ledger.call("agent_register", agent)?;
    }
    let (mut decided, mut written, mut commits) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..lab.count(3, 1) {
        tasks(&mut ledger, round, count)?;
        let request = |dry_run: bool| json!({ "project": "shop", "limit": count, "dry_run": dry_run });
        let rate = |seconds: f64| count as f64 / seconds;
        decided.push(rate(timed(|| ledger.call("task_route", request(true)))?.0));
        commits.push(rate(timed(|| (0..count).try_for_each(|_| bare.transaction()))?.0));
        written.push(rate(timed(|| ledger.call("task_route", request(false)))?.0));
        // The next round begins with agents that have nothing to do.
        for number in 0..count {
            let task = json!({ "project": "shop", "id": format!("shop-{round}x{number}"), "result": "pass", "force": true });
            ledger.call("task_close", task)?;
        }
    }
    Ok(vec![
        Line::spread(format!("decisions with {count} agents and {count} tasks"), spread(decided), "/s")
            .target(Target::AtLeast(1_000.0)),
        Line::spread("decisions carried out, each in a transaction with its message", spread(written), "/s")
            .target(Target::AtLeast(1_000.0)),
        Line::spread("bare durable commits", spread(commits), "/s"),
    ])
}

fn tasks(ledger: &mut Ledger, round: usize, count: usize) -> Result<()> {
    (0..count).try_for_each(|number| {
        let task = json!({ "project": "shop", "identity": "Ann", "id": format!("shop-{round}x{number}"),
            "title": format!("Task {number}"), "agent_role": ROLES[number % ROLES.len()] });
        ledger.call("task_create", task)
    })
}

/// Everybody takes the first that is ready, until nothing is left.
fn claiming(lab: &Lab) -> Result<Vec<Line>> {
    let user = User::new(lab, "claiming")?;
    let server = Server::start(&user)?;
    server.project("shop")?;
    let count = lab.count(4_000, 400);
    let mut client = Client::new(server.address())?;
    for number in 0..count {
        client.call(
            "task_create",
            &json!({ "project": "shop", "identity": "Ann", "title": format!("Task {number}") }),
        )?;
    }
    let ready = Barrier::new(CLAIMERS + 1);
    let (took, all) = std::thread::scope(|scope| {
        let (ready, address) = (&ready, server.address());
        let claimers: Vec<_> = (0..CLAIMERS)
            .map(|number| {
                scope.spawn(move || -> Result<(Vec<String>, Vec<f64>)> {
                    let client = Client::new(address);
                    ready.wait();
                    let (mut client, mut ids, mut latencies) = (client?, Vec::new(), Vec::new());
                    let request = json!({ "project": "shop", "identity": format!("claimer-{number}") });
                    loop {
                        let (seconds, answer) = timed(|| client.call("task_claim", &request))?;
                        let answer: Value = serde_json::from_slice(&answer)?;
                        let Some(id) = answer["task"]["id"].as_str() else { return Ok((ids, latencies)) };
                        ids.push(id.to_owned());
                        latencies.push(seconds);
                    }
                })
            })
            .collect();
        ready.wait();
        let begin = Instant::now();
        let all: Vec<_> = claimers.into_iter().map(|claimer| claimer.join()).collect();
        (begin.elapsed().as_secs_f64(), all)
    });
    let (mut ids, mut latencies) = (Vec::new(), Vec::new());
    for one in all {
        let (taken, waited) = one.map_err(|_| anyhow!("a claimer panicked"))??;
        ids.extend(taken);
        latencies.extend(waited);
    }
    latencies.sort_by(f64::total_cmp);
    let different: BTreeSet<&String> = ids.iter().collect();
    ensure!(different.len() == count && ids.len() == count, "{} claims of {count} tasks", ids.len());
    Ok(vec![
        Line::new(format!("{CLAIMERS} claimers of {count} tasks on one server"), count as f64 / took, "/s")
            .note("each task was claimed once"),
        Line::new("a claim, 99 of 100 are faster", quantile(&latencies, 0.99) * 1e3, "ms"),
    ])
}
