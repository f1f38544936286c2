//! Tasks in the shape of Beads.

use std::collections::{BTreeMap, BTreeSet};

use baton_model::id::visible;
use baton_model::task::view::View;
use baton_ops::handoff::EndedHandoff;
use baton_ops::task::{
    ClaimedTask, CloseOutput, FollowUp, LinkTarget, LinkedTask, Row, ShowOutput, TaskAnswer,
};
use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::blocked::Blockers;

/// Fields of ours that say nothing there.
const OURS: [&str; 8] =
    ["project_id", "identity", "session_id", "blocked", "claim", "unblocked", "set_off", "pending_message"];

/// An issue.
pub(super) fn issue(mut task: View) -> View {
    task.project_id.clear();
    (task.blocked, task.claim, task.pending_message) = (None, None, None);
    task.rest.retain(|key, _| !OURS.contains(&key.as_str()));
    task
}

/// An issue of a list, in JSON.
pub(super) struct ListedIssue<'a>(pub &'a Row);

impl Serialize for ListedIssue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const EDGES: [&str; 4] = ["dependencies", "dependency_count", "dependent_count", "comment_count"];
        // A record may have a field by the name of one of ours: an object with a key once has to be made for it.
        if EDGES.iter().any(|key| self.0.task.rest.contains_key(*key)) {
            return serde_json::to_value(self.0).map_err(S::Error::custom)?.serialize(serializer);
        }
        self.0.serialize(serializer)
    }
}

/// An issue with the issues that it is linked with.
pub(super) fn details(mut found: ShowOutput) -> ShowOutput {
    found.task = issue(found.task);
    found.dependencies = found.dependencies.into_iter().map(linked).collect();
    found.dependents = found.dependents.into_iter().map(linked).collect();
    found
}

/// An issue that another is linked with.
pub(super) fn linked(other: LinkedTask) -> LinkedTask {
    let task = match other.task {
        LinkTarget::Whole(task) => LinkTarget::Whole(Box::new(issue(*task))),
        bare => bare,
    };
    LinkedTask { task, ..other }
}

/// The id of a linked issue.
pub(super) fn linked_id(other: &LinkedTask) -> &str {
    match &other.task {
        LinkTarget::Whole(task) => &task.id,
        LinkTarget::Head { id, .. } | LinkTarget::Missing { id, .. } => id,
    }
}

/// An issue that was claimed.
pub(super) fn claimed(task: ClaimedTask) -> ClaimedTask {
    match task {
        ClaimedTask::Open(task) => changed(*task),
        withheld => withheld,
    }
}

/// An issue that was changed.
pub(super) fn changed(task: TaskAnswer) -> ClaimedTask {
    let answer = TaskAnswer { view: issue(task.view), identity: None, session_id: None };
    ClaimedTask::Open(Box::new(answer))
}

/// An issue in place of one that was claimed.
pub(super) fn unclaimed(task: View) -> ClaimedTask {
    changed(TaskAnswer { view: task, identity: None, session_id: None })
}

/// An issue that was closed.
#[derive(Serialize)]
pub(super) struct ClosedIssue {
    /// The issue.
    #[serde(flatten)]
    pub issue: View,
    /// The comment in which a late reason is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_comment_id: Option<Value>,
    /// It was closed before: its result stays as it was.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub was_closed: bool,
    /// The hand-off that the issue came with, where that was over before.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_handoff: Option<EndedHandoff>,
    /// What the close caused in the increment that it belongs to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    set_off: Vec<FollowUp>,
}

impl ClosedIssue {
    /// What the close caused, and what became of words that came too late, for people.
    pub(super) fn effects(&self) -> String {
        let mut text = crate::cli::task::follow_ups(&self.set_off);
        if let (true, Some(_)) = (self.was_closed, &self.kept_comment_id) {
            text.push_str("  it was closed before; what you gave is kept as a comment\n");
        }
        if let Some(handoff) = &self.ended_handoff {
            text.push_str(&format!("  {}\n", visible(&handoff.message)));
            if self.was_closed {
                text.push_str(&format!("  {}\n", visible(&handoff.hint(&self.issue.id))));
            }
        }
        text
    }
}

