//! `baton continue`

mod answer;
mod ask;
mod plan;

use std::path::{Path, PathBuf};

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_ops::op::Caller;
use baton_ops::session::{End, EndInput};
use baton_ops::transcript::{
    Continue, ContinueInput, ContinueOutput, ConversationExtent, Document, DocumentInput, Events,
    EventsInput, Find, FindInput, FindOutput,
};

use answer::{answer, report};
use ask::Choice;
use plan::{Plan, plan, program, target};

use super::ActingIdentity;
use super::summarize::Summarize;
use crate::app::App;
use crate::error::AppError;
use crate::launch::native::{self, Conversation, Folders, Importer, SessionTarget, WrittenSession};
use crate::launch::{self, Call, Invocation, Prompt};
use crate::process;
use crate::transcript_copies::{self, CopyQuery, FetchedCopy};
use baton_tools::Launcher;
use baton_tools::native::{Native, SessionPlaces};

/// Continue a session of any coding agent in another, from where it stopped
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    who: ActingIdentity,
    /// Session id, a unique prefix, `latest`, or a path to a transcript
    id: Option<String>,
    /// Tool to continue in: claude, codex, gemini, copilot, opencode, …
    #[arg(long = "in", alias = "to", value_name = "TOOL")]
    to: Option<String>,
    /// Tool that wrote the session: claude, codex, gemini, …
    #[arg(long, value_name = "A")]
    agent: Option<String>,
    /// Who pushed the session, where several have
    #[arg(long, value_name = "NAME")]
    pushed_by: Option<String>,
    /// Print the command without running it; the baton is left and waits
    #[arg(long)]
    print: bool,
    /// Write the conversation as one of the tool's own sessions and resume that
    #[arg(long, conflicts_with = "fresh")]
    native: bool,
    /// Start a new session even if the tool could resume its own
    #[arg(long)]
    fresh: bool,
    /// Maximum size of the document, in tokens (2000) or bytes (2KiB)
    #[arg(long, value_name = "N|NKiB")]
    budget: Option<String>,
    /// Level of detail: minimal, standard, verbose or full
    #[arg(long, value_name = "P")]
    preset: Option<String>,
    #[command(flatten)]
    summarize: Summarize,
    /// What the tool may do without asking: plan, ask, edits, full, or the same as in the session
    #[arg(long, value_name = "M", value_parser = ["plan", "ask", "edits", "full", "same"])]
    mode: Option<String>,
    /// Folder to work in; defaults to the session's
    #[arg(long, value_name = "DIR")]
    cd: Option<PathBuf>,
    /// Take over from the agent that is already continuing it
    #[arg(long)]
    force: bool,
    /// Reason for using --force; recorded in the ledger
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    why: Option<String>,
    /// Arguments to pass to the tool
    #[arg(last = true, value_name = "ARGS")]
    more: Vec<String>,
}

/// What a tool is told that takes its own session up without a terminal: it does nothing without a prompt. It is no request.
const GO_ON: &str = "Continue";

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    crate::readers::refresh(app);
    let named = args.to.as_deref().map(|name| target(Some(name))).transpose()?;
    let choice = ask::session(&args, app)?;
    let launcher = match named {
        Some(launcher) => launcher,
        None => ask::tool(app)?.map_or_else(|| target(None), Ok)?,
    };
    let program = program(launcher, args.print, app)?;
    let (found, fetched) = find(choice, args.pushed_by.clone(), app)?;
    let plan = plan(&args, launcher, found, app)?;
    if plan.resumes {
        launch::check_session(&plan.id)?;
    }
    let summary = args.summarize.of(&plan.wanted, Some(&plan.agent), app)?;
    let document = document(&args, &plan, summary.as_deref(), app)?;
    let carried = native(&plan, program.as_deref(), app)?;
    let written = carried.as_ref().map(|carried| carried.extent.clone());
    let readers = fetched.as_ref().and_then(|copy| copy.row.manifest.readers.clone());
    // The ledger takes down nothing of what was pushed encrypted.
    let recorded_summary = summary.as_deref().filter(|_| readers.is_none());
    let recorded = match record(&args, &plan, (recorded_summary, written), app) {
        Ok(recorded) => recorded,
        Err(error) => {
            carried.into_iter().for_each(WrittenSession::undo);
            return Err(error);
        }
    };
    // The tool takes the place of this process, and all that was read is with the tool or in the ledger.
    drop(fetched);
    let prompt = prompt(&plan, document, &recorded, app)?;
    let (words, session) = command_arguments(&plan, carried.as_ref());
    let call = Call {
        prompt: prompt.as_ref(),
        session: Some(&session),
        mode: plan.mode,
        cwd: &plan.cwd,
        more: &args.more,
    };
    let argv = launch::argv(words, &call)?;
    let answer = answer(&plan, &argv, (prompt.as_ref(), carried.as_ref()), (&recorded, readers.as_ref()));
    report(&plan, &answer, args.print, app)?;
    if args.print {
        return Ok(());
    }
    let vars = vars(&recorded, app);
    let invocation = Invocation {
        program: program.unwrap_or_else(|| launcher.program().into()),
        args: [launch::vars_as_flags(launcher.launch, &vars), argv].concat(),
        cwd: plan.cwd,
        vars,
    };
    launch_tool(&invocation, launcher, &recorded, app)
}

