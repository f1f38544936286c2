//! What `baton continue` asks on a terminal where the command line leaves it open.

use baton_ops::op::Operation;
use std::path::{Path, PathBuf};

use baton_model::refusal::Refusal;
use serde_json::{Value, json};

use super::Args;
use crate::app::{App, Format};
use crate::error::Ended;
use crate::launch::{self, Tool};
use crate::picker::{self, Item};
use crate::render;

/// The session that is meant: `None` as the tool that wrote it where an id says it all.
pub fn session(args: &Args, app: &mut App) -> Result<(String, Option<String>), Ended> {
    if let Some(id) = &args.id {
        return Ok((id.clone(), args.agent.clone()));
    }
    if asks(app) && !args.print {
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
pub fn tool(app: &App) -> Result<Option<&'static Tool>, Ended> {
    if !asks(app) {
        return Ok(None);
    }
    let path = app.config.vars.get("PATH").map(String::as_str).unwrap_or_default();
    let able = |tool: &&&Tool| tool.starts() && launch::installed(tool.program, path).is_some();
    let tools: Vec<&'static Tool> = launch::ALL.iter().filter(able).copied().collect();
    if tools.is_empty() {
        return Ok(None);
    }
    let item = |tool: &&Tool| Item { columns: vec![tool.title.to_owned()], words: tool.id.to_owned() };
    let about =
        |at: usize| tools.get(at).map_or_else(String::new, |tool| format!("starts `{}`", tool.program));
    let chosen = picker::pick("continue in", tools.iter().map(item).collect(), &mut about.clone())?;
    Ok(tools.get(chosen).copied())
}

fn asks(app: &App) -> bool {
    app.format == Format::Text && picker::can_ask()
}

fn choose(args: &Args, app: &mut App) -> Result<(String, Option<String>), Ended> {
    let agents: Vec<&String> = args.agent.iter().collect();
    let listed = app.call(baton_ops::transcript::List::NAME, json!({ "agents": agents }))?;
    // Those of this folder first, so that Enter does not take another one's.
    let here = app.caller().git_root.or(app.caller().folders.first().cloned()).map(PathBuf::from);
    let is_here = |row: &Value| {
        let cwd = row["cwd"].as_str().map(Path::new);
        here.as_ref().is_some_and(|here| cwd.is_some_and(|cwd| cwd.starts_with(here)))
    };
    let (own, others): (Vec<Value>, Vec<Value>) =
        render::list(&listed, "items").iter().cloned().partition(is_here);
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
    let header = sessions.get(chosen).unwrap_or(&Value::Null);
    Ok((render::text(header, "id"), Some(render::text(header, "agent"))))
}

fn item(header: &Value) -> Item {
    let columns = vec![
        render::text(header, "title").chars().take(60).collect(),
        render::text(header, "agent"),
        render::age(header, "updated_at"),
        render::text(header, "branch"),
    ];
    Item { columns, words: format!("{} {}", render::text(header, "cwd"), render::text(header, "id")) }
}

/// What is known of a session, and the beginning of the document that it would become.
fn about(header: &Value, app: &mut App) -> String {
    let line = |name: &str, key: &str| match render::text(header, key) {
        text if text.is_empty() => String::new(),
        text => format!("{name} {text}\n"),
    };
    let known = [("in", "cwd"), ("with", "model"), ("id", "id")].map(|(name, key)| line(name, key)).concat();
    let input = json!({ "id": header["id"], "agent": header["agent"], "preset": "minimal" });
    let document = match app.call(baton_ops::transcript::Document::NAME, input) {
        Ok(answer) => answer["document"].as_str().unwrap_or_default().to_owned(),
        Err(ended) => ended.text(),
    };
    // The table at the beginning says what the list has said already.
    let telling = document.find("## Summary").and_then(|at| document.get(at..)).unwrap_or(&document);
    format!("{known}{telling}")
}
