//! How entries of ours are known again in a file of another tool.

use baton_tools::install::NAME;
use serde_json::Value;

/// The words of a command line, as a shell would part them, without expansions.
fn split_command(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, c) if c.is_whitespace() => words.push(String::new()),
            (_, c) => words.last_mut().into_iter().for_each(|word| word.push(c)),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn is_baton(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name == NAME || name == "baton.exe"
}

/// The words that run Baton, in whatever shape a tool keeps a command.
pub(super) fn command(value: &Value) -> Option<Vec<String>> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let found = match value.get("command").or_else(|| value.get("cmd")) {
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        // A server has its arguments beside the program, a hook is one line.
        Some(Value::String(program)) => match value.get("args").and_then(Value::as_array) {
            Some(args) => {
                let args = args.iter().filter_map(Value::as_str).map(str::to_owned);
                std::iter::once(program.clone()).chain(args).collect()
            }
            None => split_command(program),
        },
        _ => split_command(text("bash").or(text("powershell"))?),
    };
    found.first().is_some_and(|program| is_baton(program)).then_some(found)
}

/// Whether an entry is our MCP server.
pub(super) fn is_server(value: &Value) -> bool {
    command(value).is_some_and(|words| words.get(1).is_some_and(|word| word == "mcp"))
}

/// Whether an entry is a hook of ours: it runs one, or holds only such as do.
pub(super) fn is_hook(value: &Value) -> bool {
    match value.get("hooks").and_then(Value::as_array) {
        Some(inner) => !inner.is_empty() && inner.iter().all(is_hook),
        None => command(value).is_some_and(|words| words.get(1).is_some_and(|word| word == "hook")),
    }
}

/// The program that an entry of ours starts.
pub(super) fn program_of(value: &Value) -> Option<String> {
    match value.get("hooks").and_then(Value::as_array) {
        Some(inner) => inner.iter().find_map(program_of),
        None => command(value)?.into_iter().next(),
    }
}

/// Whether an entry passes every argument that `wanted` passes, in that order. Arguments that a user added are no difference.
pub(super) fn has_arguments_of(there: &Value, wanted: &Value) -> bool {
    let (there, wanted) = (first_command(there), first_command(wanted));
    let mut rest = there.iter().skip(1);
    wanted.iter().skip(1).all(|word| rest.any(|there| there == word))
}

/// The words of an entry, or of the first hook in its group.
fn first_command(value: &Value) -> Vec<String> {
    let inner = value.get("hooks").and_then(Value::as_array);
    let found = inner.map_or_else(|| command(value), |inner| inner.iter().find_map(command));
    found.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn entries_of_ours_are_known_in_every_shape() {
        assert!(is_server(
            &json!({ "command": "/opt/my tools/baton", "args": ["mcp"], "env": { "A": "1" } })
        ));
        assert!(is_server(&json!({ "type": "local", "command": ["baton", "mcp"] })));
        assert!(!is_server(&json!({ "command": "npx", "args": ["baton", "mcp"] })));
        assert!(is_hook(&json!({ "matcher": "", "hooks": [{ "command": "'/opt/my tools/baton' hook x" }] })));
        assert!(is_hook(&json!({ "type": "command", "bash": "baton hook session-end --agent copilot" })));
        assert!(!is_hook(&json!({ "hooks": [{ "command": "baton hook x" }, { "command": "mine" }] })));
        assert!(!is_hook(&json!({ "hooks": [] })) && !is_hook(&json!({ "command": "baton status" })));
        assert_eq!(program_of(&json!({ "command": "\"/a b/baton\" hook x" })).as_deref(), Some("/a b/baton"));
    }

    #[test]
    fn an_entry_of_another_version_is_told_by_its_arguments_and_not_by_what_a_user_added() {
        let wanted = json!({ "hooks": [{ "command": "/new/baton hook session-start --agent claude" }] });
        let same = |command: &str| has_arguments_of(&json!({ "command": command }), &wanted);
        assert!(same("/old/baton hook session-start --agent claude"));
        assert!(same("baton hook session-start --agent claude --store /srv/b.db"));
        assert!(!same("baton hook begin --agent claude") && !same("baton hook session-start"));
        let server = json!({ "command": "baton", "args": ["mcp"] });
        assert!(has_arguments_of(&json!({ "command": ["baton", "mcp", "--store", "x"] }), &server));
        assert!(!has_arguments_of(&json!({ "command": "baton", "args": ["serve-mcp"] }), &server));
    }
}
