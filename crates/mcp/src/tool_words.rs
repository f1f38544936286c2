//! Refusals speak of commands and options; a model has tools and arguments.

use std::fmt::Write;

/// A command and the tool that does the same, with what its first positional argument is called.
const COMMANDS: &[(&str, &str, &str)] = &[
    ("agent list", "inbox action: agents", ""),
    ("checkpoint", "session_checkpoint", ""),
    ("end", "session_wrap action: end", "session"),
    ("handoff cancel", "handoff action: cancel", "id"),
    ("handoff complete", "handoff action: complete", "id"),
    ("handoff create", "handoff_create", ""),
    ("handoff decline", "handoff action: decline", "id"),
    ("handoff from-session", "inbox action: document", "session"),
    ("handoff list", "inbox action: handoffs", ""),
    ("handoff retry", "handoff action: retry", "id"),
    ("handoff show", "inbox action: get", "id"),
    ("hd-exec", "hd_exec", ""),
    ("import-transcript", "handoff action: import", "id"),
    ("log", "recall action: ledger", ""),
    ("mail inbox", "inbox action: mail", ""),
    ("memory search", "recall action: memories", "query"),
    ("pickup", "hd_exec", ""),
    ("project list", "inbox action: projects", ""),
    ("signal pending", "inbox action: mail", ""),
    ("start", "session_start", ""),
    ("status", "inbox action: status", ""),
    ("task blocked", "task_read action: blocked", ""),
    ("task claim", "task_write action: claim", "id"),
    ("task close", "task_write action: close", "id"),
    ("task create", "task_write action: create", ""),
    ("task list", "task_read action: list", ""),
    ("task ready --claim", "task_write action: claim", ""),
    ("task ready", "task_read action: ready", ""),
    ("task reopen", "task_write action: update status: open", "id"),
    ("task show", "task_read action: show", "id"),
    ("task update", "task_write action: update", "id"),
    ("transcripts list", "recall action: transcripts", ""),
    ("wrap", "session_wrap", ""),
];

/// Options that no tool has: what names them is for the command line.
const NO_ARGUMENT: &[&str] = &["store", "unverified", "incomplete", "max-tasks", "repo"];

/// The text with commands as calls of tools and options as arguments. Commands that no tool does stay.
pub(crate) fn in_tool_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, part) in text.split('`').enumerate() {
        let is_quoted = at % 2 == 1;
        let command = part.strip_prefix("baton ").filter(|_| is_quoted);
        match (command, command.and_then(call)) {
            (_, Some(call)) => out.push_str(&call),
            (Some(_), None) => _ = write!(out, "`{part}` on a command line"),
            (None, None) if is_quoted => _ = write!(out, "`{part}`"),
            (None, None) => out.push_str(&arguments(part)),
        }
    }
    out
}

/// The call that does what a command does.
fn call(command: &str) -> Option<String> {
    let begins =
        |name: &str| command.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with(' '));
    let (tool, positional, rest) =
        COMMANDS.iter().find_map(|(name, tool, positional)| Some((*tool, *positional, begins(name)?)))?;
    let (tool, fixed) = tool.split_once(' ').unwrap_or((tool, ""));
    let mut fields: Vec<String> = fixed.split(": ").collect::<Vec<_>>().chunks(2).filter_map(pair).collect();
    if let Some((first, second)) = fixed.split_once(" status: ") {
        fields = vec![first.to_owned(), format!("status: {second}")];
    }
    let mut tokens = rest.split_whitespace().peekable();
    while let Some(token) = tokens.next() {
        match token.strip_prefix("--") {
            Some(option) if NO_ARGUMENT.contains(&option) && !is_taken(command, option) => return None,
            Some(option) => {
                let value = tokens.next_if(|next| !next.starts_with("--"));
                fields.push(field(&argument(option), value.unwrap_or("true")));
            }
            None if !positional.is_empty() => fields.push(field(positional, token)),
            None => return None,
        }
    }
    Some(if fields.is_empty() { tool.to_owned() } else { format!("{tool} {{{}}}", fields.join(", ")) })
}

