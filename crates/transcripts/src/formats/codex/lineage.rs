//! Rollouts that hold only a part of their conversation. Since version 0.146 a fork or a revert writes a file of its own, and
//! `history_base` in its introduction says up to where the conversation before it stands in another file; that one may have a
//! base again. A sub-agent has a file of its own too.

use std::cell::OnceCell;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{MAX_DEPTH, PARTS, line, walk};
use crate::report::Complaints;
use crate::shared::chunk;
use crate::shared::json::Json;
use crate::shared::lines::{self, Lines};

/// No conversation goes through so many files; a damaged one might.
const MAX_SEGMENTS: usize = 64;
/// The introduction is one of the first lines.
const FIRST_LINES: usize = 5;

/// What a rollout says about its place among others.
#[derive(Debug, Default)]
pub(super) struct Meta {
    /// Its thread.
    pub(super) id: String,
    /// The thread whose sub-agent it is.
    pub(super) parent: Option<String>,
    /// The lines before this number repeat the parent's.
    pub(super) first_own: i64,
    /// Whether another thread was forked: what came before was paid for there.
    pub(super) forked: bool,
    /// What stands before it.
    base: Option<Base>,
}

/// The part of another rollout with which a conversation begins.
#[derive(Debug)]
struct Base {
    rollout: String,
    end: End,
}

/// Where such a part ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    /// The number of the first line that is no longer in it.
    pub(super) ordinal: i64,
    /// Its length, in bytes.
    offset: u64,
}

/// A file, or the beginning of one, that holds a part of the conversation.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) path: PathBuf,
    pub(super) end: Option<End>,
}

impl Segment {
    /// Its bytes.
    pub(super) fn open(&self) -> io::Result<Box<dyn Read>> {
        let file = chunk::open(&self.path)?;
        Ok(match self.end {
            Some(end) => Box::new(file.take(end.offset)),
            None => file,
        })
    }
}

/// The text of the line that introduces a rollout.
pub(super) fn introduction(path: &Path) -> Option<String> {
    let mut lines = Lines::new(chunk::open(path).ok()?);
    for _ in 0..FIRST_LINES {
        let line = lines.next_line()?;
        let named = line.bytes.and_then(line::leading_type) == Some("session_meta");
        // Faults are counted by the read that follows.
        if let Some(text) = lines::text(&line, &mut Complaints::default()).filter(|_| named) {
            return Some(text.into_owned());
        }
    }
    None
}

/// The thread whose sub-agent a rollout is, where it is one; it may be one without naming its parent.
pub(super) fn is_subagent(meta: &Json<'_>) -> bool {
    parent(meta).is_some()
        || !meta.at_path(&["source", "subagent"]).is_null()
        || meta.get("thread_source").str() == Some("subagent")
}

fn parent<'m>(meta: &'m Json<'_>) -> Option<&'m str> {
    let spawned = meta.at_path(&["source", "subagent", "thread_spawn", "parent_thread_id"]);
    meta.get("parent_thread_id").str().or(spawned.str())
}

impl Meta {
    /// Reads it from the beginning of a rollout.
    pub(super) fn of(path: &Path) -> Self {
        let text = introduction(path).unwrap_or_default();
        let json = Json::parse(&text).unwrap_or(Json::Null);
        let meta = json.get("payload");
        let base = meta.get("history_base");
        let end = End {
            ordinal: base.get("end_ordinal_exclusive").int().unwrap_or(i64::MAX),
            offset: base.get("end_byte_offset").int().and_then(|end| end.try_into().ok()).unwrap_or(u64::MAX),
        };
        let base = base.get("thread_id").str().map(|rollout| Base { rollout: rollout.to_owned(), end });
        Self {
            id: meta.first(&["id", "session_id"]).unwrap_or_default().to_owned(),
            parent: parent(meta).map(str::to_owned),
            first_own: meta.get("subagent_history_start_ordinal").int().unwrap_or(0),
            forked: meta.get("forked_from_id").str().is_some(),
            // What stands before a sub-agent is its parent's.
            base: base.filter(|_| !is_subagent(meta)),
        }
    }

    /// Whether a part of the conversation stands in another file.
    pub(super) fn has_base(&self) -> bool {
        self.base.is_some()
    }

    /// The files of the conversation that ends in this one, the oldest first; and whether none of them is missing.
    pub(super) fn segments(self, path: &Path, rollouts: &Rollouts) -> (Vec<Segment>, bool) {
        let mut all = vec![Segment { path: path.to_owned(), end: None }];
        let mut next = self.base;
        while let Some(base) = next {
            let is_new = |path: &&PathBuf| all.iter().all(|one| one.path.file_name() != path.file_name());
            let found = rollouts.of(&base.rollout).filter(is_new).filter(|_| all.len() < MAX_SEGMENTS);
            let Some(path) = found.cloned() else {
                all.reverse();
                return (all, false);
            };
            next = Meta::of(&path).base;
            all.push(Segment { path, end: Some(base.end) });
        }
        all.reverse();
        (all, true)
    }
}

/// The rollouts among which one lies, looked for when they are needed.
pub(super) struct Rollouts {
    roots: Vec<PathBuf>,
    all: OnceCell<Vec<PathBuf>>,
}

impl Rollouts {
    /// Those around a rollout: in the home of its tool, else in its folder.
    pub(super) fn around(path: &Path) -> Self {
        let is_part =
            |dir: &&Path| dir.file_name().is_some_and(|name| PARTS.iter().any(|part| name == *part));
        let home = path.ancestors().find(is_part).and_then(Path::parent);
        let roots = match home {
            Some(home) => PARTS.iter().map(|part| home.join(part)).collect(),
            None => path.parent().into_iter().map(Path::to_owned).collect(),
        };
        Self { roots, all: OnceCell::new() }
    }

    /// The rollout of this id, which ends its name.
    pub(super) fn of(&self, id: &str) -> Option<&PathBuf> {
        let all = self.all.get_or_init(|| {
            let mut all = Vec::new();
            self.roots.iter().for_each(|root| walk(root, MAX_DEPTH, &mut |one| all.push(one.path)));
            all
        });
        all.iter().find(|path| ids(path).is_some_and(|(_, rollout)| rollout == id))
    }
}

/// The thread and the rollout in `rollout-<time>-<thread>.jsonl` and `rollout-<time>-<thread>_<rollout>.jsonl`; the first rollout of a
/// thread has its name.
pub(super) fn ids(path: &Path) -> Option<(&str, &str)> {
    const UUID: usize = 36;
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".zst").unwrap_or(name);
    let stem = stem.strip_suffix(".jsonl").unwrap_or(stem);
    let tail = |text: &str| text.len().checked_sub(UUID).filter(|at| text.is_char_boundary(*at));
    let at = tail(stem)?;
    let (before, rollout) = stem.split_at(at);
    match before.strip_suffix('_').and_then(|before| Some(before.split_at(tail(before)?).1)) {
        Some(thread) => Some((thread, rollout)),
        None => Some((rollout, rollout)),
    }
}
