//! Memories of a project under Beads' verbs.

use baton_model::id::visible;
use baton_model::memory::View;
use baton_model::refusal::{Kind, Refusal};
use baton_ops::memory::{Add, AddInput, Search, SearchInput, Withdraw, WithdrawInput};
use serde::Serialize;

use super::Out;
use crate::error::AppError;

/// What the tag of a memory's name begins with.
const KEY: &str = "key:";

/// A memory as Beads shows it.
#[derive(Serialize)]
struct Remembered {
    key: String,
    value: String,
    id: String,
}

impl From<View> for Remembered {
    fn from(memory: View) -> Self {
        let key = memory.tags.iter().find_map(|tag| tag.strip_prefix(KEY)).map(str::to_owned);
        let key = key.unwrap_or_else(|| memory.memory_id.clone());
        Self { key, value: memory.text, id: memory.memory_id }
    }
}

impl Remembered {
    fn line(&self) -> String {
        format!("{}: {}\n", visible(&self.key), visible(&self.value))
    }
}

pub(super) fn remember(text: &str, key: Option<String>, out: &mut Out<'_>) -> Result<(), AppError> {
    // One with the same name gives way.
    let before = match &key {
        Some(key) => by_name(key, out)?,
        None => Vec::new(),
    };
    let input = AddInput {
        project: out.project(),
        identity: out.identity(),
        text: text.to_owned(),
        tags: key.iter().map(|key| format!("{KEY}{key}")).collect(),
        ..AddInput::default()
    };
    let made = out.app.run::<Add>(&input)?.memory;
    for old in before.into_iter().filter(|old| old.memory_id != made.memory_id) {
        withdraw(&old.memory_id, "replaced", out)?;
    }
    out.print(&Remembered::from(made), |made| format!("✓ Remembered {}\n", made.line().trim_end()))
}

fn search(query: &str, tags: Vec<String>, out: &mut Out<'_>) -> Result<Vec<View>, AppError> {
    let input = SearchInput {
        project: out.project(),
        query: query.to_owned(),
        tags,
        limit: 100,
        ..SearchInput::default()
    };
    Ok(out.app.run::<Search>(&input)?.items.into_iter().map(|row| row.memory).collect())
}

/// The memories of this name.
fn by_name(key: &str, out: &mut Out<'_>) -> Result<Vec<View>, AppError> {
    let tag = format!("{KEY}{key}");
    if baton_model::id::check_label("tag", &tag).is_err() {
        return Ok(Vec::new());
    }
    search("", vec![tag], out)
}

fn withdraw(id: &str, why: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    let (project, identity) = (out.project(), out.identity());
    let input = WithdrawInput { project, identity, id: id.to_owned(), why: Some(why.to_owned()) };
    out.app.run::<Withdraw>(&input).map(drop)
}

pub(super) fn recall(words: &[String], out: &mut Out<'_>) -> Result<(), AppError> {
    let query = words.join(" ");
    let found = match words {
        [key] => by_name(key, out)?,
        _ => Vec::new(),
    };
    let found = if found.is_empty() { search(&query, Vec::new(), out)? } else { found };
    if found.is_empty() {
        let what = format!("no memory is about `{}`", visible(&query));
        return Err(Refusal::new(Kind::NotFound, "memory_unknown", what, "bd memories lists them").into());
    }
    print(found, out)
}

pub(super) fn memories(words: &[String], out: &mut Out<'_>) -> Result<(), AppError> {
    let found = search(&words.join(" "), Vec::new(), out)?;
    print(found, out)
}

fn print(found: Vec<View>, out: &mut Out<'_>) -> Result<(), AppError> {
    let found: Vec<Remembered> = found.into_iter().map(Remembered::from).collect();
    out.print(&found, |all| {
        let text: String = all.iter().map(Remembered::line).collect();
        if text.is_empty() { "No memories\n".to_owned() } else { text }
    })
}

pub(super) fn forget(id: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    let known = by_name(id, out)?;
    let ids: Vec<String> = match known.is_empty() {
        true => vec![id.to_owned()],
        false => known.into_iter().map(|memory| memory.memory_id).collect(),
    };
    for id in &ids {
        withdraw(id, "forgotten", out)?;
    }
    out.print(&ids, |ids| ids.iter().map(|id| format!("✓ Withdrawn {}\n", visible(id))).collect())
}
