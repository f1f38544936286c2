//! Running a reader: with a time, a memory and an output that are bounded, and with little of the user's environment.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Memory that the program may map, in KiB: interpreters map much more than they use.
const MEMORY_KIB: u64 = 4 * 1024 * 1024;
/// Variables that the program gets. Keys and tokens of other programs are none of its business.
const VARIABLES: [&str; 9] =
    ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "APPDATA"];

/// How much of it a call may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Time until it is stopped with all that it started.
    pub time: Duration,
    /// Bytes that it may print.
    pub bytes: usize,
}

/// What the program prints, or why that cannot be used.
pub(super) fn run(program: &Path, args: &[&str], limits: Limits) -> Result<String, String> {
    let mut command = limited(program, args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    keep_variables(&mut command);
    let mut child = command.spawn().map_err(|error| format!("it cannot be started: {error}"))?;
    let (send, receive) = mpsc::channel();
    if let Some(pipe) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = pipe.take(limits.bytes as u64 + 1).read_to_end(&mut bytes);
            _ = send.send(read.map(|_| bytes));
        });
    }
    let bytes = match receive.recv_timeout(limits.time) {
        Ok(Ok(bytes)) if bytes.len() <= limits.bytes => bytes,
        outcome => {
            crate::process_group::stop_group(&mut child);
            return Err(match outcome {
                Ok(Ok(_)) => format!("it printed more than {} MiB", limits.bytes >> 20),
                Ok(Err(error)) => format!("what it prints cannot be read: {error}"),
                Err(_) => format!("it had not ended after {} seconds", limits.time.as_secs()),
            });
        }
    };
    let status = child.wait().map_err(|error| format!("its end is not known: {error}"))?;
    if !status.success() {
        return Err(format!("it ended with {status}"));
    }
    String::from_utf8(bytes).map_err(|_| "it printed what is not UTF-8".to_owned())
}

/// The program in a process group of its own. The shell sets the limit of memory, which it hands on to the program.
#[cfg(unix)]
fn limited(program: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.args(["-c", &format!("ulimit -v {MEMORY_KIB} 2>/dev/null; exec \"$0\" \"$@\"")]);
    command.arg(program).args(args);
    command
}

#[cfg(not(unix))]
fn limited(program: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args);
    command
}

#[allow(clippy::disallowed_methods, reason = "what a program is started with comes from the environment")]
fn keep_variables(command: &mut Command) {
    command.env_clear();
    for name in VARIABLES {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str) -> Result<String, String> {
        let limits = Limits { time: Duration::from_millis(1_500), bytes: 1024 };
        run(Path::new("/bin/sh"), &["-c", script], limits)
    }

    #[test]
    fn what_a_program_prints_is_taken_within_its_limits() {
        assert_eq!(sh("echo one"), Ok("one\n".to_owned()));
        for (script, part) in [
            ("exit 3", "exit status: 3"),
            ("sleep 60 & sleep 60", "had not ended"),
            ("yes", "more than"),
            ("printf '\\377'", "UTF-8"),
        ] {
            assert!(sh(script).is_err_and(|why| why.contains(part)), "{script}");
        }
    }

    #[test]
    fn a_program_gets_no_keys_and_no_more_memory_than_it_may_have() {
        assert_eq!(sh("echo ${CARGO_PKG_NAME:-none}"), Ok("none\n".to_owned()));
        assert_eq!(sh("ulimit -v"), Ok(format!("{MEMORY_KIB}\n")));
    }
}
