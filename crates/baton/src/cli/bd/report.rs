//! Reports on issues: what is stale, incomplete, mentioned in commits, written twice.

use baton_model::id::visible;
use baton_model::task::view::View;
use baton_model::task::word::STATUSES;
use serde::Serialize;

use super::Out;
use super::annotate::show_task;
use super::args::{Arrangement, Filters, SortKey};
use super::list::Selection;
use super::select::{Condition, Field, Relation, Test};
use crate::error::AppError;
use crate::git;

/// A day, in milliseconds.
const DAY: i64 = 86_400_000;

pub(super) fn stale(
    days: u32,
    limit: Option<u32>,
    status: Option<String>,
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    let before = crate::clock::now().saturating_sub(i64::from(days).saturating_mul(DAY));
    let look = Arrangement { sort: Some(SortKey::Updated), reverse: true, ..Arrangement::default() };
    let filters = Filters { limit, ..Filters::default() };
    let old = Condition::Field(Field::Updated, Test::Time(Relation::Less, before));
    Selection::new(filters, look, out)?.and([old]).with_status(status).print(out)
}

/// The sections that the text of an issue of a type should have.
fn sections(issue_type: &str) -> &'static [&'static str] {
    match issue_type {
        "bug" => &["Steps to Reproduce", "Acceptance Criteria"],
        "task" | "feature" | "story" => &["Acceptance Criteria"],
        "epic" => &["Success Criteria"],
        "decision" => &["Decision", "Rationale", "Alternatives Considered"],
        _ => &[],
    }
}

/// Those of them that an issue lacks.
pub(super) fn missing_sections(issue_type: &str, issue: &View) -> Vec<&'static str> {
    let text = issue.description.to_lowercase();
    let has_criteria = issue.other_text("acceptance_criteria").is_some_and(|text| !text.trim().is_empty());
    let has = |section: &&&str| match **section {
        "Acceptance Criteria" | "Success Criteria" => {
            has_criteria || text.contains("acceptance criteria") || text.contains("success criteria")
        }
        section => text.contains(&section.to_lowercase()),
    };
    sections(issue_type).iter().filter(|section| !has(section)).copied().collect()
}

/// An issue that lacks sections.
#[derive(Serialize)]
struct LintFinding {
    id: String,
    title: String,
    #[serde(rename = "type")]
    issue_type: String,
    missing: Vec<&'static str>,
}

/// What a check of the issues' texts found.
#[derive(Serialize)]
struct LintReport {
    total: usize,
    issues: usize,
    results: Vec<LintFinding>,
}

pub(super) fn lint(
    ids: Vec<String>,
    status: Option<String>,
    issue_type: Option<String>,
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    let issues: Vec<View> = if ids.is_empty() {
        let filters = Filters { issue_type, limit: Some(0), ..Filters::default() };
        let selection = Selection::new(filters, Arrangement::default(), out)?;
        let status = status.or_else(|| Some("open".to_owned()));
        selection.with_status(status).find(out)?.0.into_iter().map(|row| row.task).collect()
    } else {
        ids.iter().map(|id| show_task(id, out).map(|found| found.task)).collect::<Result<_, _>>()?
    };
    let results: Vec<LintFinding> = issues
        .into_iter()
        .map(|issue| {
            let missing = missing_sections(&issue.issue_type, &issue);
            LintFinding { id: issue.id, title: issue.title, issue_type: issue.issue_type, missing }
        })
        .filter(|issue| !issue.missing.is_empty())
        .collect();
    let total = results.iter().map(|issue| issue.missing.len()).sum();
    out.print(&LintReport { total, issues: results.len(), results }, |found| {
        let line = |issue: &LintFinding| {
            format!(
                "{} [{}] lacks {}\n",
                visible(&issue.id),
                visible(&issue.issue_type),
                issue.missing.join(", ")
            )
        };
        let text: String = found.results.iter().map(line).collect();
        if text.is_empty() { "Nothing is missing.\n".to_owned() } else { text }
    })
}

/// An open issue that a commit mentions.
#[derive(Serialize)]
struct Orphan {
    issue_id: String,
    title: String,
    status: String,
    latest_commit: String,
    latest_commit_message: String,
}

/// How many commits are looked through.
const COMMITS: &str = "2000";

