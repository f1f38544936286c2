//! Plans: todo lists as JSON and as Markdown.

use crate::event::PlanItem;
use crate::shared::json::Json;

/// Items of a todo list. Tools disagree about the words for an item and its state.
pub fn items(list: &Json<'_>) -> Vec<PlanItem> {
    let item = |item: &Json<'_>| {
        let title = item
            .first(&["content", "subject", "title", "text", "task", "task_description", "description"])?
            .to_owned();
        let done = ["completed", "done"].iter().any(|key| item.get(key).is_true());
        let status = item.get("status").str().map_or(if done { "completed" } else { "pending" }, state);
        Some(PlanItem { title, status: status.to_owned(), id: None })
    };
    list.items().iter().filter_map(item).collect()
}

/// Items of a checklist: `- [x] done`, `- [-] begun`, `- [ ] open`.
pub fn checklist(text: &str) -> Vec<PlanItem> {
    text.lines().filter_map(check).collect()
}

fn check(line: &str) -> Option<PlanItem> {
    let line = line.trim();
    let rest = line.strip_prefix(['-', '*', '+']).unwrap_or(line).trim_start().strip_prefix('[')?;
    let (mark, title) = rest.split_once(']')?;
    let status = match mark.trim() {
        "x" | "X" => "completed",
        "-" | "~" | ">" => "in_progress",
        "" => "pending",
        _ => return None,
    };
    let title = title.trim();
    (!title.is_empty()).then(|| PlanItem { title: title.to_owned(), status: status.to_owned(), id: None })
}

/// The usual word for a state.
fn state(word: &str) -> &str {
    match word {
        "in-progress" | "inProgress" | "active" | "TODO_STATUS_IN_PROGRESS" => "in_progress",
        "done" | "complete" | "TODO_STATUS_COMPLETED" => "completed",
        "todo" | "open" | "not-started" | "not_started" | "TODO_STATUS_PENDING" => "pending",
        word => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checklist_is_read_in_its_three_states() {
        let items = checklist("# Plan\n- [x] one\n* [ ] two\n[-] three\n- [link] four\n- five\n- [ ]");
        let told: Vec<_> = items.iter().map(|item| (item.title.as_str(), item.status.as_str())).collect();
        assert_eq!(told, [("one", "completed"), ("two", "pending"), ("three", "in_progress")]);
    }

    #[test]
    fn a_todo_list_is_read_in_the_words_of_every_tool() {
        let json = Json::parse(r#"[{"content":"a","status":"done"},{"unknown":"?"},{"text":"b","completed":true},{"title":"c"}]"#)
            .expect("valid");
        let told: Vec<_> = items(&json).into_iter().map(|item| item.title + " " + &item.status).collect();
        assert_eq!(told, ["a completed", "b completed", "c pending"]);
    }
}
