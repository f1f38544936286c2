//! The lines of `issues.jsonl`, read one after another: tasks, what is none, and what git left of a conflict.

use std::collections::HashMap;

use baton_model::lossless_json::large_integer;
use baton_model::refusal::Refusal;
use baton_model::task::receipt::remembered;
use baton_model::task::record::{self, Record, RecordError};
use baton_model::time::Millis;
use baton_store::task::line::KnownLines;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::json_line;

/// What is known of a file as far as it was read.
#[derive(Default)]
pub(super) struct IssuesFile {
    number: usize,
    /// The lines that are no tasks.
    pub(super) others: Vec<String>,
    /// How many of them are memories.
    pub(super) memories: usize,
    conflict: Option<Conflict>,
    /// Whether a line of a task that cannot be read is named in place of refusing the file.
    is_lenient: bool,
    /// Lines that cannot be read, and what was found odd in others.
    pub(super) complaints: Vec<Complaint>,
}

/// What is wrong with a line.
#[derive(Serialize, Deserialize)]
pub struct Complaint {
    /// Its number, from 1.
    pub line: usize,
    /// Where in it, where that is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// One sentence.
    pub text: String,
    /// Whether nothing of it was taken in: it is to stay in the file as it is.
    pub unreadable: bool,
}

/// A conflict as far as it was read: the lines of both sides, and of what both began from.
#[derive(Default)]
struct Conflict {
    /// Where it begins.
    number: usize,
    section: Section,
    versions: Vec<TaskLine>,
    bases: Vec<TaskLine>,
}

/// The part of a conflict that is read.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Section {
    #[default]
    Ours,
    Base,
    Theirs,
}

/// A task as a line of the file has it.
pub(super) struct TaskLine {
    /// The number of the line, from 1.
    pub(super) number: usize,
    /// The line.
    pub(super) text: String,
    /// What it says.
    pub(super) record: Record,
    /// Lines that stand beside it: neither was made from the other.
    siblings: Vec<String>,
    /// The line that all of them began from, where git has left it.
    bases: Vec<String>,
}

impl TaskLine {
    /// The id of its task, if it is one side of a conflict in which git has not left what both sides began from.
    pub(super) fn without_base(&self) -> Option<&str> {
        (self.is_side() && self.bases.is_empty()).then_some(&self.record.task.task_id)
    }

    /// With the line that both sides of its conflict began from.
    pub(super) fn begun_from(self, line: Option<&String>) -> Self {
        Self { bases: line.into_iter().cloned().collect(), ..self }
    }

    /// The line that all sides of its conflict began from, where that is known.
    pub(super) fn base(&self, now: Millis) -> Option<Record> {
        self.bases.first().and_then(|line| record_of(line, now))
    }

    /// Whether it is one side of a conflict that git has left.
    pub(super) fn is_side(&self) -> bool {
        !self.siblings.is_empty()
    }

    /// The earlier versions that this one may have been made from, oldest first. `is_first`: of its task in this file; else the
    /// last known line stands beside it.
    pub(super) fn earlier_versions(&self, known: &KnownLines, is_first: bool, now: Millis) -> Vec<Record> {
        let last = known.last.iter().filter(|_| is_first);
        let lines = self.bases.iter().chain(&known.earlier).chain(last);
        // A side that is what both began from was not changed.
        let is_earlier = |line: &&String| self.bases.contains(line) || !self.siblings.contains(line);
        lines.filter(is_earlier).filter_map(|line| record_of(line, now)).collect()
    }
}

/// What an earlier line says.
fn record_of(line: &str, now: Millis) -> Option<Record> {
    let row = serde_json::from_str::<Map<String, Value>>(line).ok()?;
    Some(remembered(record::read(&row).ok()?, now))
}

/// The lines of the version that both sides of a conflict began from, by task. They are read when they are needed.
#[derive(Default)]
pub(super) struct BaseLines(Option<HashMap<String, String>>);

impl BaseLines {
    /// Gives a version its base, if it is one side of a conflict and git still has the version that both sides began from.
    pub(super) fn add_to(&mut self, version: TaskLine, read: Option<&dyn Fn() -> Vec<String>>) -> TaskLine {
        let (Some(id), Some(read)) = (version.without_base(), read) else { return version };
        let by_id = |line: String| {
            let id = object(0, &line).ok()?.get("id")?.as_str()?.to_owned();
            Some((id, line))
        };
        let lines = self.0.get_or_insert_with(|| read().into_iter().filter_map(by_id).collect());
        let line = lines.get(id).cloned();
        version.begun_from(line.as_ref())
    }
}

/// The code of a refusal of a line.
pub(super) const INVALID: &str = "beads_invalid";

fn bad_beads_file_refusal(number: usize, path: &str, what: &str) -> Refusal {
    let at = if path.is_empty() { String::new() } else { format!(", `{path}`") };
    Refusal::invalid(INVALID, format!("line {number}{at}: {what}"), "mend the line; nothing was taken in")
        .with("line", number)
        .with("path", path)
}

impl IssuesFile {
    /// A file that was not begun. `is_lenient`: a line of a task that cannot be read is named in place of refusing the file.
    pub(super) fn new(is_lenient: bool) -> Self {
        Self { is_lenient, ..Self::default() }
    }

