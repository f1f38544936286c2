//! An agent that a human works with, supervised: it runs in a session that was registered before, and what it did is kept
//! when it ends, whether it thought of that or not.

mod child;
mod copy_work;
mod evidence;
mod find_transcript;
mod keep;
mod open_files;
mod own_session;
mod report;
pub(crate) mod runs;
mod stop;
pub(crate) mod tool_sequence;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use baton_model::id::{check_label, visible};
use baton_model::refusal::{Kind, Refusal};
use baton_model::time::Millis;
use baton_ops::ledger::{LedgerList, LedgerListInput, Row};
use baton_ops::op::Caller;
use baton_ops::session::{End, EndInput, Heartbeat, HeartbeatInput, SessionDocument, SessionDocumentInput};
use baton_ops::transcript::{Capture, CaptureInput, CaptureOutput};
use baton_tools::Launcher;
use baton_transcripts::PermissionMode;

use crate::app::{App, Format};
use crate::changes::carry;
use crate::error::{AppError, quote};
use crate::launch::{self, Call, Prompt};
use crate::{clock, host, process, render};
use child::{Agent, Signals};
use copy_work::CopyAtStart;
use evidence::Search;
use own_session::{OwnSession, begin};
use report::Outcome;
use stop::Stop;

/// So often it is looked which files the agent has open; more often at first, since one that answers a single question soon
/// ends.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
const FIRST_LOOKS: Duration = Duration::from_millis(50);
/// How long the first looks last.
const BEGINNING: Millis = 10_000;
/// A conversation that has just begun is looked for so soon; then ever more seldom.
const FIRST_SEARCH: Millis = 1_000;
const LAST_SEARCH: Millis = 60_000;

/// What to run, and how.
pub(crate) struct Plan {
    /// The tool that it is, if it is a known one.
    pub launcher: Option<Launcher>,
    /// Whether the command line is ours to build.
    pub built: bool,
    /// The program.
    pub program: PathBuf,
    /// What the user gave for its command line.
    pub more: Vec<String>,
    /// The identity to work under.
    pub identity: Option<String>,
    /// How freely the tool may act.
    pub mode: Option<String>,
    /// The baton to pick up; empty for the newest.
    pub pickup: Option<String>,
    /// Size of its document.
    pub budget: Option<String>,
    /// Whether a baton is left at the end.
    pub wrap: bool,
    /// Pause between two checkpoints in milliseconds; 0 for none.
    pub every: Millis,
    /// Whether the tool runs without a terminal, where the command line is ours to build.
    pub headless: bool,
    /// The tool that goes on if this one stops at a limit or a failure.
    pub next: Option<Launcher>,
}

/// How a run ended.
struct Completion {
    code: i32,
    /// Why it stopped, unless it was done.
    stop: Option<Stop>,
    kept: Outcome,
}

/// Runs the agent to its end. Errors in keeping its work are reported; the exit status is the agent's in any case.
fn run(plan: &Plan, signals: &mut Signals, app: &mut App) -> Result<Completion, AppError> {
    let flags = flags(plan)?;
    let cwd = app.config.cwd.clone().unwrap_or_default();
    let began = clock::now();
    let mut supervised = Supervisor::begin(plan, began, cwd, app)?;
    let started = supervised.prompt(plan, app).and_then(|prompt| {
        let vars = supervised.vars(app);
        supervised.words = supervised.args(plan, flags, prompt.as_ref(), &vars)?;
        Agent::start(&plan.program, &supervised.words, &vars)
            .map_err(|error| unstartable_refusal(plan, &error.to_string()).into())
    });
    let mut agent = match started {
        Ok(agent) => agent,
        Err(error) => {
            supervised.end("the agent could not be started", app);
            return Err(error);
        }
    };
    let code = supervised.wait_for_agent(&mut agent, signals, app)?;
    let stop = supervised.stop(code, signals.was_forwarded(), app);
    let outcome = supervised.keep(code, stop.as_ref(), app)?;
    Ok(Completion { code, stop, kept: outcome })
}

/// The flags of the permission mode in which the tool is to run.
fn flags(plan: &Plan) -> Result<&'static [&'static str], Refusal> {
    let mode = plan.mode.as_deref().and_then(PermissionMode::from_word);
    let (Some(Launcher { tool, launch }), Some(mode)) = (plan.launcher, mode) else { return Ok(&[]) };
    let flags = if plan.headless { launch.headless_mode(mode) } else { launch.mode(mode) };
    flags.ok_or_else(|| {
        let what = format!("{} has no flag for the mode {}", tool.title, mode.as_str());
        Refusal::invalid("mode_unsupported", what, "leave --mode out, or give the tool's own flags after --")
    })
}

fn unstartable_refusal(plan: &Plan, why: &str) -> Refusal {
    let program = quote(&plan.program.display().to_string());
    let what = format!("{program} cannot be started: {why}");
    Refusal::new(
        Kind::Outside,
        "command_unstartable",
        what,
        "name a program on the search path; the session has ended",
    )
}