pub(super) fn orphans(
    details: bool,
    labels: Vec<String>,
    label_any: Vec<String>,
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    let folder = out.app.config.cwd.clone().unwrap_or_default();
    let log = git::read(&folder, &["log", "-n", COMMITS, "--format=%h%x09%s%x09%b%x00"]).unwrap_or_default();
    let filters = Filters { labels, label_any, limit: Some(0), ..Filters::default() };
    let (open, _) = Selection::new(filters, Arrangement::default(), out)?.find(out)?;
    let commits: Vec<(&str, &str)> =
        log.split('\0').filter_map(|entry| entry.trim_start().split_once('\t')).collect();
    let found: Vec<Orphan> = open
        .into_iter()
        .filter_map(|row| {
            let (commit, text) = commits.iter().find(|(_, text)| mentions(text, &row.task.id))?;
            let subject = text.split('\t').next().unwrap_or_default();
            Some(Orphan {
                issue_id: row.task.id,
                title: row.task.title,
                status: row.task.status,
                latest_commit: (*commit).to_owned(),
                latest_commit_message: subject.to_owned(),
            })
        })
        .collect();
    out.print(&found, |all| {
        let line = |orphan: &Orphan| {
            let [id, title, commit, subject] =
                [&orphan.issue_id, &orphan.title, &orphan.latest_commit, &orphan.latest_commit_message]
                    .map(|text| visible(text));
            let commit = if details { format!("    {commit} {subject}\n") } else { String::new() };
            format!("{id} is {} and commits mention it: {title}\n{commit}", visible(&orphan.status))
        };
        let text: String = all.iter().map(line).collect();
        if text.is_empty() { "No commit mentions an open issue.\n".to_owned() } else { text }
    })
}

/// Whether a text names an id, and not only one that begins or ends with it.
fn mentions(text: &str, id: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    text.match_indices(id).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let mut after = text.get(at + id.len()..).unwrap_or_default().chars();
        let next = after.next();
        let is_child = next == Some('.') && after.next().is_some_and(|c| c.is_ascii_digit());
        !before.is_some_and(is_part) && !next.is_some_and(is_part) && !is_child
    })
}

/// A word that an issue can have, and what it stands for.
#[derive(Serialize)]
struct Word {
    name: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    category: &'static str,
    description: &'static str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    sections: &'static [&'static str],
}

#[derive(Serialize)]
struct Statuses {
    built_in_statuses: Vec<Word>,
}

pub(super) fn statuses(out: &mut Out<'_>) -> Result<(), AppError> {
    let words = STATUSES.map(|name| {
        let (category, description) = match name {
            "open" => ("active", "can be worked on"),
            "in_progress" => ("wip", "is worked on"),
            "blocked" => ("wip", "waits for something"),
            "deferred" => ("frozen", "is put off"),
            "closed" => ("done", "is finished"),
            "pinned" => ("frozen", "stays as it is and is never offered"),
            _ => ("wip", "is attached to an agent"),
        };
        Word { name, category, description, sections: &[] }
    });
    out.print(&Statuses { built_in_statuses: words.into() }, |all| {
        all.built_in_statuses.iter().map(|word| format!("{}: {}\n", word.name, word.description)).collect()
    })
}

#[derive(Serialize)]
struct Types {
    core_types: Vec<Word>,
}

pub(super) fn types(with_sections: bool, out: &mut Out<'_>) -> Result<(), AppError> {
    let words = [
        ("task", "work of any kind"),
        ("bug", "something is broken"),
        ("feature", "something new"),
        ("epic", "a whole that has parts"),
        ("chore", "upkeep"),
        ("decision", "what was decided and why"),
        ("spike", "work to find something out"),
        ("story", "what a user wants to do"),
        ("milestone", "a point that work leads to"),
    ]
    .map(|(name, description)| {
        let sections = if with_sections { sections(name) } else { &[] };
        Word { name, category: "", description, sections }
    });
    out.print(&Types { core_types: words.into() }, |all| {
        let line = |word: &Word| {
            let sections = word.sections.iter().map(|section| format!("    {section}\n"));
            format!("{}: {}\n{}", word.name, word.description, sections.collect::<String>())
        };
        all.core_types.iter().map(line).collect::<String>() + "Any other word is kept as it is.\n"
    })
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn a_commit_mentions_an_id_only_by_its_whole_name() {
        assert!(mentions("Fix the lexer (shop-1)", "shop-1") && mentions("shop-1: done", "shop-1"));
        assert!(mentions("Closes shop-1.", "shop-1"));
        for text in ["shop-12", "my-shop-1", "shop-1.2", "workshop-1x"] {
            assert!(!mentions(text, "shop-1"), "{text}");
        }
    }
}
