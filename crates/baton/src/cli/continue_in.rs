//! `baton continue`

use std::path::{Path, PathBuf};

use baton_model::refusal::{Kind, Refusal};
use baton_ops::op::Caller;
use baton_transcripts::Manner;
use serde_json::{Value, json};

use super::Who;
use super::summarize::Summarize;
use crate::app::{App, Format};
use crate::error::Ended;
use crate::launch::{self, Call, Launch, Prompt, Tool};
use crate::{process, render};

/// Continue a session of any coding agent in another one, from where it stopped
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    who: Who,
    /// Session id, a unique prefix, `latest`, or a path to a transcript
    id: Option<String>,
    /// Tool to continue in: claude, codex, gemini, copilot, opencode, …
    #[arg(long = "in", value_name = "TOOL")]
    to: Option<String>,
    /// Tool that wrote the session
    #[arg(long, value_name = "A")]
    agent: Option<String>,
    /// Show the command; start nothing. The hand-off is recorded and waits
    #[arg(long)]
    print: bool,
    /// Begin a new session even where the tool could take up its own
    #[arg(long)]
    fresh: bool,
    /// Size of the document: tokens (2000) or bytes (2KiB)
    #[arg(long, value_name = "N|NKiB")]
    budget: Option<String>,
    /// minimal, standard, verbose or full
    #[arg(long, value_name = "P")]
    preset: Option<String>,
    #[command(flatten)]
    summarize: Summarize,
    /// What the tool may do without asking: plan, ask, edits, full, or same as the session
    #[arg(long, value_name = "M", value_parser = ["plan", "ask", "edits", "full", "same"])]
    mode: Option<String>,
    /// Folder to work in, in place of the session's
    #[arg(long, value_name = "DIR")]
    cd: Option<PathBuf>,
    /// Take over from whoever continues it already
    #[arg(long)]
    force: bool,
    /// Why force is used; written into the ledger
    #[arg(long, value_name = "T")]
    why: Option<String>,
    /// Arguments for the tool itself
    #[arg(last = true, value_name = "ARGS")]
    more: Vec<String>,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let tool = target(args.to.as_deref())?;
    let wanted = args.id.clone().unwrap_or_else(|| "latest".to_owned());
    let program = program(tool, args.print, app)?;
    let found = app.call("transcript_find", json!({ "id": wanted, "agent": args.agent }))?;
    let plan = plan(&args, tool, found, app)?;
    let summary = args.summarize.of(&plan.wanted, Some(&plan.agent), app)?;
    let document = document(&args, &plan, summary.as_deref(), app)?;
    let recorded = record(&args, &plan, summary.as_deref(), app)?;
    let prompt = prompt(&plan, document, &recorded, app)?;
    let call = Call {
        prompt: prompt.as_ref(),
        session: plan.resumes.then_some(plan.id.as_str()),
        mode: plan.mode,
        cwd: &plan.cwd,
        more: &args.more,
    };
    let argv = launch::argv(if plan.resumes { tool.resume } else { tool.start }, &call);
    let answer = answer(&plan, &argv, prompt.as_ref(), &recorded);
    tell(&plan, &answer, args.print, app)?;
    if args.print {
        return Ok(());
    }
    let launch = Launch {
        program: program.unwrap_or_else(|| tool.program.into()),
        args: argv,
        cwd: plan.cwd,
        vars: vars(&recorded, app),
    };
    go(&launch, tool, &recorded, app)
}

/// The tool to continue in.
fn target(named: Option<&str>) -> Result<&'static Tool, Refusal> {
    let known = || launch::ALL.iter().map(|tool| tool.id).collect::<Vec<_>>().join(", ");
    let Some(name) = named else {
        let what = "no tool to continue in was named";
        return Err(Refusal::invalid("target_needed", what, format!("say --in with one of {}", known())));
    };
    if let Some(tool) = launch::by_name(name) {
        return Ok(tool);
    }
    match baton_transcripts::by_name(name) {
        Some(format) => Err(Refusal::invalid(
            "target_without_terminal",
            format!("{} cannot be started on a terminal with a prompt", format.title()),
            "make the document with `baton handoff from-transcript ID -o FILE` and give it to the tool yourself",
        )),
        None => Err(Refusal::invalid(
            "target_unknown",
            format!("`{}` is no tool that can be started", baton_model::id::visible(name)),
            format!("use one of {}", known()),
        )),
    }
}

/// Where the tool lies. It need not lie anywhere for its command to be shown.
fn program(tool: &Tool, print: bool, app: &App) -> Result<Option<PathBuf>, Refusal> {
    let path = app.config.vars.get("PATH").map(String::as_str).unwrap_or_default();
    match launch::installed(tool.program, path) {
        None if !print => Err(Refusal::new(
            Kind::Refused,
            "tool_not_installed",
            format!("{} is not installed: there is no `{}` on the search path", tool.title, tool.program),
            format!("get it ({}), or see the command with --print", tool.get),
        )
        .with("program", tool.program)
        .with("get", tool.get)),
        found => Ok(found),
    }
}