    /// The tasks that the next line completes: its own outside a conflict, and all of a conflict at its end.
    pub(super) fn read(&mut self, text: &str) -> Result<Vec<TaskLine>, Refusal> {
        self.number += 1;
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let mark =
            ["<<<<<<<", "|||||||", "=======", ">>>>>>>"].into_iter().find(|mark| text.starts_with(mark));
        if let Some(mark) = mark {
            return self.mark(mark);
        }
        let version = match self.task(text) {
            Err(refusal) => {
                self.unreadable(refusal)?;
                None
            }
            Ok(version) => version,
        };
        let Some(version) = version else { return Ok(Vec::new()) };
        let Some(conflict) = &mut self.conflict else { return Ok(vec![version]) };
        match conflict.section {
            Section::Base => conflict.bases.push(version),
            Section::Ours | Section::Theirs => conflict.versions.push(version),
        }
        Ok(Vec::new())
    }

    /// Notes a line that its reader has refused; where lines are not to be passed over, that is the answer.
    pub(super) fn pass(&mut self, refusal: Refusal) -> Result<(), Refusal> {
        self.number += 1;
        self.unreadable(refusal)
    }

    fn unreadable(&mut self, refusal: Refusal) -> Result<(), Refusal> {
        if !self.is_lenient || refusal.code != INVALID {
            return Err(refusal);
        }
        let path = refusal.details.get("path").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.complaints.push(Complaint {
            line: self.number,
            path,
            text: refusal.message.clone(),
            unreadable: true,
        });
        Ok(())
    }

    /// Refuses a file that ends within a conflict.
    pub(super) fn end(&self) -> Result<(), Refusal> {
        match &self.conflict {
            Some(conflict) => Err(bad_beads_file_refusal(
                conflict.number,
                "",
                "is a conflict marker without its end: the file is incomplete",
            )),
            None => Ok(()),
        }
    }

    fn mark(&mut self, mark: &str) -> Result<Vec<TaskLine>, Refusal> {
        let stray = || bad_beads_file_refusal(self.number, "", "is a conflict marker where none can be");
        let section = self.conflict.as_ref().map(|conflict| conflict.section);
        let next = match (mark, section) {
            ("<<<<<<<", None) => {
                self.conflict = Some(Conflict { number: self.number, ..Conflict::default() });
                return Ok(Vec::new());
            }
            ("|||||||", Some(Section::Ours)) => Section::Base,
            ("=======", Some(Section::Ours | Section::Base)) => Section::Theirs,
            (">>>>>>>", Some(Section::Theirs)) => {
                return Ok(self.conflict.take().map(Conflict::versions).unwrap_or_default());
            }
            _ => return Err(stray()),
        };
        if let Some(conflict) = &mut self.conflict {
            conflict.section = next;
        }
        Ok(Vec::new())
    }

    /// The task that a line is; nothing for one that is none.
    fn task(&mut self, text: &str) -> Result<Option<TaskLine>, Refusal> {
        let number = self.number;
        let row = object(number, text)?;
        if let Some(kind) = row.get("_type").and_then(Value::as_str).filter(|kind| *kind != "issue") {
            // Both sides of a conflict may have it; what was there before is what they have made of it.
            let is_base = self.conflict.as_ref().is_some_and(|conflict| conflict.section == Section::Base);
            let is_double = self.conflict.is_some() && self.others.iter().any(|other| other == text);
            if !is_base && !is_double {
                self.memories += usize::from(kind == "memory");
                self.others.push(text.to_owned());
            }
            return Ok(None);
        }
        let record = record::read(&row)
            .map_err(|RecordError { path, what }| bad_beads_file_refusal(number, &path, &what))?;
        if record.task.title.trim().is_empty() && record.task.status != "tombstone" {
            return Err(bad_beads_file_refusal(number, "title", "is missing: an issue has a title"));
        }
        if record.coverage.is_odd() {
            let (line, path) = (number, "metadata.handoff.v1".to_owned());
            let text = format!("line {line}, `{path}`: is not an object; what is known of the task stays");
            self.complaints.push(Complaint { line, path, text, unreadable: false });
        }
        if let Some(large) = large_integer(text.as_bytes()) {
            let shown: String = large.chars().take(40).collect();
            let what = format!(
                "line {number}: the number {shown} has more than 64 bits and is rounded; write it as a string"
            );
            self.complaints.push(Complaint {
                line: number,
                path: String::new(),
                text: what,
                unreadable: false,
            });
        }
        Ok(Some(TaskLine { number, text: text.to_owned(), record, siblings: Vec::new(), bases: Vec::new() }))
    }
}

impl Conflict {
    /// The versions of both sides, each with those that stand beside it.
    fn versions(self) -> Vec<TaskLine> {
        let by_id = |versions: &[TaskLine]| {
            let mut lines: HashMap<String, Vec<String>> = HashMap::new();
            for version in versions {
                lines.entry(version.record.task.task_id.clone()).or_default().push(version.text.clone());
            }
            lines
        };
        let (all, bases) = (by_id(&self.versions), by_id(&self.bases));
        let mut versions = self.versions;
        for version in &mut versions {
            let id = &version.record.task.task_id;
            let others = all.get(id).into_iter().flatten().filter(|line| **line != version.text);
            version.siblings = others.cloned().collect();
            version.bases = bases.get(id).cloned().unwrap_or_default();
        }
        versions
    }
}

fn object(number: usize, text: &str) -> Result<Map<String, Value>, Refusal> {
    match json_line::parse(text) {
        Ok(Value::Object(row)) => Ok(row),
        Ok(_) => Err(bad_beads_file_refusal(number, "", "is not a JSON object")),
        Err(error) => Err(bad_beads_file_refusal(
            number,
            &format!("column {}", error.column()),
            &format!("is not JSON: {error}"),
        )),
    }
}
