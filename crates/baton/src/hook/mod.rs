//! Session hooks: what Baton says when an agent begins, and keeps when it compacts, fails or ends.
//!
//! A hook runs inside another program and must not disturb it. It answers within [`BUDGET`] or prints nothing, it exits
//! with 0, and it prints nothing that the tool does not expect. Reading a transcript may take longer, so a detached
//! process does it. On a machine that is too busy to spawn that process, or to run this one, within the budget, the hook waits
//! up to [`FORWARD_TIMEOUT`]: an event that is not passed on is lost, and an agent that is told nothing begins anew.

mod announce;
mod keep;
mod log;
mod noted;
mod payload;

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use baton_ops::session::{Status, StatusInput, StatusOutput};
use baton_store::{Store, Target};
use serde_json::json;

use crate::app::{App, Format};
use crate::clock;
use crate::config::{self, Config};
use crate::error::AppError;
use crate::open_conversations;
use crate::process::ProcessAncestry;
use crate::supervisor::runs;
use crate::unwrapped;
use baton_tools::Installer;
use baton_tools::install::HookContextFormat;
pub(crate) use keep::work;
use noted::HookedConversation;
use payload::Payload;

/// How long a hook may take.
const BUDGET: Duration = Duration::from_millis(300);
/// How long one may take that has work to pass on, or that the machine is too busy to run; the shortest time limit of a tool is
/// 1.5 s.
const FORWARD_TIMEOUT: Duration = Duration::from_secs(1);
/// How long it waits for the tool's own words: some leave the pipe open and send none.
const INPUT_TIMEOUT: Duration = Duration::from_millis(120);
/// How long it waits for the lock of the Beads file: the ledger alone has an answer, too.
const LOCK_PATIENCE: Duration = Duration::from_millis(80);
/// How long it does where without them there is nothing to keep.
const PATIENCE_OF_KEEPING: Duration = Duration::from_millis(600);

/// A call of a hook.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// What happened, in our words.
    pub event: String,
    /// The tool.
    pub agent: String,
    /// The store of the command line.
    pub store: Option<String>,
}

impl Call {
    /// The settings that count where the agent works.
    fn config(&self, payload: &Payload) -> Result<Config, AppError> {
        let mut config = config::load_at(payload.cwd.clone().filter(|cwd| cwd.is_dir()))?;
        if let Some(url) = &self.store {
            config.use_store(url)?;
        }
        Ok(config)
    }
}

/// What a hook says before its last word.
#[derive(Clone, Copy)]
struct Reply<'a> {
    /// Gets what is to be said if there is no time for more.
    meanwhile: &'a dyn Fn(Option<String>),
    /// Whether something is being written that later hooks need: it is waited for.
    is_noting: &'a AtomicBool,
}