/// Whether the tool of a command takes an option that no other has.
fn is_taken(command: &str, option: &str) -> bool {
    option == "repo" && command.starts_with("handoff retry ")
}

/// A text with the commands in it that a tool does as calls of it, and all else as it is.
pub(crate) fn with_calls(text: &str) -> String {
    let part = |(at, part): (usize, &str)| {
        let command = part.strip_prefix("baton ").filter(|_| at % 2 == 1);
        command.and_then(call).map_or_else(|| (part.to_owned(), false), |call| (call, true))
    };
    let mut out = String::with_capacity(text.len());
    let mut is_bare = true;
    for (text, is_call) in text.split('`').enumerate().map(part) {
        if !(is_bare || is_call) {
            out.push('`');
        }
        out.push_str(&text);
        is_bare = is_call;
    }
    out
}

/// A line that is a command, alone or after a colon, as the call that does the same.
pub(crate) fn line_with_call(line: &str) -> String {
    let (head, command) = line.rsplit_once(": ").map_or(("", line), |(head, command)| (head, command));
    match command.strip_prefix("baton ").and_then(call) {
        Some(call) if head.is_empty() => call,
        Some(call) => format!("{head}: {call}"),
        None => line.to_owned(),
    }
}

fn pair(words: &[&str]) -> Option<String> {
    match words {
        [name, value] => Some(format!("{name}: {value}")),
        _ => None,
    }
}

/// A placeholder in capitals says only that there is a value.
fn field(name: &str, value: &str) -> String {
    let is_placeholder = value.chars().all(|c| c.is_ascii_uppercase() || c == '/');
    if is_placeholder { name.to_owned() } else { format!("{name}: {value}") }
}

fn argument(option: &str) -> String {
    match option {
        "as" => "identity".into(),
        "handoff" => "handoff_id".into(),
        other => other.replace('-', "_"),
    }
}

/// Options outside of a command, as arguments.
fn arguments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("--") {
        let (before, option) = rest.split_at(at);
        let name: String =
            option.chars().skip(2).take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
        let begins_word = before.is_empty() || before.ends_with([' ', '(']);
        if name.len() < 2 || !begins_word || NO_ARGUMENT.contains(&name.as_str()) {
            let end = at + 2;
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        out.push_str(before);
        _ = write!(out, "`{}`", argument(&name));
        rest = &option[2 + name.len()..];
        // The placeholder of its value.
        let word: String = rest.chars().skip(1).take_while(|c| c.is_ascii_uppercase() || *c == '/').collect();
        if rest.starts_with(' ') && word.len() > 1 {
            rest = &rest[1 + word.len()..];
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_tools_and_arguments_and_not_commands_and_options() {
        for (text, expected) in [
            ("give --state, --summary or both", "give `state`, `summary` or both"),
            ("say --why REASON", "say `why`"),
            ("say --to NAME or --to role:R, or --reply-to MESSAGE", "say `to` or `to` role:R, or `reply_to`"),
            ("`baton status` lists what else waits", "inbox {action: status} lists what else waits"),
            ("`baton handoff show ID` tells", "inbox {action: get, id} tells"),
            (
                "run `baton task claim shop-1 --force --why REASON`",
                "run task_write {action: claim, id: shop-1, force: true, why}",
            ),
            ("`baton task reopen shop-1`", "task_write {action: update, status: open, id: shop-1}"),
            ("run `baton doctor`", "run `baton doctor` on a command line"),
            ("import into an empty store: --store PATH", "import into an empty store: --store PATH"),
            ("`git switch --detach abc` -- so", "`git switch --detach abc` -- so"),
            ("work under another name (--as NAME), or wait", "work under another name (`identity`), or wait"),
        ] {
            assert_eq!(in_tool_words(text), expected);
        }
    }
}
