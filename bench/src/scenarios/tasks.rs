//! The commands of tasks with 1,000, 10,000 and 100,000 of them, against the `sqlite3` shell doing the bare statement on the
//! same file.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Result;

use crate::lab::Lab;
use crate::process::{User, seconds};
use crate::report::{Line, Target};
use crate::scenarios::cli::millis;
use crate::sides::{Sides, Spread};

/// What is measured: a name, the arguments of `baton`, the shell's statement, and the target.
struct Case {
    name: &'static str,
    args: fn(usize) -> Vec<String>,
    sql: fn(usize) -> String,
    /// The most for its ratio; none for what answers with all tasks, which grows with them.
    limit: Option<f64>,
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// A task that is open and in nobody's way, another one each time.
fn id(run: usize) -> String {
    format!("bench-{:06}", run + 1)
}

const ROW: &str = "project_id, task_id, title, description, status, priority, issue_type, labels, created_by, created_at, updated_at, extra";

const CASES: &[Case] = &[
    Case {
        name: "bd ready --json",
        args: |_| words("bd ready --json"),
        sql: |_| {
            "SELECT t.*, (SELECT COUNT(*) FROM task_dependency d WHERE d.project_id = t.project_id AND d.task_id = t.task_id) FROM task t
            WHERE project_id = 'bench' AND ready = 1 AND wait_until <= 1900000000000 ORDER BY priority, created_at, task_id LIMIT 100".into()
        },
        limit: Some(2.0),
    },
    // As many at every size: of a thousand tasks 36 are ready.
    Case {
        name: "bd ready -n 20 --json",
        args: |_| words("bd ready -n 20 --json"),
        sql: |_| {
            "SELECT t.*, (SELECT COUNT(*) FROM task_dependency d WHERE d.project_id = t.project_id AND d.task_id = t.task_id) FROM task t
            WHERE project_id = 'bench' AND ready = 1 AND wait_until <= 1900000000000 ORDER BY priority, created_at, task_id LIMIT 20".into()
        },
        limit: Some(2.0),
    },
    Case {
        name: "bd list --limit 0 --json",
        args: |_| words("bd list --limit 0 --json"),
        sql: |_| {
            "SELECT t.*, (SELECT COUNT(*) FROM task_dependency d WHERE d.project_id = t.project_id AND d.task_id = t.task_id) FROM task t
            WHERE project_id = 'bench' AND status <> 'closed' ORDER BY priority, created_at, task_id".into()
        },
        limit: None,
    },
    Case {
        name: "bd list -n 20 --json",
        args: |_| words("bd list -n 20 --json"),
        sql: |_| {
            "SELECT * FROM task WHERE project_id = 'bench' AND status <> 'closed' ORDER BY priority, created_at, task_id LIMIT 20".into()
        },
        limit: Some(2.0),
    },
    Case {
        name: "bd show --json",
        args: |run| words(&format!("bd show {} --json", id(run))),
        sql: |run| format!("SELECT * FROM task WHERE project_id = 'bench' AND task_id = '{}'", id(run)),
        limit: Some(2.0),
    },
    Case {
        name: "bd create",
        args: |_| words("bd create Something --json"),
        sql: |run| {
            format!(
                "PRAGMA synchronous = FULL; INSERT INTO task ({ROW}) VALUES ('bench', 'bare-{run}-' || hex(randomblob(6)), 'Something', '', 'closed', 2, 'task', '[]', 'x', 1, 1, '{{}}')"
            )
        },
        limit: Some(3.0),
    },
    Case {
        name: "bd update -p 1",
        args: |run| words(&format!("bd update {} -p {} --json", id(run), run % 2)),
        sql: |run| {
            format!(
                "PRAGMA synchronous = FULL; UPDATE task SET updated_at = updated_at + 1 WHERE project_id = 'bench' AND task_id = '{}'",
                id(run)
            )
        },
        limit: Some(3.0),
    },
    Case {
        name: "bd close",
        args: |run| words(&format!("bd close {} --force --json", id(run + 400))),
        sql: |run| {
            format!(
                "PRAGMA synchronous = FULL; UPDATE task SET updated_at = updated_at + 1 WHERE project_id = 'bench' AND task_id = '{}'",
                id(run + 400)
            )
        },
        limit: Some(3.0),
    },
];

/// Measures every command at every size.
pub fn run(lab: &Lab) -> Result<Vec<Line>> {
    let sizes: &[usize] = if lab.quick { &[1_000, 10_000] } else { &[1_000, 10_000, 100_000] };
    let mut lines = Vec::new();
    let mut smallest: Vec<f64> = Vec::new();
    for size in sizes {
        let user = project(lab, *size)?;
        let store = user.data().join("baton.db");
        for (at, case) in CASES.iter().enumerate() {
            let sides = measure(lab, &user, &store, case)?;
            let (ratio, took) = (sides.ratio(), sides.subject());
            let line = Line::spread(format!("{size}: {} ÷ sqlite3", case.name), ratio, "×");
            lines.push(match case.limit {
                Some(limit) => line.target(Target::AtMost(limit)),
                None => line,
            });
            lines.push(Line::spread(format!("{size}: {}", case.name), millis(took), "ms"));
            match smallest.get(at) {
                None => smallest.push(took.median),
                Some(first) if case.limit.is_some() => lines.push(growth(case, *size, took, *first)),
                Some(_) => {}
            }
        }
        let peak = ["bd ready --json", "bd create Peak --json"]
            .iter()
            .map(|args| user.peak(&words(args).iter().map(String::as_str).collect::<Vec<_>>()));
        let peak = peak.collect::<Result<Vec<f64>>>()?.into_iter().fold(0.0, f64::max);
        lines.push(Line::new(format!("{size}: peak memory"), peak, "MiB").target(Target::AtMost(30.0)));
    }
    Ok(lines)
}

fn growth(case: &Case, size: usize, took: Spread, first: f64) -> Line {
    let line = Line::new(format!("{size}: {} ÷ with 1,000", case.name), took.median / first, "×");
    line.target(Target::AtMost(1.2))
}

fn measure(lab: &Lab, user: &User, store: &Path, case: &Case) -> Result<Sides> {
    let mut sides = Sides::default();
    for run in 0..lab.count(60, 10) {
        let sql = (case.sql)(run);
        let mut shell = Command::new("sqlite3");
        shell.args(["-cmd", ".timeout 5000"]).arg(store).arg(sql).stdout(Stdio::null()).stderr(Stdio::null());
        let reference = seconds(&mut shell)?;
        let args = (case.args)(run);
        sides.push(reference, user.run(&args.iter().map(String::as_str).collect::<Vec<_>>())?);
    }
    Ok(sides)
}

/// A project with so many tasks, each with 1.3 dependencies on earlier ones; a third is closed.
pub fn project(lab: &Lab, size: usize) -> Result<User> {
    let user = User::new(lab, &format!("tasks-{size}"))?;
    user.run(&["init", "--id", "bench", "--vcs", "none"])?;
    let file = user.home().join("issues.jsonl");
    fs::write(&file, lines(size))?;
    let path: PathBuf = file;
    user.run(&["import", "beads", &path.to_string_lossy()])?;
    Ok(user)
}

fn lines(size: usize) -> String {
    let mut text = String::new();
    let mut dice: u64 = 1;
    let mut roll = |below: usize| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (dice >> 33) as usize % below.max(1)
    };
    for n in 1..=size {
        let closed = n > size / 2 && roll(3) == 0;
        let mut edges = Vec::new();
        for _ in 0..if n <= 10 {
            0
        } else if roll(10) < 3 {
            2
        } else {
            1
        } {
            let on = 1 + roll(n - 1);
            edges.push(format!(
                r#"{{"issue_id":"bench-{n:06}","depends_on_id":"bench-{on:06}","type":"blocks","created_at":"2026-01-01T00:00:00Z","created_by":"x"}}"#
            ));
        }
        edges.dedup();
        let (status, end) =
            if closed { ("closed", r#","closed_at":"2026-01-02T00:00:00Z""#) } else { ("open", "") };
        let _ = writeln!(
            text,
            r#"{{"id":"bench-{n:06}","title":"Task number {n} of the benchmark","description":"What is to be done here takes a line or two to say, as it usually does.","status":"{status}","priority":{},"issue_type":"task","created_at":"2026-01-01T00:{:02}:{:02}Z","updated_at":"2026-01-01T00:00:00Z"{end},"dependencies":[{}]}}"#,
            1 + roll(4),
            n / 60 % 60,
            n % 60,
            edges.join(",")
        );
    }
    text
}
