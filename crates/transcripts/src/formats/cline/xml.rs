//! Tags in text: tool calls of older versions, the user's words among what was added to them.

use std::borrow::Cow;

use crate::shared::json::Json;

/// A tool's name and its fields.
pub(super) type Tagged<'t> = (&'t str, Vec<(Cow<'t, str>, Json<'t>)>);

const TOOLS: &[&str] = &[
    "execute_command",
    "read_file",
    "write_to_file",
    "replace_in_file",
    "apply_diff",
    "insert_content",
    "search_and_replace",
    "edit_file",
    "search_files",
    "list_files",
    "list_code_definition_names",
    "codebase_search",
    "browser_action",
    "use_mcp_tool",
    "access_mcp_resource",
    "ask_followup_question",
    "attempt_completion",
    "plan_mode_respond",
    "update_todo_list",
    "new_task",
    "switch_mode",
    "fetch_instructions",
    "web_fetch",
    "focus_chain",
];
/// Tags around the user's own words.
const OWN: &[&str] = &["task", "user_message", "feedback", "answer", "user_input", "new_task"];

/// What the agent says in a text, and the tools that it calls in it.
pub(super) fn split(text: &str) -> (String, Vec<Tagged<'_>>) {
    let (mut prose, mut tools) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some((at, name)) = first_tool(rest) {
        let body_at = at + name.len() + 2;
        let close = format!("</{name}>");
        // The content of a file may hold the closing tag: the last one counts.
        let end = rest[body_at..].rfind(&close).map_or(rest.len(), |end| body_at + end);
        prose.push_str(&rest[..at]);
        tools.push((name, fields(&rest[body_at..end])));
        rest = rest.get(end + close.len()..).unwrap_or_default();
    }
    prose.push_str(rest);
    (without(&prose, "thinking").trim().to_owned(), tools)
}

/// Where the first tool call begins. A tag in the middle of a line is talk about a tool.
fn first_tool(text: &str) -> Option<(usize, &'static str)> {
    let starts = |name: &&'static str| {
        let tag = format!("<{name}>");
        let line_start = |at: usize| {
            text[..at].trim_end_matches([' ', '\t']).ends_with('\n') || text[..at].trim().is_empty()
        };
        let at = text.match_indices(&tag).map(|(at, _)| at).find(|at| line_start(*at))?;
        Some((at, *name))
    };
    TOOLS.iter().filter_map(starts).min()
}

/// The fields of a call; what holds other tags is kept as it is.
fn fields(body: &str) -> Vec<(Cow<'_, str>, Json<'_>)> {
    let mut fields = Vec::new();
    let mut rest = body;
    while let Some(open) = rest.find('<') {
        let Some((name, inner)) = rest[open + 1..].split_once('>') else { break };
        let close = format!("</{name}>");
        // Only a field that nothing of its kind follows may hold its own closing tag.
        let last = matches!(name, "content" | "diff");
        let end = if last { inner.rfind(&close) } else { inner.find(&close) };
        let is_name = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        let Some(end) = end.filter(|_| is_name) else {
            rest = &rest[open + 1..];
            continue;
        };
        let value = inner[..end].trim_matches('\n');
        // Newer versions put the path into `args` or `file`.
        if matches!(name, "args" | "file") {
            fields.extend(self::fields(value));
        } else {
            fields.push((Cow::Borrowed(name), Json::Str(Cow::Borrowed(value))));
        }
        rest = &inner[end + close.len()..];
    }
    fields
}

/// The user's own words in a text that was sent to the model. `plain` when a text without tags is all his.
pub(super) fn user_texts(text: &str, plain: bool) -> Vec<String> {
    let text = without(text, "environment_details");
    let tagged: Vec<String> = OWN.iter().flat_map(|tag| inside(&text, tag)).collect();
    let whole = text.trim();
    if !tagged.is_empty() || !plain {
        return tagged;
    }
    let added = whole.starts_with('<') && whole.ends_with('>');
    let own = !whole.is_empty() && !added && !is_result(whole) && !is_notice(whole);
    own.then(|| whole.to_owned()).into_iter().collect()
}

