//! Tool calls of Claude Code and their results.

use std::borrow::Cow;
use std::sync::Arc;

use crate::event::{Call, Change, Edit, FileStates, Outcome, PlanItem, Usage};
use crate::shared::json::Json;
use crate::shared::plan as plan_words;
use crate::shared::{call, diff, plan, shell, tool};

/// A `tool_use` block.
pub(super) fn call<'a>(block: &'a Json<'a>) -> Call<'a> {
    let (name, input) = (block.get("name").str().unwrap_or_default(), block.get("input"));
    const TARGETS: &[&str] = &[
        "command",
        "file_path",
        "notebook_path",
        "path",
        "url",
        "query",
        "pattern",
        "description",
        "subject",
        "prompt",
        "skill",
        "taskId",
        "task_id",
    ];
    let question = || input.get("questions").items().first().and_then(|first| first.get("question").str());
    // A search is labelled by its pattern, not by the folder.
    let target =
        if matches!(name, "Grep" | "Glob") { input.get("pattern").str() } else { input.first(TARGETS) };
    Call {
        id: Cow::Borrowed(block.get("id").str().unwrap_or_default()),
        name: Cow::Borrowed(name),
        category: tool::category(name),
        target: Cow::Borrowed(target.or_else(question).unwrap_or_default()),
        lines: if name == "Read" { call::lines(input) } else { None },
        edits: edits(name, input),
        proposal: call::proposal(name, input).or_else(|| plan_file(name, input)),
    }
}

/// The plan that is written into a file of the tool's own before it is put before the user.
fn plan_file<'a>(name: &str, input: &'a Json<'a>) -> Option<Cow<'a, str>> {
    let path = input.get("file_path").str().filter(|_| name == "Write")?.replace('\\', "/");
    let is_plan = path.contains("/.claude/plans/") && path.ends_with(".md");
    is_plan.then(|| Cow::Borrowed(input.get("content").str().unwrap_or_default()))
}

fn edits(name: &str, input: &Json<'_>) -> Vec<Edit> {
    let Some(path) = input.first(&["file_path", "notebook_path"]) else { return Vec::new() };
    let text = |key| input.get(key).str().unwrap_or_default();
    match name {
        "Edit" => vec![Edit::replaced(path, text("old_string"), text("new_string"))],
        "MultiEdit" => vec![multi(path, input.get("edits"))],
        "Write" => vec![Edit::new_text(path, Change::Modified, text("content"))],
        "NotebookEdit" => vec![Edit::new_text(path, Change::Modified, text("new_source"))],
        _ => Vec::new(),
    }
}

fn multi(path: &str, edits: &Json<'_>) -> Edit {
    let part = |edit: &Json<'_>| {
        Edit::replaced(
            path,
            edit.get("old_string").str().unwrap_or_default(),
            edit.get("new_string").str().unwrap_or_default(),
        )
    };
    let bodies: Vec<String> = edits.items().iter().filter_map(|edit| part(edit).diff).collect();
    Edit::with_diff(path, Change::Modified, &bodies.join("\n"))
}

/// A `tool_result` block, with what its line says beside it.
pub(super) fn outcome<'a>(block: &'a Json<'a>, detail: &'a Json<'a>) -> Outcome<'a> {
    let text = block.get("content").text();
    let refused = text.trim_start().starts_with("<tool_use_error>");
    let failed = block.get("is_error").is_true() || refused || detail.get("interrupted").is_true();
    let background = !detail.get("backgroundTaskId").is_null();
    let ran = matches!(detail, Json::Obj(_))
        && (!detail.get("stdout").is_null() || !detail.get("stderr").is_null());
    let exit_code = match &text {
        _ if background => None,
        Cow::Borrowed(text) if failed => shell::split_exit_code(text).0,
        Cow::Owned(text) if failed => shell::split_exit_code(text).0,
        _ => ran.then_some(0),
    };
    let output = match (exit_code, text) {
        (Some(_), Cow::Borrowed(text)) => Cow::Borrowed(shell::split_exit_code(text).1),
        (Some(_), Cow::Owned(text)) => Cow::Owned(shell::split_exit_code(&text).1.to_owned()),
        (None, text) => text,
    };
    Outcome {
        id: Cow::Borrowed(block.get("tool_use_id").str().unwrap_or_default()),
        ok: if background { None } else { Some(!failed) },
        exit_code,
        output,
        edits: if failed { Vec::new() } else { result_edits(detail) },
    }
}

