//! `--verify`: the test command that a packet names is run, and how it ended is said. A packet is another agent's text, so the
//! command is shown before it is run, it is asked about on a terminal, and what came by a server or from another project is
//! not run at all.

use std::io::{IsTerminal, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use baton_model::id::visible;
use baton_model::packet::ValidatedPacket;
use baton_model::printable::is_hidden;
use baton_model::refusal::{Kind, Refusal};
use baton_ops::session::PickupOutput;
use baton_transcripts::printable;
use serde::Serialize;

use crate::app::App;
use crate::cli::summarize::shell;
use crate::error::AppError;
use crate::process_group::stop_group;
use crate::render;
use crate::worker::tail::{Tail, spawn_joined};

/// How much of the end of the output is told.
const LAST_LINES: usize = 12;
const LAST_CHARS: usize = 2_000;
/// A longer command line cannot be judged by looking at it.
const MAX_COMMAND_LEN: usize = 400;
const STEP: Duration = Duration::from_millis(20);

/// How the test command ended, or why it was not run.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Verification {
    /// The command, where the packet names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// Why it was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_run: Option<&'static str>,
    /// Its exit code; none where it was stopped or ended by a signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// Whether its time was over.
    timed_out: bool,
    /// How long it took.
    milliseconds: u64,
    /// The last lines of its output.
    last_lines: Vec<String>,
}

/// Refuses a server's packets: anyone with a token of it may have written them.
pub(super) fn refuse_remote(app: &App) -> Result<(), AppError> {
    app.refuse_remote().map_err(|_| {
        let what = "--verify runs no command of a packet that a server sent: anyone with a token of it may have written it";
        let hint = "pick up without --verify, read the test command, and run it yourself";
        Refusal::new(Kind::Invalid, "verify_remote", what, hint).into()
    })
}

/// Runs the test command of what was picked up in the working directory.
pub(super) fn verify(bundle: &PickupOutput, time: Duration, app: &App) -> Result<Verification, AppError> {
    let not_run = |command, why| Ok(Verification { command, not_run: Some(why), ..Verification::default() });
    if bundle.handoff.is_some() {
        return not_run(None, "it came from another project: read its test command and run it yourself");
    }
    let Some(command) = bundle.baton.as_ref().and_then(|baton| test_command(&baton.body)) else {
        return not_run(None, "the packet names no test command");
    };
    let hidden = command.chars().any(|c| is_hidden(c) || c.is_control());
    if hidden || command.chars().count() > MAX_COMMAND_LEN {
        return not_run(Some(command), "it has several lines, hidden characters or more than 400 characters");
    }
    let is_elsewhere = |place: &baton_ops::session::WorkLocation| place.is_this_machine && !place.is_here;
    if bundle.location.as_ref().is_some_and(|place| is_elsewhere(place) && place.advice.is_some()) {
        return not_run(Some(command), "the work lies in another folder: run it there");
    }
    let from = bundle.baton.as_ref().map(|baton| visible(&baton.agent_identity)).unwrap_or_default();
    let words = format!("running the test command of {from}'s packet, in this folder: {}", visible(&command));
    // Also where remarks are not wanted: what is run is shown first.
    writeln!(std::io::stderr(), "{}", render::for_terminal(&words, false)).map_err(anyhow::Error::from)?;
    if !is_agreed(app)? {
        return not_run(Some(command), "you did not agree");
    }
    Ok(run(command, time))
}

/// The test command of a packet.
fn test_command(packet: &str) -> Option<String> {
    let packet = ValidatedPacket::parse_stored(packet.to_owned()).ok()?;
    let command = packet.view().test_command.as_deref()?.trim();
    (!command.is_empty()).then(|| command.to_owned())
}