/// The session that is meant: one of this machine, else one that was pushed to the project.
fn find(
    choice: Choice,
    pushed_by: Option<String>,
    app: &mut App,
) -> Result<(FindOutput, Option<FetchedCopy>), AppError> {
    let (id, agent, pushed_by, missing) = match choice {
        Choice::Named { id, agent } if pushed_by.is_some() => {
            let missing = transcript_copies::not_pushed_refusal(&id);
            (id, agent, pushed_by, missing)
        }
        Choice::Named { id, agent } => {
            let input = FindInput { id, agent };
            match app.run::<Find>(&input) {
                Err(AppError::Refused(refusal))
                    if refusal.code == "transcript_unknown" && input.id != "latest" =>
                {
                    (input.id, input.agent, None, refusal)
                }
                found => return Ok((found?, None)),
            }
        }
        Choice::Copy { id, agent, pushed_by } => {
            let what = format!("session {} was withdrawn meanwhile", visible(&id));
            let hint = "`baton transcripts pushed` lists those that were pushed";
            (id, Some(agent), Some(pushed_by), Refusal::new(Kind::NotFound, "transcript_unknown", what, hint))
        }
    };
    let query = CopyQuery { id: &id, agent: agent.as_deref(), pushed_by: pushed_by.as_deref() };
    let Some(fetched) = transcript_copies::fetch(app, query)? else {
        return Err(missing.into());
    };
    app.remark(&fetched.origin());
    let found = app.run::<Find>(&FindInput { id: fetched.path.display().to_string(), agent: None })?;
    Ok((found, Some(fetched)))
}

/// Writes the session of the tool, and has the tool import it where it takes no file.
fn native(plan: &Plan, program: Option<&Path>, app: &mut App) -> Result<Option<WrittenSession>, AppError> {
    let Some(native) = plan.native else { return Ok(None) };
    let input = EventsInput { id: plan.wanted.clone(), agent: Some(plan.agent.clone()) };
    let importer = importer(plan, native, program)?;
    let events = app.run::<Events>(&input)?.items;
    let tools = baton_ops::op::Host::transcript_env(app.machine.as_ref());
    let folders = Folders { old: plan.header.cwd.as_deref(), new: &plan.cwd, home: &tools.home };
    let conversation = Conversation::of(&events, native, &folders);
    if conversation.steps.is_empty() {
        let what = "the session holds no word of the user";
        return Err(Refusal::invalid("native_unwritable", what, "leave --native out").into());
    }
    let left_out = conversation.left_out;
    let places = SessionPlaces { tools, own: app.config.data_dir.join("handoffs") };
    let agent = plan.launcher.tool.id;
    let target = SessionTarget { native, agent, cwd: &plan.cwd, places, importer };
    let written = native::write_session(target, conversation, &plan.header)?;
    if left_out > 0 {
        app.remark(&format!(
            "{left_out} earlier turns are left out of the written session; the document sums them up"
        ));
    }
    Ok(Some(written))
}

/// The program that brings the session into the tool's store, where there is no other way.
fn importer(
    plan: &Plan,
    native: &'static Native,
    program: Option<&Path>,
) -> Result<Option<Importer>, Refusal> {
    let Some(import) = &native.import else { return Ok(None) };
    let Some(program) = program else {
        return Err(launch::not_installed_refusal(plan.launcher, "leave --native out"));
    };
    Ok(Some(Importer { import, program: program.to_owned(), cwd: plan.cwd.clone() }))
}

/// The words of the command line, and the session that they name.
fn command_arguments(plan: &Plan, carried: Option<&WrittenSession>) -> (&'static [&'static str], String) {
    let launch = plan.launcher.launch;
    let resume = plan.headless.map_or(launch.resume, |headless| headless.resume);
    match (carried, plan.native.and_then(|native| native.resume.as_ref())) {
        (Some(carried), Some(own)) => {
            let words = if plan.headless.is_some() { own.headless } else { own.words };
            (words, carried.path.display().to_string())
        }
        (Some(carried), None) => (resume, carried.id.clone()),
        (None, _) if plan.resumes => (resume, plan.id.clone()),
        (None, _) => (plan.headless.map_or(launch.start, |headless| headless.words), String::new()),
    }
}