impl From<CloseOutput> for ClosedIssue {
    fn from(closed: CloseOutput) -> Self {
        Self {
            issue: issue(closed.task.view),
            kept_comment_id: closed.kept_comment_id,
            was_closed: closed.was_closed,
            ended_handoff: closed.ended_handoff,
            set_off: closed.set_off,
        }
    }
}

/// What a line says of an issue.
#[derive(Default)]
struct Line<'a> {
    id: &'a str,
    title: &'a str,
    status: &'a str,
    priority: Option<i64>,
    issue_type: &'a str,
    assignee: Option<&'a str>,
}

impl Line<'_> {
    fn text(&self) -> String {
        let mark = match self.status {
            "closed" => "✓",
            "in_progress" => "◐",
            "blocked" => "●",
            "deferred" => "❄",
            _ => "○",
        };
        let who = self.assignee.map(|name| format!(" @{}", visible(name))).unwrap_or_default();
        let priority = self.priority.map(|priority| priority.to_string()).unwrap_or_default();
        let [id, kind, title] = [self.id, self.issue_type, self.title].map(visible);
        format!("{mark} {id} [P{priority}] [{kind}]{who} - {title}\n")
    }
}

/// An issue in a line for people.
pub(super) fn line(issue: &View) -> String {
    Line {
        id: &issue.id,
        title: &issue.title,
        status: &issue.status,
        priority: Some(issue.priority),
        issue_type: &issue.issue_type,
        assignee: issue.assignee.as_deref(),
    }
    .text()
}

/// Issues as a tree: each below the one that it is a part of, where that is listed too.
pub(super) fn tree(issues: &[Row], blockers: &Blockers) -> String {
    let mut children: BTreeMap<Option<&str>, Vec<&View>> = BTreeMap::new();
    let listed: BTreeSet<&str> = issues.iter().map(|row| row.task.id.as_str()).collect();
    for row in issues {
        let parent = row.task.parent.as_deref().filter(|parent| listed.contains(parent));
        children.entry(parent).or_default().push(&row.task);
    }
    let mut text = String::new();
    let mut waiting: Vec<(&View, usize)> =
        children.get(&None).into_iter().flatten().rev().map(|root| (*root, 0)).collect();
    while let Some((issue, depth)) = waiting.pop() {
        text.push_str(&"  ".repeat(depth));
        text.push_str(&blockers.line(issue));
        let below = children.get(&Some(issue.id.as_str())).into_iter().flatten().rev();
        waiting.extend(below.map(|part| (*part, depth + 1)));
    }
    if text.is_empty() { "No issues found\n".to_owned() } else { text }
}

/// A linked issue in a line for people.
pub(super) fn linked_line(other: &LinkedTask) -> String {
    match &other.task {
        LinkTarget::Whole(task) => line(task),
        LinkTarget::Head { id, title, status, priority, .. } => {
            Line { id, title, status, priority: Some(*priority), ..Line::default() }.text()
        }
        LinkTarget::Missing { id, .. } => Line { id, ..Line::default() }.text(),
    }
}

/// A claimed issue in a line for people.
pub(super) fn claimed_line(task: &ClaimedTask) -> String {
    match task {
        ClaimedTask::Open(task) => line(&task.view),
        ClaimedTask::Withheld { id, status, .. } => Line { id, status, ..Line::default() }.text(),
    }
}

/// The id of a claimed issue.
pub(super) fn claimed_id(task: &ClaimedTask) -> &str {
    match task {
        ClaimedTask::Open(task) => &task.view.id,
        ClaimedTask::Withheld { id, .. } => id,
    }
}

/// Issues, counted in groups.
#[derive(Serialize)]
pub(super) struct Groups {
    /// All of them.
    pub total: usize,
    /// How many are in each.
    pub groups: Vec<Group>,
}

/// How many issues are alike.
#[derive(Serialize)]
pub(super) struct Group {
    /// In what.
    pub group: String,
    /// How many.
    pub count: usize,
}

impl Groups {
    /// Groups of a count, by name.
    pub(super) fn new(counts: BTreeMap<String, usize>, total: usize) -> Self {
        let groups = counts.into_iter().map(|(group, count)| Group { group, count }).collect();
        Self { total, groups }
    }
}
