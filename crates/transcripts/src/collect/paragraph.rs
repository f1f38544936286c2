//! The summary in a few sentences.

use baton_packet::packet::Packet;

use super::Collector;
use crate::shared::plan::{CALLED_COMPLETE, SKIPPED};
use crate::shared::words::{is_item, one_line, unmarked};

/// How far the last request has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestProgress {
    /// Nothing was done about it.
    Untouched,
    /// The agent was at work on it.
    Begun,
    /// The agent said something about it.
    Answered,
}

impl RequestProgress {
    /// Derives it from the events.
    pub(super) fn of(all: &Collector<'_>) -> Self {
        match (all.answered, all.replied) {
            (_, true) => Self::Answered,
            (true, false) => Self::Begun,
            // Work on it had begun before the user said to go on.
            (false, false) if all.go_on.is_some() => Self::Begun,
            (false, false) => Self::Untouched,
        }
    }
}

/// What was asked and where it stands, in a few sentences.
pub(super) fn summary_paragraph(packet: &Packet, standing: RequestProgress) -> String {
    let mut parts = Vec::new();
    let requests = packet.requests.clone().unwrap_or_default();
    let (first, last) = (&requests.first, &requests.last);
    match first {
        Some(first) => {
            parts.push(format!("The user asked: “{}”.", one_line(&first.text, 160).trim_end_matches('.')))
        }
        None => parts.push("The transcript holds no request of a user.".to_owned()),
    }
    if let Some(last) = last.as_ref().filter(|last| first.as_ref().is_some_and(|first| first.at != last.at)) {
        let unanswered = match standing {
            RequestProgress::Answered => "",
            RequestProgress::Begun => ", on which work had begun; it is not answered yet",
            RequestProgress::Untouched => ", which is not answered yet",
        };
        parts.push(format!("The last request was: “{}”{unanswered}.", one_line(&last.text, 120)));
    } else if first.is_some() && standing != RequestProgress::Answered {
        let begun = if standing == RequestProgress::Begun { "Work on it had begun. " } else { "" };
        parts.push(format!("{begun}It is not answered yet."));
    }
    let files: Vec<&str> = packet.files_modified.iter().map(|file| file.path.as_str()).collect();
    if !files.is_empty() {
        let more = if files.len() > 3 { format!(" and {} more", files.len() - 3) } else { String::new() };
        parts.push(format!("Files changed: {}{more}.", files[..files.len().min(3)].join(", ")));
    }
    if let (Some(command), Some(status)) = (&packet.test_command, &packet.test_status) {
        parts.push(format!("Tests (`{}`): {status}.", one_line(command, 100)));
    }
    if let Some(failure) =
        packet.last_failure.as_ref().filter(|one| Some(&one.command) != packet.test_command.as_ref())
    {
        let code = failure.exit_code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
        parts.push(format!("Last failure: `{}`{code}.", one_line(&failure.command, 120)));
    }
    let open = packet
        .pending_tasks
        .iter()
        .filter(|task| !matches!(task.status.as_str(), "completed" | SKIPPED | CALLED_COMPLETE))
        .count();
    if open > 0 {
        parts.push(format!("Plan: {open} of {} items open.", packet.pending_tasks.len()));
    }
    if let Some(answer) = &packet.last_answer {
        parts.push(format!("The agent said last: “{}”", one_line(&gist(&answer.text), 160)));
    }
    parts.join(" ")
}

/// What an answer says, on one line: without blocks of code, its list items one after the other.
fn gist(text: &str) -> String {
    let mut line = String::new();
    let (mut fence, mut in_list) = (None, false);
    for one in text.lines().map(str::trim) {
        let mark = ["```", "~~~"].into_iter().find(|mark| one.starts_with(mark));
        if let Some(mark) = mark.filter(|mark| fence.is_none_or(|open| open == *mark)) {
            fence = if fence.is_some() { None } else { Some(mark) };
            continue;
        }
        if fence.is_some() || one.is_empty() {
            continue;
        }
        let item = is_item(one);
        if !line.is_empty() {
            line.push_str(if item && in_list { "; " } else { " " });
        }
        line.push_str(if item { unmarked(one) } else { one });
        in_list = item;
    }
    // An answer that is nothing but code is kept as it is.
    if line.is_empty() { text.replace("```", " ").replace("~~~", " ") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gist_of_an_answer_has_no_code_and_no_list_marks() {
        assert_eq!(
            gist("Fixed. Next steps:\n\n- docs\n- tag\n\nShall I?"),
            "Fixed. Next steps: docs; tag Shall I?"
        );
        assert_eq!(gist("Run this:\n```bash\nmake docs\n```\nThen stop."), "Run this: Then stop.");
        assert_eq!(gist("```python\nnever closed"), " python\nnever closed");
    }
}
