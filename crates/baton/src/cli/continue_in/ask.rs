//! What `baton continue` asks on a terminal where the command line leaves it open.

use std::path::{Path, PathBuf};

use baton_model::id::visible;
use baton_model::packet::Packet;
use baton_model::refusal::Refusal;
use baton_ops::transcript::{Copies, CopiesInput, CopyRow, Document, DocumentInput, List, ListInput, Row};
use baton_tools::{Launcher, launchers};
use serde::Deserialize;

use super::Args;

use crate::app::{App, Format};
use crate::error::AppError;
use crate::launch;
use crate::picker::{self, Item};
use crate::render;
use crate::transcript_copies::{self, CopyQuery};

/// The session to continue.
pub(super) enum Choice {
    /// One that is looked for: by an id, a prefix or a path, and the tool that wrote it where an id does not say it all.
    Named { id: String, agent: Option<String> },
    /// One that was pushed to the project, by its whole id. It is never taken for a path.
    Copy { id: String, agent: String, pushed_by: String },
}

/// The session that is meant.
pub(super) fn session(args: &Args, app: &mut App) -> Result<Choice, AppError> {
    let agent = args.agent.clone();
    if let Some(id) = args.id.clone() {
        return Ok(Choice::Named { id, agent });
    }
    if is_interactive(app) && !args.print {
        return choose(args, app);
    }
    if args.to.is_some() {
        return Ok(Choice::Named { id: "latest".to_owned(), agent });
    }
    let what = "no session was named, and there is no terminal to choose one on";
    let hint = "name it: an id or the beginning of one from `baton transcripts list`, `latest`, or a path to a transcript";
    Err(Refusal::invalid("session_needed", what, hint).into())
}

/// The tool that is chosen, of those that are installed.
pub(super) fn tool(app: &App) -> Result<Option<Launcher>, AppError> {
    if !is_interactive(app) {
        return Ok(None);
    }
    let path = app.config.vars.get("PATH").map(String::as_str).unwrap_or_default();
    let able = |one: &Launcher| one.launch.starts() && launch::installed(one.program(), path).is_some();
    let able: Vec<Launcher> = launchers().filter(able).collect();
    if able.is_empty() {
        return Ok(None);
    }
    let item = |Launcher { tool, .. }: &Launcher| Item {
        columns: vec![tool.title.to_owned()],
        words: tool.id.to_owned(),
    };
    let about =
        |at: usize| able.get(at).map_or_else(String::new, |one| format!("starts `{}`", one.program()));
    let chosen = picker::pick("continue in", able.iter().map(item).collect(), &mut about.clone())?;
    Ok(able.get(chosen).copied())
}

fn is_interactive(app: &App) -> bool {
    app.format == Format::Text && picker::can_ask()
}

/// A line of the picker.
enum PickerEntry {
    /// A session of this machine.
    Local(Row),
    /// One that was pushed to the project.
    Copy(CopyRow),
}

fn choose(args: &Args, app: &mut App) -> Result<Choice, AppError> {
    let candidates = candidates(args, app)?;
    if candidates.is_empty() {
        let hint = "a path to a transcript works too; `baton doctor` tells more";
        return Err(Refusal::new(
            baton_model::refusal::Kind::NotFound,
            "transcript_unknown",
            "no transcript was found on this machine",
            hint,
        )
        .into());
    }
    app.is_full_screen = true;
    let mut preview = |at: usize| match candidates.get(at) {
        Some(PickerEntry::Local(row)) => preview(row, app),
        Some(PickerEntry::Copy(copy)) => about_copy(copy, app),
        None => String::new(),
    };
    let chosen = picker::pick("continue", candidates.iter().map(item).collect(), &mut preview);
    app.is_full_screen = false;
    match candidates.into_iter().nth(chosen?).ok_or(AppError::Interrupted)? {
        PickerEntry::Local(row) => {
            Ok(Choice::Named { id: visible(&row.id), agent: Some(visible(&row.agent)) })
        }
        PickerEntry::Copy(CopyRow { manifest, identity, .. }) => {
            Ok(Choice::Copy { id: manifest.transcript_id, agent: manifest.agent, pushed_by: identity })
        }
    }
}

/// Sessions of this folder first, so that Enter does not take one of another folder; then what was pushed to its project and is
/// not on this machine.
fn candidates(args: &Args, app: &mut App) -> Result<Vec<PickerEntry>, AppError> {
    let agents = args.agent.iter().cloned().collect();
    let listed = app.run::<List>(&ListInput { agents, ..ListInput::default() })?;
    let here = app.caller().git_root.or(app.caller().folders.first().cloned()).map(PathBuf::from);
    let is_here = |row: &Row| {
        let cwd = row.cwd.as_deref().map(Path::new);
        here.as_ref().is_some_and(|here| cwd.is_some_and(|cwd| cwd.starts_with(here)))
    };
    let mut copies = copies(args, app)?;
    let is_of = |copy: &CopyRow, row: &Row| {
        (&copy.manifest.agent, &copy.manifest.transcript_id) == (&row.agent, &row.id)
    };
    copies.retain(|copy| !listed.items.iter().any(|row| is_of(copy, row)));
    let (own, others): (Vec<Row>, Vec<Row>) = listed.items.into_iter().partition(is_here);
    let own = own.into_iter().map(PickerEntry::Local);
    let copies = copies.into_iter().map(PickerEntry::Copy);
    Ok(own.chain(copies).chain(others.into_iter().map(PickerEntry::Local)).collect())
}

