//! Listing and searching the transcripts of a machine, in processor time of whole processes: wall time says little on a
//! machine where others work. The references are `cat`, `find` and `baton --version` over the same files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::corpus;
use crate::lab::Lab;
use crate::process::{User, cpu_of};
use crate::report::{Line, Target};

const MIB: u64 = 1024 * 1024;
const LIST: &[&str] = &["transcripts", "list", "-n", "20", "--json"];
const SEARCH: &[&str] = &["transcripts", "search", "importer 7", "--json"];
const SEARCH_ONLY: &[&str] = &["transcripts", "search", "importer 7", "--json", "--no-refresh"];
const RARE: &[&str] = &["transcripts", "search", "\"importer 3 faster\"", "--json", "--no-refresh"];

/// 500 files of 0.3 GB.
pub fn usual(lab: &Lab) -> Result<Vec<Line>> {
    run(lab, "transcripts-search", lab.count(500, 100), lab.count(300, 60) as u64 * MIB)
}

/// 5,000 files of 2.7 GB.
pub fn large(lab: &Lab) -> Result<Vec<Line>> {
    run(lab, "transcripts-large", lab.count(5_000, 1_000), lab.count(2_700, 300) as u64 * MIB)
}

fn run(lab: &Lab, name: &str, files: usize, bytes: u64) -> Result<Vec<Line>> {
    let user = User::new(lab, name)?;
    let (paths, bytes) = corpus::home(user.home(), files, bytes)?;
    user.run(&["project", "list"])?;
    let mut lines = listing(&user, &paths)?;
    lines.extend(searching(&user, bytes)?);
    lines.extend(continues(&user)?);
    fs::remove_dir_all(user.home())?;
    Ok(lines)
}

fn listing(user: &User, files: &[PathBuf]) -> Result<Vec<Line>> {
    let cat = cpu_of(3, || quiet(Command::new("cat").args(files)))?;
    let find = cpu_of(20, || {
        quiet(Command::new("find").arg(user.home()).args(["-name", "*.jsonl", "-printf", "%s %T@\n"]))
    })?;
    let first = cpu_of(1, || user.run(LIST).map(drop))?;
    let again = cpu_of(10, || user.run(LIST).map(drop))?;
    Ok(vec![
        Line::new("list, first ÷ `cat`", first / cat, "×").target(Target::AtMost(2.5)).note(seconds(first)),
        Line::new("list, again ÷ `find -printf '%s %T@'`", again / find, "×")
            .target(Target::AtMost(1.1))
            .note(seconds(again)),
    ])
}

fn searching(user: &User, bytes: u64) -> Result<Vec<Line>> {
    let build_peak = user.peak(SEARCH)?;
    let index = user.data().join("transcript-search-1.db");
    let size = fs::metadata(&index).context("there is no index")?.len();
    fs::remove_file(&index)?;
    let build = cpu_of(1, || user.run(SEARCH).map(drop))?;
    let version = cpu_of(50, || user.run(&["--version"]).map(drop))?;
    let only = cpu_of(20, || user.run(SEARCH_ONLY).map(drop))?;
    let rare = cpu_of(20, || user.run(RARE).map(drop))?;
    let walk = cpu_of(10, || user.run(SEARCH).map(drop))?;
    let new =
        user.home().join(".claude/projects/-home-you-shop-1/0c0c0c0c-0000-4000-8000-000000000001.jsonl");
    corpus::claude(&new, 300 * 1024, 99)?;
    let added = cpu_of(1, || user.run(SEARCH).map(drop))?;
    let answer = user.ask(SEARCH)?;
    ensure!(answer["items"].as_array().is_some_and(|items| !items.is_empty()), "nothing is found: {answer}");
    let share = |part: f64, whole: f64| part / whole * 100.0;
    Ok(vec![
        Line::new("building the index", bytes as f64 / MIB as f64 / build, "MiB/s").note(seconds(build)),
        Line::new("index ÷ transcripts", share(size as f64, bytes as f64), "%"),
        Line::new("search of common words without the walk ÷ `--version`", only / version, "×")
            .target(Target::AtMost(4.0))
            .note(seconds(only)),
        Line::new("search of a rare phrase without the walk ÷ `--version`", rare / version, "×")
            .target(Target::AtMost(4.0)),
        Line::new("search with the walk ÷ `--version`", walk / version, "×"),
        Line::new("adding one session of 300 KiB ÷ building", share(added, build), "%")
            .target(Target::AtMost(3.0)),
        Line::new("peak memory, building", build_peak, "MiB").target(Target::AtMost(64.0)),
        Line::new("peak memory, searching", user.peak(SEARCH_ONLY)?, "MiB").target(Target::AtMost(64.0)),
    ])
}

/// Another tool that reads the same files, where it is installed: nothing is measured against what is not there.
fn continues(user: &User) -> Result<Vec<Line>> {
    let there = |folder: &str| Path::new(folder).join("continues").is_file();
    let path = "/usr/local/bin:/usr/bin:/bin";
    if !path.split(':').any(there) {
        eprintln!("!! `continues` (npm) is not in {path}: nothing was measured against it");
        return Ok(Vec::new());
    }
    let theirs = || {
        Command::new("continues")
            .arg("list")
            .arg("--rebuild")
            .env("HOME", user.home())
            .stdout(Stdio::null())
            .status()
    };
    let theirs = cpu_of(1, || Ok(theirs().map(drop)?))?;
    fs::remove_dir_all(user.data())?;
    let ours = cpu_of(1, || user.run(LIST).map(drop))?;
    Ok(vec![
        Line::new("`continues list --rebuild` ÷ list, first", theirs / ours, "×")
            .target(Target::AtLeast(20.0)),
    ])
}

fn quiet(command: &mut Command) -> Result<()> {
    ensure!(command.stdout(Stdio::null()).status()?.success(), "{command:?} failed");
    Ok(())
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.3} s of processor time")
}
