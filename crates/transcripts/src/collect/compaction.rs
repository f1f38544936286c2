//! Summaries by which a tool went on after its context was full, without what the tool itself wrote around them.

/// Lines and paragraphs that begin like this are addressed to the model by the tool.
const FRAME: &[&str] = &[
    "This session is being continued from a previous conversation",
    "The summary below covers the earlier portion of the conversation",
    "If you need specific details from before compaction",
    "Please continue the conversation from where we left it off",
    "Continue the conversation from where it left off",
    "The messages after this summary are the most recent messages",
    "The summary was written without seeing them",
    "Recent messages are preserved verbatim",
];
/// Tags around a whole summary.
const AROUND: &[&str] = &["state_snapshot", "summary", "context_summary"];
const REMINDER: (&str, &str) = ("<system-reminder>", "</system-reminder>");

/// What the summary itself says.
pub(super) fn bare(text: &str) -> String {
    let text = without_reminders(text);
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let rest = sentence_frame(line);
        let blank = rest.trim().is_empty();
        if blank && (!line.trim().is_empty() || out.ends_with("\n\n")) {
            continue;
        }
        out.push_str(rest);
        out.push('\n');
    }
    let mut bare = out.trim();
    while let Some(inside) = AROUND.iter().find_map(|tag| inside(bare, tag)) {
        bare = inside.trim();
    }
    if bare.is_empty() { text.trim().to_owned() } else { without_analysis(bare).to_owned() }
}

/// The summary behind the analysis that led to it, which only goes through the conversation.
fn without_analysis(text: &str) -> &str {
    let begins = ["Analysis:", "<analysis>"].iter().any(|mark| text.starts_with(mark));
    let summary = ["\nSummary:\n", "<summary>", "</analysis>"]
        .iter()
        .find_map(|mark| text.find(mark).map(|at| text[at + mark.len()..].trim()));
    let summary = summary.filter(|summary| begins && !summary.is_empty()).unwrap_or(text);
    summary.strip_suffix("</summary>").unwrap_or(summary).trim()
}

/// Titles of the sections that say what is to be done now: once something was done they are of the past.
const OPEN: &[&str] = &[
    "pending",
    "current work",
    "current task",
    "current state",
    "current status",
    "current plan",
    "current_plan",
    "current focus",
    "current request",
    "current question",
    "current issue",
    "current step",
    "task_state",
    "next step",
    "next action",
    "next_step",
    "remaining",
    "in progress",
    "in-progress",
    "blocked",
    "to do",
    "todo",
    "outstanding",
    "immediate",
    "what's left",
    "what is left",
];
/// Titles of the sections that hold whatever was done since, in the order of their use.
const LASTING: &[&str] = &[
    "request",
    "goal",
    "intent",
    "objective",
    "constraint",
    "preference",
    "instruction",
    "decision",
    "user message",
    "feedback",
    "error",
    "problem",
    "knowledge",
    "critical",
];
/// Titles of the sections that say where the work stands, in the order of their use.
const STATE: &[&str] =
    &["pending task", "current work", "current state", "next step", "remaining", "user message", "error"];

/// A summary as it is told: what was to be done then only where nothing was done since. The beginning is what small documents
/// show.
pub(super) fn as_of_now(summary: &str, work_went_on: bool) -> String {
    if !work_went_on {
        return in_order(summary, STATE, 2);
    }
    let text = without_open_tags(summary);
    let (before, sections) = sections(&text);
    if sections.is_empty() {
        return text;
    }
    let says_something = |section: &&str| {
        let first = section.lines().next().unwrap_or_default();
        section.lines().nth(1).is_some()
            || first.split_once(": ").is_some_and(|(_, text)| !text.trim().is_empty())
    };
    let lasts = |section: &&str| !has_title(section, OPEN) && says_something(section);
    let lasting: Vec<&str> = sections.into_iter().filter(lasts).collect();
    let text = [vec![before], lasting].concat().join("\n\n");
    let text = without_lines_of_then(&text);
    in_order(text.trim(), LASTING, 1)
}

/// A text without the lines that name what was asked for last then.
fn without_lines_of_then(text: &str) -> String {
    const OF_THEN: &[&str] = &[
        "most recent request",
        "most recent message",
        "most recent question",
        "latest request",
        "current request",
        "last request",
    ];
    let is_of_then = |line: &&str| {
        let lower = line.to_lowercase();
        OF_THEN.iter().any(|words| lower.contains(words))
    };
    text.lines().filter(|line| !is_of_then(line)).collect::<Vec<_>>().join("\n")
}

/// A summary in sections, those with these titles first, if so many have one.
fn in_order(text: &str, titles: &[&str], least: usize) -> String {
    let (before, mut sections) = sections(text);
    let rank = |section: &&str| {
        let title = title(section);
        titles.iter().position(|word| title.contains(word)).unwrap_or(titles.len())
    };
    if sections.iter().filter(|section| rank(section) < titles.len()).count() < least {
        return text.to_owned();
    }
    let is_sorted = sections.is_sorted_by_key(rank);
    sections.sort_by_key(rank);
    // Numbers out of their order would look as if something were missing.
    let mut sections: Vec<&str> = sections
        .into_iter()
        .map(|section| if is_sorted { section } else { without_number(section) })
        .collect();
    sections.push(before);
    sections.retain(|section| !section.is_empty());
    sections.join("\n\n")
}

/// A section without the number before its title.
fn without_number(section: &str) -> &str {
    let rest = section.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() < section.len() { rest.strip_prefix(". ").unwrap_or(section) } else { section }
}

