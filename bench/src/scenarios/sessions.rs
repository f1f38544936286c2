//! What live sessions cost a server: each of them beats every thirty seconds, as the server on a pipe does for its agent.
//!
//! `BATON_TEST_POSTGRES` and `BATON_TEST_REDIS` name the servers: `./test --services -- target/release/baton-bench sessions`.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use serde_json::{Value, json};

use super::postgres::Schema;
use crate::http::Client;
use crate::lab::Lab;
use crate::process::{User, cpu_seconds, status_kib};
use crate::report::{Line, Target};
use crate::server::Server;

/// Sessions in one project.
const TOGETHER: usize = 50;
/// Connections over which they beat: a server that many agents share is spoken to through few.
const CLIENTS: usize = 8;
/// Pause between two heartbeats of a session.
const BEAT: Duration = Duration::from_secs(30);

/// A server of the tests that is named in the environment.
#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark has no configuration; the services' script says it so"
)]
fn from_environment(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|value| !value.is_empty())
}

/// The same sessions on a server with Redis and on one without.
pub fn run(lab: &Lab) -> Result<Vec<Line>> {
    let (Some(postgres), Some(redis)) =
        (from_environment("BATON_TEST_POSTGRES"), from_environment("BATON_TEST_REDIS"))
    else {
        return Ok(vec![Line::new("not measured: no PostgreSQL, or no Redis, is named", 0.0, "")]);
    };
    let schema = Schema::new(&postgres)?;
    let mut user = User::new(lab, "sessions")?;
    user.set("BATON_STORE", schema.url());
    let mut with_redis = User::new(lab, "sessions-redis")?;
    with_redis.set("BATON_STORE", schema.url());
    with_redis.set("BATON_REDIS_URL", redis);
    let sessions = {
        let server = Server::start(&user)?;
        begin(&server, lab.count(10_000, 1_000))?
    };
    let span = Duration::from_secs(lab.count(60, 10) as u64);
    let mut lines = Vec::new();
    for (name, user) in [("with Redis", &with_redis), ("without", &user)] {
        let server = Server::start(user)?;
        // Once round: every session was heard of just now, as it is when they are live.
        beat(&server, &sessions, Duration::from_secs(lab.count(15, 3) as u64))?;
        let rest = || {
            std::thread::sleep(span / 4);
            Ok(())
        };
        let (idle, busy) = (used(&server, rest)?, used(&server, || beat(&server, &sessions, span))?);
        let line =
            Line::new(format!("{} live sessions, {name}: of one core", sessions.len()), busy * 100.0, "%");
        let memory = status_kib(server.pid(), "RssAnon:").unwrap_or(0) as f64 / 1024.0;
        let note = format!("idle {:.1} %, {memory:.0} MiB", idle * 100.0);
        lines.push(line.target(Target::AtMost(5.0)).note(note));
    }
    Ok(lines)
}

/// The share of one core that a server uses meanwhile.
fn used(server: &Server, work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let cpu = || cpu_seconds(server.pid()).context("the server's processor time");
    let (before, begin) = (cpu()?, Instant::now());
    work()?;
    Ok((cpu()? - before) / begin.elapsed().as_secs_f64())
}

/// Starts so many sessions.
fn begin(server: &Server, count: usize) -> Result<Vec<Value>> {
    let projects: Vec<usize> = (0..count.div_ceil(TOGETHER)).collect();
    let start = |project: &usize, client: &mut Client| -> Result<Vec<Value>> {
        let name = format!("live-{project}");
        client.call("project_init", &json!({ "id": name, "vcs": "none" }))?;
        let session = |number: usize| {
            let answer = client
                .call("session_start", &json!({ "project": name, "identity": format!("Agent-{number}") }))?;
            let answer: Value = serde_json::from_slice(&answer)?;
            Ok(json!({ "project": name, "session": answer["session_id"] }))
        };
        (0..TOGETHER).map(session).collect()
    };
    let parts = std::thread::scope(|scope| {
        let parts: Vec<_> = projects.chunks(projects.len().div_ceil(CLIENTS)).collect();
        let threads: Vec<_> = parts
            .into_iter()
            .map(|part| {
                scope.spawn(move || {
                    let mut client = Client::new(server.address())?;
                    let all: Result<Vec<Vec<Value>>> =
                        part.iter().map(|project| start(project, &mut client)).collect();
                    all
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().map_err(|_| anyhow!("a client panicked"))?)
            .collect::<Result<Vec<_>>>()
    })?;
    Ok(parts.into_iter().flatten().flatten().collect())
}

/// Lets every session beat once in each pause, evenly, for so long.
fn beat(server: &Server, sessions: &[Value], span: Duration) -> Result<()> {
    let each = sessions.len().div_ceil(CLIENTS);
    std::thread::scope(|scope| {
        let beats = |part: &[Value]| -> Result<()> {
            let mut client = Client::new(server.address())?;
            let pause = BEAT / u32::try_from(part.len())?;
            let begin = Instant::now();
            for (turn, input) in (0u32..).zip(part.iter().cycle()) {
                if begin.elapsed() >= span {
                    break;
                }
                client.call("session_heartbeat", input)?;
                std::thread::sleep((pause * (turn + 1)).saturating_sub(begin.elapsed()));
            }
            Ok(())
        };
        let threads: Vec<_> = sessions.chunks(each).map(|part| scope.spawn(move || beats(part))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow!("a client panicked"))?)
    })
}