/// The change as the tool reports it, which is surer than what the call asked for.
fn result_edits(detail: &Json<'_>) -> Vec<Edit> {
    let Some(path) = detail.get("filePath").str() else { return Vec::new() };
    let hunks = detail.get("structuredPatch");
    let created = detail.get("type").str() == Some("create");
    match (created, detail.get("content").str()) {
        (true, Some(content)) => vec![Edit::new_text(path, Change::Created, content)],
        (true, None) => vec![Edit::bare(path, Change::Created)],
        _ if !hunks.items().is_empty() => {
            let whole = detail.get("originalFile").str().and_then(|before| file_states(before, detail));
            let edit = Edit::with_diff(path, Change::Modified, &diff::structured(hunks));
            vec![Edit { whole: whole.map(Arc::new), ..edit }]
        }
        _ => Vec::new(),
    }
}

/// A file before and after a change. The hunks hold blanks for tabs, so the texts that were replaced come first.
fn file_states(before: &str, detail: &Json<'_>) -> Option<FileStates> {
    let text = |key| detail.get(key).str();
    let new = text("newString").unwrap_or_default();
    let after = match (text("content"), text("oldString").filter(|old| before.contains(*old))) {
        (Some(content), _) => content.to_owned(),
        (None, Some(old)) if detail.get("replaceAll").is_true() => before.replace(old, new),
        (None, Some(old)) => before.replacen(old, new, 1),
        (None, None) => patched(before, detail.get("structuredPatch"))?,
    };
    Some(FileStates { before: before.to_owned(), after })
}

/// A text with hunks carried out on it.
fn patched(before: &str, hunks: &Json<'_>) -> Option<String> {
    let old: Vec<&str> = before.lines().collect();
    let (mut after, mut at) = (Vec::with_capacity(old.len()), 0);
    for hunk in hunks.items() {
        let start = (hunk.get("oldStart").count() as usize).saturating_sub(1).max(at);
        after.extend(old.get(at..start)?);
        at = start;
        for line in hunk.get("lines").items().iter().filter_map(Json::str) {
            match line.as_bytes().first() {
                Some(b'+') => after.push(&line[1..]),
                Some(b'-') => at += 1,
                Some(b'\\') => {}
                _ => {
                    after.push(*old.get(at)?);
                    at += 1;
                }
            }
        }
    }
    after.extend(old.get(at..)?);
    Some(after.join("\n"))
}

/// Token use of one message.
pub(super) fn usage(usage: &Json<'_>) -> Usage {
    Usage {
        input: usage.get("input_tokens").count(),
        cache_read: usage.get("cache_read_input_tokens").count(),
        cache_write: usage.get("cache_creation_input_tokens").count(),
        output: usage.get("output_tokens").count(),
    }
}

/// A total with one message more, whose earlier count is taken back.
pub(super) fn sum(total: Usage, more: Usage, less: Usage) -> Usage {
    let one = |total: u64, more: u64, less: u64| total.saturating_add(more).saturating_sub(less);
    Usage {
        input: one(total.input, more.input, less.input),
        cache_read: one(total.cache_read, more.cache_read, less.cache_read),
        cache_write: one(total.cache_write, more.cache_write, less.cache_write),
        output: one(total.output, more.output, less.output),
    }
}

/// Between the subject of a task and its description, which often holds the commands and files that are meant.
const SEPARATOR: &str = ": ";

/// Carries a call of a plan tool out on the plan; whether it was one.
pub(super) fn change_plan(list: &mut Vec<PlanItem>, block: &Json<'_>) -> bool {
    let input = block.get("input");
    match block.get("name").str() {
        Some("TodoWrite") => *list = plan::items(input.get("todos")),
        Some("TaskCreate") => {
            let Some(title) = input.first(&["subject", "description"]) else { return false };
            let id = Some((list.len() + 1).to_string());
            let title = match input.get("description").str().map(str::trim) {
                Some(more) if !more.is_empty() && more != title => format!("{title}{SEPARATOR}{more}"),
                _ => title.to_owned(),
            };
            list.push(PlanItem { title, status: "pending".to_owned(), id });
        }
        Some("TaskUpdate") => return update_task(list, input),
        _ => return false,
    }
    true
}