/// What was pushed to the project of this folder. Where that cannot be asked for, the sessions of this machine can still be chosen.
fn copies(args: &Args, app: &mut App) -> Result<Vec<CopyRow>, AppError> {
    let input = CopiesInput {
        project: app.project.clone(),
        agent: args.agent.clone(),
        pushed_by: args.pushed_by.clone(),
        ..CopiesInput::default()
    };
    match app.run::<Copies>(&input) {
        Ok(listed) => Ok(listed.items),
        Err(AppError::Refused(refusal)) if transcript_copies::is_elsewhere(refusal.code) => Ok(Vec::new()),
        Err(AppError::Refused(refusal)) => {
            app.remark(&format!("what was pushed to the project is not listed: {}", refusal.message));
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

fn item(candidate: &PickerEntry) -> Item {
    let text = |text: &Option<String>| text.as_deref().map(visible).unwrap_or_default();
    let title = |title: String| title.chars().take(60).collect();
    match candidate {
        PickerEntry::Local(row) => Item {
            columns: vec![
                title(text(&row.title)),
                visible(&row.agent),
                row.updated_at.map(render::time_ago).unwrap_or_default(),
                text(&row.branch),
            ],
            words: format!("{} {}", text(&row.cwd), visible(&row.id)),
        },
        PickerEntry::Copy(CopyRow { identity, pushed_at, manifest }) => Item {
            columns: vec![
                match &manifest.readers {
                    Some(_) => "(encrypted)".to_owned(),
                    None => title(text(&manifest.title)),
                },
                visible(&manifest.agent),
                render::time_ago(manifest.updated_at.unwrap_or(*pushed_at)),
                text(&manifest.branch),
                format!("pushed by {}", visible(identity)),
            ],
            words: format!("{} {}", visible(&manifest.machine), visible(&manifest.transcript_id)),
        },
    }
}

/// What is known of a session that was pushed, and the beginning of the document that it would become. It is fetched for it.
fn about_copy(copy: &CopyRow, app: &mut App) -> String {
    let manifest = &copy.manifest;
    let machine = match manifest.machine.as_str() {
        "" => String::new(),
        machine => format!(" from machine {}", visible(machine)),
    };
    let known = format!(
        "pushed by {}{machine}, {}\nin {}\nid {}\n",
        visible(&copy.identity),
        render::time_ago(copy.pushed_at),
        manifest.cwd.as_deref().map(visible).unwrap_or_default(),
        visible(&manifest.transcript_id)
    );
    let query = CopyQuery {
        id: &manifest.transcript_id,
        agent: Some(&manifest.agent),
        pushed_by: Some(&copy.identity),
    };
    match transcript_copies::fetch(app, query) {
        Ok(Some(fetched)) => known + &beginning(fetched.path.display().to_string(), None, app),
        Ok(None) => known + "it was withdrawn meanwhile",
        Err(error) => known + &error.text(),
    }
}

/// What is known of a session, and the beginning of the document that it would become.
fn preview(row: &Row, app: &mut App) -> String {
    let line = |name: &str, text: Option<&str>| match text {
        None | Some("") => String::new(),
        Some(text) => format!("{name} {}\n", visible(text)),
    };
    let known = [("in", row.cwd.as_deref()), ("with", row.model.as_deref()), ("id", Some(&row.id))];
    let known = known.map(|(name, text)| line(name, text)).concat();
    known + &beginning(row.id.clone(), Some(row.agent.clone()), app)
}

/// The summary of a session, and the beginning of the document that it would become.
fn beginning(id: String, agent: Option<String>, app: &mut App) -> String {
    let preset = Some("minimal".to_owned());
    let input = DocumentInput { id, agent, preset, ..DocumentInput::default() };
    let (summary, document) = match app.run::<Document>(&input) {
        Ok(made) => {
            (Packet::deserialize(&made.packet).ok().map(|packet| visible(&packet.summary)), made.document)
        }
        Err(error) => (None, error.text()),
    };
    // The table at the beginning says what the list has said already.
    let after_overview = document.match_indices("\n## ").nth(1).and_then(|(at, _)| document.get(at + 1..));
    let telling = after_overview.unwrap_or(&document);
    format!("{}\n\n{telling}", summary.unwrap_or_default())
}
