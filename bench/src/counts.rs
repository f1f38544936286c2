//! How many instructions five commands take, counted by callgrind: a figure that a busy machine does not change. It is a guard beside
//! the times, not in their place: it knows nothing of the disk, the kernel, or what a cache misses.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::corpus;
use crate::lab::Lab;
use crate::process::{User, packet_file};
use crate::scenarios::tasks;

/// The counts that were recorded last: a line each, name and count.
const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/counts.recorded");

/// Counts every command, prints each count with its change, and records them where that is asked for.
pub fn run(lab: &Lab, record: bool) -> Result<()> {
    let before = recorded(Path::new(RECORDED))?;
    let counts = all(lab)?;
    println!("{:14} {:>15} {:>9}", "command", "instructions", "change");
    for (name, count) in &counts {
        let change = before.get(name).map(|before| change(*before, *count));
        println!("{name:14} {count:>15} {:>9}", change.unwrap_or_else(|| "new".to_owned()));
    }
    if record {
        let lines: String = counts.iter().map(|(name, count)| format!("{name} {count}\n")).collect();
        fs::write(RECORDED, lines)?;
    }
    Ok(())
}

fn all(lab: &Lab) -> Result<Vec<(String, u64)>> {
    let size = lab.count(4 << 20, 300 << 10) as u64;
    let work = User::new(lab, "counts")?;
    let (usual, commands) = (work.home().join("usual.jsonl"), work.home().join("commands.jsonl"));
    corpus::claude(&usual, size, 2)?;
    corpus::commands(&commands, size, 2)?;
    let (usual, commands) = (text(&usual)?, text(&commands)?);
    let project = tasks::project(lab, lab.count(10_000, 1_000))?;
    let hand_over = User::new(lab, "counts-pickup")?;
    hand_over.run(&["init", "--vcs", "none"])?;
    let packet = packet_file(hand_over.home())?;
    hand_over.run(&["start", "--as", "Ann"])?;
    hand_over.run(&["wrap", "--as", "Ann", "--packet", &packet])?;
    let cases: [(&str, &User, &[&str]); 5] = [
        ("start", &work, &["--version"]),
        ("document", &work, &["handoff", "from-transcript", usual]),
        ("commands", &work, &["handoff", "from-transcript", commands]),
        ("tasks", &project, &["bd", "list", "--limit", "0", "--json"]),
        ("pickup", &hand_over, &["pickup", "--as", "Bob"]),
    ];
    cases.iter().map(|(name, user, args)| Ok(((*name).to_owned(), count(user, args)?))).collect()
}

/// The instructions of a command that must end well.
fn count(user: &User, args: &[&str]) -> Result<u64> {
    let plain = user.command(args);
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(plain.get_program());
    command.args(plain.get_args()).env_clear().stdin(Stdio::null()).stdout(Stdio::null());
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = plain.get_current_dir() {
        command.current_dir(folder);
    }
    let output = command.stderr(Stdio::piped()).output().context("valgrind cannot be started")?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        bail!("baton {args:?} under callgrind: {stderr}");
    }
    collected(&stderr).with_context(|| format!("callgrind tells no count: {stderr}"))
}

/// The count in the last lines of callgrind: `==123== Collected : 1234`.
fn collected(stderr: &str) -> Option<u64> {
    let line = stderr.lines().rev().find_map(|line| line.split_once("Collected :"))?;
    line.1.trim().parse().ok()
}

fn recorded(file: &Path) -> Result<BTreeMap<String, u64>> {
    if !file.exists() {
        return Ok(BTreeMap::new());
    }
    let text = fs::read_to_string(file)?;
    let pair = |line: &str| {
        let (name, count) = line.split_once(' ').with_context(|| format!("{}: {line}", file.display()))?;
        Ok((name.to_owned(), count.trim().parse()?))
    };
    text.lines().map(pair).collect()
}

fn change(before: u64, now: u64) -> String {
    format!("{:+.1} %", (now as f64 / before.max(1) as f64 - 1.0) * 100.0)
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("the folder's name is not UTF-8")
}
