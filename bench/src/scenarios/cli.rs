//! Commands as a user or an agent runs them: a process each.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::bare::{self, Bare};
use crate::lab::Lab;
use crate::process::{User, packet_file, seconds};
use crate::report::{Line, Target};
use crate::sides::{Sides, Spread};

/// A pickup, each of a baton that was wrapped just before, outside the measured time.
pub fn pickup(lab: &Lab) -> Result<Vec<Line>> {
    let (user, packet) = user(lab, "pickup-cli")?;
    let mut bare = Reference::new(user.home())?;
    user.run(&["start", "--as", "Ann"])?;
    let mut sides = Sides::default();
    for (at_work, next) in names().take(lab.count(200, 30)) {
        user.run(&["wrap", "--as", at_work, "--packet", &packet])?;
        let reference = bare.seconds()?;
        sides.push(reference, user.run(&["pickup", "--as", next])?);
    }
    Ok(vec![
        Line::spread("pickup ÷ process with one durable transaction", sides.ratio(), "×")
            .target(Target::AtMost(3.0)),
        Line::spread("the pickup process", millis(sides.subject()), "ms"),
        Line::spread("the reference process", millis(sides.reference()), "ms"),
    ])
}

/// The other commands of a hand-off, and a process that only says its version.
pub fn others(lab: &Lab) -> Result<Vec<Line>> {
    let (user, packet) = user(lab, "other-cli")?;
    let mut bare = Reference::new(user.home())?;
    let (mut start, mut wrap, mut version) = (Sides::default(), Sides::default(), Sides::default());
    for _ in 0..lab.count(100, 15) {
        let reference = bare.seconds()?;
        version.push(reference, user.run(&["--version"])?);
        start.push(reference, user.run(&["start", "--as", "Ann"])?);
        let reference = bare.seconds()?;
        wrap.push(reference, user.run(&["wrap", "--as", "Ann", "--packet", &packet])?);
    }
    Ok(vec![
        Line::spread("start ÷ process with one durable transaction", start.ratio(), "×"),
        Line::spread("wrap ÷ the same", wrap.ratio(), "×"),
        Line::spread("--version ÷ the same", version.ratio(), "×"),
        Line::spread("--version", millis(version.subject()), "ms"),
    ])
}

/// The reference process and its database.
struct Reference {
    database: PathBuf,
    runs: usize,
}

impl Reference {
    fn new(folder: &Path) -> Result<Self> {
        let database = folder.join("bare.db");
        Bare::create(&database)?;
        Ok(Self { database, runs: 0 })
    }

    /// Seconds of one run. The process leaves its log behind, and a long one would slow the next down: now and then it
    /// is written back and begun anew, outside the measured time.
    fn seconds(&mut self) -> Result<f64> {
        if self.runs.is_multiple_of(20) {
            drop(Bare::open(&self.database)?);
            seconds(&mut bare::command(&self.database)?)?;
        }
        self.runs += 1;
        seconds(&mut bare::command(&self.database)?)
    }
}

fn user(lab: &Lab, name: &str) -> Result<(User, String)> {
    let user = User::new(lab, name)?;
    user.run(&["init", "--vcs", "none"])?;
    let packet = packet_file(user.home())?;
    Ok((user, packet))
}

fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    [("Ann", "Bob"), ("Bob", "Ann")].into_iter().cycle()
}

/// Seconds as milliseconds.
pub fn millis(spread: Spread) -> Spread {
    let Spread { median, p10, p90, runs } = spread;
    Spread { median: median * 1e3, p10: p10 * 1e3, p90: p90 * 1e3, runs }
}
