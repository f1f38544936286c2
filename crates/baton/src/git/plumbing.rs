//! Calls of git's plumbing for [`changes`](crate::changes), with the same guards: bytes in and out, and the exit code.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::call::{Answer, Call, GitRunner};
use super::{bound, command, is_its_own, kill, rule_files};

/// How long a call may take that reads a few small files.
const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// How long any other may take: it goes through every file, or packs.
const SCAN_TIMEOUT: Duration = Duration::from_secs(60);
/// After which time without an answer the working copy is searched for what git may be waiting for.
const SUSPICIOUS: Duration = Duration::from_secs(3);
/// The subcommands that read a few small files.
const QUICK: [&str; 3] = ["rev-parse", "config", "mktree"];
/// The longest answer that is read, in bytes: the content of a merge.
const LIMIT: u64 = 256 * 1024 * 1024;
/// The longest error message that is read, in bytes.
const MESSAGE: u64 = 64 * 1024;

/// Git, run so that nothing of a repository starts a program.
pub(crate) struct Plumbing;

impl GitRunner for Plumbing {
    fn call(&self, root: &Path, call: &Call) -> io::Result<Answer> {
        if !is_its_own(root) {
            return Err(io::Error::other("the folder has no git folder of its own"));
        }
        let args: Vec<&str> = call.args.iter().map(String::as_str).collect();
        let mut command =
            command(root, &args, &[]).ok_or_else(|| io::Error::other("git is not installed"))?;
        command.envs(call.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        bound(&child);
        let is_quick = args.first().is_some_and(|name| QUICK.contains(name));
        let waiting =
            Waiting { root: Some(root), patience: if is_quick { READ_TIMEOUT } else { SCAN_TIMEOUT } };
        let answer = communicate(&mut child, &call.input, waiting);
        if answer.is_err() {
            kill(&mut child);
        }
        let status = child.wait()?;
        let (out, error) = answer?;
        Ok(Answer { code: status.code(), out, error: String::from_utf8_lossy(&error).into_owned() })
    }
}

/// How long an answer is waited for.
pub(super) struct Waiting<'a> {
    /// The working copy whose files may keep git from answering.
    pub root: Option<&'a Path>,
    pub patience: Duration,
}

impl Waiting<'_> {
    fn receive(&self, answer: &mpsc::Receiver<io::Result<Vec<u8>>>) -> io::Result<Vec<u8>> {
        let late = |_| io::Error::new(io::ErrorKind::TimedOut, "git did not answer in time");
        let until = Instant::now() + self.patience;
        let first = self.patience.min(SUSPICIOUS);
        if let Ok(bytes) = answer.recv_timeout(first) {
            return bytes;
        }
        if let Some(path) = self.root.and_then(|root| rule_files::blocking(root, until)) {
            let what = format!("{} is no regular file: git waits for it", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        answer.recv_timeout(until.saturating_duration_since(Instant::now())).map_err(late)?
    }
}

/// Writes the input and reads both outputs at once, so that no pipe fills up.
pub(super) fn communicate(
    child: &mut Child,
    input: &[u8],
    waiting: Waiting<'_>,
) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let missing = || io::Error::other("git has no pipe");
    let out = reader(child.stdout.take().ok_or_else(missing)?, LIMIT);
    let error = reader(child.stderr.take().ok_or_else(missing)?, MESSAGE);
    let (mut stdin, input) = (child.stdin.take().ok_or_else(missing)?, input.to_owned());
    // A git that ends early says why in its error output.
    std::thread::spawn(move || drop(stdin.write_all(&input)));
    let out = waiting.receive(&out)?;
    let error = waiting.receive(&error)?;
    if u64::try_from(out.len()).is_ok_and(|length| length > LIMIT) {
        return Err(io::Error::other("git answers with too much"));
    }
    Ok((out, error))
}

/// What a pipe gives, up to one byte more than the limit.
fn reader(pipe: impl Read + Send + 'static, limit: u64) -> mpsc::Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = pipe.take(limit + 1).read_to_end(&mut bytes);
        _ = sender.send(read.map(|_| bytes));
    });
    receiver
}
