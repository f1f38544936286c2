//! A command on one task: its files, its group of processes, its end.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use baton_model::refusal::{Kind, Refusal};
use baton_model::time::Millis;
use baton_model::usage_limit::{ProviderStop, reports_test};
use baton_tools::Launcher;
use baton_transcripts::printable;
use serde_json::Value;
use tokio::runtime::Runtime;

use super::tail::{Tail, spawn_joined};
use crate::clock;
use crate::error::AppError;
use crate::launch;
use crate::path_kind;
use crate::time_zone;

/// Time for a command to exit after it was asked to, before it is killed.
const GRACE: Duration = Duration::from_secs(5);
/// The largest file of results that is read, in bytes.
const MAX_RESULT_BYTES: u64 = 1024 * 1024;
/// In how many of its last lines a limit is looked for: an agent may have worked on one.
const LAST_LINES: usize = 5;
/// How many of its last lines say how it failed.
const OUTPUT_LINES: usize = 40;
/// How many characters of them: they are to fit into the packet of the next role, beside all else.
const OUTPUT_CHARS: usize = 800;

/// How a command came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandEnd {
    /// By itself.
    Ended(ExitStatus),
    /// It took longer than this, in milliseconds, and was stopped.
    TooLong(Millis),
    /// The worker was interrupted by a signal.
    Interrupted,
    /// The session was released by another caller: its results do not count any more.
    Lost,
}

/// A running command.
pub(super) struct Command {
    child: Child,
    tail: Tail,
    streams: Vec<JoinHandle<()>>,
    handoff: PathBuf,
    result: PathBuf,
    /// When it was started.
    pub started_at: Millis,
}

