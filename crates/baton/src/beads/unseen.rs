//! What a Beads file holds that the ledger has not seen.

use std::collections::HashSet;
use std::path::Path;

use baton_model::refusal::{Kind, Refusal};
use baton_model::shell::shell_word;
use baton_ops::Lines;
use baton_ops::task::BeadsExportOutput;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{CHUNK, lines_of};
use crate::app::App;
use crate::beads_file::FileTurn;
use crate::error::AppError;

/// What is looked at of a line.
#[derive(Deserialize)]
pub(super) struct LineHeader {
    #[serde(rename = "_type")]
    kind: Option<Value>,
    id: Option<Value>,
    key: Option<Value>,
}

impl LineHeader {
    pub(super) fn of(line: &str) -> Self {
        serde_json::from_str(line).unwrap_or(Self { kind: None, id: None, key: None })
    }

    /// The id of a task; none for a line that is no task.
    pub(super) fn task_id(&self) -> Option<&str> {
        let is_task = self.kind.as_ref().is_none_or(|kind| kind == "issue");
        self.id.as_ref().and_then(Value::as_str).filter(|_| is_task)
    }

    fn name(&self) -> String {
        let named = [&self.id, &self.key].into_iter().flatten().find_map(Value::as_str);
        named.unwrap_or("a line that is no task").to_owned()
    }
}

/// Lines of a file that are neither what the ledger would write nor what it knows was there.
#[derive(Default)]
pub(super) struct UnseenLines {
    pub(super) lines: usize,
    /// Of the first few.
    names: Vec<String>,
}

impl UnseenLines {
    fn add(&mut self, name: String) {
        self.lines += 1;
        if self.names.len() < 5 {
            self.names.push(name);
        }
    }
}

/// Looks through a file for them.
pub(super) fn unseen(
    app: &mut App,
    turn: &FileTurn,
    head: &BeadsExportOutput,
) -> Result<UnseenLines, AppError> {
    let mut found = UnseenLines::default();
    let Some(mut lines) = turn.lines()? else { return Ok(found) };
    let known: HashSet<&str> = head.ids.iter().map(String::as_str).collect();
    let others: HashSet<&str> = head.items.iter().map(|item| item.line.as_str()).collect();
    let mut chunk: Vec<(String, String)> = Vec::new();
    loop {
        let line = match lines.next() {
            Ok(Some(line)) => line.trim().to_owned(),
            Ok(None) => break,
            Err(refusal) if refusal.code == "beads_invalid" => {
                found.add("a line that cannot be read".to_owned());
                continue;
            }
            Err(refusal) => return Err(refusal.into()),
        };
        let header = LineHeader::of(&line);
        match header.task_id() {
            _ if line.is_empty() => {}
            Some(id) if known.contains(id) => chunk.push((id.to_owned(), line)),
            None if others.contains(line.as_str()) => {}
            _ => found.add(header.name()),
        }
        if chunk.len() >= CHUNK {
            compare(app, &head.project_id, &mut chunk, &mut found)?;
        }
    }
    compare(app, &head.project_id, &mut chunk, &mut found)?;
    Ok(found)
}

/// Looks for lines of tasks that the ledger knows in another form.
fn compare(
    app: &mut App,
    project: &str,
    chunk: &mut Vec<(String, String)>,
    found: &mut UnseenLines,
) -> Result<(), AppError> {
    if chunk.is_empty() {
        return Ok(());
    }
    let ids = chunk.iter().map(|(id, _)| id.clone()).collect();
    let items = lines_of(app, project, ids)?;
    for (id, line) in chunk.iter() {
        let known = items.iter().find(|item| item.id.as_ref() == Some(id));
        if known.is_none_or(|item| item.line != *line && item.before.as_ref() != Some(line)) {
            found.add(id.clone());
        }
    }
    chunk.clear();
    Ok(())
}

/// The refusal of an export over them.
pub(super) fn would_lose_refusal(path: &Path, unseen: &UnseenLines) -> Refusal {
    let more = if unseen.lines > unseen.names.len() { ", …" } else { "" };
    Refusal::new(
        Kind::Conflict,
        "export_would_lose",
        format!(
            "{} holds {} lines that the ledger has not seen: {}{more}",
            path.display(),
            unseen.lines,
            unseen.names.join(", ")
        ),
        format!("take them in first: `baton import beads {}`", shell_word(&path.display().to_string())),
    )
    .with("ids", json!(unseen.names))
}
