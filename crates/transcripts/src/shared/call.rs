//! Tool calls in the words that most tools share: a name, and arguments with a path, a command or a text in them. What a
//! call works on, which files it changes, and which plan it sets.

use std::borrow::Cow;

use crate::event::{Call, Category, Change, Edit, PlanItem};
use crate::shared::emit::EventEmitter;
use crate::shared::json::{Json, join};
use crate::shared::{patch, plan, replaced, shell, tool};

const PATHS: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "target_file",
    "targetFile",
    "relativeWorkspacePath",
    "relative_workspace_path",
    "absolute_path",
    "absolutePath",
    "AbsolutePath",
    "TargetFile",
    "filepath",
    "filename",
    "fileName",
    "notebook_path",
    "file",
];
const COMMANDS: &[&str] = &["command", "cmd", "CommandLine", "command_line", "script"];
const PATTERNS: &[&str] = &[
    "pattern",
    "query",
    "regex",
    "glob",
    "Query",
    "search_query",
    "Pattern",
    "glob_pattern",
    "globPattern",
    "SearchPath",
    "SearchDirectory",
];
/// What else may say what a call works on, the most telling first.
const OTHERS: &[&str] = &[
    "url",
    "Url",
    "query",
    "description",
    "prompt",
    "question",
    "task",
    "intent",
    "subject",
    "message",
    "title",
    "pattern",
    "directory",
    "DirectoryPath",
    "dir_path",
    "skill",
    "fact",
    "name",
];
const OLD: &[&str] = &[
    "old_string",
    "oldString",
    "old_str",
    "oldStr",
    "old_text",
    "oldText",
    "old",
    "TargetContent",
    "search",
];
const NEW: &[&str] = &[
    "new_string",
    "newString",
    "new_str",
    "newStr",
    "new_text",
    "newText",
    "new",
    "ReplacementContent",
    "replace",
];
const CONTENTS: &[&str] = &[
    "content",
    "file_text",
    "fileText",
    "contents",
    "CodeContent",
    "text",
    "new_source",
    "code_edit",
    "new_content",
];
/// Several changes of one file.
const PARTS: &[&str] = &["edits", "edit", "replacements", "ReplacementChunks", "changes"];
/// Several files in one call.
const FILES: &[&str] = &["edits", "files", "changes"];
const FIRST_LINES: &[&str] = &["offset", "start_line", "startLine", "StartLine", "line_start"];
const LAST_LINES: &[&str] = &["end_line", "endLine", "EndLine", "line_end"];
const PLANS: &[&str] = &[
    "todos",
    "items",
    "plan",
    "entries",
    "todo_list",
    "todoList",
    "task_list",
    "checklist",
    "tasks",
    "content",
];

/// A call of a tool by its name and arguments.
pub(crate) fn call<'a>(id: &'a str, name: &'a str, args: &'a Json<'a>) -> Call<'a> {
    let category = category(name, args);
    let edits = edits(&category, name, args);
    // A command that applies a patch and does nothing else is an edit.
    let command = if category == Category::Shell { command(args) } else { Cow::Borrowed("") };
    let is_patch = !edits.is_empty() && patch::is_whole(&command);
    let category = if category == Category::Shell && is_patch { Category::Edit } else { category };
    let target = match category {
        Category::Edit | Category::Write if !edits.is_empty() => {
            let paths: Vec<&str> = edits.iter().map(|edit| edit.path.as_str()).collect();
            Cow::Owned(paths.join(", "))
        }
        Category::Shell if !command.is_empty() => command,
        _ => target(&category, args),
    };
    let lines = if category == Category::Read { lines(args) } else { None };
    let proposal = proposal(name, args);
    Call { id: Cow::Borrowed(id), name: Cow::Borrowed(name), category, target, lines, edits, proposal }
}

