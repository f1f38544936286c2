//! What `baton continue` asks on a terminal where the command line leaves it open.

use std::path::{Path, PathBuf};

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_ops::transcript::{Document, DocumentInput, List, ListInput, Row};

use baton_tools::{Launcher, launchers};

use super::Args;
use serde_json::Value;

use crate::app::{App, Format};
use crate::error::AppError;
use crate::launch;
use crate::picker::{self, Item};
use crate::render;

/// The session that is meant: `None` as the tool that wrote it where an id says it all.
pub(super) fn session(args: &Args, app: &mut App) -> Result<(String, Option<String>), AppError> {
    if let Some(id) = &args.id {
        return Ok((id.clone(), args.agent.clone()));
    }
    if is_interactive(app) && !args.print {
        return choose(args, app);
    }
    if args.to.is_some() {
        return Ok(("latest".to_owned(), args.agent.clone()));
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

fn choose(args: &Args, app: &mut App) -> Result<(String, Option<String>), AppError> {
    let agents = args.agent.iter().cloned().collect();
    let listed = app.run::<List>(&ListInput { agents, ..ListInput::default() })?;
    // Transcripts of this folder first, so that Enter does not take one of another folder.
    let here = app.caller().git_root.or(app.caller().folders.first().cloned()).map(PathBuf::from);
    let is_here = |row: &Row| {
        let cwd = row.cwd.as_deref().map(Path::new);
        here.as_ref().is_some_and(|here| cwd.is_some_and(|cwd| cwd.starts_with(here)))
    };
    let (own, others): (Vec<Row>, Vec<Row>) = listed.items.into_iter().partition(is_here);
    let sessions = [own, others].concat();
    if sessions.is_empty() {
        let hint = "a path to a transcript works too; `baton doctor` tells more";
        return Err(Refusal::new(
            baton_model::refusal::Kind::NotFound,
            "transcript_unknown",
            "no transcript was found on this machine",
            hint,
        )
        .into());
    }
    app.drawing = true;
    let mut preview = |at: usize| sessions.get(at).map_or_else(String::new, |header| about(header, app));
    let chosen = picker::pick("continue", sessions.iter().map(item).collect(), &mut preview);
    app.drawing = false;
    let chosen = chosen?;
    let (id, agent) = sessions.get(chosen).map(|row| (visible(&row.id), visible(&row.agent))).unzip();
    Ok((id.unwrap_or_default(), agent))
}

fn item(row: &Row) -> Item {
    let text = |text: &Option<String>| text.as_deref().map(visible).unwrap_or_default();
    let columns = vec![
        text(&row.title).chars().take(60).collect(),
        visible(&row.agent),
        row.updated_at.map(render::since).unwrap_or_default(),
        text(&row.branch),
    ];
    Item { columns, words: format!("{} {}", text(&row.cwd), visible(&row.id)) }
}

/// What is known of a session, and the beginning of the document that it would become.
fn about(row: &Row, app: &mut App) -> String {
    let line = |name: &str, text: Option<&str>| match text {
        None | Some("") => String::new(),
        Some(text) => format!("{name} {}\n", visible(text)),
    };
    let known = [("in", row.cwd.as_deref()), ("with", row.model.as_deref()), ("id", Some(&row.id))];
    let known = known.map(|(name, text)| line(name, text)).concat();
    let input = DocumentInput {
        id: row.id.clone(),
        agent: Some(row.agent.clone()),
        preset: Some("minimal".to_owned()),
        ..DocumentInput::default()
    };
    let (summary, document) = match app.run::<Document>(&input) {
        Ok(made) => (made.packet.get("summary").and_then(Value::as_str).map(visible), made.document),
        Err(ended) => (None, ended.text()),
    };
    // The table at the beginning says what the list has said already.
    let after_overview = document.match_indices("\n## ").nth(1).and_then(|(at, _)| document.get(at + 1..));
    let telling = after_overview.unwrap_or(&document);
    format!("{known}{}\n\n{telling}", summary.unwrap_or_default())
}
