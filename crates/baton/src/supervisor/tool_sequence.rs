//! Several tools, one after the other in the same terminal: where one stops at a limit or a failure, the next goes on with
//! its baton.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use baton_model::delta;
use baton_ops::ledger::LedgerListInput;
use baton_tools::Launcher;

use super::child::Signals;
use super::report::{Outcome, SavedAs};
use super::stop::Stop;
use super::{Completion, Plan, Supervisor, flags, run};
use crate::app::{App, Format};
use crate::error::AppError;
use crate::{picker, render};

/// How often a question on the terminal looks for a signal.
const SIGNAL_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A tool that goes on, and where it lies.
pub(crate) struct Link {
    /// The tool.
    pub launcher: Launcher,
    /// Its program.
    pub program: PathBuf,
}

/// With what the next tool goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Handover {
    /// A baton.
    Baton(String),
    /// Nothing was done, and nothing waits.
    Nothing,
    /// Another has the work, or it could not be kept.
    Unavailable,
}

/// Runs the first tool, and each further one where the one before stopped. The exit status is the last one's.
pub(crate) fn run_chain(first: Plan, links: Vec<Link>, app: &mut App) -> Result<(), AppError> {
    let plans = plans(first, links);
    for plan in &plans {
        flags(plan)?;
    }
    let mut signals = Signals::listen()?;
    let mut pickup = None;
    let count = plans.len();
    for (index, mut plan) in plans.into_iter().enumerate() {
        plan.pickup = pickup.take().or(plan.pickup);
        let completion = run(&plan, &mut signals, app)?;
        let result = if completion.code == 0 { Ok(()) } else { Err(AppError::Tool(completion.code)) };
        let Some(sentence) =
            completion.stop.as_ref().map(|stop| stop.sentence(&plan.title(), completion.code))
        else {
            return result;
        };
        match plan.next {
            // An exit code says as much by itself.
            None if count == 1 && matches!(completion.stop, Some(Stop::Failure { text: None })) => {}
            None if count == 1 => app.remark(&sentence),
            None => app.remark(&format!("{sentence}; no further tool is named")),
            Some(next) => match goes_on(&plan, &completion, next, &sentence, &mut signals, app) {
                Some(baton) => pickup = baton,
                None => return result,
            },
        }
        if index.saturating_add(1) == count {
            return result;
        }
    }
    Ok(())
}

/// A plan for each tool: the first as the user gave it, the others with what holds for all of them.
fn plans(first: Plan, links: Vec<Link>) -> Vec<Plan> {
    let headless = !picker::has_terminal();
    let mut plans = vec![first];
    for Link { launcher, program } in links {
        let Some(before) = plans.last_mut() else { break };
        before.next = Some(launcher);
        let plan = Plan {
            launcher: Some(launcher),
            built: true,
            program,
            more: Vec::new(),
            identity: before.identity.clone(),
            mode: before.mode.clone(),
            pickup: None,
            budget: before.budget.clone(),
            wrap: before.wrap,
            every: before.every,
            headless,
            next: None,
        };
        plans.push(plan);
    }
    plans
}

/// Whether the next tool goes on, and with which baton. What happened is told in any case.
fn goes_on(
    plan: &Plan,
    completion: &Completion,
    next: Launcher,
    sentence: &str,
    signals: &mut Signals,
    app: &mut App,
) -> Option<Option<String>> {
    let title = next.tool.title;
    let asks = app.format == Format::Text && picker::can_ask();
    let (baton, what) = match &completion.kept.handover {
        Handover::Baton(id) => {
            (Some(id.clone()), format!("{title} goes on with baton {}", render::short_id(id)))
        }
        Handover::Nothing if asks => (None, format!("nothing was done yet; {title} begins anew")),
        Handover::Nothing => {
            app.remark(&format!("{sentence}; nothing was done that {title} could go on with"));
            return None;
        }
        Handover::Unavailable => {
            app.remark(&format!(
                "{sentence}; {title} is not started, since the work is not {}'s to pass on",
                plan.title()
            ));
            return None;
        }
    };
    if !asks {
        app.remark(&format!("{sentence}; {what}"));
        return Some(baton);
    }
    app.remark(sentence);
    if ask(&what, app.config.run_continue, signals).unwrap_or(false) {
        return Some(baton);
    }
    app.remark(match baton {
        Some(_) => "nothing further is started; `baton pickup` goes on",
        None => "nothing further is started",
    });
    None
}

/// Asks on the terminal; an empty line gives the usual answer, a signal ends the question with no.
fn ask(what: &str, usual: bool, signals: &mut Signals) -> io::Result<bool> {
    let choice = if usual { "[Y/n]" } else { "[y/N]" };
    let mut err = io::stderr();
    write!(err, "{}", render::for_terminal(&format!("{what}? {choice} "), false))?;
    err.flush()?;
    // A read of the terminal cannot be interrupted, so another thread does it.
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line);
        // The answer of a question that a signal has ended is not waited for.
        let _ = sender.send(read.map(|length| (length > 0).then_some(line)));
    });
    loop {
        match receiver.recv_timeout(Duration::ZERO) {
            Ok(line) => return Ok(line?.is_some_and(|line| is_yes(&line, usual))),
            Err(RecvTimeoutError::Disconnected) => return Ok(false),
            Err(RecvTimeoutError::Timeout) if signals.is_end_requested(SIGNAL_POLL_INTERVAL) => {
                writeln!(err)?;
                return Ok(false);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn is_yes(line: &str, usual: bool) -> bool {
    match line.trim().to_ascii_lowercase().as_str() {
        "" => usual,
        word => matches!(word, "y" | "yes"),
    }
}

impl Plan {
    /// What the tool is called.
    pub(super) fn title(&self) -> String {
        let program = || self.program.file_name().map(|name| name.to_string_lossy().into_owned());
        self.launcher
            .map(|launcher| launcher.tool.title.to_owned())
            .or_else(program)
            .map_or_else(|| "the agent".to_owned(), |name| baton_model::id::visible(&name))
    }
}

impl Supervisor<'_> {
    /// With what another tool goes on after this one.
    pub(super) fn handover(&self, outcome: &Outcome, app: &mut App) -> Handover {
        let Some(left) = &outcome.left else { return Handover::Unavailable };
        if let Some(id) = &left.baton_id {
            return Handover::Baton(id.clone());
        }
        let picked = Some(&self.begun.baton_id).filter(|id| !id.is_empty());
        match outcome.kept {
            SavedAs::ByAgent | SavedAs::Note => {
                self.own_wrap(app).map_or(Handover::Unavailable, Handover::Baton)
            }
            SavedAs::Nothing => picked.map_or(Handover::Nothing, |id| Handover::Baton(id.clone())),
            _ => Handover::Unavailable,
        }
    }

    /// The baton that the agent itself left in this session.
    fn own_wrap(&self, app: &mut App) -> Option<String> {
        let kind = Some(delta::Kind::Wrap.as_str().to_owned());
        let wraps = self.ledger(LedgerListInput { kind, ..LedgerListInput::default() }, app).ok()?;
        wraps.into_iter().max_by_key(|row| row.seq).map(|row| row.delta_id)
    }
}
