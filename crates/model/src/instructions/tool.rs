//! Names of tools: `session_start`, `hd_exec`, `mcp__baton__…`, and those of the system that came before.

use super::{FindingKind, KnownNames, RawFinding, words};
use crate::suggest::suggestions;

/// How a client shows a tool of ours.
const PREFIX: &str = "mcp__baton__";

/// What the tools of the predecessor are called here.
const EQUIVALENTS: [(&str, &str); 14] = [
    ("prism_start", "session_start"),
    ("prism_wrap", "session_wrap"),
    ("prism_checkpoint", "session_checkpoint"),
    ("prism_status", "session_status"),
    ("prism_heartbeat", "session_heartbeat"),
    ("prism_handoff", "hd_exec"),
    ("prism_pickup", "hd_exec"),
    ("prism_audit", "audit_report"),
    ("prism_note", "ledger_note"),
    ("prism_remember", "ledger_note"),
    ("prism_decide", "ledger_note"),
    ("prism_signal", "signal_send"),
    ("prism_task", "task_create"),
    ("hd_preview", "hd_exec"),
];

/// Words of a line that talks about tools.
const CONTEXT: [&str; 10] =
    ["baton", "mcp", "tool", "tools", "call", "calls", "verb", "verbs", "operation", "invoke"];

/// Endings of fields, which look like tools and are none.
const FIELDS: [&str; 6] = ["_id", "_ids", "_at", "_name", "_count", "_file"];

/// Every tool that the line names and that is not there.
pub(super) fn check(line: &str, code: bool, known: &KnownNames<'_>) -> Vec<RawFinding> {
    let about_tools = words(line).any(|(word, _)| CONTEXT.contains(&word.to_lowercase().as_str()));
    let quoted = |word: &str| code || line.contains(&format!("`{word}"));
    let judge = |(word, after): (&str, Option<char>)| {
        let full = word.strip_prefix(PREFIX);
        let name = full.unwrap_or(word);
        let strange = !known.tools.contains(&name) && name.contains('_') && is_snake(name);
        let foreign = name.starts_with("prism_") || name.starts_with("hd_");
        // Looked at last: it reads the whole line once more for each word.
        let called = || after == Some('(') || (about_tools && quoted(word));
        let ours = || has_our_noun(name, known) && !FIELDS.iter().any(|end| name.ends_with(end)) && called();
        (strange && (full.is_some() || foreign || ours())).then(|| unknown(name, known))
    };
    words(line).filter_map(judge).collect()
}

fn is_snake(name: &str) -> bool {
    !name.ends_with('_') && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

fn has_our_noun(name: &str, known: &KnownNames<'_>) -> bool {
    let noun = |name: &str| name.split('_').next().unwrap_or_default().to_owned();
    known.tools.iter().any(|tool| noun(tool) == noun(name))
}

fn unknown(name: &str, known: &KnownNames<'_>) -> RawFinding {
    RawFinding {
        kind: FindingKind::UnknownTool,
        name: name.to_owned(),
        message: format!("Baton has no tool `{name}`"),
        hint: hint(name, known),
    }
}

fn hint(name: &str, known: &KnownNames<'_>) -> String {
    let verb = name.strip_prefix("prism_").or(name.strip_prefix("hd_"));
    let listed = EQUIVALENTS.iter().find(|(old, _)| *old == name).map(|(_, new)| *new);
    let same_verb =
        || verb.and_then(|verb| known.tools.iter().copied().find(|tool| tool.ends_with(&format!("_{verb}"))));
    let slip = || suggestions(name, known.tools.iter().copied()).first().copied();
    match listed.filter(|new| known.tools.contains(new)).or_else(same_verb) {
        Some(new) if name == "hd_preview" => format!("`{new}` with `dry_run` does that here"),
        Some(new) => format!("`{new}` does that here"),
        None => match slip() {
            Some(new) => format!("did you mean `{new}`?"),
            None => "nothing here does that: take it out".to_owned(),
        },
    }
}
