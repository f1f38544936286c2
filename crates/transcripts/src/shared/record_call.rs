//! Tool calls in the words that most tools share: a name, and an input with a path, a command or a text in it.

use std::borrow::Cow;

use crate::event::{Call, Category, Change, Edit, PlanItem};
use crate::shared::json::Json;
use crate::shared::{patch, plan, tool};

const PATHS: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "target_file",
    "targetFile",
    "relativeWorkspacePath",
    "relative_workspace_path",
    "filename",
    "absolutePath",
    "notebook_path",
];
const TARGETS: &[&str] = &[
    "url",
    "query",
    "description",
    "prompt",
    "question",
    "task",
    "message",
    "title",
    "pattern",
    "directory",
    "skill",
    "name",
];
const OLD: &[&str] = &["old_string", "oldString", "old_str", "old_text", "oldText", "oldStr", "search"];
const NEW: &[&str] = &["new_string", "newString", "new_str", "new_text", "newText", "newStr", "replace"];
const CONTENT: &[&str] = &["content", "file_text", "contents", "text", "fileText", "code_edit"];

/// A call of a tool by this name with this input.
pub fn call<'a>(id: &'a str, name: &'a str, input: &'a Json<'a>) -> Call<'a> {
    let category = category(name, input);
    let edits = edits(&category, input);
    let paths: Vec<&str> = edits.iter().map(|edit| edit.path.as_str()).collect();
    let target = match &category {
        _ if !paths.is_empty() => Cow::Owned(paths.join(", ")),
        Category::Shell => command(input),
        Category::Search => {
            Cow::Borrowed(input.first(&["pattern", "query", "regex", "glob"]).unwrap_or_default())
        }
        _ => Cow::Borrowed(""),
    };
    let target = if target.is_empty() { Cow::Borrowed(target_of(input)) } else { target };
    // A command that only applies a patch is an edit.
    let category = if category == Category::Shell && !edits.is_empty() { Category::Edit } else { category };
    Call { id: Cow::Borrowed(id), name: Cow::Borrowed(name), category, target, edits }
}

/// The plan that a call sets.
pub fn plan(call: &Call<'_>, input: &Json<'_>) -> Vec<PlanItem> {
    if call.category != Category::Task {
        return Vec::new();
    }
    let lists = ["todos", "items", "plan", "tasks", "content"];
    let list = lists.iter().map(|key| input.get(key)).find(|list| !list.is_null()).unwrap_or(&Json::Null);
    match list {
        Json::Str(text) => plan::checklist(text),
        list => plan::items(list),
    }
}

/// Some tools do several kinds of work, told by a `command` beside the path.
fn category(name: &str, input: &Json<'_>) -> Category {
    let category = tool::category(name);
    if category != Category::Edit && category != Category::Write {
        return category;
    }
    match input.get("command").str() {
        Some("view" | "read") => Category::Read,
        Some("create" | "write" | "Create") => Category::Write,
        Some("str_replace" | "strReplace" | "insert" | "append" | "undo_edit") => Category::Edit,
        _ => category,
    }
}

