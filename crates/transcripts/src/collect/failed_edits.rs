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
        let late: Vec<&FailedEdit> = self.0.iter().rev().filter(|edit| edit.at.line >= since).collect();
        let last = late.first()?;
        let mut names: Vec<String> =
            late.iter().take(MAX_NAMED).rev().map(|edit| format!("`{}`", edit.path)).collect();
        if late.len() > MAX_NAMED {
            names.push(format!("{} more", late.len() - MAX_NAMED));
        }
        let claims = answer.is_some_and(claims_success);
        let begin = if claims { "The last answer speaks of success, but " } else { "" };
        let were = if names.len() > 1 { "were" } else { "was" };
        let reason = if last.reason.is_empty() { String::new() } else { format!(": “{}”", last.reason) };
        Some((format!("{begin}{} {were} not changed{reason}", names.join(", ")), &last.at))
    }
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
            paths.iter().for_each(|path| self.failed_edits.changed(path));
            // A path that is still absolute lies outside the project.
            let inside = |path: &String| root.is_none() || !path.starts_with(['/', '~']);
            if open.at.subagent.is_none() && paths.iter().any(inside) {
                self.git.changed(paths.iter().cloned());
            }
            if open.at.subagent.is_none() && paths.iter().any(|path| is_source(path)) {
                self.checks.source_changed();
            }
        } else if open.at.subagent.is_none() && matches!(open.category, Category::Edit | Category::Write) {
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