/// A result without the line that says of which call.
pub(super) fn result_body(text: &str) -> &str {
    let text = text.trim_start();
    match text.split_once("] Result:") {
        Some((head, body)) if is_result(text) && !head.contains('\n') => body.trim_start(),
        _ => text,
    }
}

/// Whether a result says that the tool did not do its work.
pub(super) fn is_failure(text: &str) -> bool {
    const SIGNS: &[&str] = &[
        "The user denied this operation",
        "The tool execution failed",
        "<error>",
        "Error executing",
        "Error writing file",
        "Error applying diff",
        "\"status\":\"error\"",
        "\"status\":\"denied\"",
    ];
    let head = &text[..(0..=text.len().min(600)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)];
    SIGNS.iter().any(|sign| head.contains(sign))
}

/// The directory that the surroundings name.
pub(super) fn directory(text: &str) -> Option<&str> {
    const MARKS: &[&str] = &[
        "# Current Working Directory (",
        "# Current Workspace Directory (",
        "in the current working directory (",
    ];
    let rest = MARKS.iter().find_map(|mark| Some(&text[text.find(mark)? + mark.len()..]))?;
    rest.split([')', '\n']).next().filter(|path| !path.is_empty())
}

fn is_result(text: &str) -> bool {
    text.starts_with('[') && text.lines().next().is_some_and(|line| line.contains("] Result:"))
}

fn is_notice(text: &str) -> bool {
    const STARTS: &[&str] = &["[ERROR]", "[TASK RESUMPTION]", "[SYSTEM", "# task_progress", "[NOTE]"];
    STARTS.iter().any(|start| text.starts_with(start))
}

fn inside(text: &str, tag: &str) -> Vec<String> {
    let close = format!("</{tag}>");
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(&format!("<{tag}")) {
        let after = &rest[at + tag.len() + 1..];
        rest = after;
        let Some((attributes, body)) = after.split_once('>') else { break };
        if !(attributes.is_empty() || attributes.starts_with(' ')) {
            continue;
        }
        // What was cut off has no end.
        let end = body.find(&close).unwrap_or(body.len());
        found.extend(Some(body[..end].trim()).filter(|text| !text.is_empty()).map(str::to_owned));
        rest = &body[end..];
    }
    found
}

fn without(text: &str, tag: &str) -> String {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(&open) {
        out.push_str(before);
        rest = after.split_once(&close).map_or("", |(_, rest)| rest);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_by_tags_is_told_from_talk_about_it() {
        let text = "<thinking>hm</thinking>I'll use `<read_file>`.\n<write_to_file>\n<path>a.md</path>\n<content>\nx </content> y\n</content>\n</write_to_file>";
        let (prose, tools) = split(text);
        assert_eq!(prose, "I'll use `<read_file>`.");
        let [(name, fields)] = tools.as_slice() else { panic!("{tools:?}") };
        assert_eq!(*name, "write_to_file");
        let input = Json::Obj(fields.clone());
        assert_eq!(
            (input.get("path").str(), input.get("content").str()),
            (Some("a.md"), Some("x </content> y"))
        );
    }

    #[test]
    fn the_users_words_are_found_among_what_was_added() {
        for (text, own) in [
            ("<task>\nFix it\n</task>", vec!["Fix it"]),
            ("<user_input mode=\"act\">Fix it</user_input>", vec!["Fix it"]),
            ("<environment_details>\nfiles\n</environment_details>", vec![]),
            ("[read_file for 'a'] Result:\nx", vec![]),
            ("[ask] Result:\n<answer>\nyes\n</answer>", vec!["yes"]),
            ("just this", vec!["just this"]),
            ("<tasks>no</tasks> here", vec!["<tasks>no</tasks> here"]),
        ] {
            assert_eq!(user_texts(text, true), own, "{text}");
        }
    }
}