/// The plan in prose that a call puts before the user, if it is one of the tools that do.
pub(crate) fn proposal<'a>(name: &str, args: &'a Json<'a>) -> Option<Cow<'a, str>> {
    let proposes = matches!(name, "ExitPlanMode" | "exit_plan_mode" | "ExitSpecMode");
    proposes.then(|| Cow::Borrowed(args.get("plan").str().unwrap_or_default()))
}

/// The lines that a call reads, as `120-180`; nothing where it reads all of a file.
pub(crate) fn lines(args: &Json<'_>) -> Option<String> {
    let number = |keys: &[&str]| keys.iter().find_map(|key| args.get(key).int()).filter(|n| *n >= 0);
    let first = number(FIRST_LINES).filter(|first| *first > 1);
    let last = number(LAST_LINES).filter(|last| *last > 0);
    let last = last.or_else(|| Some(first.unwrap_or(1) + number(&["limit"]).filter(|n| *n > 0)? - 1));
    match (first, last) {
        (None, None) => None,
        (Some(first), None) => Some(format!("{first}-")),
        (first, Some(last)) => Some(format!("{}-{last}", first.unwrap_or(1))),
    }
}

/// The plan that a call sets, if it is one of a plan tool.
pub(crate) fn plan(name: &str, args: &Json<'_>) -> Option<Vec<PlanItem>> {
    let sets = tool::category(name) == Category::Task;
    sets.then(|| PLANS.iter().find_map(|key| plan::of(args.get(key)))).flatten()
}

/// Some tools do several kinds of work, distinguished by a `command` beside the path.
fn category(name: &str, args: &Json<'_>) -> Category {
    let category = tool::category(name);
    if category != Category::Edit && category != Category::Write {
        return category;
    }
    match args.get("command").str() {
        Some("view" | "read") => Category::Read,
        Some("create" | "write" | "Create") => Category::Write,
        Some("str_replace" | "strReplace" | "insert" | "append" | "undo_edit") => Category::Edit,
        _ => category,
    }
}

