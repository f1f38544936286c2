//! Tool calls of the agents whose tools are named and fed alike: what they work on and which files they change.

use std::borrow::Cow;

use crate::event::{Call, Category, Change, Edit, PlanItem};
use crate::shared::json::{Json, join};
use crate::shared::{patch, plan, shell, tool};

const PATHS: &[&str] = &[
    "file_path",
    "path",
    "filePath",
    "target_file",
    "targetFile",
    "absolute_path",
    "AbsolutePath",
    "TargetFile",
    "notebook_path",
    "fileName",
    "file",
];
const COMMANDS: &[&str] = &["command", "cmd", "CommandLine", "command_line", "script"];
const PATTERNS: &[&str] = &[
    "pattern",
    "query",
    "Query",
    "search_query",
    "Pattern",
    "glob_pattern",
    "globPattern",
    "SearchPath",
    "SearchDirectory",
];
const OTHERS: &[&str] = &[
    "url",
    "Url",
    "query",
    "description",
    "prompt",
    "question",
    "intent",
    "subject",
    "message",
    "pattern",
    "DirectoryPath",
    "dir_path",
    "skill",
    "fact",
    "name",
];
/// Text replaced and text put in its place.
const REPLACED: &[(&str, &str)] = &[
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("oldText", "newText"),
    ("oldString", "newString"),
    ("old", "new"),
    ("TargetContent", "ReplacementContent"),
];
const CONTENTS: &[&str] = &["content", "file_text", "contents", "CodeContent", "text", "new_source"];
const LISTS: &[&str] = &["todos", "items", "plan", "entries", "todo_list"];

/// A call of a tool by its name and arguments.
pub fn call<'a>(id: &'a str, name: &'a str, args: &'a Json<'a>) -> Call<'a> {
    let category = tool::category(name);
    let edits = edits(&category, name, args);
    let target = match category {
        Category::Edit | Category::Write if !edits.is_empty() => {
            let paths: Vec<&str> = edits.iter().map(|edit| edit.path.as_str()).collect();
            Some(Cow::Owned(paths.join(", ")))
        }
        _ => target(&category, args),
    };
    Call {
        id: Cow::Borrowed(id),
        name: Cow::Borrowed(name),
        category,
        target: target.unwrap_or_default(),
        edits,
    }
}

fn target<'a>(category: &Category, args: &'a Json<'a>) -> Option<Cow<'a, str>> {
    let keys = match category {
        Category::Shell => COMMANDS,
        // A search is told by its pattern, not by the folder that it looks through.
        Category::Search => PATTERNS,
        _ => PATHS,
    };
    let words: Vec<&str> = args.get("command").items().iter().filter_map(Json::str).collect();
    if *category == Category::Shell && !words.is_empty() {
        return Some(Cow::Owned(shell::from_args(&words)));
    }
    if let Some(paths) =
        ["paths", "file_paths"].iter().map(|key| args.get(key).items()).find(|list| !list.is_empty())
    {
        return Some(join(paths.iter().filter_map(Json::str)));
    }
    let question = || args.get("questions").items().first().and_then(|first| first.get("question").str());
    let first = || args.fields().iter().find_map(|(_, value)| value.str());
    let found = args.first(keys).or_else(|| args.first(PATHS)).or_else(|| args.first(OTHERS));
    found.or_else(question).or_else(first).or(args.str()).map(Cow::Borrowed)
}

/// The files that a call changes.
fn edits(category: &Category, name: &str, args: &Json<'_>) -> Vec<Edit> {
    if !matches!(category, Category::Edit | Category::Write | Category::Shell) {
        return Vec::new();
    }
    let text = args.first(&["input", "patch", "command", "diff"]).or(args.str()).unwrap_or_default();
    let patch = if *category == Category::Shell { patch::in_command(text) } else { Some(text) };
    if let Some(patch) = patch.filter(|patch| patch.contains("*** Begin Patch")) {
        return patch::parse(patch);
    }
    let Some(path) = args.first(PATHS).filter(|_| *category != Category::Shell) else { return Vec::new() };
    vec![change(name, path, args)]
}

