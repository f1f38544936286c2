//! Operations on PostgreSQL against what `pgbench` manages with as many statements and commits; one, two and four servers.
//!
//! `BATON_TEST_POSTGRES` names the server: `./test --services -- target/release/baton-bench postgres`, with
//! `BATON_TEST_PG_FSYNC=1` for one that flushes as a real one does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use baton_store::{Store, Target as Place};
use serde_json::json;

use super::cycle_embedded::{Ledger, on};
use crate::lab::Lab;
use crate::process::{User, packet};
use crate::report::{Line, Target};
use crate::server::{Crowd, Server};
use crate::sides::{Sides, spread};

const CLIENTS: usize = 32;

/// What a wrap and a pickup ask, as counted by one client's comparison.
const CYCLE: StatementCounts = StatementCounts { statements: 38, commits: 2 };

/// A schema on the server, dropped at the end.
pub(super) struct Schema {
    server: String,
    name: String,
}

impl Schema {
    pub(super) fn new(server: &str) -> Result<Self> {
        let schema = Self { server: server.to_owned(), name: format!("bench_{}", std::process::id()) };
        schema.psql(&format!("CREATE SCHEMA {}", schema.name))?;
        Ok(schema)
    }

    pub(super) fn url(&self) -> String {
        let sign = if self.server.contains('?') { '&' } else { '?' };
        format!("{}{sign}options=-csearch_path%3D{}", self.server, self.name)
    }

    fn psql(&self, sql: &str) -> Result<()> {
        let done =
            Command::new("psql").args(["-qX", "-v", "ON_ERROR_STOP=1", "-c", sql, &self.url()]).output()?;
        if !done.status.success() {
            bail!("psql: {}", String::from_utf8_lossy(&done.stderr));
        }
        Ok(())
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        let _ = self.psql(&format!("DROP SCHEMA {} CASCADE", self.name));
    }
}

/// What an operation asks of a database server.
#[derive(Debug, Clone, Copy)]
struct StatementCounts {
    statements: u64,
    commits: u64,
}

/// As many statements and commits as an operation has: half of them read a row by its key, half of them write one.
fn script(folder: &Path, name: &str, counts: StatementCounts) -> Result<PathBuf> {
    let mut text = String::new();
    let (each, rest) = (counts.statements / counts.commits, counts.statements % counts.commits);
    for commit in 0..counts.commits {
        text.push_str("\\set project random(1, 1000)\nBEGIN;\n");
        text.push_str("UPDATE bench_project SET seq = seq + 1 WHERE id = :project RETURNING seq;\n");
        let statements = each + u64::from(commit < rest);
        for number in 0..statements.saturating_sub(3) {
            text.push_str(&format!("\\set row{number} random(1, 10000)\n"));
            text.push_str(&if number % 2 == 0 {
                format!("SELECT body FROM bench_row WHERE id = :row{number};\n")
            } else {
                format!("UPDATE bench_row SET body = 'x' || :row{number} WHERE id = :row{number};\n")
            });
        }
        text.push_str("COMMIT;\n");
    }
    let file = folder.join(name);
    fs::write(&file, text)?;
    Ok(file)
}

/// Transactions a second of a script.
fn pgbench(schema: &Schema, file: &Path, clients: usize, seconds: u64) -> Result<f64> {
    let installed = glob("/usr/lib/postgresql");
    let program = installed.unwrap_or_else(|| PathBuf::from("pgbench"));
    let output = Command::new(program)
        .args([
            "-n",
            "-M",
            "prepared",
            "-c",
            &clients.to_string(),
            "-j",
            "2",
            "-T",
            &seconds.to_string(),
            "-f",
        ])
        .arg(file)
        .arg(schema.url())
        .stderr(Stdio::piped())
        .output()
        .context("pgbench, of PostgreSQL's own tools")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| line.starts_with("tps = ")).map(str::to_owned);
    let rate = line.and_then(|line| line.split(' ').nth(2)?.parse().ok());
    rate.with_context(|| format!("pgbench said {text} {}", String::from_utf8_lossy(&output.stderr)))
}

fn glob(folder: &str) -> Option<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path().join("bin/pgbench")).collect();
    found.retain(|path| path.is_file());
    found.sort();
    found.pop()
}

/// One client on a connection of its own, and crowds on servers.
pub fn run(lab: &Lab) -> Result<Vec<Line>> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a benchmark has no configuration; the services' script says it so"
    )]
    let Ok(server) = std::env::var("BATON_TEST_POSTGRES") else {
        return Ok(vec![Line::new("not measured: BATON_TEST_POSTGRES names no server", 0.0, "")]);
    };
    let schema = Schema::new(&server)?;
    let folder = lab.folder("postgres")?;
    schema.psql(
        "CREATE TABLE bench_project (id int PRIMARY KEY, seq bigint NOT NULL); \
         INSERT INTO bench_project SELECT i, 0 FROM generate_series(1, 1000) i; \
         CREATE TABLE bench_row (id int PRIMARY KEY, body text NOT NULL); \
         INSERT INTO bench_row SELECT i, repeat('x', 400) FROM generate_series(1, 10000) i",
    )?;
    let mut lines = single_client(lab, &schema, &folder)?;
    lines.extend(crowds(lab, &schema, &folder)?);
    Ok(lines)
}

