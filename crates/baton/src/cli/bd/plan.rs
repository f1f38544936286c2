//! Several issues at once, from a Markdown file or a plan in JSON. All of them are written, or none.

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::task::view::View;
use baton_model::task::word::priority;
use baton_ops::task::{BatchStep, CreateInput};

use super::annotate::show_task;
use super::{Out, batch, shape};
use crate::error::AppError;

/// The issues of a Markdown file: a heading `## Title` for each, then sections `### Priority`, `### Type`, `### Labels`,
/// `### Assignee`, `### Dependencies`, `### Description`, `### Design`, `### Acceptance Criteria`.
pub(super) fn from_markdown(text: &str, dry_run: bool, out: &mut Out<'_>) -> Result<(), AppError> {
    let issues = sections(text)?;
    if issues.is_empty() {
        let hint = "write `## Title` for each issue, and sections such as `### Priority` below";
        return Err(Refusal::invalid("plan_empty", "the file has no heading of an issue", hint).into());
    }
    for issue in &issues {
        super::change::check_type(Some(&issue.issue_type), out)?;
    }
    let titles: Vec<String> = issues.iter().map(|issue| issue.title.clone()).collect();
    if dry_run {
        return out.print(&titles, |all| {
            all.iter().map(|title| format!("would create: {}\n", visible(title))).collect()
        });
    }
    let steps =
        issues.into_iter().map(|task| BatchStep::Write { name: None, task: Box::new(task) }).collect();
    let place =
        |at: usize| titles.get(at).map(|title| format!("`## {}`", visible(title))).unwrap_or_default();
    let mut made = Vec::with_capacity(titles.len());
    for done in batch::carry_out(steps, place, out)? {
        made.push(shape::issue(show_task(&done.id, out)?.task));
    }
    print_made(&made, out)
}

fn print_made(made: &[View], out: &Out<'_>) -> Result<(), AppError> {
    out.print(made, |all| {
        all.iter().map(|issue| format!("✓ Created issue: {}\n", shape::line(issue).trim_end())).collect()
    })
}

/// The sections of an issue that are fields of it.
const SECTIONS: [&str; 10] = [
    "description",
    "design",
    "acceptance criteria",
    "acceptance",
    "priority",
    "type",
    "assignee",
    "labels",
    "dependencies",
    "deps",
];

fn sections(text: &str) -> Result<Vec<CreateInput>, Refusal> {
    let mut issues: Vec<CreateInput> = Vec::new();
    let mut section = String::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            issues.push(CreateInput { title: title.trim().to_owned(), ..CreateInput::default() });
            section = "description".to_owned();
        } else if let Some(name) = line.strip_prefix("### ") {
            section = name.trim().to_lowercase();
            if let Some(issue) = issues.last_mut().filter(|_| !SECTIONS.contains(&section.as_str())) {
                issue.description.push_str(&format!("\n{}\n", line.trim_end()));
            }
        } else if let Some(issue) = issues.last_mut() {
            add_line(issue, &section, line)?;
        }
    }
    for issue in &mut issues {
        issue.description = issue.description.trim().to_owned();
        for text in [&mut issue.design, &mut issue.acceptance_criteria].into_iter().flatten() {
            *text = text.trim().to_owned();
        }
    }
    Ok(issues)
}

/// A dependency of a plan. In a plan the issue depends on what it names, whatever the type: `blocks:ID` holds it back, other than
/// with `bd create --deps`, where it is the new issue that blocks.
pub(super) fn depends_on(text: &str) -> String {
    text.strip_prefix("blocks:").unwrap_or(text).to_owned()
}

fn add_line(issue: &mut CreateInput, section: &str, line: &str) -> Result<(), Refusal> {
    let words = || {
        line.trim_start_matches(['-', '*', ' ']).split([',', ' ']).map(str::trim).filter(|w| !w.is_empty())
    };
    let one = line.trim();
    let append = |text: &mut Option<String>| {
        let text = text.get_or_insert_default();
        text.push_str(line);
        text.push('\n');
    };
    match section {
        "description" => {
            issue.description.push_str(line);
            issue.description.push('\n');
        }
        "design" => append(&mut issue.design),
        "acceptance criteria" | "acceptance" => append(&mut issue.acceptance_criteria),
        _ if one.is_empty() && SECTIONS.contains(&section) => {}
        "priority" => issue.priority = priority(one)?,
        "type" => issue.issue_type = one.to_owned(),
        "assignee" => issue.assignee = Some(one.to_owned()),
        "labels" => issue.labels.extend(words().map(str::to_owned)),
        "dependencies" | "deps" => issue.deps.extend(words().map(depends_on)),
        // A section of another name stays in the description.
        _ => {
            issue.description.push_str(line);
            issue.description.push('\n');
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_markdown_file_becomes_issues() {
        let text = "# Plan\n\n## First\nWhat to do.\n\n### Priority\nP1\n### Type\nbug\n### Labels\na, b\n\
                    ## Second\n### Description\nMore.\n### Acceptance Criteria\n- it works\n### Risks\nnone\n\nmany\n";
        let issues = sections(text).expect("read");
        let [first, second] = issues.as_slice() else { panic!("two issues") };
        assert_eq!((first.title.as_str(), first.priority, first.issue_type.as_str()), ("First", 1, "bug"));
        assert_eq!(
            (first.description.as_str(), &first.labels),
            ("What to do.", &vec!["a".to_owned(), "b".to_owned()])
        );
        assert_eq!(second.acceptance_criteria.as_deref(), Some("- it works"));
        assert!(
            second.description.contains("More.") && second.description.contains("### Risks\nnone\n\nmany")
        );
        assert!(sections("## A\n### Priority\nhighest\n").is_err());
    }
}
