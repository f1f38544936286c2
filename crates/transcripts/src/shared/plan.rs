//! Plans, as lists of items or as checklists in text.

use crate::event::PlanItem;
use crate::shared::json::Json;

/// The state of an item that was ticked off without being done.
pub(crate) const SKIPPED: &str = "skipped";

/// The state of an item that was not ticked off before the agent called the whole work complete.
pub(crate) const CALLED_COMPLETE: &str = "called complete";

/// Whether a note by which an item is ticked off says that it was not done: `SKIPPED: too little gain`.
pub(crate) fn says_skipped(note: &str) -> bool {
    const WORDS: &[&str] = &[
        "skipped",
        "skipping",
        "cancelled",
        "canceled",
        "deferred",
        "dropped",
        "not done",
        "won't do",
        "obsolete",
    ];
    let lower = note.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    WORDS
        .iter()
        .any(|word| lower.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))
}

/// The plan that a list or a text holds; none if there is no item in it.
pub(crate) fn of(value: &Json<'_>) -> Option<Vec<PlanItem>> {
    let items = match value {
        Json::Str(text) => checklist(text),
        _ => items(value),
    };
    (!items.is_empty()).then_some(items)
}

/// The items of a list.
pub(crate) fn items(list: &Json<'_>) -> Vec<PlanItem> {
    list.items().iter().filter_map(item).collect()
}

fn item(item: &Json<'_>) -> Option<PlanItem> {
    const TITLES: &[&str] =
        &["content", "description", "title", "subject", "step", "task", "text", "task_description"];
    let title = item.first(TITLES).or(item.str())?.to_owned();
    let id =
        item.get("id").str().map(str::to_owned).or_else(|| item.get("id").int().map(|id| id.to_string()));
    let done = || if ["completed", "done"].iter().any(|key| item.get(key).is_true()) { "done" } else { "" };
    Some(PlanItem { title, status: status(item.first(&["status", "state"]).unwrap_or_else(done)), id })
}

/// The items of lines such as `- [x] Read`, `2. [in_progress] Fix` or `- [ ] Test`.
pub(crate) fn checklist(text: &str) -> Vec<PlanItem> {
    let item = |line: &str| {
        let line = line.trim().trim_start_matches(|c: char| c.is_ascii_digit());
        let (mark, title) =
            line.trim_start_matches(['-', '*', '+', '.', ')', ' ']).strip_prefix('[')?.split_once(']')?;
        // A link in a list is no item of a plan.
        let title = title.strip_prefix(' ')?.trim();
        let known = mark.len() < 20 && !title.is_empty();
        known.then(|| PlanItem { title: title.to_owned(), status: status(mark), id: None })
    };
    text.lines().filter_map(item).collect()
}

/// The state of an item in the words that all packets use; a word of the tool's own stays.
pub(crate) fn status(word: &str) -> String {
    match word.trim() {
        "x" | "X" | "done" | "complete" | "DONE" | "COMPLETED" | "TODO_STATUS_COMPLETED" => "completed",
        "/"
        | "~"
        | "-"
        | ">"
        | "in-progress"
        | "inProgress"
        | "IN_PROGRESS"
        | "active"
        | "doing"
        | "TODO_STATUS_IN_PROGRESS" => "in_progress",
        "" | "todo" | "open" | "not_started" | "not-started" | "PENDING" | "TODO_STATUS_PENDING" => "pending",
        word => word,
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: &[(&str, &str)]) {
        let items = checklist(text);
        let found: Vec<_> = items.iter().map(|item| (item.title.as_str(), item.status.as_str())).collect();
        assert_eq!(found, wanted, "{text}");
    }

    #[test]
    fn checklists_are_read_in_every_dialect() {
        check(
            "# Plan\n- [x] Read\n * [/] Fix [a] bug\n- [ ] Test\n- plain\n- [link](to)",
            &[("Read", "completed"), ("Fix [a] bug", "in_progress"), ("Test", "pending")],
        );
        check("1. [completed] Read\n12) [blocked] Ship", &[("Read", "completed"), ("Ship", "blocked")]);
    }

    #[test]
    fn lists_are_read_by_whatever_field_names_an_item() {
        let json = Json::parse(
            r#"[{"description":"a","status":"done"},{"title":"b"},{"status":"x"},"c",{"text":"d","completed":true}]"#,
        );
        let items = of(&json.expect("valid")).expect("a plan");
        let found: Vec<_> = items.iter().map(|item| (item.title.as_str(), item.status.as_str())).collect();
        assert_eq!(found, [("a", "completed"), ("b", "pending"), ("c", "pending"), ("d", "completed")]);
        assert_eq!(of(&Json::Null), None);
    }
}
