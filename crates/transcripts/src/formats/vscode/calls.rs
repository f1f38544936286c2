//! The calls of an answer as the model made them, with their arguments and results; the parts of the answer show them in other words
//! and under other ids.

use std::borrow::Cow;

use crate::shared::json::Json;

/// How results begin that say that a call failed.
const FAILURES: [&str; 3] =
    ["ERROR while calling tool", "ERROR: Your input to the tool was invalid", "The user chose to skip"];
/// Tools whose names for the model are not those of the editor in other letters.
const NAMES: &[(&str, &str)] = &[
    ("findTextInFiles", "grep_search"),
    ("searchFiles", "file_search"),
    ("findFiles", "file_search"),
    ("searchCodebase", "semantic_search"),
    ("listDirectory", "list_dir"),
    ("fetchWebPage", "fetch_webpage"),
    ("replaceString", "replace_string_in_file"),
    ("multiReplaceString", "multi_replace_string_in_file"),
    ("insertEdit", "insert_edit_into_file"),
    ("editFile", "insert_edit_into_file"),
    ("editNotebook", "edit_notebook_file"),
    ("runTests", "runTests"),
    ("runSubagent", "runSubagent"),
    ("think", "think"),
];

/// A call that the model made.
pub(super) struct ModelCall<'a> {
    /// Its id.
    pub id: &'a str,
    /// The tool, by the name that the model knows it by.
    pub name: &'a str,
    /// The arguments, as JSON in a text.
    pub arguments: &'a str,
    /// What it returned; none where nothing is kept of it.
    pub result: Option<Cow<'a, str>>,
    /// Whether a part of the answer showed it.
    pub is_shown: bool,
}

impl ModelCall<'_> {
    /// Whether its result says that it failed.
    pub(super) fn failed(&self) -> bool {
        let text = self.result.as_deref().unwrap_or_default().trim_start();
        FAILURES.iter().any(|start| text.starts_with(start))
    }
}

/// The calls of an answer, in order.
pub(super) fn of_model<'a>(metadata: &'a Json<'a>) -> Vec<ModelCall<'a>> {
    let results = metadata.get("toolCallResults");
    let rounds = metadata.get("toolCallRounds").items().iter();
    let calls = rounds.flat_map(|round| round.get("toolCalls").items());
    calls
        .filter_map(|call| {
            let (id, name) = (call.get("id").str()?, call.get("name").str()?);
            let result = results.get(id).get("content");
            Some(ModelCall {
                id,
                name,
                arguments: call.get("arguments").str().unwrap_or_default(),
                result: (!result.is_null()).then(|| text(result)),
                is_shown: false,
            })
        })
        .collect()
}

/// The text of a result: of its parts, and of the nodes of those that were written as a tree.
fn text<'a>(content: &'a Json<'a>) -> Cow<'a, str> {
    let mut all = Vec::new();
    for part in content.items() {
        match part.get("value") {
            Json::Str(text) => all.push(text.as_ref()),
            value => nodes(value.get("node"), &mut all),
        }
    }
    match all.as_slice() {
        [one] => Cow::Borrowed(one),
        _ => Cow::Owned(all.concat()),
    }
}

/// No tree is deeper than JSON may be nested.
fn nodes<'a>(node: &'a Json<'a>, all: &mut Vec<&'a str>) {
    all.extend(node.get("text").str());
    node.get("children").items().iter().for_each(|child| nodes(child, all));
}

/// The name by which the model knows a tool of the editor: `copilot_readFile` is `read_file`.
pub(super) fn model_name(tool: &str) -> Cow<'_, str> {
    let own = tool.strip_prefix("copilot_").or_else(|| tool.strip_prefix("vscode_")).unwrap_or(tool);
    let own = own.strip_suffix("_internal").unwrap_or(own);
    if let Some((_, name)) = NAMES.iter().find(|(editor, _)| *editor == own) {
        return Cow::Borrowed(name);
    }
    if !own.contains(|c: char| c.is_ascii_uppercase()) {
        return Cow::Borrowed(own);
    }
    let mut snake = String::with_capacity(own.len() + 4);
    for c in own.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    Cow::Owned(snake)
}

/// Which call of the model a part of the answer shows: the one of its id, else the first of its name that none has shown.
pub(super) fn shown_by(part: &Json<'_>, calls: &[ModelCall<'_>]) -> Option<usize> {
    let id = part.get("toolCallId").str();
    let is_same = |call: &ModelCall<'_>| {
        id.is_some_and(|id| call.id == id || call.id.split("__vscode-").next() == Some(id))
    };
    let name = model_name(part.get("toolId").str().unwrap_or_default());
    let free = |call: &ModelCall<'_>| !call.is_shown && call.name == name;
    calls.iter().position(is_same).filter(|at| !calls[*at].is_shown).or_else(|| calls.iter().position(free))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_the_editor_are_known_by_the_names_of_the_model() {
        for (tool, name) in [
            ("copilot_readFile", "read_file"),
            ("copilot_applyPatch", "apply_patch"),
            ("copilot_replaceString", "replace_string_in_file"),
            ("vscode_fetchWebPage_internal", "fetch_webpage"),
            ("run_in_terminal", "run_in_terminal"),
            ("manage_todo_list", "manage_todo_list"),
        ] {
            assert_eq!(model_name(tool), name, "{tool}");
        }
    }

    #[test]
    fn results_are_read_from_texts_and_from_trees() {
        let json = Json::parse(
            r#"[{"value":"a\n"},{"value":{"node":{"type":1,"children":[{"type":2,"text":"b"},{"children":[{"text":"c"}]}]}}}]"#,
        )
        .expect("valid");
        assert_eq!(text(&json), "a\nbc");
    }
}
