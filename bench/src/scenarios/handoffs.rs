//! Hand-offs to another project: what planning one costs, and how near a server that drives many comes to what GitHub allows.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use baton_emulator::{Emulator, Options};
use rusqlite::{Connection, OpenFlags};
use serde_json::json;

use super::cycle_embedded::{Ledger, ledger, ledger_in};
use crate::bare::Bare;
use crate::lab::Lab;
use crate::process::User;
use crate::report::{Line, Target};
use crate::server::Server;
use crate::sides::{spread, timed};

/// Hand-offs that are planned together.
const BLOCK: u32 = 50;
/// How long GitHub takes to answer.
const LATENCY: Duration = Duration::from_millis(50);
/// Span of GitHub's limit.
const WINDOW: Duration = Duration::from_secs(10);
/// Longest that driving may take before it is given up.
const DRIVE_TIMEOUT: Duration = Duration::from_secs(300);

/// Planning, then driving with and without a limit.
pub fn run(lab: &Lab) -> Result<Vec<Line>> {
    let mut lines = planning(lab)?;
    let (count, limit) = (lab.count(1_000, 100), lab.count(250, 40));
    let (took, calls) = driving(lab, "handoffs-limited", count, Some(limit))?;
    // The last call cannot be made before the window in which it falls.
    let windows = usize::try_from(calls)?.div_ceil(limit) - 1;
    let allowed = WINDOW * u32::try_from(windows)? + LATENCY;
    let name = format!("{count} hand-offs, {limit} calls allowed in 10 s ÷ what that allows");
    let ratio = took.as_secs_f64() / allowed.as_secs_f64();
    lines.push(Line::new(name, ratio, "×").target(Target::AtMost(1.3)).note(format!(
        "{:.1} s of {:.1} s for {calls} calls",
        took.as_secs_f64(),
        allowed.as_secs_f64()
    )));
    // What is asked beyond one call each is also time under a limit.
    let each = f64::from(u32::try_from(calls)?) / f64::from(u32::try_from(count)?);
    lines.push(Line::new("calls for each hand-off", each, "").target(Target::AtMost(1.05)));
    let (took, _) = driving(lab, "handoffs-free", count, None)?;
    lines.push(
        Line::new(format!("{count} hand-offs without a limit"), took.as_secs_f64(), "s")
            .note("four at a time, 50 ms each"),
    );
    Ok(lines)
}

/// One hand-off written down, beyond a bare durable transaction.
fn planning(lab: &Lab) -> Result<Vec<Line>> {
    let folder = lab.folder("handoffs-planning")?;
    let bare = Bare::create(&folder.join("bare.db"))?;
    let mut ledger = ledger(&folder)?;
    register(&mut ledger)?;
    let (mut beyond, mut plain) = (Vec::new(), Vec::new());
    for run in 0..lab.count(20, 4) {
        let reference = timed(|| (0..BLOCK).try_for_each(|_| bare.transaction()))?.0;
        let subject =
            timed(|| (0..BLOCK).try_for_each(|number| plan(&mut ledger, &format!("{run}-{number}"))))?.0;
        beyond.push((subject - reference) / f64::from(BLOCK) * 1e3);
        plain.push(reference / f64::from(BLOCK) * 1e3);
    }
    Ok(vec![
        Line::spread("planning one, beyond the commit", spread(beyond), "ms").target(Target::AtMost(1.0)),
        Line::spread("one bare durable transaction", spread(plain), "ms"),
    ])
}

fn register(ledger: &mut Ledger) -> Result<()> {
    ["shop", "lib"].iter().try_for_each(|id| ledger.call("project_init", json!({ "id": id, "vcs": "none" })))
}

fn plan(ledger: &mut Ledger, subject: &str) -> Result<()> {
    let request = json!({
        "from_project_id": "shop", "to_project_id": "lib", "identity": "Ann", "subject": subject,
        "description": "Half up, as in the shop", "tags": ["api"], "issues_github_repo": "o/lib",
        "links": { "docs": ["spec/round.md"] },
    });
    ledger.call("handoff_create", request)
}

/// How long a server takes for hand-offs that were planned before it starts, and how often it asked GitHub.
fn driving(lab: &Lab, name: &str, count: usize, limit: Option<usize>) -> Result<(Duration, u64)> {
    let mut user = User::new(lab, name)?;
    let file = user.data().join("baton.db");
    fs::create_dir_all(user.data())?;
    let mut ledger = ledger_in(user.home(), &file)?;
    // Planned long ago by any clock, so that everything is due.
    ledger.now = 1_600_000_000_000;
    register(&mut ledger)?;
    (0..count).try_for_each(|number| plan(&mut ledger, &format!("{number}")))?;
    drop(ledger);
    let limit = limit.map(|calls| (calls as u32, WINDOW));
    let hub = Emulator::start(Options { latency: LATENCY, limit, ..Options::default() })?;
    for (name, value) in [
        ("BATON_GITHUB_API", hub.url()),
        ("BATON_GITHUB_TOKEN", "t".into()),
        ("BATON_GITHUB_POLL", "1h".into()),
    ] {
        user.set(name, value);
    }
    let begun = Instant::now();
    let server = Server::start(&user)?;
    while offered(&file)? < count {
        if begun.elapsed() > DRIVE_TIMEOUT {
            bail!("{} of {count} hand-offs are offered after {DRIVE_TIMEOUT:?}", offered(&file)?);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let took = begun.elapsed();
    drop(server);
    let made = hub.hub().issues("o/lib").len();
    if made != count {
        bail!("{made} issues for {count} hand-offs");
    }
    let calls = hub.hub().calls.values().sum();
    Ok((took, calls))
}

fn offered(file: &Path) -> Result<usize> {
    let store = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let count: i64 = store
        .query_row("SELECT COUNT(*) FROM handoff WHERE state = 'offered'", [], |row| row.get(0))
        .context("the hand-offs cannot be counted")?;
    Ok(usize::try_from(count)?)
}
