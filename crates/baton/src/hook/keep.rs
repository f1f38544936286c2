//! Keeping what an agent has done: a process of its own reads the transcript, so that the agent waits for nothing.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use baton_model::usage_limit::ProviderStop;
use baton_ops::answer::RefusalView;
use baton_ops::session::{Status, StatusInput};
use baton_ops::transcript::{Capture, CaptureInput, CaptureOutput, Events, EventsInput};
use baton_store::Store;

use baton_tools::{Installer, Tool};

use super::noted::HookedConversation;
use super::payload::Payload;
use super::{Call, app, exists, is_elsewhere, log};
use crate::app::App;
use crate::changes::carry;
use crate::config::Config;
use crate::error::AppError;
use crate::notify_marks::{self, LimitMark};
use crate::process::{self, ProcessAncestry};
use crate::{clock, provider_error};

/// How long a transcript may go on being written before it is read as it is.
const SETTLING: Duration = Duration::from_secs(5);
/// For how long it must not have grown.
const STILL: Duration = Duration::from_millis(250);

/// Whether an event is one at which something is kept.
pub(super) fn keeps(event: &str) -> bool {
    matches!(event, "before-compaction" | "after-compaction" | "failure" | "session-end")
}

/// Whether an event is the end of what the agent does for now.
fn ends(event: &str) -> bool {
    matches!(event, "failure" | "session-end")
}

/// Starts the process that keeps, and does not wait for it.
pub(super) fn detach(
    call: &Call,
    Installer { tool, .. }: Installer,
    payload: &Payload,
    config: &Config,
) -> Result<(), AppError> {
    if !exists(config) || (payload.session.is_none() && payload.transcript.is_none()) {
        return Ok(());
    }
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["hook", &call.event, "--agent", tool.id, "--detached"]);
    command.args(call.store.iter().flat_map(|store| ["--store", store]));
    // The agent's process can be identified only while the agent still runs.
    let behind = ProcessAncestry::ancestry();
    if config.process.is_none() {
        command.env("BATON_PROCESS", behind.fingerprint());
    }
    if config.surface.is_empty() {
        command.env("BATON_SURFACE", surface(behind.surface(), tool));
    }
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    in_own_process_group(&mut command);
    let mut child = command.spawn()?;
    if let Some(mut pipe) = child.stdin.take() {
        serde_json::to_writer(&mut pipe, &payload.for_detached()).map_err(anyhow::Error::from)?;
    }
    Ok(())
}