impl Command {
    /// Starts it in a process group of its own with the packet on its standard input. Its output goes to standard
    /// error, and its end is kept. A tool that takes its variables by flags gets them so.
    pub(super) fn start(
        (words, launcher): (&[String], Option<Launcher>),
        folder: &Path,
        mut vars: Vec<(&'static str, String)>,
        packet: &Value,
    ) -> Result<Self, AppError> {
        let name = vars.iter().find(|(name, _)| *name == "BATON_SESSION").map(|(_, id)| id.as_str());
        let handoff = folder.join(format!("{}.json", name.unwrap_or("task")));
        let result = folder.join(format!("{}.result.json", name.unwrap_or("task")));
        private(folder, &handoff, &packet.to_string())?;
        let (program, args) =
            words.split_first().ok_or_else(|| unstartable("nothing", "no command is given"))?;
        let mut command = std::process::Command::new(program);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        for (name, file) in [("BATON_HANDOFF", &handoff), ("BATON_RESULT", &result)] {
            vars.push((name, file.display().to_string()));
        }
        let flags =
            launcher.map(|launcher| launch::vars_as_flags(launcher.launch, &vars)).unwrap_or_default();
        command.args(flags).args(args).envs(vars);
        command.stdin(Stdio::piped());
        let (mut child, output) =
            spawn_joined(command).map_err(|error| unstartable(program, &error.to_string()))?;
        if let Some(mut stdin) = child.stdin.take() {
            let text = format!("{packet}\n");
            // Written by a thread: a command that does not read its standard input is no error, and one that reads late
            // does not block the worker.
            std::thread::spawn(move || _ = stdin.write_all(text.as_bytes()));
        }
        let tail = Tail::default();
        let streams = vec![tail.follow(output)];
        Ok(Self { child, tail, streams, handoff, result, started_at: clock::now() })
    }

    /// How it ended, if it did.
    pub(super) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Asks its whole group to end, and ends it after a while.
    pub(super) fn stop(&mut self) {
        self.signal("-TERM");
        for _ in 0..GRACE.as_millis() / 50 {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        self.signal("-KILL");
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn signal(&self, signal: &str) {
        #[cfg(unix)]
        let _ = std::process::Command::new("kill")
            .args([signal, "--", &format!("-{}", self.child.id())])
            .stderr(Stdio::null())
            .status();
        #[cfg(not(unix))]
        let _ = signal;
    }

    /// What its provider said last, if that was a limit.
    pub(super) fn limit(&self) -> Option<ProviderStop> {
        limit_in(&self.tail.text(&self.streams))
    }

    /// The same of a command that ended as one does whose test failed: not where its last lines are the report of a test, which may
    /// speak of limits itself.
    pub(super) fn limit_beside_no_test(&self) -> Option<ProviderStop> {
        let text = self.tail.text(&self.streams);
        if last_lines(&text).any(reports_test) { None } else { limit_in(&text) }
    }

    /// The end of its output, without secrets.
    pub(super) fn last_output(&self) -> String {
        end_of_output(&self.tail.text(&self.streams))
    }

    /// What it wrote as its result, if it wrote anything.
    pub(super) fn result(&self) -> Option<Result<String, String>> {
        fs::metadata(&self.result).ok().map(|_| read_result(&self.result))
    }

    /// Removes the packet. Returns the file of its result, if it wrote one: it is removed once all of it is recorded.
    pub(super) fn clear(self) -> Option<PathBuf> {
        let _ = fs::remove_file(&self.handoff);
        fs::metadata(&self.result).is_ok().then_some(self.result)
    }
}

/// The last lines that say something, the last one first.
fn last_lines(output: &str) -> impl Iterator<Item = &str> {
    output.lines().rev().filter(|line| !line.trim().is_empty()).take(LAST_LINES)
}

/// The limit of a provider that the last lines name.
fn limit_in(output: &str) -> Option<ProviderStop> {
    let now = clock::now();
    last_lines(output).map(|line| ProviderStop::read(line, now, &time_zone::find)).find(|stop| stop.is_limit)
}

/// The last lines of an output, without secrets. They go before it is cut: the sign of one may stand in a line that is cut off.
fn end_of_output(output: &str) -> String {
    let clean = printable(output);
    let clean = baton_redact::shared().redact(&clean).text;
    let lines: Vec<&str> = clean.lines().collect();
    let end = lines.get(lines.len().saturating_sub(OUTPUT_LINES)..).unwrap_or_default().join("\n");
    let over = end.chars().count().saturating_sub(OUTPUT_CHARS);
    end.chars().skip(over).collect()
}

/// The text of a file of results. What is no regular file (a pipe, a link to a device) may have no end, and is not opened.
fn read_result(path: &Path) -> Result<String, String> {
    if let Some(kind) = path_kind::irregular(path) {
        return Err(format!("it is {kind}, and no regular file"));
    }
    let mut text = String::new();
    let read =
        fs::File::open(path).and_then(|file| file.take(MAX_RESULT_BYTES + 1).read_to_string(&mut text));
    match read {
        // A character may be cut in two where the reading ends.
        _ if fs::metadata(path).is_ok_and(|meta| meta.len() > MAX_RESULT_BYTES) => Err(too_large()),
        Ok(read) if read as u64 > MAX_RESULT_BYTES => Err(too_large()),
        read => read.map(|_| text).map_err(|error| error.to_string()),
    }
}

fn too_large() -> String {
    format!("it has more than {MAX_RESULT_BYTES} bytes")
}

/// Refuses a program that is not there, before a task is claimed for it. Where the system looks for more than this does, the start
/// itself decides.
pub(super) fn require_program(program: &str) -> Result<(), AppError> {
    let is_there = match Path::new(program) {
        _ if cfg!(windows) => true,
        path if program.contains('/') => launch::is_program(path),
        _ => crate::process::on_search_path(program),
    };
    if is_there { Ok(()) } else { Err(unstartable(program, "there is no such program")) }
}

fn unstartable(program: &str, why: &str) -> AppError {
    let program = baton_model::id::visible(program);
    Refusal::new(
        Kind::Outside,
        "command_unstartable",
        format!("{program} cannot be started: {why}"),
        "name a program on the search path, or a shell: -- sh -c 'COMMAND'",
    )
    .into()
}

fn private(folder: &Path, file: &Path, content: &str) -> io::Result<()> {
    let mut dirs = fs::DirBuilder::new();
    dirs.recursive(true);
    let mut open = fs::OpenOptions::new();
    open.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        std::os::unix::fs::DirBuilderExt::mode(&mut dirs, 0o700);
        std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
    }
    dirs.create(folder)?;
    open.open(file)?.write_all(content.as_bytes())
}

/// Listens for SIGINT and SIGTERM from its creation on, so that no signal between two waits is lost.
pub(super) struct Stop {
    runtime: Runtime,
    #[cfg(unix)]
    signals: [tokio::signal::unix::Signal; 2],
}

impl Stop {
    /// Begins to listen.
    pub(super) fn listen() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        #[cfg(unix)]
        let signals = {
            use tokio::signal::unix::{SignalKind, signal};
            let _inside = runtime.enter();
            [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?]
        };
        Ok(Self {
            runtime,
            #[cfg(unix)]
            signals,
        })
    }

    /// Sleeps; returns early with true if the process was signalled to stop.
    pub(super) fn within(&mut self, pause: Duration) -> bool {
        #[cfg(unix)]
        {
            let [interrupt, terminate] = &mut self.signals;
            self.runtime.block_on(async {
                tokio::select! {
                    _ = interrupt.recv() => true, _ = terminate.recv() => true, () = tokio::time::sleep(pause) => false
                }
            })
        }
        #[cfg(not(unix))]
        self.runtime.block_on(async {
            tokio::select! { _ = tokio::signal::ctrl_c() => true, () = tokio::time::sleep(pause) => false }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_whose_sign_is_cut_off_is_not_in_the_end_of_the_output() {
        let lines = |count: usize| (0..count).map(|line| format!("line {line}\n")).collect::<String>();
        let value = format!("\"client_secret\":\n   \"plainwordVnine\"\n{}", lines(OUTPUT_LINES - 1));
        let shown = end_of_output(&value);
        assert!(!shown.contains("plainword") && shown.ends_with("line 38"), "{shown}");
        let key: String = (0..60).map(|at| format!("{}{at:02}\n", "MIIEowIBAAKCAQEA7x".repeat(3))).collect();
        let begin = format!("-----BEGIN {} KEY-----\n", "RSA PRIVATE");
        let shown = end_of_output(&format!("{begin}{key}"));
        assert_eq!(shown.trim(), "[redacted:private-key]");
    }

    #[test]
    fn a_limit_is_found_in_the_last_lines() {
        let long = "usage limit reached\n".to_owned() + &"working\n".repeat(LAST_LINES);
        assert_eq!(limit_in(&long), None, "what an agent has worked on long before is none");
        assert!(limit_in("working\n\nusage limit reached, resets 3pm\nbye\n").is_some());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_of_results_that_has_no_end_is_not_read() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |name: &str| root.path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().expect("runs").success());
        std::os::unix::fs::symlink("/dev/zero", at("zero")).expect("linked");
        fs::create_dir(at("folder")).expect("made");
        fs::write(at("large"), "x".repeat(1024 * 1024 + 1)).expect("written");
        fs::write(at("result"), "{}").expect("written");
        let read = |name: &str| read_result(&at(name));
        for (name, why) in
            [("pipe", "a pipe"), ("zero", "a device"), ("folder", "a folder"), ("large", "1048576")]
        {
            assert!(read(name).is_err_and(|error| error.contains(why)), "{name}");
        }
        assert_eq!(read("result"), Ok("{}".to_owned()));
    }
}
