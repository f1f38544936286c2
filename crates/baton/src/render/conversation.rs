//! What people wrote on GitHub under the issue of a hand-off: quoted, with who wrote it and when.

use baton_model::id::visible;
use baton_ops::handoff::{IssueComment, IssueConversation, IssueEdits};

use super::{quoted, time_ago};

/// The conversation as a section of its own.
pub(crate) fn conversation(found: &IssueConversation) -> String {
    let mut text = format!("on GitHub ({})\n", visible(&found.notice));
    text.extend(found.issue.as_ref().map(edits));
    text.extend(found.comments.iter().map(comment));
    let stored = found.comments_left_out.saturating_sub(found.comments_not_kept);
    if stored > 0 {
        text.push_str(&format!("  … {} more\n", count(stored, "older comment")));
    }
    if found.comments_not_kept > 0 {
        let page = found.url.as_deref().map_or_else(|| "GitHub".to_owned(), visible);
        text.push_str(&format!("  … {} on {page} alone\n", count(found.comments_not_kept, "older comment")));
    }
    text.extend(found.see_all.as_ref().map(|command| format!("  all of it: `{}`\n", visible(command))));
    text
}

fn edits(issue: &IssueEdits) -> String {
    let mut text = String::new();
    let by = issue.edited_by.as_deref().map(|name| format!(" by {}", visible(name))).unwrap_or_default();
    let at = issue.changed_at.map(|at| format!(", {}", time_ago(at))).unwrap_or_default();
    text.push_str(&format!("  the issue was edited{by}{at}\n"));
    text.extend(issue.title.as_ref().map(|title| format!("  its title is \"{}\"\n", visible(title))));
    for (name, labels) in [("added", &issue.labels_added), ("taken away", &issue.labels_removed)] {
        let labels: Vec<String> = labels.iter().map(|label| visible(label)).collect();
        if !labels.is_empty() {
            text.push_str(&format!("  labels {name}: {}\n", labels.join(", ")));
        }
    }
    if !issue.body_added.is_empty() {
        let cut = if issue.is_body_shortened { " (shortened)" } else { "" };
        text.push_str(&format!("  written into its text{cut}:\n{}", quoted(&issue.body_added)));
    }
    if issue.body_lines_removed > 0 {
        let lines = usize::try_from(issue.body_lines_removed).unwrap_or(usize::MAX);
        text.push_str(&format!("  {} of its text taken away\n", count(lines, "line")));
    }
    text
}

fn comment(one: &IssueComment) -> String {
    let edited = one.edited_at.map(|at| format!(", changed {}", time_ago(at))).unwrap_or_default();
    let cut = if one.is_shortened { " (shortened)" } else { "" };
    let author = one.author.as_deref().map_or_else(|| "a person".to_owned(), visible);
    let head = format!("  {author}, {}{edited}{cut}\n", time_ago(one.created_at));
    format!("{head}{}", quoted(&one.text))
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_shortened_says_so_and_a_comment_without_a_name_is_a_persons() {
        let found = json!({ "notice": "data", "comments_total": 1, "see_all": "baton task show t --full",
            "issue": { "body_added": "and GET /y", "is_body_shortened": true },
            "comments": [{ "created_at": "1970-01-01T00:00:04Z", "text": "half up?" }] });
        let shown = conversation(&serde_json::from_value(found).expect("a conversation"));
        for words in
            ["written into its text (shortened):\n", "  a person, ", "all of it: `baton task show t --full`"]
        {
            assert!(shown.contains(words), "{words}: {shown}");
        }
    }
}
