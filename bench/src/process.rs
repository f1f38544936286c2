//! Running `baton` as a whole process: how long, and how much memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::lab::Lab;

/// A user with a home, a repository and a store of their own.
pub struct User {
    baton: PathBuf,
    home: PathBuf,
    repo: PathBuf,
    vars: Vec<(&'static str, String)>,
}

impl User {
    /// Makes the home and an empty repository.
    pub fn new(lab: &Lab, name: &str) -> Result<Self> {
        let home = lab.folder(name)?;
        let repo = home.join("repo");
        fs::create_dir_all(repo.join(".git"))?;
        Ok(Self { baton: lab.baton.clone(), home, repo, vars: Vec::new() })
    }

    /// Sets a variable of their environment.
    pub fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.vars.push((name, value.into()));
    }

    /// Their home.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Where their store lies.
    pub fn data(&self) -> PathBuf {
        self.home.join(".local/share/baton")
    }

    /// The command with these arguments, in the repository and with nothing of our environment.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.baton);
        command.args(args).current_dir(&self.repo).env_clear().stdin(Stdio::null());
        command.env("HOME", &self.home).env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.envs(self.vars.iter().map(|(name, value)| (name, value)));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Runs it to its end, which must be a good one; returns the seconds.
    pub fn run(&self, args: &[&str]) -> Result<f64> {
        seconds(&mut self.command(args))
    }

    /// Runs it and reads its answer.
    pub fn ask(&self, args: &[&str]) -> Result<Value> {
        let output = self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).output()?;
        if !output.status.success() {
            bail!("baton {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Runs it and returns the most memory that it had, in MiB.
    pub fn peak(&self, args: &[&str]) -> Result<f64> {
        let mut child = self.command(args).spawn()?;
        let mut peak = 0;
        let status = loop {
            peak = peak.max(status_kib(child.id(), "VmHWM:").unwrap_or(0));
            match child.try_wait()? {
                Some(status) => break status,
                None => std::thread::sleep(Duration::from_micros(500)),
            }
        };
        if !status.success() {
            bail!("baton {args:?} ended with {status}");
        }
        Ok(peak as f64 / 1024.0)
    }
}

/// Seconds from start to end of a process that must end well.
pub fn seconds(command: &mut Command) -> Result<f64> {
    let begin = Instant::now();
    let status = command.status()?;
    let took = begin.elapsed().as_secs_f64();
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(took)
}

/// A field of a process's status, in KiB.
pub fn status_kib(pid: u32, field: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Seconds of processor time that a process has used, in steps of ten milliseconds.
pub fn cpu_seconds(pid: u32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok());
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// Seconds of processor time that the processes started by `work` have used, the mean of so many times. They must have
/// ended with it. The system counts in steps of ten milliseconds.
pub fn cpu_of(times: u32, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let begin = children_seconds()?;
    (0..times).try_for_each(|_| work())?;
    Ok((children_seconds()? - begin).max(0.01) / f64::from(times))
}

fn children_seconds() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit_once(')').context("stat")?.1.split_whitespace().collect();
    let ticks =
        |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok()).context("a field of stat");
    Ok((ticks(13)? + ticks(14)?) / 100.0)
}

/// A process that is ended when this is dropped.
pub struct ChildGuard(pub Child);

impl Drop for ChildGuard {
    fn drop(&mut self) {
        // One that has ended already needs no ending.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A hand-off packet as an agent writes it: about two KiB.
pub fn packet() -> Value {
    let steps: Vec<String> = (1..6)
        .map(|n| format!("step {n}: move the rounding out of module_{n} and run its tests again"))
        .collect();
    let files: Vec<Value> =
        (1..9).map(|n| json!({ "path": format!("src/module_{n}/price.rs"), "change": "modified" })).collect();
    json!({
        "summary": "Prices are rounded to cents in the cart; the importer still rounds twice.",
        "work_completed": ["rounding in cart.rs", "tests of the cart", "a note in the change log"],
        "next_steps": steps,
        "open_loops": ["the importer rounds twice, see module_3", "nobody has looked at the currency without cents"],
        "files_modified": files,
        "test_command": "make test",
        "test_status": "212 passed, 1 failed",
        "focus": ["prices"],
    })
}

/// The packet in a file.
pub fn packet_file(folder: &Path) -> Result<String> {
    let file = folder.join("packet.json");
    fs::write(&file, packet().to_string())?;
    Ok(file.to_str().context("the folder's name is not UTF-8")?.to_owned())
}
