//! What is to be told, as marks in a file; and what was sent, so that it is told once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_model::time::Millis;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::config::Config;
use crate::error::AppError;
use crate::file_lock::lock_within;
use crate::{clock, private_file};

/// How many keys of what was sent are remembered.
const REMEMBERED: usize = 2_000;

/// How long a sender waits for another one, which may wait for several channels.
const LOCK_PATIENCE: Duration = Duration::from_secs(20);

/// The folder with both, one for each ledger.
#[derive(Debug, Clone)]
pub(crate) struct NotifyFolder(PathBuf);

/// An agent that stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LimitMark {
    /// The project.
    pub project_id: String,
    /// The tool, by its name for people.
    pub tool: String,
    /// What its provider said.
    pub text: String,
    /// What it is known by.
    pub key: String,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Mark {
    at: Millis,
    #[serde(flatten)]
    what: MarkKind,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MarkKind {
    Project(String),
    Limit(LimitMark),
}

/// Age in milliseconds after which a mark counts as new again: the process that was to take it is gone.
const ABANDONED_AFTER: Millis = 30_000;

/// What is to be told.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// Projects in which something was written, since when.
    pub projects: BTreeMap<String, Millis>,
    /// Agents that stopped.
    pub limits: Vec<LimitMark>,
}

/// What was sent.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// The newest entry of each project's ledger that was looked at.
    pub seen: BTreeMap<String, i64>,
    /// Keys of what was sent, the oldest first.
    sent: Vec<String>,
    /// Why something could not be told the last time.
    #[serde(default)]
    pub last_error: Option<String>,
}

impl Memory {
    pub(crate) fn is_sent(&self, key: &str) -> bool {
        self.sent.iter().any(|known| known == key)
    }

    pub(crate) fn add(&mut self, key: &str) {
        if !self.is_sent(key) {
            self.sent.push(key.to_owned());
        }
        let over = self.sent.len().saturating_sub(REMEMBERED);
        self.sent.drain(..over);
    }
}

impl NotifyFolder {
    pub(crate) fn of(config: &Config) -> Self {
        let digest = Sha256::digest(config.ledger().as_bytes());
        let name: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        Self(config.data_dir.join("notify").join(name))
    }

    /// Leaves a mark; returns whether a process is needed that takes it.
    pub(crate) fn mark_project(&self, project_id: &str) -> io::Result<bool> {
        self.mark("marks", clock::now(), MarkKind::Project(project_id.to_owned()))
    }

    pub(crate) fn mark_limit(&self, mark: &LimitMark) -> io::Result<bool> {
        self.mark("marks", clock::now(), MarkKind::Limit(mark.clone()))
    }

    fn mark(&self, name: &str, at: Millis, what: MarkKind) -> io::Result<bool> {
        private_file::create_folder(&self.0)?;
        let path = self.0.join(name);
        let line = format!("{}\n", serde_json::to_string(&Mark { at, what })?);
        loop {
            let mut file = private_file::append(&path)?;
            let is_first = file.metadata()?.len() == 0 || is_abandoned(&path);
            file.write_all(line.as_bytes())?;
            // A file that was taken away in between may have been read before this line stood in it.
            if is_still_at(&file, &path) {
                return Ok(is_first);
            }
        }
    }

    /// One process at a time tells; the lock ends with the file. The marks of a process that waits too long stay for the next one.
    pub(crate) fn lock(&self) -> Result<File, AppError> {
        private_file::create_folder(&self.0)?;
        let path = self.0.join("lock");
        let file = private_file::append(&path)?;
        Ok(lock_within(file, LOCK_PATIENCE).map_err(|fault| fault.refusal("notify_locked", &path))?)
    }

    /// Takes the marks, those that were kept, and those of a process that was ended before it told them. A later mark begins a new file,
    /// and so a new process. They are there until [`finish`](Self::finish).
    pub(crate) fn take(&self) -> io::Result<Marks> {
        let (taken, moved) = (self.0.join("taken"), self.0.join("moved"));
        let mut text = read_if_there(&taken)? + &read_if_there(&moved)?;
        for name in ["later", "marks"] {
            match fs::rename(self.0.join(name), &moved) {
                Ok(()) => text += &read_if_there(&moved)?,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            }
            private_file::write(&taken, text.as_bytes())?;
        }
        let mut marks = Marks::default();
        let mut known = BTreeSet::new();
        for mark in text.lines().filter_map(|line| serde_json::from_str::<Mark>(line).ok()) {
            match mark.what {
                MarkKind::Project(id) => _ = marks.projects.entry(id).or_insert(mark.at),
                MarkKind::Limit(limit) if known.insert(limit.key.clone()) => marks.limits.push(limit),
                MarkKind::Limit(_) => {}
            }
        }
        Ok(marks)
    }

