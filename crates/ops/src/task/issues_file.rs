//! The lines of `issues.jsonl`, read one after another: tasks, what is none, and what git left of a conflict.

use std::collections::HashMap;

use baton_model::refusal::Refusal;
use baton_model::task::record::{self, Bad, Record};
use baton_store::task::line::Known;
use serde_json::{Map, Value};

/// What is known of a file as far as it was read.
#[derive(Default)]
pub(super) struct IssuesFile {
    number: usize,
    /// The lines that are no tasks.
    pub(super) others: Vec<String>,
    /// How many of them are memories.
    pub(super) memories: usize,
    conflict: Option<Conflict>,
}

/// A conflict as far as it was read: the lines of both sides, and of what both began from.
#[derive(Default)]
struct Conflict {
    /// Where it begins.
    number: usize,
    section: Section,
    versions: Vec<Version>,
    bases: Vec<Version>,
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
pub(super) struct Version {
    /// The line.
    pub(super) text: String,
    /// What it says.
    pub(super) record: Record,
    /// Lines that stand beside it: neither was made from the other.
    siblings: Vec<String>,
    /// The line that all of them began from, where git has left it.
    bases: Vec<String>,
}

impl Version {
    /// The earlier versions that this one may have been made from, oldest first. `is_first`: of its task in this file; else the
    /// last known line stands beside it.
    pub(super) fn known(&self, known: &Known, is_first: bool) -> Vec<Record> {
        let last = known.last.iter().filter(|_| is_first);
        let lines = self.bases.iter().chain(&known.earlier).chain(last);
        let read = |line: &String| {
            let row = serde_json::from_str::<Map<String, Value>>(line).ok()?;
            record::read(&row).ok()
        };
        lines.filter(|line| !self.siblings.contains(line)).filter_map(read).collect()
    }
}

fn bad(number: usize, path: &str, what: &str) -> Refusal {
    let at = if path.is_empty() { String::new() } else { format!(", `{path}`") };
    Refusal::invalid(
        "beads_invalid",
        format!("line {number}{at}: {what}"),
        "mend the line; nothing was taken in",
    )
    .with("line", number)
    .with("path", path)
}

impl IssuesFile {
    /// The tasks that the next line completes: its own outside a conflict, and all of a conflict at its end.
    pub(super) fn read(&mut self, text: &str) -> Result<Vec<Version>, Refusal> {
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
        let Some(version) = self.task(text)? else { return Ok(Vec::new()) };
        let Some(conflict) = &mut self.conflict else { return Ok(vec![version]) };
        match conflict.section {
            Section::Base => conflict.bases.push(version),
            Section::Ours | Section::Theirs => conflict.versions.push(version),
        }
        Ok(Vec::new())
    }

    /// Refuses a file that ends within a conflict.
    pub(super) fn end(&self) -> Result<(), Refusal> {
        match &self.conflict {
            Some(conflict) => {
                Err(bad(conflict.number, "", "is a conflict marker without its end: the file is incomplete"))
            }
            None => Ok(()),
        }
    }

    fn mark(&mut self, mark: &str) -> Result<Vec<Version>, Refusal> {
        let stray = || bad(self.number, "", "is a conflict marker where none can be");
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
    fn task(&mut self, text: &str) -> Result<Option<Version>, Refusal> {
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
        let record = record::read(&row).map_err(|Bad { path, what }| bad(number, &path, &what))?;
        Ok(Some(Version { text: text.to_owned(), record, siblings: Vec::new(), bases: Vec::new() }))
    }
}

impl Conflict {
    /// The versions of both sides, each with those that stand beside it.
    fn versions(self) -> Vec<Version> {
        let by_id = |versions: &[Version]| {
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
    match serde_json::from_str(text) {
        Ok(Value::Object(row)) => Ok(row),
        Ok(_) => Err(bad(number, "", "is not a JSON object")),
        Err(error) => {
            Err(bad(number, &format!("column {}", error.column()), &format!("is not JSON: {error}")))
        }
    }
}