fn change(name: &str, path: &str, args: &Json<'_>) -> Edit {
    if name.to_ascii_lowercase().contains("delete") {
        return Edit::bare(path, Change::Deleted);
    }
    let lists = ["edits", "edit", "ReplacementChunks", "replacements", "changes"];
    let several: Vec<&Json<'_>> = lists.iter().flat_map(|key| args.get(key).items()).collect();
    let parts = if several.is_empty() { vec![args.get("edit"), args] } else { several };
    let bodies: Vec<String> = parts.into_iter().filter_map(|part| replaced(path, part)?.diff).collect();
    if !bodies.is_empty() {
        return Edit::with_diff(path, Change::Modified, &bodies.join("\n"));
    }
    match args.first(CONTENTS) {
        Some(content) if name.to_ascii_lowercase().starts_with("create") => {
            Edit::written(path, Change::Created, content)
        }
        // Other tools write new files and over old ones.
        Some(content) => Edit::written(path, Change::Modified, content),
        None => Edit::bare(path, Change::Modified),
    }
}

fn replaced(path: &str, part: &Json<'_>) -> Option<Edit> {
    let (old, new) =
        REPLACED.iter().find(|(old, new)| !part.get(old).is_null() || !part.get(new).is_null())?;
    let text = |key| part.get(key).str().unwrap_or_default();
    Some(Edit::replaced(path, text(old), text(new)))
}

/// The plan that a call sets, if it is one of a plan tool.
pub fn plan(name: &str, args: &Json<'_>) -> Option<Vec<PlanItem>> {
    const TOOLS: &[&str] = &[
        "todowrite",
        "todo_write",
        "write_todos",
        "todolist",
        "settodolist",
        "set_todo_list",
        "update_todo",
        "update_todos",
        "update_plan",
        "todo",
    ];
    let known = TOOLS.contains(&name.to_ascii_lowercase().as_str());
    known.then(|| LISTS.iter().find_map(|key| plan::of(args.get(key)))).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, args: &str, target: &str, diff: Option<&str>) {
        let args = Json::parse(args).expect("valid");
        let call = call("c", name, &args);
        assert_eq!(call.target, target, "{name}");
        assert_eq!(call.edits.first().and_then(|edit| edit.diff.as_deref()), diff, "{name}");
    }

    #[test]
    fn changes_are_read_in_the_words_of_every_tool() {
        let both = Some("-a\n+b");
        check("replace", r#"{"file_path":"x","old_string":"a","new_string":"b"}"#, "x", both);
        check("edit", r#"{"path":"x","old_str":"a","new_str":"b"}"#, "x", both);
        check("edit", r#"{"path":"x","edits":[{"oldText":"a","newText":"b"}]}"#, "x", both);
        check("StrReplaceFile", r#"{"path":"x","edit":{"old":"a","new":"b"}}"#, "x", both);
        check("WriteFile", r#"{"path":"x","content":"b"}"#, "x", Some("+b"));
        check("write_to_file", r#"{"TargetFile":"x","CodeContent":"b"}"#, "x", Some("+b"));
        check(
            "ApplyPatch",
            r#"{"input":"*** Begin Patch\n*** Update File: x\n@@\n-a\n+b\n*** End Patch"}"#,
            "x",
            Some("@@\n-a\n+b"),
        );
    }

    #[test]
    fn calls_are_named_by_what_they_work_on() {
        check("Bash", r#"{"description":"run","command":"npm test"}"#, "npm test", None);
        check("Shell", r#"{"command":["bash","-lc","ls"]}"#, "ls", None);
        check("grep_search", r#"{"path":"src","pattern":"fn main"}"#, "fn main", None);
        check("read_file", r#"{"limit":1,"file_path":"x"}"#, "x", None);
        check("read_many_files", r#"{"paths":["a","b"]}"#, "a\nb", None);
        check("Frobnicate", r#"{"n":1,"what":"it"}"#, "it", None);
    }
}
