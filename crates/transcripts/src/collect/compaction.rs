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
    if bare.is_empty() { text.trim().to_owned() } else { state_first(without_analysis(bare)) }
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

/// Titles of the sections that say where the work stands, in the order of their use.
const STATE: &[&str] =
    &["pending task", "current work", "current state", "next step", "remaining", "user message", "error"];

/// A summary in numbered sections, those first that say where the work stands: the beginning is what small documents show.
fn state_first(text: &str) -> String {
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
    let mut sections: Vec<&str> =
        starts.iter().zip(ends).map(|(from, to)| text[*from..to].trim_end()).collect();
    let rank = |section: &&str| {
        let title = section.lines().next().unwrap_or_default().to_lowercase();
        STATE.iter().position(|word| title.contains(word)).unwrap_or(STATE.len())
    };
    if sections.iter().filter(|section| rank(section) < STATE.len()).count() < 2 {
        return text.to_owned();
    }
    sections.sort_by_key(rank);
    let before = text[..starts[0]].trim();
    sections.insert(sections.len(), before);
    sections.retain(|section| !section.is_empty());
    sections.join("\n\n")
}

/// `7. Pending Tasks:`, `## Current Work`
fn is_section(line: &str) -> bool {
    let line = line.trim_end();
    let numbered = line.split_once(". ").is_some_and(|(number, title)| {
        number.len() <= 2
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && title.trim_end_matches('*').contains(':')
    });
    (numbered && !line.starts_with(' ')) || line.starts_with("## ")
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
            bare(summary),
            "7. Pending Tasks:\n   - The lexer\n\n8. Current Work:\n   The parser.\n\n\
6. All user messages:\n   - \"Port it\"\n\n1. Primary Request and Intent:\n   Port it."
        );
        assert_eq!(bare("1. One:\nx\n2. Two:\ny"), "1. One:\nx\n2. Two:\ny");
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
