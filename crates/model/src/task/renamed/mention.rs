//! Texts of other tasks that name a task which has another id now.

use serde_json::{Map, Value, json};

use crate::task::closing::IN_OTHER_TASKS;
use crate::task::{MAX_TITLE, Task};

/// The texts of a task, beside title, description and reason of closing, in which others are named.
const TEXTS: [&str; 3] = ["acceptance_criteria", "design", "notes"];
/// The field of a gate that names the issue for which it waits.
const AWAITED: &str = "await_id";

/// The task with the new id wherever its texts name the old one, also as the issue for which a gate waits, and as the task that has
/// what its context had no room for; none where they do not. Comments stay: they are quotations, and are known by their text.
pub fn with_mentions_renamed(task: &Task, old: &str, new: &str) -> Option<Task> {
    let mut changed = task.clone();
    changed.title =
        renamed(&task.title, old, new).filter(|title| title.len() <= MAX_TITLE).unwrap_or(changed.title);
    changed.description = renamed(&task.description, old, new).unwrap_or(changed.description);
    for key in TEXTS {
        if let Some(text) =
            task.extra.get(key).and_then(Value::as_str).and_then(|text| renamed(text, old, new))
        {
            changed.extra.insert(key.to_owned(), json!(text));
        }
    }
    if let Some(reason) = &task.close_reason {
        changed.close_reason = renamed(reason, old, new).or(changed.close_reason);
    }
    if let Some(awaited) = awaited_issue(task).and_then(|awaited| awaited.strip_suffix(old))
        && (awaited.is_empty() || awaited.ends_with(':'))
    {
        changed.extra.insert(AWAITED.to_owned(), json!(format!("{awaited}{new}")));
    }
    let holders = changed.agent_context.get_mut(IN_OTHER_TASKS).and_then(Value::as_object_mut);
    for holder in holders.into_iter().flat_map(Map::values_mut).filter(|holder| *holder == old) {
        *holder = json!(new);
    }
    (changed != *task).then_some(changed)
}

/// The issue for which a gate waits, with the rig that Beads writes before it.
fn awaited_issue(task: &Task) -> Option<&str> {
    (task.text("await_type") == Some("bead")).then(|| task.text(AWAITED))?
}

/// A text with the new id wherever the old one stands as a whole word.
fn renamed(text: &str, old: &str, new: &str) -> Option<String> {
    let mut found = String::new();
    let mut rest = 0;
    for (at, _) in text.match_indices(old).filter(|(at, _)| is_whole(text, *at, old.len())) {
        found.push_str(&text[rest..at]);
        found.push_str(new);
        rest = at + old.len();
    }
    found.push_str(&text[rest..]);
    (rest > 0).then_some(found)
}

/// Whether the id at this place is no part of a longer word: `x-1` is neither in `x-12` nor in `x-1.2`, and is in `x-1.` at the end
/// of a sentence.
fn is_whole(text: &str, at: usize, length: usize) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let before = text[..at].chars().next_back();
    let mut after = text[at + length..].chars();
    let is_end = match after.next() {
        Some('.') => !after.next().is_some_and(is_word),
        next => !next.is_some_and(is_word),
    };
    is_end && !before.is_some_and(|c| is_word(c) || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_renamed_where_it_is_a_whole_word() {
        for (text, expected) in [
            ("x-1", Some("y-2")),
            ("see x-1.", Some("see y-2.")),
            ("(x-1), x-1: `x-1`", Some("(y-2), y-2: `y-2`")),
            ("after x-1\nand x-1/x-12", Some("after y-2\nand y-2/x-12")),
            ("x-12 ax-1 x-1.2 x-1_a x-1-b a.x-1", None),
            ("X-1", None),
            ("", None),
        ] {
            assert_eq!(renamed(text, "x-1", "y-2").as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn every_text_but_a_title_that_would_be_too_long_names_the_new_id() {
        let mut task = Task { title: "fix x-1".into(), description: "d x-1".into(), ..Task::default() };
        TEXTS.iter().for_each(|key| _ = task.extra.insert((*key).to_owned(), json!("see x-1")));
        let changed = with_mentions_renamed(&task, "x-1", "y-22").expect("it names it");
        assert_eq!((changed.title.as_str(), changed.description.as_str()), ("fix y-22", "d y-22"));
        TEXTS.iter().for_each(|key| assert_eq!(changed.extra[*key], json!("see y-22")));
        task.title = format!("{} x-1", "a".repeat(MAX_TITLE - 4));
        assert_eq!(with_mentions_renamed(&task, "x-1", "y-22").map(|task| task.title), Some(task.title));
    }
    #[test]
    fn what_names_a_task_by_its_id_alone_names_the_new_one() {
        let gate = |kind: &str, id: &str| {
            let mut gate = Task::default();
            gate.extra.insert("await_type".into(), json!(kind));
            gate.extra.insert(AWAITED.into(), json!(id));
            gate
        };
        for (kind, id, expected) in [
            ("bead", "x-1", Some("y-2")),
            ("bead", "shop:x-1", Some("shop:y-2")),
            ("bead", "x-12", None),
            ("bead", "ax-1", None),
            ("timer", "x-1", None),
        ] {
            let changed = with_mentions_renamed(&gate(kind, id), "x-1", "y-2");
            let awaited = changed.as_ref().and_then(|gate| gate.text(AWAITED));
            assert_eq!(awaited, expected, "{kind} {id}");
        }
        let mut task = Task { close_reason: Some("duplicate of x-1".into()), ..Task::default() };
        let holders = json!({ "logs": "x-1", "notes": "x-3" });
        task.agent_context.insert(IN_OTHER_TASKS.into(), holders);
        let changed = with_mentions_renamed(&task, "x-1", "y-2").expect("it names it");
        assert_eq!(changed.close_reason.as_deref(), Some("duplicate of y-2"));
        assert_eq!(changed.agent_context[IN_OTHER_TASKS], json!({ "logs": "y-2", "notes": "x-3" }));
    }
}