/// Answers a hook.
pub(crate) fn answer(call: Call) {
    let (sender, receiver) = mpsc::channel();
    // Who supervises the agent waits for the name of its conversation.
    let passes_on = keep::keeps(&call.event) || config::is_supervised();
    let mut budget = if passes_on { FORWARD_TIMEOUT } else { BUDGET };
    let is_noting = Arc::new(AtomicBool::new(false));
    let is_busy = Arc::clone(&is_noting);
    thread::spawn(move || {
        let reply = Reply { meanwhile: &|first| _ = sender.send(first), is_noting: &is_noting };
        let answer = respond(&call, reply);
        let _ = sender.send(answer);
    });
    // A response that is not ready in time is dropped: the process exits with this thread. Of several the last counts.
    let (begin, mut answer) = (Instant::now(), None);
    loop {
        match receiver.recv_timeout(budget.saturating_sub(begin.elapsed())) {
            Ok(text) => answer = text,
            Err(RecvTimeoutError::Timeout)
                if budget < FORWARD_TIMEOUT && (is_starved(BUDGET) || is_busy.load(Ordering::Relaxed)) =>
            {
                budget = FORWARD_TIMEOUT
            }
            Err(_) => break,
        }
    }
    if let Some(text) = answer {
        let mut out = std::io::stdout();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

/// Whether this process had the processor for less than three quarters of the time: what it has to say is late because of others.
#[cfg(unix)]
fn is_starved(elapsed: Duration) -> bool {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(used).is_ok_and(|used| used < elapsed * 3 / 4)
}

#[cfg(not(unix))]
fn is_starved(_: Duration) -> bool {
    false
}

/// The text for standard output, if any. Errors go to the log.
fn respond(call: &Call, reply: Reply<'_>) -> Option<String> {
    let patience = if keep::keeps(&call.event) { PATIENCE_OF_KEEPING } else { INPUT_TIMEOUT };
    let payload = Payload::read(patience);
    let config = call.config(&payload).ok()?;
    name_conversation(&payload, &config);
    if call.event == "session-end" {
        note_conversation(call, &payload, &config);
    }
    let tool = baton_tools::installer(&call.agent);
    let answer = match (tool, call.event.as_str()) {
        (Some(tool), "session-start" | "prompt") => announcement(call, tool, (&payload, &config), reply),
        (Some(tool), event) if keep::keeps(event) => {
            keep::detach(call, tool, &payload, &config).map(|()| None)
        }
        (None, _) => Err(anyhow::anyhow!("there is no tool `{}`", call.agent).into()),
        (_, event) => Err(anyhow::anyhow!("there is no event `{event}`").into()),
    };
    let answer = answer.unwrap_or_else(|error| {
        log::write(&config, call, &error);
        None
    });
    match (answer, tool.map(|tool| tool.install.answer)) {
        // This one takes no silence for an answer.
        (None, Some(HookContextFormat::Steps)) => Some("{}\n".to_owned()),
        (answer, _) => answer,
    }
}

/// Tells the run that supervises this agent, if there is one, which conversation is the agent's.
fn name_conversation(payload: &Payload, config: &Config) {
    if let (Some(session), Some(id)) = (&config.session, &payload.session) {
        runs::report(&config.data_dir, session, &ProcessAncestry::ancestry().fingerprint(), id);
    }
}

/// Keeps which conversation the agent's process works in: at its start and at each prompt in a known project, until its end.
fn note_conversation(call: &Call, payload: &Payload, config: &Config) {
    let (Some(id), Some(tool)) = (&payload.session, baton_tools::by_name(&call.agent)) else { return };
    let agent = tool.reader.map_or(tool.id, |reader| reader.id());
    let process = config.process.clone().unwrap_or_else(|| ProcessAncestry::ancestry().fingerprint());
    match call.event.as_str() {
        "session-start" | "prompt" => open_conversations::open(&config.data_dir, &process, agent, id),
        "session-end" => open_conversations::close(&config.data_dir, &process, agent, id),
        _ => {}
    }
}

/// Notes in which project a hook of the agent's conversation speaks.
fn note_project(call: &Call, (payload, config): (&Payload, &Config), project_id: &str, reply: Reply<'_>) {
    let Some(own) = HookedConversation::of(call, payload) else { return };
    if let Err(failure) = own.note(config, project_id, reply.is_noting) {
        log::write(config, call, &failure.into());
    }
}

/// The announcement, in the shape that the tool reads.
fn announcement(
    call: &Call,
    tool: Installer,
    (payload, config): (&Payload, &Config),
    reply: Reply<'_>,
) -> Result<Option<String>, AppError> {
    if !exists(config) || payload.is_later_round() {
        return Ok(None);
    }
    let mut app = app(config.clone());
    let unanswered = unanswered(call, config);
    let unanswered = unanswered.and_then(|text| shaped(tool.install.answer, payload.event_name(call), &text));
    match config.server {
        None => app.use_store(open_store(config)?),
        // One that takes the connection and says nothing uses up all the time that there is.
        Some(_) => (reply.meanwhile)(unanswered.clone()),
    }
    let mut status = match app.run::<Status>(&StatusInput::default()) {
        Ok(status) => status,
        Err(error) if is_elsewhere(&error) => return Ok(None),
        Err(error) if is_away(&error) => {
            log::write(config, call, &error);
            return Ok(unanswered);
        }
        Err(error) => return Err(error),
    };
    note_conversation(call, payload, config);
    if !announce::first(config, call, payload) {
        note_project(call, (payload, config), &status.project_id, reply);
        return Ok(None);
    }
    let launch = tool.tool.launch.as_ref();
    let approval =
        launch.and_then(|launch| launch.missing_approval(ProcessAncestry::ancestry().agent_args()));
    let announced = |status: &StatusOutput| {
        let text = announce::text(status, clock::now(), (config.subjects, approval));
        shaped(tool.install.answer, payload.event_name(call), &text)
    };
    (reply.meanwhile)(announced(&status));
    note_project(call, (payload, config), &status.project_id, reply);
    let own = payload.session.as_deref();
    let left = unwrapped::remarks(&mut app, (&status.project_id, &status.card), (None, own));
    status.card.reminders.extend(left);
    Ok(announced(&status))
}

/// What an agent is told at its start where the server has not answered. A prompt is not told it again.
fn unanswered(call: &Call, config: &Config) -> Option<String> {
    let server = config.server.as_ref().filter(|_| call.event == "session-start")?;
    let address = baton_model::id::visible(&server.url);
    Some(format!(
        "Baton: the ledger at {address} does not answer, so what waits here is not known. `baton status` asks again.\n"
    ))
}

fn open_store(config: &Config) -> Result<Store, AppError> {
    Ok(match Store::open_read_only(&config.store) {
        Ok(store) => store,
        // One of an older version is brought up to date, as by any command.
        Err(fault) if matches!(fault.kind, baton_store::FaultKind::Older { .. }) => {
            Store::open_existing(&config.store, clock::now())?
        }
        Err(fault) => return Err(fault.into()),
    })
}

fn app(config: Config) -> App {
    let mut app = App::new(config, Format::Json, false, true);
    app.lock_patience = LOCK_PATIENCE;
    app
}

/// Whether a store or a server is configured and present. A hook never creates a store: where Baton is not in use, it
/// does nothing.
fn exists(config: &Config) -> bool {
    match &config.store {
        _ if config.server.is_some() => true,
        Target::File(path) => path.is_file(),
        Target::Memory => false,
        Target::Postgres(_) => true,
    }
}

/// Whether the agent works where no project is registered, or in none that is clearly meant.
fn is_elsewhere(error: &AppError) -> bool {
    let codes = ["project_unresolved", "project_ambiguous", "project_unknown", "project_is_clone"];
    matches!(error, AppError::Refused(refusal) if codes.contains(&refusal.code))
}

/// Whether the server cannot be reached.
fn is_away(error: &AppError) -> bool {
    matches!(error, AppError::Refused(refusal) if refusal.code == "server_unreachable")
}

fn shaped(answer: HookContextFormat, event: &str, text: &str) -> Option<String> {
    let document = match answer {
        HookContextFormat::Nested => {
            json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } })
        }
        HookContextFormat::TopLevel => json!({ "additionalContext": text }),
        HookContextFormat::Steps => json!({ "injectSteps": [{ "ephemeralMessage": text }] }),
        HookContextFormat::Plain => return Some(text.to_owned()),
        HookContextFormat::None => return None,
    };
    Some(format!("{document}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_answered_in_its_own_shape() {
        let shapes: String = baton_tools::installers()
            .map(|one| (one.tool.id, shaped(one.install.answer, "SessionStart", "two\nlines")))
            .map(|(id, text)| format!("{id}: {text:?}\n"))
            .collect();
        insta::assert_snapshot!(shapes);
    }
}