/// The command line of a shell tool: one text, several, or a list of arguments.
pub(crate) fn command<'a>(args: &'a Json<'a>) -> Cow<'a, str> {
    if let Some(text) = args.first(COMMANDS) {
        return Cow::Borrowed(text);
    }
    let words: Vec<&str> = args.get("command").items().iter().filter_map(Json::str).collect();
    if !words.is_empty() {
        return Cow::Owned(shell::from_args(&words));
    }
    let several = args.get("commands").items().iter();
    let lines = several.map(|one| one.str().map_or_else(|| command(one), Cow::Borrowed));
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

fn target<'a>(category: &Category, args: &'a Json<'a>) -> Cow<'a, str> {
    // A search is labelled by its pattern, not by the folder.
    let pattern = || args.first(PATTERNS).filter(|_| *category == Category::Search);
    if let Some(found) = pattern().or_else(|| args.first(PATHS)) {
        return Cow::Borrowed(found);
    }
    let lists = ["files", "paths", "file_paths", "operations"].iter().map(|key| args.get(key).items());
    let several: Vec<&str> =
        lists.flatten().filter_map(|one| one.str().or_else(|| one.first(PATHS))).collect();
    if !several.is_empty() {
        return join(several.into_iter());
    }
    let question = || args.get("questions").items().first().and_then(|first| first.get("question").str());
    let any = || args.fields().iter().find_map(|(_, value)| value.str());
    let found = args.first(OTHERS).or_else(question).or_else(any).or(args.str());
    Cow::Borrowed(found.unwrap_or_default())
}

/// The files that a call changes.
fn edits(category: &Category, name: &str, args: &Json<'_>) -> Vec<Edit> {
    match category {
        Category::Shell => patch::in_command(&command(args)).map(patch::parse).unwrap_or_default(),
        Category::Edit | Category::Write => changes(name, args),
        _ => Vec::new(),
    }
}

fn changes(name: &str, args: &Json<'_>) -> Vec<Edit> {
    let whole =
        args.first(&["patchText", "patch", "input", "diff", "command"]).or(args.str()).unwrap_or_default();
    if whole.contains("*** Begin Patch") {
        return patch::parse(whole);
    }
    match args.first(PATHS) {
        Some(path) => vec![change(name, path, args)],
        None => several_files(args),
    }
}

fn change(name: &str, path: &str, args: &Json<'_>) -> Edit {
    let name = name.to_ascii_lowercase();
    if name.contains("delete") {
        return Edit::bare(path, Change::Deleted);
    }
    let several: Vec<&Json<'_>> = PARTS.iter().flat_map(|key| args.get(key).items()).collect();
    let parts = if several.is_empty() { vec![args.get("edit"), args] } else { several };
    let bodies: Vec<String> = parts.into_iter().filter_map(|part| replaced(path, part)?.diff).collect();
    if !bodies.is_empty() {
        return Edit::with_diff(path, Change::Modified, &bodies.join("\n"));
    }
    if let Some(diff) = args.first(&["patchText", "patch", "input", "diff"]) {
        return replaced::from_diff(path, diff);
    }
    // Other tools, also such as `create_file`, write new files and over old ones.
    let change = if name == "create" { Change::Created } else { Change::Modified };
    match args.first(CONTENTS).or_else(|| args.first(NEW)) {
        Some(content) => Edit::new_text(path, change, content),
        None => Edit::bare(path, Change::Modified),
    }
}

/// Some tools change several files by one call, each with its path.
fn several_files(args: &Json<'_>) -> Vec<Edit> {
    let lists = FILES.iter().map(|key| args.get(key).items());
    let parts = lists.flatten().filter_map(|part| {
        let path = part.first(PATHS)?;
        Some(replaced(path, part).unwrap_or_else(|| match part.first(&["diff", "patch"]) {
            Some(diff) => replaced::from_diff(path, diff),
            None => part.first(CONTENTS).map_or(Edit::bare(path, Change::Modified), |content| {
                Edit::new_text(path, Change::Modified, content)
            }),
        }))
    });
    parts.collect()
}

fn replaced(path: &str, part: &Json<'_>) -> Option<Edit> {
    let (old, new) = (part.first(OLD), part.first(NEW));
    (old.is_some() || new.is_some())
        .then(|| Edit::replaced(path, old.unwrap_or_default(), new.unwrap_or_default()))
}

/// Gives out the calls of a message in the shape of OpenAI's API: a function with its arguments as JSON in a text, in some tools as an
/// object.
pub(crate) fn function_calls(emitter: &mut EventEmitter<'_>, calls: &Json<'_>) {
    for one in calls.items() {
        let (function, id) = (one.get("function"), one.get("id").str().unwrap_or_default());
        let raw = function.get("arguments");
        let parsed = raw.str().and_then(|text| Json::parse(text).ok());
        let args = parsed.as_ref().unwrap_or(raw);
        let name = function.get("name").str().unwrap_or_default();
        emitter.call(call(id, name, args));
        emitter.plan(plan(name, args));
    }
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

    fn result_text(name: &str, input: &str) -> (String, String, Vec<(String, Option<String>)>) {
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
            assert_eq!(
                result_text(name, input),
                ("edit".to_owned(), "a.py".to_owned(), wanted.clone()),
                "{name}"
            );
        }
    }

    #[test]
    fn a_tool_with_several_commands_is_what_its_command_says() {
        assert_eq!(result_text("text_editor", r#"{"command":"view","path":"a"}"#).0, "read");
        assert_eq!(result_text("fs_write", r#"{"command":"create","path":"a","file_text":"t"}"#).0, "write");
        assert_eq!(result_text("run_commands", r#"{"commands":["ls","make test"]}"#).1, "ls\nmake test");
        assert_eq!(result_text("read_files", r#"{"files":[{"path":"a.rs"}]}"#).1, "a.rs");
        assert_eq!(result_text("grep", r#"{"path":"src","pattern":"x+"}"#).1, "x+");
    }
}
