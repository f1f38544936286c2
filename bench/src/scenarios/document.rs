//! A document from one large transcript: every line of it has to be understood.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::cli::millis;
use super::reading;
use crate::corpus;
use crate::lab::Lab;
use crate::process::{User, cpu_of, seconds};
use crate::report::{Line, Target};
use crate::sides::Sides;

const MIB: u64 = 1024 * 1024;

type Write = fn(&Path, u64, u64) -> Result<()>;

/// Both tools, large and small, and for memory one that is huge.
pub fn run(lab: &Lab) -> Result<Vec<Line>> {
    let user = User::new(lab, "document")?;
    let large = lab.count(200, 60) as u64;
    let mut lines = costs(lab, &user, "claude", corpus::claude, [8.0, 60.0])?;
    for (tool, write, size) in [
        ("claude", corpus::claude as Write, 20),
        ("claude", corpus::claude, large),
        ("codex", corpus::codex, large),
    ] {
        lines.extend(one(lab, &user, tool, write, size)?);
    }
    let huge = lab.count(1024, 200) as u64;
    for (tool, write) in [("claude", corpus::claude as Write), ("codex", corpus::codex)] {
        let file = user.home().join("huge.jsonl");
        write(&file, huge * MIB, 3)?;
        lines.push(memory(&user, tool, &file, huge)?);
        fs::remove_file(file)?;
    }
    Ok(lines)
}

/// The same of sessions that are made of short commands, each with sixty lines of output.
pub fn commands(lab: &Lab) -> Result<Vec<Line>> {
    let user = User::new(lab, "commands")?;
    costs(lab, &user, "commands", corpus::commands, [9.0, 80.0])
}

/// The processor time of whole processes, for 300 KB and 20 MB, beside that of `cat`.
fn costs(lab: &Lab, user: &User, kind: &str, write: Write, limits: [f64; 2]) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for ((size, bytes), limit) in [("300 KB", 300_000), ("20 MB", 20_000_000)].into_iter().zip(limits) {
        let file = user.home().join(format!("{kind}.jsonl"));
        write(&file, bytes, 2)?;
        let path = file.to_str().context("the folder's name is not UTF-8")?;
        let times = u32::try_from(lab.count(if bytes < 1_000_000 { 50 } else { 10 }, 3))?;
        let read = cpu_of(times, || seconds(Command::new("cat").arg(path).stdout(Stdio::null())).map(drop))?;
        let whole = cpu_of(times, || user.run(&["handoff", "from-transcript", path]).map(drop))?;
        lines.push(
            Line::new(format!("{kind}, {size}: document, processor time"), whole * 1e3, "ms")
                .target(Target::AtMost(limit))
                .note(format!("`cat` {:.1} ms", read * 1e3)),
        );
        fs::remove_file(file)?;
    }
    Ok(lines)
}

fn one(lab: &Lab, user: &User, tool: &str, write: Write, size: u64) -> Result<Vec<Line>> {
    let file = user.home().join(format!("{tool}.jsonl"));
    write(&file, size * MIB, 2)?;
    let path = file.to_str().context("the folder's name is not UTF-8")?;
    let files = [file.clone()];
    let mut sides = Sides::default();
    for _ in 0..lab.count(7, 3) {
        let reference = reading::seconds(&files, 1)?;
        sides.push(reference, user.run(&["handoff", "from-transcript", path])?);
    }
    let named = |what: &str| format!("{tool}, {size} MiB: {what}");
    let rate = size as f64 / sides.subject().median;
    let lines = vec![
        Line::spread(named("document ÷ reading the file"), sides.ratio(), "×"),
        Line::spread(named("document"), millis(sides.subject()), "ms"),
        Line::new(named("document"), rate, "MiB/s"),
        memory(user, tool, &file, size)?,
    ];
    fs::remove_file(file)?;
    Ok(lines)
}

fn memory(user: &User, tool: &str, file: &Path, size: u64) -> Result<Line> {
    let path = file.to_str().context("the folder's name is not UTF-8")?;
    let peak = user.peak(&["handoff", "from-transcript", path])?;
    Ok(Line::new(format!("{tool}, {size} MiB: peak memory"), peak, "MiB").target(Target::AtMost(64.0)))
}