fn update_task(plan: &mut Vec<PlanItem>, input: &Json<'_>) -> bool {
    let id = input
        .get("taskId")
        .str()
        .map(str::to_owned)
        .or_else(|| input.get("taskId").int().map(|id| id.to_string()));
    let Some(at) = plan.iter().position(|item| item.id.is_some() && item.id == id) else { return false };
    match input.get("status").str() {
        Some("deleted") => drop(plan.remove(at)),
        Some("completed") if input.get("description").str().is_some_and(plan_words::says_skipped) => {
            plan[at].status = plan_words::SKIPPED.to_owned();
        }
        Some(status) => plan[at].status = status.to_owned(),
        None => {}
    }
    if let (Some(title), Some(item)) = (input.get("subject").str(), plan.get_mut(at)) {
        item.title = title.to_owned();
    }
    true
}

/// Carries out a call by which a sub-agent says that a task of the session is done; whether it changed the plan.
pub(super) fn tick_off(plan: &mut Vec<PlanItem>, block: &Json<'_>) -> bool {
    let input = block.get("input");
    let is_done = input.get("status").str() == Some("completed");
    block.get("name").str() == Some("TaskUpdate") && is_done && update_task(plan, input)
}

/// Takes over the list of all tasks, as `TaskList` answers it; whether it changed the plan.
pub(super) fn take_task_list(plan: &mut Vec<PlanItem>, detail: &Json<'_>) -> bool {
    let listed = detail.get("tasks").items();
    let known = |task: &Json<'_>| {
        let (id, title) = (task.get("id").str()?, task.get("subject").str()?);
        Some((id.to_owned(), title.to_owned(), task.get("status").str()?.to_owned()))
    };
    let listed: Vec<(String, String, String)> = listed.iter().filter_map(known).collect();
    if listed.is_empty() || plan.iter().any(|item| item.id.is_none()) {
        return false;
    }
    let before = plan.clone();
    plan.retain(|item| listed.iter().any(|(id, ..)| item.id.as_ref() == Some(id)));
    for (id, title, status) in listed {
        match plan.iter_mut().find(|item| item.id.as_ref() == Some(&id)) {
            Some(item) => item.status = status,
            None => plan.push(PlanItem { title, status, id: Some(id) }),
        }
    }
    *plan != before
}

/// Takes over the id that the tool gave to the task created last.
pub(super) fn name_created_task(plan: &mut [PlanItem], detail: &Json<'_>) -> bool {
    let (id, subject) = (detail.at_path(&["task", "id"]).str(), detail.at_path(&["task", "subject"]).str());
    let (Some(id), Some(subject)) = (id, subject) else { return false };
    let is_named = |item: &&mut PlanItem| {
        item.title.strip_prefix(subject).is_some_and(|rest| rest.is_empty() || rest.starts_with(SEPARATOR))
    };
    match plan.iter_mut().rev().find(is_named) {
        Some(item) if item.id.as_deref() != Some(id) => item.id = Some(id.to_owned()),
        _ => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_tells_the_file_before_and_after_it_with_its_tabs() {
        let states =
            |detail: &str| file_states("a\n\tb\nc", &Json::parse(detail).expect("valid")).expect("states");
        let hunk =
            r#"[{"oldStart":1,"oldLines":3,"newStart":1,"newLines":3,"lines":[" a","-  b","+  d"," c"]}]"#;
        let texts = format!(r#"{{"oldString":"\tb","newString":"\td","structuredPatch":{hunk}}}"#);
        assert_eq!(states(&texts).after, "a\n\td\nc");
        let only_hunks = format!(r#"{{"structuredPatch":{hunk}}}"#);
        assert_eq!(states(&only_hunks).after, "a\n  d\nc");
        assert_eq!(states(r#"{"content":"x"}"#).after, "x");
    }
}
