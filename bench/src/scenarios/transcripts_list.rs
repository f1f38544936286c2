//! Listing the transcripts of a machine: first, when every file has to be looked into, and again.

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, ensure};

use super::cli::millis;
use super::reading;
use crate::corpus;
use crate::lab::Lab;
use crate::machine::cores;
use crate::process::User;
use crate::report::{Line, Target};
use crate::sides::{Sides, Spread};

const LIST: &[&str] = &["transcripts", "list", "--json"];
const MIB: u64 = 1024 * 1024;

struct Measurement {
    first: Sides,
    again: Sides,
    floor: Sides,
}

/// Lists a home full of sessions, then one with a single huge one.
pub fn run(lab: &Lab) -> Result<Vec<Line>> {
    let user = User::new(lab, "transcripts-list")?;
    let (files, bytes) = corpus::home(user.home(), lab.count(500, 100), lab.count(300, 60) as u64 * MIB)?;
    let listed = user.ask(LIST)?["total"].as_u64();
    ensure!(listed == Some(files.len() as u64), "{} files were written, {listed:?} are listed", files.len());
    let measured = measure(lab, &user, &files)?;
    let percent = |spread: Spread| {
        let Spread { median, p10, p90, runs } = spread;
        Spread { median: median * 100.0, p10: p10 * 100.0, p90: p90 * 100.0, runs }
    };
    let size = format!("{} files, {} MiB", files.len(), bytes / MIB);
    let mut lines = vec![
        Line::spread("first: throughput against reading the files", percent(measured.first.inverse()), "%")
            .target(Target::AtLeast(40.0))
            .note(size),
        Line::spread("again, unchanged ÷ first, whole process", percent(measured.again.ratio()), "%")
            .target(Target::AtMost(5.0)),
        Line::spread("the same with no transcripts at all ÷ first", percent(measured.floor.ratio()), "%")
            .note("start of the process and opening the store: the floor of the line above"),
        Line::spread("first", millis(measured.first.subject()), "ms"),
        Line::spread("again", millis(measured.again.subject()), "ms"),
        Line::spread("reading the files", millis(measured.first.reference()), "ms"),
        Line::new("peak memory, first", fresh(&user)?.peak(LIST)?, "MiB").target(Target::AtMost(64.0)),
        Line::new("peak memory, again", user.peak(LIST)?, "MiB").target(Target::AtMost(64.0)),
    ];
    lines.extend(huge(lab)?);
    Ok(lines)
}

fn measure(lab: &Lab, user: &User, files: &[PathBuf]) -> Result<Measurement> {
    let nobody = User::new(lab, "transcripts-nobody")?;
    nobody.run(LIST)?;
    let (mut first, mut again, mut floor) = (Sides::default(), Sides::default(), Sides::default());
    for _ in 0..lab.count(15, 5) {
        let reference = reading::seconds(files, cores())?;
        let took = fresh(user)?.run(LIST)?;
        first.push(reference, took);
        again.push(took, user.run(LIST)?);
        floor.push(took, nobody.run(LIST)?);
    }
    Ok(Measurement { first, again, floor })
}

/// The user with a store that knows no transcript yet.
fn fresh(user: &User) -> Result<&User> {
    if user.data().exists() {
        fs::remove_dir_all(user.data())?;
    }
    user.run(&["project", "list"])?;
    Ok(user)
}

/// One session of a size that no agent should have.
fn huge(lab: &Lab) -> Result<Vec<Line>> {
    let user = User::new(lab, "transcripts-huge")?;
    let size = lab.count(1024, 200) as u64 * MIB;
    let folder = user.home().join(".claude/projects/-home-you-shop");
    corpus::claude(&folder.join("0b0b0b0b-0000-4000-8000-000000000001.jsonl"), size, 1)?;
    let peak = user.peak(LIST)?;
    fs::remove_dir_all(user.home())?;
    let name = format!("peak memory, one file of {} MiB", size / MIB);
    Ok(vec![Line::new(name, peak, "MiB").target(Target::AtMost(64.0))])
}
