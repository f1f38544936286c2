//! What `baton continue` will do, decided before anything is written.

use std::path::{Path, PathBuf};

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_ops::session::SessionFolder;
use baton_ops::transcript::{FindOutput, Row};
use baton_tools::launch::Headless;
use baton_tools::native::Native;
use baton_tools::{Launcher, Tool, launchers};
use baton_transcripts::PermissionMode;
use serde::Serialize;

use super::super::headless::starts_headless;
use super::Args;
use crate::app::App;
use crate::launch;

/// The tool to continue in.
pub(super) fn target(named: Option<&str>) -> Result<Launcher, Refusal> {
    let known = || launchers().map(|one| one.tool.id).collect::<Vec<_>>().join(", ");
    let Some(name) = named else {
        let what = "no tool to continue in was named";
        return Err(Refusal::invalid("target_needed", what, format!("say --in with one of {}", known())));
    };
    if let Some(launcher) = baton_tools::launcher(name) {
        return Ok(launcher);
    }
    match baton_tools::by_name(name) {
        Some(tool) => Err(Refusal::invalid(
            "target_without_terminal",
            format!("{} cannot be started on a terminal with a prompt", tool.title),
            "make the document with `baton handoff from-transcript ID -o FILE` and give it to the tool yourself",
        )),
        None => Err(Refusal::invalid(
            "tool_unknown",
            format!("`{}` is no tool that can be started", baton_model::id::visible(name)),
            format!("use one of {}", known()),
        )),
    }
}

/// Where the tool lies. It need not lie anywhere for its command to be shown.
pub(super) fn program(launcher: Launcher, print: bool, app: &App) -> Result<Option<PathBuf>, Refusal> {
    let path = app.config.vars.get("PATH").map(String::as_str).unwrap_or_default();
    match launch::installed(launcher.program(), path) {
        None if !print => Err(launch::not_installed_refusal(launcher, "see the command with --print")),
        found => Ok(found),
    }
}

/// What will be done, decided before anything is written.
pub(super) struct Plan {
    pub launcher: Launcher,
    pub id: String,
    /// What names the session in further calls: `latest` may mean another one by then.
    pub wanted: String,
    pub agent: String,
    pub cwd: PathBuf,
    /// Whether the tool takes up its own session, which needs no document.
    pub resumes: bool,
    /// How the tool runs without a terminal, where there is none.
    pub headless: Option<&'static Headless>,
    /// How a session of the tool is written, if one is to be.
    pub native: Option<&'static Native>,
    pub header: Row,
    pub mode: &'static [&'static str],
    pub warnings: Vec<Warning>,
}

/// What the caller should know; nothing was refused because of it.
#[derive(Serialize)]
pub(super) struct Warning {
    kind: WarningKind,
    /// One sentence.
    pub message: String,
}

/// What a [`Warning`] is about: a stable word for programs.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum WarningKind {
    FolderGone,
    FolderMoved,
    FolderReplaced,
    Mode,
}

pub(super) fn plan(args: &Args, launcher: Launcher, found: FindOutput, app: &App) -> Result<Plan, Refusal> {
    let FindOutput { header, mode: ran, is_copy, place } = found;
    let (id, agent, path) = (visible(&header.id), visible(&header.agent), visible(&header.path));
    let mut warnings = Vec::new();
    let Launcher { tool, launch } = launcher;
    let (cwd, moved) = folder(args, (header.cwd.as_deref(), place.as_ref()), app)?;
    let resumable =
        agent == tool.id && !launch.resume.is_empty() && !moved && !is_copy && !of_an_editor(&path);
    let native = native_of(args, tool)?;
    let resumes = resumable && !args.fresh && native.is_none();
    if moved {
        warnings.push(folder_warning(header.cwd.as_deref(), place.as_ref(), (&cwd, tool.title)));
    }
    if !resumes && native.is_none() && !launch.starts() {
        return Err(Refusal::invalid(
            "target_without_prompt",
            format!("{} takes up its own sessions only", tool.title),
            "continue in another tool, or make a document with `baton handoff from-transcript ID -o FILE`",
        ));
    }
    let is_headless = !args.print && starts_headless(launcher, &args.more, app);
    let headless = launch.headless.as_ref().filter(|_| is_headless);
    let mode = mode(args.mode.as_deref(), ran, (launcher, is_headless), &mut warnings)?;
    let by_path = is_copy || args.id.as_deref().is_some_and(|id| Path::new(id).is_file());
    Ok(Plan {
        launcher,
        wanted: if by_path { path } else { id.clone() },
        id,
        agent,
        cwd,
        resumes,
        headless,
        native,
        header,
        mode,
        warnings,
    })
}