/// The command line of a shell tool: one text, several, or a list of arguments.
pub fn command<'a>(input: &'a Json<'a>) -> Cow<'a, str> {
    if let Some(text) = input.first(&["command", "cmd", "CommandLine", "script"]) {
        return Cow::Borrowed(text);
    }
    let words: Vec<&str> = input.get("command").items().iter().filter_map(Json::str).collect();
    if !words.is_empty() {
        return Cow::Owned(crate::shared::shell::from_args(&words));
    }
    let several = input.get("commands").items().iter();
    let lines = several.map(|one| one.str().map_or_else(|| command(one), Cow::Borrowed));
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

fn target_of<'a>(input: &'a Json<'a>) -> &'a str {
    let nested = || {
        let list = ["files", "paths", "operations"].iter().find_map(|key| input.get(key).items().first())?;
        list.str().or_else(|| list.first(PATHS))
    };
    let any = || input.fields().iter().find_map(|(_, value)| value.str());
    input.first(PATHS).or_else(nested).or_else(|| input.first(TARGETS)).or_else(any).unwrap_or_default()
}

fn edits(category: &Category, input: &Json<'_>) -> Vec<Edit> {
    match category {
        Category::Shell => {
            let command = command(input);
            patch::in_command(&command).map(patch::parse).unwrap_or_default()
        }
        Category::Write | Category::Edit => changes(category, input),
        _ => Vec::new(),
    }
}

fn changes(category: &Category, input: &Json<'_>) -> Vec<Edit> {
    let whole =
        input.str().or_else(|| input.first(&["patchText", "patch", "input", "diff"])).unwrap_or_default();
    if whole.contains("*** Begin Patch") {
        return patch::parse(whole);
    }
    let Some(path) = input.first(PATHS) else { return several_files(input) };
    let parts =
        ["edits", "replacements"].iter().map(|key| input.get(key).items()).find(|list| !list.is_empty());
    if let Some(parts) = parts {
        let bodies: Vec<String> = parts.iter().filter_map(|part| replaced(path, part)?.diff).collect();
        return vec![Edit::with_diff(path, Change::Modified, &bodies.join("\n"))];
    }
    if let Some(edit) = replaced(path, input) {
        return vec![edit];
    }
    if !whole.is_empty() {
        return vec![from_diff(path, whole)];
    }
    let content = input.first(CONTENT).or_else(|| input.first(NEW));
    match (category, content) {
        (_, Some(content)) => vec![Edit::written(path, Change::Modified, content)],
        _ => vec![Edit::bare(path, Change::Modified)],
    }
}

/// Some tools change several files by one call, each with its path.
fn several_files(input: &Json<'_>) -> Vec<Edit> {
    let lists = ["edits", "files", "changes"].iter().map(|key| input.get(key).items());
    let parts = lists.flatten().filter_map(|part| {
        let path = part.first(PATHS)?;
        Some(replaced(path, part).unwrap_or_else(|| match part.first(&["diff", "patch"]) {
            Some(diff) => from_diff(path, diff),
            None => part.first(CONTENT).map_or(Edit::bare(path, Change::Modified), |content| {
                Edit::written(path, Change::Modified, content)
            }),
        }))
    });
    parts.collect()
}

fn replaced(path: &str, part: &Json<'_>) -> Option<Edit> {
    let old = part.first(OLD)?;
    Some(Edit::replaced(path, old, part.first(NEW).unwrap_or_default()))
}

/// A change given as unified diff or as SEARCH/REPLACE blocks.
pub fn from_diff(path: &str, text: &str) -> Edit {
    let blocks = search_replace(text);
    if blocks.is_empty() {
        return Edit::with_diff(path, Change::Modified, hunks(text));
    }
    let bodies: Vec<String> =
        blocks.iter().filter_map(|(old, new)| Edit::replaced(path, old, new).diff).collect();
    Edit::with_diff(path, Change::Modified, &bodies.join("\n"))
}

/// The hunks of a unified diff, without what names the file.
pub fn hunks(diff: &str) -> &str {
    let at = if diff.starts_with("@@") { Some(0) } else { diff.find("\n@@").map(|at| at + 1) };
    at.map_or(diff, |at| &diff[at..])
}

/// The old and new text of SEARCH/REPLACE blocks, in the marks of every tool.
pub fn search_replace(text: &str) -> Vec<(String, String)> {
    #[derive(PartialEq)]
    enum In {
        Nothing,
        Old,
        New,
    }
    let (mut blocks, mut state) = (Vec::new(), In::Nothing);
    let (mut old, mut new) = (String::new(), String::new());
    for line in text.lines() {
        let mark = line.trim_end();
        let begins = (mark.starts_with("<<<<<<<") || mark.starts_with("-------")) && mark.contains("SEARCH");
        let ends = (mark.starts_with(">>>>>>>") || mark.starts_with("+++++++")) && mark.contains("REPLACE");
        match state {
            In::Nothing if begins => state = In::Old,
            In::Old if mark == "=======" => state = In::New,
            In::New if ends => {
                blocks.push((std::mem::take(&mut old), std::mem::take(&mut new)));
                state = In::Nothing;
            }
            In::Old
                if !(mark.starts_with(":start_line:")
                    || mark.starts_with(":end_line:")
                    || mark == "-------") =>
            {
                old.push_str(line);
                old.push('\n');
            }
            In::New => {
                new.push_str(line);
                new.push('\n');
            }
            In::Nothing | In::Old => {}
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(name: &str, input: &str) -> (String, String, Vec<(String, Option<String>)>) {
        let json = Json::parse(input).expect("valid");
        let call = call("c", name, &json);
        let edits = call.edits.into_iter().map(|edit| (edit.path, edit.diff)).collect();
        (call.category.name(), call.target.into_owned(), edits)
    }

    #[test]
    fn a_change_is_read_in_the_words_of_every_tool() {
        let wanted = vec![("a.py".to_owned(), Some("-x\n+y".to_owned()))];
        for (name, input) in [
            ("edit", r#"{"filePath":"a.py","oldString":"x","newString":"y"}"#),
            ("edit_file", r#"{"path":"a.py","old_str":"x","new_str":"y"}"#),
            ("multiedit", r#"{"file_path":"a.py","edits":[{"old_string":"x","new_string":"y"}]}"#),
            ("replace_in_file", r#"{"path":"a.py","diff":"<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE"}"#),
            (
                "apply_diff",
                r#"{"path":"a.py","diff":"<<<<<<< SEARCH\n:start_line:1\n-------\nx\n=======\ny\n>>>>>>> REPLACE"}"#,
            ),
            ("text_editor", r#"{"command":"str_replace","path":"a.py","old_str":"x","new_str":"y"}"#),
        ] {
            assert_eq!(told(name, input), ("edit".to_owned(), "a.py".to_owned(), wanted.clone()), "{name}");
        }
    }

    #[test]
    fn a_tool_with_several_commands_is_what_its_command_says() {
        assert_eq!(told("text_editor", r#"{"command":"view","path":"a"}"#).0, "read");
        assert_eq!(told("fs_write", r#"{"command":"create","path":"a","file_text":"t"}"#).0, "write");
        assert_eq!(told("run_commands", r#"{"commands":["ls","make test"]}"#).1, "ls\nmake test");
        assert_eq!(told("read_files", r#"{"files":[{"path":"a.rs"}]}"#).1, "a.rs");
        assert_eq!(told("grep", r#"{"path":"src","pattern":"x+"}"#).1, "x+");
    }
}