/// What will be done, decided before anything is written.
struct Plan {
    tool: &'static Tool,
    id: String,
    /// What names the session in further calls: `latest` may mean another one by then.
    wanted: String,
    agent: String,
    cwd: PathBuf,
    /// Whether the tool takes up its own session, which needs no document.
    resumes: bool,
    mode: &'static [&'static str],
    warnings: Vec<Value>,
}

fn plan(args: &Args, tool: &'static Tool, found: Value, app: &App) -> Result<Plan, Refusal> {
    let (id, agent, path) =
        (render::text(&found, "id"), render::text(&found, "agent"), render::text(&found, "path"));
    let mut warnings = Vec::new();
    let (cwd, moved) = folder(args, &found, app)?;
    let resumable = agent == tool.id && !tool.resume.is_empty() && !moved && !of_an_editor(&path);
    let resumes = resumable && !args.fresh;
    if moved {
        let gone = render::text(&found, "cwd");
        warnings.push(json!({ "kind": "folder_gone", "message":
            format!("the session's folder {gone} is not here; {} starts in {}", tool.title, cwd.display()) }));
    }
    if !resumes && !tool.starts() {
        return Err(Refusal::invalid(
            "target_without_prompt",
            format!("{} takes up its own sessions only", tool.title),
            "continue in another tool, or make a document with `baton handoff from-transcript ID -o FILE`",
        ));
    }
    let ran = found["mode"].as_str().and_then(Manner::from_word);
    let mode = mode(args.mode.as_deref(), ran, tool, &mut warnings)?;
    let by_path = args.id.as_deref().is_some_and(|id| Path::new(id).is_file());
    Ok(Plan {
        tool,
        wanted: if by_path { path } else { id.clone() },
        id,
        agent,
        cwd,
        resumes,
        mode,
        warnings,
    })
}

/// Conversations of an editor cannot be taken up on a terminal, whatever the tool is called.
fn of_an_editor(path: &str) -> bool {
    path.contains("globalStorage") || path.contains("workspaceStorage")
}

/// The folder to work in, and whether it is another than the session's because that one is gone.
fn folder(args: &Args, found: &Value, app: &App) -> Result<(PathBuf, bool), Refusal> {
    let here = app.config.cwd.clone();
    if let Some(named) = &args.cd {
        let named = here.as_deref().unwrap_or(Path::new("/")).join(named);
        if !named.is_dir() {
            let what = format!("{} is not a folder", named.display());
            return Err(Refusal::invalid("folder_unknown", what, "give --cd a folder that exists"));
        }
        return Ok((named, false));
    }
    let own = found["cwd"].as_str().map(PathBuf::from);
    match (own.filter(|own| own.is_absolute() && own.is_dir()), here) {
        (Some(own), _) => Ok((own, false)),
        (None, Some(here)) => Ok((here, found["cwd"].is_string())),
        (None, None) => {
            let what = "neither the session's folder nor the working directory is here";
            Err(Refusal::invalid("folder_unknown", what, "say where to work with --cd DIR"))
        }
    }
}

/// The flags of the manner in which the tool runs. What the session was allowed is never widened by itself: only that it
/// might not change anything is carried over unasked.
fn mode(
    wish: Option<&str>,
    ran: Option<Manner>,
    tool: &Tool,
    warnings: &mut Vec<Value>,
) -> Result<&'static [&'static str], Refusal> {
    let mut warn = |message: String| warnings.push(json!({ "kind": "mode", "message": message }));
    let manner = match wish {
        Some("same") => match ran {
            Some(ran) => ran,
            None => {
                warn("the transcript does not say in which mode it ran; nothing was carried over".to_owned());
                return Ok(&[]);
            }
        },
        Some(word) => Manner::from_word(word).unwrap_or(Manner::Ask),
        None => match ran {
            Some(Manner::Plan) if tool.mode(Manner::Plan).is_none() => {
                warn(format!("the session could not change files; {} has no such mode and may", tool.title));
                return Ok(&[]);
            }
            Some(ran @ (Manner::Plan | Manner::Ask)) => ran,
            Some(ran) => {
                warn(format!(
                    "the session ran in mode {}; that is carried over only with --mode same",
                    ran.as_str()
                ));
                return Ok(&[]);
            }
            None => return Ok(&[]),
        },
    };
    tool.mode(manner).ok_or_else(|| {
        Refusal::invalid(
            "mode_unsupported",
            format!("{} has no flag for the mode {}", tool.title, manner.as_str()),
            "leave --mode out, or give the tool's own flags after --",
        )
    })
}