/// How a session of the tool is written, if that is asked for.
fn native_of(args: &Args, tool: &'static Tool) -> Result<Option<&'static Native>, Refusal> {
    if !args.native || tool.native.is_some() {
        return Ok(tool.native.as_ref().filter(|_| args.native));
    }
    let able: Vec<&str> =
        launchers().filter(|one| one.tool.native.is_some()).map(|one| one.tool.id).collect();
    Err(Refusal::invalid(
        "native_unsupported",
        format!("sessions of {} cannot be written", tool.title),
        format!("leave --native out, or continue in one of {}", able.join(", ")),
    ))
}

/// Conversations of an editor cannot be taken up on a terminal, whatever the tool is called.
fn of_an_editor(path: &str) -> bool {
    path.contains("globalStorage") || path.contains("workspaceStorage")
}

/// The folder to work in, and whether it is another than the session's because that one was moved, is gone or holds something else.
fn folder(
    args: &Args,
    (cwd, place): (Option<&str>, Option<&SessionFolder>),
    app: &App,
) -> Result<(PathBuf, bool), Refusal> {
    let here = app.config.cwd.clone();
    if let Some(named) = &args.cd {
        let named = here.as_deref().unwrap_or(Path::new("/")).join(named);
        if !named.is_dir() {
            let what = format!("{} is not a folder", named.display());
            return Err(Refusal::invalid("folder_unknown", what, "give --cd a folder that exists"));
        }
        return Ok((named, false));
    }
    let own = match place {
        Some(place) => place.folder.as_deref(),
        None => cwd.filter(|cwd| Path::new(cwd).is_absolute()),
    };
    let own = own.map(PathBuf::from).filter(|own| own.is_dir());
    match (own, here) {
        (Some(own), _) => {
            let is_moved = Some(own.as_path()) != cwd.map(Path::new);
            Ok((own, is_moved))
        }
        (None, Some(here)) => Ok((here, cwd.is_some())),
        (None, None) => {
            let what = "neither the session's folder nor the working directory is here";
            Err(Refusal::invalid("folder_unknown", what, "say where to work with --cd DIR"))
        }
    }
}

/// Why the tool starts in another folder than the session's, and what is left of that one.
fn folder_warning(cwd: Option<&str>, place: Option<&SessionFolder>, (start, tool): (&Path, &str)) -> Warning {
    let (before, start) = (cwd.map(visible).unwrap_or_default(), start.display());
    if place.is_some_and(|place| place.folder.is_some()) {
        let message = format!("the session's folder {before} was moved to {start}; {tool} starts there");
        return Warning { kind: WarningKind::FolderMoved, message };
    }
    let (kind, state) = match place.is_some_and(|place| place.holds_other) {
        true => (WarningKind::FolderReplaced, "holds something else by now"),
        false => (WarningKind::FolderGone, "is not here"),
    };
    let advice = place.and_then(|place| place.advice.as_deref()).unwrap_or_default();
    let openings = ["the folder is gone; ", "the folder holds something else by now; "];
    let advice = openings.iter().find_map(|begin| advice.strip_prefix(begin)).unwrap_or(advice);
    let separator = if advice.is_empty() { "" } else { "; " };
    let message = format!(
        "the session's folder {before} {state}; {tool} starts in {start}{separator}{}",
        visible(advice)
    );
    Warning { kind, message }
}

/// The flags of the permission mode in which the tool runs. What the session was allowed is never widened by itself: only that it
/// might not change anything is carried over unasked.
fn mode(
    wanted: Option<&str>,
    ran: Option<PermissionMode>,
    (Launcher { tool, launch }, is_headless): (Launcher, bool),
    warnings: &mut Vec<Warning>,
) -> Result<&'static [&'static str], Refusal> {
    let flags = |mode| if is_headless { launch.headless_mode(mode) } else { launch.mode(mode) };
    let mut warn = |message: String| warnings.push(Warning { kind: WarningKind::Mode, message });
    let mode = match wanted {
        Some("same") => match ran {
            Some(ran) => ran,
            None => {
                warn("the transcript does not say in which mode it ran; nothing was carried over".to_owned());
                return Ok(&[]);
            }
        },
        Some(word) => PermissionMode::from_word(word).unwrap_or(PermissionMode::Ask),
        None => match ran {
            Some(PermissionMode::Plan) if flags(PermissionMode::Plan).is_none() => {
                warn(format!("the session could not change files; {} has no such mode and may", tool.title));
                return Ok(&[]);
            }
            Some(ran @ (PermissionMode::Plan | PermissionMode::Ask)) => ran,
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
    flags(mode).ok_or_else(|| {
        Refusal::invalid(
            "mode_unsupported",
            format!("{} has no flag for the mode {}", tool.title, mode.as_str()),
            "leave --mode out, or give the tool's own flags after --",
        )
    })
}
