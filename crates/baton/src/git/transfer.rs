//! Calls of git that reach a remote, because the user named one. They run in a bare repository of Baton's own, so that no setting,
//! hook or filter of a stranger's repository takes part; the user's own settings say how to log in.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::call::Answer;
use super::plumbing::{Waiting, communicate};
use super::{FOREIGN, in_own_process_group, kill};
use crate::process;

/// How long a call may take, with the network in it.
const NETWORK_TIMEOUT: Duration = Duration::from_secs(120);

/// Settings that win over the user's: only what reaches a remote in a plain way, and nothing beside the call.
const SETTINGS: [&str; 10] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "push.gpgSign=false",
    "protocol.allow=never",
    "protocol.file.allow=always",
    "protocol.https.allow=always",
    "protocol.http.allow=always",
    "protocol.ssh.allow=always",
];

/// Runs one call in this bare repository.
pub(crate) fn transfer(bare: &Path, args: &[&str], input: &[u8]) -> io::Result<Answer> {
    let program = process::program("git").ok_or_else(|| io::Error::other("git is not installed"))?;
    let mut command = Command::new(program);
    command.current_dir(bare).arg("--no-pager");
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command.args(args);
    for name in FOREIGN {
        command.env_remove(name);
    }
    let identity = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "baton"));
    let address = ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "baton@localhost"));
    let date = ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"].map(|name| (name, "@0 +0000"));
    command.envs(identity).envs(address).envs(date);
    command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C").env("GIT_DIR", bare);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    in_own_process_group(&mut command);
    let mut child = command.spawn()?;
    let answer = communicate(&mut child, input, Waiting { root: None, patience: NETWORK_TIMEOUT });
    if answer.is_err() {
        kill(&mut child);
    }
    let status = child.wait()?;
    let (out, error) = answer?;
    Ok(Answer { code: status.code(), out, error: String::from_utf8_lossy(&error).into_owned() })
}