/// The document, unless the tool knows the session itself.
fn document(
    args: &Args,
    plan: &Plan,
    summary: Option<&str>,
    app: &mut App,
) -> Result<Option<String>, AppError> {
    if plan.resumes {
        return Ok(None);
    }
    let made = app.run::<Document>(&DocumentInput {
        id: plan.wanted.clone(),
        agent: Some(plan.agent.clone()),
        to: Some(plan.launcher.tool.id.to_owned()),
        budget: args.budget.clone(),
        preset: args.preset.clone(),
        summary: summary.map(str::to_owned),
    })?;
    Ok(Some(made.document))
}

/// Writes the hand-off into the ledger. Unless only the command is shown, it is held from here on by this process, which
/// the tool is about to become.
fn record(
    args: &Args,
    plan: &Plan,
    (summary, written): (Option<&str>, Option<ConversationExtent>),
    app: &mut App,
) -> Result<ContinueOutput, AppError> {
    let caller = app.caller();
    let mut place = caller.location.clone();
    place.process = process::own_fingerprint();
    let becoming =
        Caller { session: None, surface: plan.launcher.tool.surface.to_owned(), location: place, ..caller };
    let input = ContinueInput {
        project: app.project.clone(),
        identity: args.who.identity.clone(),
        id: plan.wanted.clone(),
        agent: Some(plan.agent.clone()),
        to: plan.launcher.tool.id.to_owned(),
        hold: !args.print,
        force: args.force,
        why: args.why.clone(),
        summary: summary.map(str::to_owned),
        written,
    };
    app.run_as::<Continue>(&becoming, &input)
}

fn prompt(
    plan: &Plan,
    document: Option<String>,
    recorded: &ContinueOutput,
    app: &App,
) -> Result<Option<Prompt>, Refusal> {
    let Some(document) = document else {
        let resumed = Prompt { text: GO_ON.to_owned(), file: None };
        return Ok(Some(resumed).filter(|_| plan.headless.is_some()));
    };
    let (id, project) = (visible(&recorded.handoff_id), visible(&recorded.project_id));
    let note = if recorded.session_id.is_some() {
        format!(
            "This is baton {id} in project {project}, which this session holds. `baton wrap` passes it on."
        )
    } else {
        format!(
            "This is baton {id} in project {project}. `baton pickup --handoff {id}` takes it, so that nobody else does."
        )
    };
    let document = format!("{}\n\n{note}\n", document.trim_end());
    let folder = app.config.data_dir.join("handoffs");
    launch::deliver(document, plan.launcher.launch.wants_file(), &folder, &id).map(Some)
}

/// Environment variables that identify the session to Baton when the tool calls it.
fn vars(recorded: &ContinueOutput, app: &App) -> Vec<(&'static str, String)> {
    let mut vars = vec![
        ("BATON_PROJECT", visible(&recorded.project_id)),
        ("BATON_IDENTITY", visible(&recorded.identity)),
        ("BATON_SESSION", recorded.session_id.as_deref().map(visible).unwrap_or_default()),
        ("BATON_PROCESS", process::own_fingerprint()),
    ];
    if let Some((store, _)) = app.config.origins.get("store").filter(|(_, from)| from == "--store") {
        vars.push(("BATON_STORE", store.clone()));
    }
    vars
}

/// Starts the tool in the place of this process. Where that fails, the baton is released.
fn launch_tool(
    invocation: &Invocation,
    launcher: Launcher,
    recorded: &ContinueOutput,
    app: &mut App,
) -> Result<(), AppError> {
    let error = match launch::start_tool(invocation) {
        Ok(0) => return Ok(()),
        Ok(code) => return Err(AppError::Tool(code)),
        Err(error) => error,
    };
    let (project, session) = (Some(recorded.project_id.clone()), recorded.session_id.clone());
    let reason = Some("the tool could not be started".to_owned());
    app.run::<End>(&EndInput { project, session, reason, ..EndInput::default() })?;
    let what = format!("{} cannot be started: {error}", invocation.program.display());
    let hint = format!(
        "get {} again ({}); the baton waits for whoever picks it up",
        launcher.tool.title, launcher.launch.get
    );
    Err(Refusal::new(Kind::Outside, "tool_not_started", what, hint).into())
}