/// An agent's session, as we see it.
struct Supervisor<'a> {
    plan: &'a Plan,
    caller: Caller,
    begun: OwnSession,
    began: Millis,
    cwd: PathBuf,
    /// Its command line.
    words: Vec<String>,
    /// Files that it was seen to write.
    written: BTreeSet<PathBuf>,
    place: runs::Registration,
    /// Remarks, printed once the terminal is free again.
    remarks: Vec<String>,
    /// What the supervisor itself wrote into the ledger, which is no work of the agent.
    own_notes: Vec<String>,
    /// Its working copy as it was at the beginning; none outside of git.
    copy: Option<CopyAtStart>,
    /// Whether a transcript of it was found: that says what was done, also where it is nothing.
    has_transcript: bool,
}

impl<'a> Supervisor<'a> {
    /// Registers the session before anything runs. It belongs to this process, which outlives the agent.
    fn begin(plan: &'a Plan, began: Millis, cwd: PathBuf, app: &mut App) -> Result<Self, AppError> {
        let mut caller = app.caller();
        caller.location.process = process::own_fingerprint();
        caller.session = None;
        caller.surface = surface(plan, app);
        let begun = begin(plan, &caller, app)?;
        caller.session = Some(begun.session_id.clone());
        caller.identity = Some(begun.identity.clone());
        if app.format == Format::Text {
            app.remark(&format!(
                "session {} as {} in project {}",
                render::short_id(&begun.session_id),
                visible(&begun.identity),
                visible(&begun.project_id)
            ));
        }
        let run = runs::Run {
            process: process::own_fingerprint(),
            tool: plan.launcher.map(|launcher| launcher.tool.id.to_owned()),
            cwd: cwd.clone(),
            began,
            conversation: None,
        };
        let place = runs::Registration::take(&app.config.data_dir, &begun.session_id, run);
        let (words, written) = (Vec::new(), BTreeSet::new());
        let copy = CopyAtStart::read(&caller, began);
        Ok(Self {
            plan,
            caller,
            begun,
            began,
            cwd,
            words,
            written,
            place,
            remarks: Vec::new(),
            own_notes: Vec::new(),
            copy,
            has_transcript: false,
        })
    }

    /// The agent's initial prompt: the document of the baton that was picked up.
    fn prompt(&self, plan: &Plan, app: &mut App) -> Result<Option<Prompt>, AppError> {
        let starting = plan.launcher.filter(|launcher| launcher.launch.starts());
        let (Some(Launcher { tool, launch: how }), Some(from)) = (starting, &self.begun.document_of) else {
            return Ok(None);
        };
        let input = SessionDocumentInput {
            project: Some(self.begun.project_id.clone()),
            session: from.clone(),
            to: Some(tool.id.to_owned()),
            budget: plan.budget.clone(),
            ..SessionDocumentInput::default()
        };
        let document = app.run_as::<SessionDocument>(&self.caller, &input)?;
        let (id, project) = (visible(&self.begun.baton_id), visible(&self.begun.project_id));
        let text = format!(
            "{}\n\nThis is baton {id} in project {project}, which this session holds. `baton wrap` passes it on.\n",
            render::block(&document.document).trim_end()
        );
        let folder = app.config.data_dir.join("handoffs");
        Ok(Some(launch::deliver(text, how.wants_file(), &folder, &id)?))
    }

    /// Environment variables that identify the session to Baton when the agent calls it.
    fn vars(&self, app: &App) -> Vec<(&'static str, String)> {
        let mut vars = vec![
            ("BATON_PROJECT", self.begun.project_id.clone()),
            ("BATON_IDENTITY", self.begun.identity.clone()),
            ("BATON_SESSION", self.begun.session_id.clone()),
            ("BATON_PROCESS", process::own_fingerprint()),
            ("BATON_SUPERVISOR", process::own_fingerprint()),
        ];
        if let Some((store, _)) = app.config.origins.get("store").filter(|(_, from)| from == "--store") {
            vars.push(("BATON_STORE", store.clone()));
        }
        vars
    }