/// The document, unless the tool knows the session itself.
fn document(args: &Args, plan: &Plan, summary: Option<&str>, app: &mut App) -> Result<Option<String>, Ended> {
    if plan.resumes {
        return Ok(None);
    }
    let input = json!({
        "id": plan.wanted, "agent": plan.agent, "to": plan.tool.id, "budget": args.budget, "preset": args.preset,
        "summary": summary,
    });
    let answer = app.call("handoff_document", input)?;
    Ok(answer["document"].as_str().map(str::to_owned))
}

/// Writes the hand-off into the ledger. Unless only the command is shown, it is held from here on by this process, which
/// the tool is about to become.
fn record(args: &Args, plan: &Plan, summary: Option<&str>, app: &mut App) -> Result<Value, Ended> {
    let caller = app.caller();
    let mut place = caller.place.clone();
    place.process = process::own();
    let becoming = Caller { session: None, surface: plan.tool.surface.to_owned(), place, ..caller };
    let input = json!({
        "project": app.project, "identity": args.who.identity, "id": plan.wanted, "agent": plan.agent,
        "to": plan.tool.id, "hold": !args.print, "force": args.force, "why": args.why,
        "summary": summary,
    });
    app.call_as(&becoming, "transcript_continue", input)
}

fn prompt(
    plan: &Plan,
    document: Option<String>,
    recorded: &Value,
    app: &App,
) -> Result<Option<Prompt>, Refusal> {
    let Some(document) = document else { return Ok(None) };
    let id = render::text(recorded, "handoff_id");
    let project = render::text(recorded, "project_id");
    let note = if recorded["session_id"].is_string() {
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
    launch::deliver(document, plan.tool.wants_file(), &folder, &id).map(Some)
}

fn answer(plan: &Plan, argv: &[String], prompt: Option<&Prompt>, recorded: &Value) -> Value {
    json!({
        "project_id": recorded["project_id"],
        "identity": recorded["identity"],
        "session_id": recorded["session_id"],
        "handoff_id": recorded["handoff_id"],
        "command": launch::shell_line(&plan.cwd, plan.tool.program, argv),
        "program": plan.tool.program,
        "argv": argv,
        "cwd": plan.cwd,
        "in": plan.tool.id,
        "resumes": plan.resumes,
        "transcript_id": plan.id,
        "agent": plan.agent,
        "file": prompt.and_then(|prompt| prompt.file.as_ref()),
        "warnings": plan.warnings,
    })
}

fn tell(plan: &Plan, answer: &Value, print: bool, app: &App) -> Result<(), Ended> {
    app.remark(render::warnings(answer).trim_end());
    let baton = render::id(answer, "handoff_id");
    if print {
        app.remark(&format!(
            "recorded: baton {baton} waits in project {}",
            render::text(answer, "project_id")
        ));
        if answer["file"].is_string() {
            app.remark(&format!("written: {}", render::text(answer, "file")));
        }
        return app.answer(answer, |a| format!("{}\n", a["command"].as_str().unwrap_or_default()));
    }
    app.remark(&format!(
        "{} session {} goes on in {} as {}, baton {baton}, in {}",
        plan.agent,
        render::id(answer, "transcript_id"),
        plan.tool.title,
        render::text(answer, "identity"),
        plan.cwd.display()
    ));
    match app.format {
        Format::Text => Ok(()),
        Format::Json | Format::JsonLines => app.answer(answer, |_| String::new()),
    }
}

/// What Baton is told when the tool calls it: whose work this is.
fn vars(recorded: &Value, app: &App) -> Vec<(&'static str, String)> {
    let mut vars = vec![
        ("BATON_PROJECT", render::text(recorded, "project_id")),
        ("BATON_IDENTITY", render::text(recorded, "identity")),
        ("BATON_SESSION", render::text(recorded, "session_id")),
        ("BATON_PROCESS", process::own()),
    ];
    if let Some((store, _)) = app.config.origins.get("store").filter(|(_, from)| from == "--store") {
        vars.push(("BATON_STORE", store.clone()));
    }
    vars
}

/// Becomes the tool. Where that fails, the baton is let go of.
fn go(launch: &Launch, tool: &Tool, recorded: &Value, app: &mut App) -> Result<(), Ended> {
    let error = match launch::start(launch) {
        Ok(0) => return Ok(()),
        Ok(code) => return Err(Ended::Tool(code)),
        Err(error) => error,
    };
    let input = json!({
        "project": recorded["project_id"], "session": recorded["session_id"], "reason": "the tool could not be started",
    });
    app.call("session_end", input)?;
    let what = format!("{} cannot be started: {error}", launch.program.display());
    let hint = format!("get {} again ({}); the baton waits for whoever picks it up", tool.title, tool.get);
    Err(Refusal::new(Kind::Outside, "tool_not_started", what, hint).into())
}