/// A note, a wrap and a pickup, each against a script with its own number of statements.
fn single_client(lab: &Lab, schema: &Schema, folder: &Path) -> Result<Vec<Line>> {
    let store = Store::open(&Place::parse(&schema.url()), 0).map_err(|fault| anyhow!("{fault}"))?;
    let mut ledger = on(store, folder);
    ledger.call("project_init", json!({ "id": "alone", "vcs": "none" }))?;
    ledger.call("session_start", json!({ "project": "alone", "identity": "Ann" }))?;
    let note = json!({ "project": "alone", "identity": "Ann", "text": "a note of some length" });
    let notes = compare(lab, schema, folder, &mut ledger, "note", |ledger, _| {
        ledger.call("ledger_note", note.clone())
    })?;
    let cycle = compare(lab, schema, folder, &mut ledger, "wrap + pickup", |ledger, turn| {
        let (at_work, next) = if turn % 2 == 0 { ("Ann", "Bob") } else { ("Bob", "Ann") };
        ledger
            .call("session_wrap", json!({ "project": "alone", "identity": at_work, "packet": packet() }))?;
        ledger.call("hd_exec", json!({ "project": "alone", "identity": next }))
    })?;
    Ok([notes, cycle].into_iter().flatten().collect())
}

fn compare(
    lab: &Lab,
    schema: &Schema,
    folder: &Path,
    ledger: &mut Ledger,
    name: &str,
    mut once: impl FnMut(&mut Ledger, usize) -> Result<()>,
) -> Result<Vec<Line>> {
    // Until the tables are analysed, which the server does by itself within the minute, it plans for tables of nothing.
    // An even number, so that who has the baton at the end is who had it at the beginning.
    for turn in 0..200 {
        once(ledger, turn)?;
    }
    schema.psql("ANALYZE")?;
    let (statements, commits) = (ledger.store.statements(), ledger.store.commits());
    for turn in 0..20 {
        once(ledger, turn)?;
    }
    let counts = StatementCounts {
        statements: (ledger.store.statements() - statements).div_ceil(20),
        commits: (ledger.store.commits() - commits).div_ceil(20),
    };
    let file = script(folder, &name.replace(' ', "-"), counts)?;
    let seconds = lab.count(4, 2) as u64;
    let mut sides = Sides::default();
    for _ in 0..lab.count(5, 2) {
        let reference = pgbench(schema, &file, 1, seconds)?;
        let begin = Instant::now();
        let mut count = 0;
        while begin.elapsed() < Duration::from_secs(seconds) {
            for turn in 0..20 {
                once(ledger, turn)?;
            }
            count += 20;
        }
        sides.push(reference, f64::from(count) / begin.elapsed().as_secs_f64());
    }
    Ok(vec![
        Line::spread(format!("{name} ÷ pgbench with as many statements"), sides.ratio(), "×")
            .note(format!("{} statements, {} commits", counts.statements, counts.commits))
            .target(Target::AtLeast(0.8)),
        Line::new(format!("{name}, one client"), sides.subject().median, "/s"),
    ])
}

/// Many clients on one, two and four servers, against a script of as many statements with as many clients.
fn crowds(lab: &Lab, schema: &Schema, folder: &Path) -> Result<Vec<Line>> {
    let mut user = User::new(lab, "postgres-servers")?;
    user.set("BATON_STORE", schema.url());
    let servers: Vec<Server> = (0..4).map(|_| Server::start(&user)).collect::<Result<_>>()?;
    let projects: Vec<String> = (0..CLIENTS).map(|number| format!("crowd-{number}")).collect();
    projects.iter().try_for_each(|project| servers[0].project(project))?;
    let span = Duration::from_millis(lab.count(3_000, 1_000) as u64);
    let file = script(folder, "cycle", CYCLE)?;
    // As the server does by itself within the minute: until then it plans for tables of nothing.
    together(&servers[..1], &projects, span)?;
    schema.psql("ANALYZE")?;
    let mut rates: [Vec<f64>; 3] = Default::default();
    let (mut two, mut four, mut bench) = (Sides::default(), Sides::default(), Sides::default());
    for _ in 0..lab.count(5, 2) {
        let mut now = [0.0; 3];
        for (at, count) in [1, 2, 4].into_iter().enumerate() {
            now[at] = together(&servers[..count], &projects, span)?;
            rates[at].push(now[at]);
        }
        let reference = pgbench(schema, &file, CLIENTS, span.as_secs().max(2))?;
        two.push(now[0], now[1]);
        four.push(now[0], now[2]);
        bench.push(reference, now.into_iter().fold(0.0, f64::max));
    }
    let [one_rate, two_rate, four_rate] = rates;
    Ok(vec![
        Line::spread(
            "cycles/s of the best number of servers ÷ pgbench with as many statements",
            bench.ratio(),
            "×",
        )
        .target(Target::AtLeast(0.8)),
        Line::spread("two servers ÷ one", two.ratio(), "×"),
        Line::spread("four servers ÷ one", four.ratio(), "×"),
        Line::spread("one server, 32 clients: cycles", spread(one_rate), "/s"),
        Line::spread("two servers", spread(two_rate), "/s"),
        Line::spread("four servers", spread(four_rate), "/s"),
    ])
}

/// The clients shared out over servers, all at once.
fn together(servers: &[Server], projects: &[String], span: Duration) -> Result<f64> {
    let shares: Vec<&[String]> = projects.chunks(projects.len().div_ceil(servers.len())).collect();
    let all: Vec<Result<Crowd>> = std::thread::scope(|scope| {
        let run = |(server, share): (&'_ Server, &'_ [String])| server.crowd(share, span);
        let started: Vec<_> = servers.iter().zip(shares).map(|pair| scope.spawn(move || run(pair))).collect();
        started
            .into_iter()
            .map(|one| one.join().unwrap_or_else(|_| Err(anyhow!("a crowd panicked"))))
            .collect()
    });
    all.into_iter().map(|crowd| Ok(crowd?.cycles)).sum()
}