    fn args(
        &self,
        plan: &Plan,
        mode: &[&str],
        prompt: Option<&Prompt>,
        vars: &[(&'static str, String)],
    ) -> Result<Vec<String>, Refusal> {
        let Some(Launcher { launch: how, .. }) = plan.launcher else { return Ok(plan.more.clone()) };
        let headless = how.headless.as_ref().filter(|_| plan.headless).map(|headless| headless.words);
        let words = if plan.built { headless.unwrap_or(how.start) } else { &[] };
        let call = Call { prompt, session: None, mode, cwd: &self.cwd, more: &plan.more };
        Ok([launch::vars_as_flags(how, vars), launch::argv(words, &call)?].concat())
    }

    /// Waits for the agent's end; meanwhile keeps the session alive, and checkpoints of what is done.
    fn wait_for_agent(
        &mut self,
        agent: &mut Agent,
        signals: &mut Signals,
        app: &mut App,
    ) -> Result<i32, AppError> {
        let beat = (app.config.limits.stale_after / 4).clamp(100, 30_000);
        let pause = Duration::from_millis(u64::try_from(beat).unwrap_or(1_000)).min(POLL_INTERVAL);
        let (mut beaten, mut saved_at, mut open) = (self.began, self.began, true);
        let mut search = FIRST_SEARCH;
        loop {
            open_files::collect_files_written_by(agent.pid(), &mut self.written);
            let is_new = clock::now().saturating_sub(self.began) < BEGINNING;
            if let Some(code) = signals.wait(agent, if is_new { pause.min(FIRST_LOOKS) } else { pause })? {
                return Ok(code);
            }
            let now = clock::now();
            if open && now.saturating_sub(beaten) >= beat {
                beaten = now;
                open = self.is_open(app);
            }
            if self.place.bound().is_none() && now.saturating_sub(self.began) >= search {
                search = search.saturating_add(search.min(LAST_SEARCH));
                // What cannot be found now is looked for again.
                let _ = self.transcript(app);
            }
            if open && self.plan.every > 0 && now.saturating_sub(saved_at) >= self.plan.every {
                saved_at = now;
                // The terminal is the agent's now, and at the end it is tried again.
                let _ = self.capture("running", false, app);
            }
        }
    }

    /// Sends a heartbeat; false if the session has ended. A temporary error is not an end.
    fn is_open(&self, app: &mut App) -> bool {
        self.beat(app).is_none()
    }

    /// Sends a heartbeat. Returns the refusal if the session has ended; it says who ended it.
    fn beat(&self, app: &mut App) -> Option<Refusal> {
        let (project, session) = self.own();
        let input = HeartbeatInput { project, session, ..HeartbeatInput::default() };
        match app.run_as::<Heartbeat>(&self.caller, &input) {
            Err(AppError::Refused(refusal)) => Some(refusal),
            _ => None,
        }
    }

    /// The project and the session that were begun.
    fn own(&self) -> (Option<String>, Option<String>) {
        (Some(self.begun.project_id.clone()), Some(self.begun.session_id.clone()))
    }

    /// What of this session stands in the ledger.
    fn ledger(&self, wanted: LedgerListInput, app: &mut App) -> Result<Vec<Row>, AppError> {
        let (project, session) = self.own();
        let input = LedgerListInput { project, session, ..wanted };
        Ok(app.run_as::<LedgerList>(&self.caller, &input)?.items)
    }

    /// Keeps what stands in the agent's transcript, if there is one and anything was said in it.
    fn capture(&mut self, event: &str, wrap: bool, app: &mut App) -> Result<Option<CaptureOutput>, AppError> {
        let row = match self.transcript(app)? {
            Search::Own(row) => {
                self.has_transcript = true;
                row
            }
            Search::Unclear(rows) | Search::WentOn(rows) => {
                // Of a program that is no known tool, a conversation that went on is hardly the work.
                let fresh = rows.iter().any(|row| row.is_begun_since(self.began));
                if event == "session-end" && (fresh || self.plan.launcher.is_some()) {
                    self.report_unclear(&rows);
                }
                return Ok(None);
            }
        };
        let path = Some(&row.path).filter(|path| row.key.is_none() && path.is_file());
        self.read_checkout();
        let input = CaptureInput {
            project: Some(self.begun.project_id.clone()),
            id: path
                .and_then(|path| path.to_str())
                .map_or_else(|| row.conversation.id.clone(), str::to_owned),
            agent: Some(row.conversation.agent),
            event: event.to_owned(),
            wrap,
            ..CaptureInput::default()
        };
        match app.run_as::<Capture>(&self.caller, &input) {
            Ok(captured) => {
                if let Err(error) = carry::attach_kept(app, &captured) {
                    carry::remark_left_behind(app, &error);
                }
                Ok(Some(captured))
            }
            Err(AppError::Refused(refusal)) if refusal.code == "transcript_empty" => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads what is checked out now: the agent commits and switches branches while it runs.
    fn read_checkout(&mut self) {
        self.caller = host::caller_at(&self.caller, &self.cwd);
    }

    fn end(&self, reason: &str, app: &mut App) {
        let (project, session) = self.own();
        let input = EndInput { project, session, reason: Some(reason.to_owned()), ..EndInput::default() };
        // If another caller released the session before, it has ended already.
        let _ = app.run_as::<End>(&self.caller, &input);
    }
}

/// The surface that the session is registered under.
fn surface(plan: &Plan, app: &App) -> String {
    let own = Some(app.config.surface.clone()).filter(|own| !own.is_empty());
    let program = plan.program.file_stem().and_then(|name| name.to_str());
    let program = program.filter(|name| check_label("surface", name).is_ok()).unwrap_or("run");
    own.unwrap_or_else(|| plan.launcher.map_or(program, |launcher| launcher.tool.surface).to_owned())
}
