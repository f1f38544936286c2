//! Edits that did not take place and were not made later either.

use baton_packet::packet::is_source;

use super::SourceRef;
use super::calls::{Calls, Open};
use super::capped::BoundedList;
use super::clean::Cleaner;
use super::files::relative;
use crate::event::{Category, Edit};
use crate::shared::words::one_line;

const MAX_KEPT: usize = 20;
/// How many files one line names.
const MAX_NAMED: usize = 3;
const MAX_REASON: usize = 120;
/// So much of what a tool said is looked at, in bytes.
const MAX_OUTPUT: usize = 4096;

#[derive(Debug)]
struct FailedEdit {
    path: String,
    reason: String,
    at: SourceRef,
}

/// Files whose last edit failed.
#[derive(Debug)]
pub(super) struct FailedEdits(BoundedList<FailedEdit>);

impl FailedEdits {
    /// None yet.
    pub(super) fn new() -> Self {
        Self(BoundedList::new(MAX_KEPT))
    }

    /// An edit of a file failed; `output` is what the tool said.
    pub(super) fn failed(&mut self, path: &str, output: &str, at: &SourceRef) {
        self.changed(path);
        self.0.push(FailedEdit { path: path.to_owned(), reason: reason(output), at: at.clone() });
    }

    /// A file was changed after all.
    pub(super) fn changed(&mut self, path: &str) {
        self.0.retain(|known| known.path != path);
    }

    /// Names files as seen from the root, which was not known before.
    pub(super) fn make_relative(&mut self, root: &str) {
        self.0.items_mut().for_each(|edit| edit.path = relative(&edit.path, Some(root)));
    }

    /// One line on the files that were not changed since a line, and where the last of them failed.
    pub(super) fn line_since(&self, since: u64, answer: Option<&str>) -> Option<(String, &SourceRef)> {
        let own = self.0.iter().rev().filter(|edit| edit.at.subagent.is_none());
        let late: Vec<&FailedEdit> = own.filter(|edit| edit.at.line >= since).collect();
        let last = late.first()?;
        let claims = answer.is_some_and(claims_success);
        let begin = if claims { "The last answer speaks of success, but " } else { "" };
        let were = if late.len() > 1 { "were" } else { "was" };
        Some((format!("{begin}{} {were} not changed{}", names(&late), last.told_reason()), &last.at))
    }

    /// One line on the files that sub-agents did not change, and where the last of them failed. `is_changed` says of a file
    /// whether anybody else may have changed it.
    pub(super) fn line_of_subagents(
        &self,
        is_changed: impl Fn(&str, Option<&str>) -> bool,
    ) -> Option<(String, &SourceRef)> {
        let theirs = self.0.iter().rev().filter(|edit| edit.at.subagent.is_some());
        let open: Vec<&FailedEdit> =
            theirs.filter(|edit| !is_changed(&edit.path, edit.at.subagent.as_deref())).collect();
        let last = open.first()?;
        Some((format!("A sub-agent did not change {}{}", names(&open), last.told_reason()), &last.at))
    }
}

impl FailedEdit {
    fn told_reason(&self) -> String {
        if self.reason.is_empty() { String::new() } else { format!(": “{}”", self.reason) }
    }
}

/// The files of these edits, the latest first, in the order in which they failed.
fn names(edits: &[&FailedEdit]) -> String {
    let mut names: Vec<String> =
        edits.iter().take(MAX_NAMED).rev().map(|edit| format!("`{}`", edit.path)).collect();
    if edits.len() > MAX_NAMED {
        names.push(format!("{} more", edits.len() - MAX_NAMED));
    }
    names.join(", ")
}

impl Calls {
    /// Notes which files an edit changed or failed to change.
    pub(super) fn note_edits(
        &mut self,
        open: &Open,
        ok: Option<bool>,
        edits: &[Edit],
        output: &str,
        cleaner: &mut Cleaner<'_>,
    ) {
        let root = self.root.as_deref();
        // What a folder held is not known, nor whether git had any of it.
        let edits = edits.iter().filter(|edit| !edit.path.ends_with('/'));
        let paths = edits.map(|edit| relative(&cleaner.clean_text(&edit.path), root));
        let paths: Vec<String> = paths.collect();
        if ok != Some(false) {
            for path in &paths {
                self.failed_edits.changed(path);
                self.changed_ms.changed(path, open.at_ms);
            }
            // A path that is still absolute lies outside the project.
            let inside = |path: &String| root.is_none() || !path.starts_with(['/', '~']);
            if open.at.subagent.is_none() && paths.iter().any(inside) {
                self.git.changed(paths.iter().cloned(), open.at.line);
            }
            let checks = match open.at.subagent.as_deref() {
                Some(agent) => self.subagent_checks.of(agent),
                None => Some(&mut self.checks),
            };
            if let Some(checks) = checks.filter(|_| paths.iter().any(|path| is_source(path))) {
                checks.source_changed();
            }
        } else if matches!(open.category, Category::Edit | Category::Write) {
            let text = cleaner.text(output, MAX_OUTPUT);
            paths.iter().for_each(|path| self.failed_edits.failed(path, &text, &open.at));
        }
    }
}

/// The first line of what a tool said, without the marks of an error round it.
fn reason(output: &str) -> String {
    let bare = output.trim().trim_start_matches("<tool_use_error>");
    let bare = bare.split("</tool_use_error>").next().unwrap_or_default();
    one_line(bare.lines().find(|line| !line.trim().is_empty()).unwrap_or_default(), MAX_REASON)
}

/// Whether an answer says that the work is done and names no fault.
fn claims_success(answer: &str) -> bool {
    const CLAIMS: &[&str] = &[
        "done",
        "fixed",
        "implemented",
        "complete",
        "updated",
        "added",
        "renamed",
        "changed",
        "success",
        "all tests pass",
        "works now",
        "mended",
        "ready",
        "removed",
        "replaced",
        "created",
        "resolved",
    ];
    const FAULTS: &[&str] = &[
        "fail",
        "could not",
        "couldn't",
        "unable",
        "not able",
        "did not work",
        "didn't work",
        "was not",
        "wasn't",
        "reject",
    ];
    let lower = answer.to_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    any(CLAIMS) && !any(FAULTS)
}