/// Asks on a terminal; elsewhere the flag is the consent.
fn is_agreed(app: &App) -> Result<bool, AppError> {
    let mut err = std::io::stderr();
    if !app.shows_text() || !std::io::stdin().is_terminal() || !err.is_terminal() {
        return Ok(true);
    }
    write!(err, "Run it here? [y/N] ").map_err(anyhow::Error::from)?;
    err.flush().map_err(anyhow::Error::from)?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).map_err(anyhow::Error::from)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn run(command: String, time: Duration) -> Verification {
    let started = Instant::now();
    let mut process = shell(&command);
    process.stdin(Stdio::null());
    let Ok((mut child, output)) = spawn_joined(process) else {
        let why = Some("no shell could be started");
        return Verification { command: Some(command), not_run: why, ..Verification::default() };
    };
    let tail = Tail::default();
    let streams = [tail.keep(output)];
    let status = loop {
        match child.try_wait() {
            Ok(None) if started.elapsed() < time => std::thread::sleep(STEP),
            Ok(None) | Err(_) => break None,
            Ok(status) => break status,
        }
    };
    if status.is_none() {
        stop_group(&mut child);
    }
    Verification {
        command: Some(command),
        not_run: None,
        exit_code: status.and_then(|status| status.code()),
        timed_out: status.is_none(),
        milliseconds: started.elapsed().as_millis().try_into().unwrap_or(u64::MAX),
        last_lines: last_lines(&tail.text(&streams)),
    }
}

/// The last lines of an output, without what hides on a terminal or could be a secret.
fn last_lines(output: &str) -> Vec<String> {
    // Colours within a name would hide a secret.
    let output = printable(output);
    let cleaned = baton_redact::shared().redact(&output);
    let mut chars = 0;
    let lines = cleaned.text.lines().rev().map(|line| visible(line.trim_end()));
    let lines = lines.filter(|line| !line.is_empty()).take(LAST_LINES).take_while(|line| {
        chars += line.chars().count();
        chars <= LAST_CHARS
    });
    let mut lines: Vec<String> = lines.collect();
    lines.reverse();
    lines
}

impl Verification {
    /// What a person reads of it.
    pub(super) fn text(&self) -> String {
        let command = self.command.as_ref().map(|command| format!(" `{}`", visible(command)));
        let command = command.unwrap_or_default();
        if let Some(why) = self.not_run {
            return format!("not verified{command}: {why}\n");
        }
        let seconds = self.milliseconds as f64 / 1000.0;
        let end = match (self.exit_code, self.timed_out) {
            (Some(0), _) => format!("verified:{command} passed: exit 0 after {seconds:.1} s, here and now"),
            (Some(code), _) => {
                format!("not as it should be:{command} ended with exit {code} after {seconds:.1} s")
            }
            (None, true) => {
                format!("not verified:{command} was stopped after {seconds:.1} s (--verify-timeout)")
            }
            (None, false) => format!("not verified:{command} was ended by a signal after {seconds:.1} s"),
        };
        format!("{end}\n{}", render::quoted(&self.last_lines.join("\n")))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn ended(command: &str) -> Verification {
        run(command.to_owned(), Duration::from_millis(1_500))
    }

    #[test]
    fn how_a_command_ended_is_told_with_its_last_lines() {
        let passed = ended("echo one; echo two >&2; true");
        assert_eq!((passed.exit_code, passed.timed_out), (Some(0), false));
        assert!(passed.last_lines.iter().any(|line| line == "two"), "{passed:?}");
        assert!(passed.text().contains("passed: exit 0"), "{}", passed.text());
        let failed = ended("seq 100; exit 7");
        assert_eq!(failed.exit_code, Some(7));
        assert_eq!(failed.last_lines.len(), LAST_LINES);
        assert_eq!(failed.last_lines.last().map(String::as_str), Some("100"));
    }

    #[test]
    fn a_command_that_takes_too_long_is_stopped_with_all_that_it_started() {
        let started = Instant::now();
        let late = ended("sleep 60 & sleep 60");
        assert!(late.timed_out && late.exit_code.is_none(), "{late:?}");
        assert!(started.elapsed() < Duration::from_secs(10));
        assert!(late.text().contains("was stopped"), "{}", late.text());
    }

    #[test]
    fn what_the_output_hides_does_not_reach_the_terminal() {
        let output = ended("printf '\\033[31mred\\033[0m\\n'");
        assert!(!output.text().contains('\u{1b}'), "{:?}", output.text());
    }
}
