//! What it costs a command to find its project from a folder deep in a linked worktree.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use super::cli::millis;
use crate::lab::Lab;
use crate::process::{User, seconds};
use crate::report::{Line, Target};
use crate::sides::{Sides, spread};

/// The project that the worktree belongs to.
const PROJECT: &str = "shop";

/// `baton status` in a worktree among many, in a ledger of many projects, against the same where the project is named.
pub fn run(lab: &Lab) -> Result<Vec<Line>> {
    let user = User::new(lab, "worktree")?;
    let folder = prepare(&user, lab.count(300, 20), lab.count(100, 10))?;
    let status = |args: &[&str]| seconds(user.command(args).current_dir(&folder));
    let mut sides = Sides::default();
    let mut beyond = Vec::new();
    for _ in 0..lab.count(200, 30) {
        let reference = status(&["--project", PROJECT, "status"])?;
        let subject = status(&["status"])?;
        sides.push(reference, subject);
        beyond.push(subject - reference);
    }
    Ok(vec![
        Line::spread("beyond the same with `--project`", millis(spread(beyond)), "ms")
            .target(Target::AtMost(2.0)),
        Line::spread("÷ the same with `--project`", sides.ratio(), "×"),
        Line::spread("the process", millis(sides.subject()), "ms"),
    ])
}

/// A repository with so many worktrees in a ledger of so many projects; returns a deep folder of the last worktree.
fn prepare(user: &User, worktrees: usize, projects: usize) -> Result<PathBuf> {
    let repo = user.home().join("repo");
    fs::remove_dir_all(repo.join(".git"))?;
    git(&repo, &["init", "-q", "-b", "main"])?;
    fs::create_dir_all(repo.join("a/b/c/d/e/f/g/h"))?;
    fs::write(repo.join("a/b/c/d/e/f/g/h/file"), "one\n")?;
    git(&repo, &["add", "-A"])?;
    git(&repo, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"])?;
    user.run(&["init", "--id", PROJECT, "--vcs", "none"])?;
    for n in 0..projects {
        let other = user.home().join(format!("other-{n}"));
        fs::create_dir_all(&other)?;
        git(&other, &["init", "-q"])?;
        seconds(user.command(&["init", "--vcs", "none"]).current_dir(&other))?;
    }
    for n in 0..worktrees {
        git(&repo, &["worktree", "add", "-q", "--detach", &format!("../worktree-{n}")])?;
    }
    Ok(user.home().join(format!("worktree-{}/a/b/c/d/e/f/g/h", worktrees - 1)))
}

fn git(folder: &Path, args: &[&str]) -> Result<()> {
    let output = Command::new("git").arg("-C").arg(folder).args(args).output()?;
    if !output.status.success() {
        bail!("git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}