/// The surface of the agent: that of the process behind the hook, else of the tool that the hook is registered with.
fn surface(of_process: &'static str, tool: &Tool) -> &'static str {
    if of_process == "human" { tool.surface } else { of_process }
}

/// A process of a group of its own is not ended with the agent's.
#[cfg(unix)]
fn in_own_process_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn in_own_process_group(_: &mut Command) {}

/// Does the work of a hook that has long returned.
pub(crate) fn work(call: &Call) {
    let payload = Payload::read(Duration::from_secs(2));
    let Ok(config) = call.config(&payload) else { return };
    notify_marks::start(&config);
    match capture(call, &payload, &config) {
        Ok(()) => {}
        Err(error) if is_elsewhere(&error) || is_empty(&error) => {}
        Err(error) => log::write(&config, call, &error),
    }
}

/// Whether nothing was said in the session.
fn is_empty(error: &AppError) -> bool {
    matches!(error, AppError::Refused(refusal) if refusal.code == "transcript_empty")
}

fn capture(call: &Call, payload: &Payload, config: &Config) -> Result<(), AppError> {
    let Some(installer) = baton_tools::installer(&call.agent) else { return Ok(()) };
    if !exists(config) {
        return Ok(());
    }
    let mut app = app(config.clone());
    if config.server.is_none() {
        app.use_store(Store::open_existing(&config.store, clock::now())?);
    }
    let own = HookedConversation::of(call, payload);
    // Without them it is kept by where the agent stands.
    let noted = own.as_ref().map_or(Ok(Vec::new()), |own| own.noted(config)).unwrap_or_else(|failure| {
        log::write(config, call, &failure.into());
        Vec::new()
    });
    // Where no project is registered, no transcript is read, unless an earlier hook of the conversation spoke in one.
    let elsewhere = match app.run::<Status>(&StatusInput::default()) {
        Err(error) if is_elsewhere(&error) => Some(noted.first().cloned().ok_or(error)?),
        status => status.map(|_| None)?,
    };
    if let Some(path) = &payload.transcript {
        wait_until_written(path);
    }
    let file =
        payload.transcript.as_ref().filter(|path| path.is_file()).map(|path| path.display().to_string());
    let Some(id) = file.or_else(|| payload.session.clone()) else { return Ok(()) };
    // Who supervises an agent ends its session, too. The end that a hook hears of may be that of an agent which that one started,
    // or of one of its conversations.
    let is_own_end = config.supervisor.as_deref().is_none_or(process::has_ended);
    let input = CaptureInput {
        project: elsewhere.clone(),
        id,
        agent: Some(installer.tool.id.to_owned()),
        event: call.event.clone(),
        wrap: config.auto_wrap && is_own_end && ends(&call.event),
        over: is_own_end && call.event == "session-end",
    };
    let captured = keep_in_project(&mut app, &input)?;
    if let Some(own) = HookedConversation::by_id(call, &captured.transcript_id)
        && let Err(failure) = own.note(config, &captured.project_id, &AtomicBool::new(false))
    {
        log::write(config, call, &failure.into());
    }
    if call.event == "failure" && config.notify.is_on() {
        tell_stop(&mut app, &input, installer.tool.title, &captured.project_id);
    }
    // The agent stands in the files of no project.
    let attached = elsewhere.map_or_else(|| carry::attach_kept(&mut app, &captured), |_| Ok(()));
    app.shut_down();
    attached?;
    Ok(())
}

/// Keeps a conversation. One that is found by its id alone is looked for from its own project where that is isolated.
fn keep_in_project(app: &mut App, input: &CaptureInput) -> Result<CaptureOutput, AppError> {
    let refusal = match app.run::<Capture>(input) {
        Err(AppError::Refused(refusal)) if refusal.code == "project_isolated" => refusal,
        captured => return captured,
    };
    let owner = RefusalView(&refusal).project_id().map(str::to_owned);
    match owner.filter(|owner| input.project.as_ref() != Some(owner)) {
        Some(owner) => app.run::<Capture>(&CaptureInput { project: Some(owner), ..input.clone() }),
        None => Err(refusal.into()),
    }
}

/// Has a person told with which error its provider stopped the agent.
fn tell_stop(app: &mut App, input: &CaptureInput, tool: &str, project_id: &str) {
    let events = app.run::<Events>(&EventsInput { id: input.id.clone(), agent: input.agent.clone() });
    let Some((text, at)) = events.ok().and_then(|found| provider_error::last(&found.items)) else { return };
    notify_marks::stopped(&LimitMark {
        project_id: project_id.to_owned(),
        tool: tool.to_owned(),
        text: ProviderStop::read(&text, at.unwrap_or_default(), &|_| None).text,
        key: format!("{}:{}", input.id, at.unwrap_or_default()),
    });
}

/// Waits until a file has stopped growing: the last words are often written after the hook was called.
fn wait_until_written(path: &Path) {
    let size = || std::fs::metadata(path).map(|meta| meta.len()).ok();
    let (begin, mut known, mut since) = (Instant::now(), size(), Instant::now());
    while begin.elapsed() < SETTLING && (known.is_none() || since.elapsed() < STILL) {
        thread::sleep(Duration::from_millis(50));
        let now = size();
        if now != known {
            (known, since) = (now, Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session must not be Claude's by one way and Claude Code's by another.
    #[test]
    fn a_hook_without_an_agents_process_registers_under_the_surface_of_its_agent() {
        for installer in baton_tools::installers() {
            let tool = installer.tool;
            assert_eq!(surface("human", tool), tool.surface);
        }
        let claude = baton_tools::by_name("claude").expect("known");
        assert_eq!(surface("human", claude), "claude_code");
        assert_eq!(surface("codex", claude), "codex");
    }
}
