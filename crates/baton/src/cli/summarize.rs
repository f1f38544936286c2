//! `--summarize COMMAND`: any program may write the summary of a packet. The facts stay as they are.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use baton_ops::transcript::{Document, DocumentInput};
use serde_json::Value;

use crate::app::App;
use crate::error::AppError;
use crate::process_group::stop_group;

/// The program has so much time.
const TIME: Duration = Duration::from_secs(120);
/// A summary is no book.
const MAX_SUMMARY_BYTES: usize = 16 * 1024;

/// The program that writes the summary.
#[derive(clap::Args, Clone, Default)]
pub(super) struct Summarize {
    /// Program that writes the summary instead of Baton: reads the packet as JSON, prints text
    #[arg(long = "summarize", value_name = "COMMAND")]
    command: Option<String>,
}

impl Summarize {
    /// What the program makes of the packet of this session; none without a program, and none, with a remark, when it fails.
    pub(super) fn of(
        &self,
        id: &str,
        agent: Option<&str>,
        app: &mut App,
    ) -> Result<Option<String>, AppError> {
        let Some(command) = &self.command else { return Ok(None) };
        let made = app.run::<Document>(&DocumentInput {
            id: id.to_owned(),
            agent: agent.map(str::to_owned),
            preset: Some("minimal".to_owned()),
            ..DocumentInput::default()
        })?;
        match ask(command, &made.packet, TIME) {
            Ok(summary) => Ok(Some(summary)),
            Err(why) => {
                app.remark(&format!("warning: --summarize: {why}; the summary made from the facts is used"));
                Ok(None)
            }
        }
    }
}

/// Runs the program in a shell. It is stopped when its time is over.
fn ask(command: &str, packet: &Value, time: Duration) -> Result<String, String> {
    let mut child = shell(command).spawn().map_err(|error| format!("it cannot be started: {error}"))?;
    let input = format!("{packet}\n");
    if let Some(mut pipe) = child.stdin.take() {
        // A program that does not read all of it is free to do so.
        std::thread::spawn(move || _ = pipe.write_all(input.as_bytes()));
    }
    let (tell, receiver) = mpsc::channel();
    if let Some(pipe) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let read = pipe.take(MAX_SUMMARY_BYTES as u64 + 1).read_to_end(&mut text);
            _ = tell.send(read.map(|_| text));
        });
    }
    let answer = receiver.recv_timeout(time);
    let text = match answer {
        Ok(Ok(text)) => text,
        Ok(Err(error)) => {
            stop_group(&mut child);
            return Err(format!("its answer cannot be read: {error}"));
        }
        Err(_) => {
            stop_group(&mut child);
            return Err(format!("it had no answer after {} seconds", time.as_secs()));
        }
    };
    if text.len() > MAX_SUMMARY_BYTES {
        stop_group(&mut child);
        return Err(format!("it answered more than {} KiB", MAX_SUMMARY_BYTES / 1024));
    }
    let status = child.wait().map_err(|error| format!("its end is not known: {error}"))?;
    if !status.success() {
        return Err(format!("it ended with {status}"));
    }
    let text = String::from_utf8(text).map_err(|_| "its answer is not UTF-8".to_owned())?;
    match text.trim().replace('\0', "") {
        text if text.is_empty() => Err("it answered nothing".to_owned()),
        text => Ok(text),
    }
}

/// A shell that runs a command line.
#[cfg(unix)]
pub(super) fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    // A group of its own, so that what the shell has started can be stopped with it.
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    shell.args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::piped());
    shell
}

#[cfg(not(unix))]
pub(super) fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.args(["/C", command]).stdin(Stdio::piped()).stdout(Stdio::piped());
    shell
}

#[cfg(all(test, unix))]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(command: &str, expected: Result<&str, &str>) {
        let answer = ask(command, &json!({ "summary": "facts" }), Duration::from_millis(1_500));
        match expected {
            Ok(summary) => assert_eq!(answer.as_deref(), Ok(summary), "{command}"),
            Err(part) => {
                assert!(answer.as_ref().is_err_and(|why| why.contains(part)), "{command}: {answer:?}")
            }
        }
    }

    #[test]
    fn a_program_writes_the_summary_or_says_why_not() {
        check("cat", Ok("{\"summary\":\"facts\"}"));
        check("echo ' short '", Ok("short"));
        check("exit 3", Err("exit status: 3"));
        check("true", Err("nothing"));
        check("no-such-program-anywhere", Err("exit status: 127"));
        check("printf '\\377'", Err("UTF-8"));
        check("yes", Err("16 KiB"));
        check("sleep 60 & sleep 60", Err("no answer"));
    }
}