/// What stands before the first section, and the sections.
fn sections(text: &str) -> (&str, Vec<&str>) {
    let starts: Vec<usize> = text
        .split_inclusive('\n')
        .scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some((start, line))
        })
        .filter(|(_, line)| is_section(line))
        .map(|(start, _)| start)
        .collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let sections = starts.iter().zip(ends).map(|(from, to)| text[*from..to].trim_end()).collect();
    (text[..starts.first().copied().unwrap_or(text.len())].trim(), sections)
}

fn title(section: &str) -> String {
    let line = section.lines().next().unwrap_or_default().to_lowercase();
    line.split_once(": ").map_or(line.clone(), |(title, _)| title.to_owned())
}

fn has_title(section: &str, titles: &[&str]) -> bool {
    let title = title(section);
    titles.iter().any(|word| title.contains(word))
}

/// The text without the parts between tags, `<current_plan>…</current_plan>`, that say what is to be done.
fn without_open_tags(text: &str) -> String {
    let mut text = text.to_owned();
    for tag in OPEN.iter().filter(|tag| tag.contains('_')) {
        let (begin, end) = (format!("<{tag}>"), format!("</{tag}>"));
        if let (Some(from), Some(to)) = (text.find(&begin), text.find(&end))
            && from < to
        {
            text.replace_range(from..to + end.len(), "");
        }
    }
    text.trim().to_owned()
}

/// `7. Pending Tasks:`, `## Current Work`
fn is_section(line: &str) -> bool {
    let line = line.trim_end();
    let numbered = line.split_once(". ").is_some_and(|(number, title)| {
        number.len() <= 2
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && title.trim_end_matches('*').contains(':')
    });
    (numbered && !line.starts_with(' ')) || line.starts_with("## ") || line.starts_with("### ")
}

/// The line without the sentences of the tool at its beginning. Where one does not end on the line, all of it goes.
fn sentence_frame(line: &str) -> &str {
    let mut rest = line;
    while FRAME.iter().any(|start| rest.trim_start().starts_with(start)) {
        // An address may stand after the tool's words; sentences of a frame end in a stop and a space.
        let Some(end) = rest.find(". ") else { return "" };
        rest = rest[end + 2..].trim_start();
        // Under such a heading the tool gives orders to the end of the paragraph.
        if line.trim_start().starts_with("Continue the conversation") {
            return "";
        }
    }
    rest
}

fn without_reminders(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(from) = rest.find(REMINDER.0) {
        let Some(to) = rest[from..].find(REMINDER.1) else { break };
        out.push_str(&rest[..from]);
        rest = &rest[from + to + REMINDER.1.len()..];
    }
    out + rest
}

fn inside<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let rest = text.strip_prefix('<')?.strip_prefix(tag)?.strip_prefix('>')?;
    rest.strip_suffix('>')?.strip_suffix(tag)?.strip_suffix("</")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_summary_itself_is_left() {
        let summary = "This session is being continued from a previous conversation that ran out of context. \
The summary below covers the earlier portion of the conversation.\n\n<system-reminder>\n<tools>Bash</tools>\n\
</system-reminder>\nFixed add(). Remaining: docs.\n\nIf you need specific details from before compaction, read the \
full transcript at: /x.jsonl\nContinue the conversation from where it left off without asking. Resume directly.\n\n\
The messages after this summary are the most recent messages, kept verbatim. So be it.";
        assert_eq!(bare(summary), "Fixed add(). Remaining: docs.\n\nSo be it.");
    }

    #[test]
    fn where_the_work_stands_comes_before_how_it_came_there() {
        let summary = "This session is being continued from a previous conversation that ran out of context.\n\
Analysis:\nLet me analyze the conversation chronologically:\n1. **First**: the user asked.\n\nSummary:\n\
1. Primary Request and Intent:\n   Port it.\n\n6. All user messages:\n   - \"Port it\"\n\n\
7. Pending Tasks:\n   - The lexer\n\n8. Current Work:\n   The parser.\n";
        assert_eq!(
            as_of_now(&bare(summary), false),
            "Pending Tasks:\n   - The lexer\n\nCurrent Work:\n   The parser.\n\n\
All user messages:\n   - \"Port it\"\n\nPrimary Request and Intent:\n   Port it."
        );
        assert_eq!(as_of_now("1. One:\nx\n2. Two:\ny", false), "1. One:\nx\n2. Two:\ny");
        assert_eq!(
            as_of_now(&bare(summary), true),
            "1. Primary Request and Intent:\n   Port it.\n\n6. All user messages:\n   - \"Port it\"",
            "what was to be done was done since"
        );
    }

    #[test]
    fn what_was_to_be_done_goes_from_summaries_of_any_shape_once_something_was_done() {
        let summary = "## Goal\nPort it\n\n## Progress\n### Done\n- lexer\n### In Progress\n- parser\n\n## Next Steps\n1. docs";
        assert_eq!(as_of_now(summary, true), "## Goal\nPort it\n\n### Done\n- lexer");
        let tags = "<overall_goal>Port it</overall_goal>\n<current_plan>1. docs</current_plan>";
        assert_eq!(as_of_now(tags, true), "<overall_goal>Port it</overall_goal>");
        assert_eq!(as_of_now("Half ported.", true), "Half ported.");
        assert_eq!(as_of_now("8. Current Work:\n   The parser.", true), "");
    }

    #[test]
    fn a_summary_on_the_line_of_the_frame_stays() {
        let summary = "This session is being continued from a previous conversation that ran out of context. Half ported.";
        assert_eq!(bare(summary), "Half ported.");
        assert_eq!(bare("<state_snapshot>\n<goal>x</goal>\n</state_snapshot>"), "<goal>x</goal>");
        assert_eq!(bare("Half ported."), "Half ported.");
        assert_eq!(bare("<system-reminder>open"), "<system-reminder>open");
    }
}