    /// The marks that were taken are told, or kept for later.
    pub(crate) fn finish(&self) -> io::Result<()> {
        for name in ["taken", "moved"] {
            match fs::remove_file(self.0.join(name)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Keeps marks for the next time.
    pub(crate) fn keep_for_later(&self, marks: &Marks) -> io::Result<()> {
        for (id, at) in &marks.projects {
            self.mark("later", *at, MarkKind::Project(id.clone()))?;
        }
        let now = clock::now();
        marks
            .limits
            .iter()
            .try_for_each(|mark| self.mark("later", now, MarkKind::Limit(mark.clone())).map(drop))
    }

    pub(crate) fn memory(&self) -> Memory {
        let text = fs::read_to_string(self.0.join("sent.json")).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    pub(crate) fn remember(&self, memory: &Memory) -> io::Result<()> {
        private_file::write(&self.0.join("sent.json"), serde_json::to_string(memory)?.as_bytes())
    }
}

fn read_if_there(path: &Path) -> io::Result<String> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        read => read,
    }
}

/// Whether a path still leads to an open file.
fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// Whether the oldest mark of a file has waited for longer than taking it needs.
fn is_abandoned(path: &Path) -> bool {
    let mut line = String::new();
    let read = File::open(path).and_then(|file| BufReader::new(file).read_line(&mut line));
    let oldest = read.ok().and_then(|_| serde_json::from_str::<Mark>(&line).ok());
    oldest.is_none_or(|mark| clock::now().saturating_sub(mark.at) > ABANDONED_AFTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, NotifyFolder) {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = NotifyFolder(dir.path().join("notify"));
        (dir, folder)
    }

    #[test]
    fn the_first_mark_needs_a_process_and_later_ones_are_taken_with_it() {
        let (_dir, folder) = folder();
        assert!(folder.mark_project("shop").expect("marked"));
        assert!(!folder.mark_project("lib").expect("marked"));
        assert!(!folder.mark_project("shop").expect("marked"));
        let marks = folder.take().expect("taken");
        assert_eq!(marks.projects.keys().collect::<Vec<_>>(), ["lib", "shop"]);
        assert!(folder.mark_project("shop").expect("marked"), "a new file");
        let again = folder.take().expect("taken");
        assert_eq!(again.projects.len(), 2, "what was not finished comes again");
        folder.finish().expect("finished");
        assert!(folder.take().expect("taken").projects.is_empty());
    }

    #[test]
    fn what_was_kept_comes_with_the_next_marks_and_needs_no_process_of_its_own() {
        let (_dir, folder) = folder();
        let limit = LimitMark {
            project_id: "shop".into(),
            tool: "Codex".into(),
            text: "no more".into(),
            key: "k".into(),
        };
        folder.mark_limit(&limit).expect("marked");
        folder.mark_project("shop").expect("marked");
        let marks = folder.take().expect("taken");
        folder.keep_for_later(&marks).expect("kept");
        folder.finish().expect("finished");
        assert!(folder.mark_limit(&limit).expect("marked"), "the next one begins a process");
        let again = folder.take().expect("taken");
        assert_eq!((again.projects, again.limits), (marks.projects, marks.limits));
    }

    #[test]
    fn a_mark_in_a_file_that_was_taken_meanwhile_is_seen_to_be_there_no_more() {
        let (_dir, folder) = folder();
        folder.mark_project("shop").expect("marked");
        let path = folder.0.join("marks");
        let file = private_file::append(&path).expect("open");
        assert!(is_still_at(&file, &path));
        folder.take().expect("taken");
        assert!(!is_still_at(&file, &path), "it is gone");
        folder.mark_project("lib").expect("marked");
        assert!(!is_still_at(&file, &path), "another file has its name");
    }

    #[test]
    fn a_mark_whose_process_died_does_not_hold_the_next_ones_back() {
        let (_dir, folder) = folder();
        folder
            .mark("marks", clock::now() - ABANDONED_AFTER - 1_000, MarkKind::Project("shop".into()))
            .expect("marked");
        assert!(folder.mark_project("shop").expect("marked"));
    }

    #[test]
    fn the_oldest_keys_are_forgotten_first() {
        let mut memory = Memory::default();
        (0..REMEMBERED + 2).for_each(|n| memory.add(&n.to_string()));
        memory.add("5");
        assert!(!memory.is_sent("1") && memory.is_sent("2") && memory.is_sent(&(REMEMBERED + 1).to_string()));
    }
}
