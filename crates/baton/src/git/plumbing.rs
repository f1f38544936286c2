//! Calls of git's plumbing for [`changes`](crate::changes), with the same guards: bytes in and out, and the exit code.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::call::{Answer, Call, GitRunner};
use super::{bound, command, is_its_own, kill};

/// How long a call may take that reads a few small files.
const SHORT: Duration = Duration::from_secs(5);
/// How long any other may take: it goes through every file, or packs.
const LONG: Duration = Duration::from_secs(60);
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
        let answer = communicate(&mut child, &call.input, if is_quick { SHORT } else { LONG });
        if answer.is_err() {
            kill(&mut child);
        }
        let status = child.wait()?;
        let (out, error) = answer?;
        Ok(Answer { code: status.code(), out, error: String::from_utf8_lossy(&error).into_owned() })
    }
}

/// Writes the input and reads both outputs at once, so that no pipe fills up.
pub(super) fn communicate(
    child: &mut Child,
    input: &[u8],
    patience: Duration,
) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let missing = || io::Error::other("git has no pipe");
    let out = reader(child.stdout.take().ok_or_else(missing)?, LIMIT);
    let error = reader(child.stderr.take().ok_or_else(missing)?, MESSAGE);
    let (mut stdin, input) = (child.stdin.take().ok_or_else(missing)?, input.to_owned());
    // A git that ends early says why in its error output.
    std::thread::spawn(move || drop(stdin.write_all(&input)));
    let late = |_| io::Error::new(io::ErrorKind::TimedOut, "git did not answer in time");
    let out = out.recv_timeout(patience).map_err(late)??;
    let error = error.recv_timeout(patience).map_err(late)??;
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
