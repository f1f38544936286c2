//! What tools put into messages of the user: reminders, notices, what an editor shows. The user's own words are the rest.

/// Elements that a tool puts before or after the user's words, with their content.
const ELEMENTS: &[&str] = &[
    "system-reminder",
    "system_reminder",
    "system-notification",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "new-diagnostics",
    "user-prompt-submit-hook",
    "session-start-hook",
    "hook_context",
    "hook_prompt",
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "bash-stdout",
    "bash-stderr",
    "bash-exit-code",
    "teammate-message",
    "fork-boilerplate",
    "tick",
    "environment_context",
    "user_instructions",
    "user_action",
    "goal_context",
    "codex_internal_context",
    "turn_aborted",
    "subagent_notification",
    "open_and_recently_viewed_files",
    "agent_skills",
    "mcp_servers",
    "user_info",
    "git_status",
    "manually_attached_skills",
    "agent_transcripts",
];
/// Messages that begin with one of these hold no word of the user: a notice may go on behind its element.
const NOTICES: &[&str] = &["<task-notification>", "<bash-notification>", "<agent-notification>"];

/// How a hand-off document of ours begins, which a tool was started with, and how its last line does.
const DOCUMENT: &str = "# Session Handoff Context\n";
const DOCUMENT_ENDS: [&str; 2] = ["**You are continuing this session", "**You continue this session"];

/// How the line below such a document begins, which says what the session holds, and the ends that it may have.
const NOTE: &str = "This is baton ";
const NOTE_ENDS: [&str; 2] = ["`baton wrap` passes it on.", "takes it, so that nobody else does."];

/// What follows the note below a document, where there is one.
fn after_note(text: &str) -> &str {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    let line = line.trim_end();
    let is_note = line.starts_with(NOTE) && NOTE_ENDS.iter().any(|end| line.ends_with(end));
    if is_note { rest } else { text }
}

/// What stands behind a hand-off document: all of it is the user's, and nothing of the document.
fn after_document(text: &str) -> Option<&str> {
    let document = text.strip_prefix(DOCUMENT)?;
    let lines = document.match_indices("\n**").map(|(at, _)| at + 1);
    let ends = |at: &usize| DOCUMENT_ENDS.iter().any(|end| document[*at..].starts_with(end));
    let Some(last) = lines.filter(ends).last() else { return Some("") };
    let rest = document[last..].split_once('\n').map_or("", |(_, rest)| rest);
    Some(after_note(rest.trim_start()))
}

/// The user's own words of a message; empty where a tool wrote all of it.
pub(crate) fn own_words(text: &str) -> &str {
    let mut own = text.trim();
    if NOTICES.iter().any(|start| own.starts_with(start)) {
        return "";
    }
    while let Some(rest) = after_document(own).or_else(|| after_element(own)).or_else(|| before_element(own))
    {
        own = rest.trim();
    }
    // What is left is the text itself, with the white space that it had.
    if own.len() == text.trim().len() { text } else { own }
}

/// What follows the element that a text begins with; nothing where the element has no end.
fn after_element(text: &str) -> Option<&str> {
    let name = ELEMENTS.iter().find(|name| opens(text, name))?;
    let close = format!("</{name}>");
    Some(text.find(&close).map_or("", |at| &text[at + close.len()..]))
}

/// What stands before the element that a text ends with.
fn before_element(text: &str) -> Option<&str> {
    let name = ELEMENTS.iter().find(|name| {
        let body = text.strip_suffix('>').and_then(|text| text.strip_suffix(*name));
        body.is_some_and(|body| body.ends_with("</"))
    })?;
    let at = text.rfind(&format!("<{name}"))?;
    opens(&text[at..], name).then(|| &text[..at])
}

fn opens(text: &str, name: &str) -> bool {
    let rest = text.strip_prefix('<').and_then(|text| text.strip_prefix(name));
    rest.is_some_and(|rest| rest.starts_with(['>', ' ', '\n']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_user_are_what_no_tool_put_there() {
        for (text, own) in [
            ("Fix it", "Fix it"),
            (" Fix it\n", " Fix it\n"),
            ("<system-reminder>a</system-reminder>\n\nFix it", "Fix it"),
            ("Fix <system-reminder> in a.rs", "Fix <system-reminder> in a.rs"),
            ("Fix it\n<system-reminder>a</system-reminder>\n<tick>1</tick>", "Fix it"),
            ("<teammate-message teammate_id=\"x\">Do it</teammate-message>", ""),
            ("<environment_context>\n<cwd>/w</cwd>", ""),
            ("<task-notification>x</task-notification>\nFull transcript available at: /tmp/x", ""),
            ("# Session Handoff Context\n\n*Data*\n\n**You are continuing this session from claude.**\n", ""),
            (
                "# Session Handoff Context\n\n> **You continue this session x\n\n**You continue this session.**\n\nFix it",
                "Fix it",
            ),
            (
                "# Session Handoff Context\n\n**You are continuing this session from claude.**\n\nThis is baton 01a2 in project shop, which this session holds. `baton wrap` passes it on.\n",
                "",
            ),
            (
                "# Session Handoff Context\n\n**You are continuing this session from claude.**\n\nThis is baton 01a2 in project shop. `baton pickup --handoff 01a2` takes it, so that nobody else does.\n\nFix it",
                "Fix it",
            ),
            (
                "# Session Handoff Context\n\n**You are continuing this session.**\n\nThis is baton talk",
                "This is baton talk",
            ),
            ("# Session Handoff Context of old", "# Session Handoff Context of old"),
            ("<ticket>4</ticket> is mine", "<ticket>4</ticket> is mine"),
        ] {
            assert_eq!(own_words(text), own, "{text}");
        }
    }
}
