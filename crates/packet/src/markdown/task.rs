//! A request that is a document, such as a plan, made shorter: what is to be done goes before the reasons for it.

use super::cut;

/// A text with fewer headings is cut as any other.
const MIN_HEADINGS: usize = 3;
/// So much is kept for the names of what was left out, and for what stands above the first heading.
const MAX_NAMES: usize = 90;
const MAX_OPENING: usize = 120;
/// Output of fewer lines, or cut shorter, is cut as any other text.
const MIN_OUTPUT_LINES: usize = 12;
const MIN_OUTPUT: usize = 300;
/// Less of a section says nothing.
const MIN_BODY: usize = 40;
/// Beginnings of headings above reasons.
const REASONS: &[&str] = &[
    "context",
    "background",
    "why",
    "motivation",
    "problem",
    "the problem",
    "reason",
    "rationale",
    "history",
    "analysis",
    "bug analysis",
    "root cause",
    "current state",
    "current behavior",
    "current behaviour",
    "current situation",
];

/// A section: its heading, which the part above the first has none of, and what stands below.
#[derive(Debug, PartialEq, Eq)]
struct Part<'t> {
    heading: &'t str,
    body: &'t str,
    gives_reasons: bool,
}

/// The names of sections, as many as there is room for.
fn heading_names(headings: &[&str]) -> String {
    let (mut names, mut room) = (Vec::new(), MAX_NAMES);
    for heading in headings {
        let name = cut::middle(heading, 40);
        let length = name.chars().count() + 2;
        if length > room {
            break;
        }
        room -= length;
        names.push(name);
    }
    match headings.len() - names.len() {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// Whether a request is a document with sections.
pub(super) fn is_document(text: &str) -> bool {
    has_sections(&parts(text.trim()))
}

fn has_sections(parts: &[Part<'_>]) -> bool {
    parts.iter().filter(|part| !part.heading.is_empty()).count() >= MIN_HEADINGS
}

/// At most about `limit` characters of a request.
pub(super) fn head(text: &str, limit: usize) -> String {
    let text = text.trim();
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let parts = parts(text);
    if !has_sections(&parts) {
        return with_causes(text, limit).unwrap_or_else(|| cut::head(text, limit));
    }
    let lengths = shares(&parts, limit.saturating_sub(MAX_NAMES.min(limit / 4)));
    let mut lines: Vec<String> = Vec::new();
    let mut missing: Vec<&str> = Vec::new();
    for (part, length) in parts.iter().zip(lengths) {
        match length {
            Some(length) => lines.extend(Some(shown(part, length)).filter(|text| !text.is_empty())),
            None => missing.push(part.heading.trim_matches(['#', ' ', '*', ':'])),
        }
    }
    if !missing.is_empty() {
        lines.push(format!("… (left out: {})", heading_names(&missing)));
    }
    lines.join("\n")
}

/// The head of the output of a program that the user pasted, and the lines further down that say what went wrong.
fn with_causes(text: &str, limit: usize) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let is_output = |line: &&&str| {
        line.starts_with("    ")
            || ["---", "===", "FAIL", "PASS", "ok ", "error", "Error", "at "]
                .iter()
                .any(|mark| line.starts_with(mark))
    };
    let is_pasted = lines.iter().filter(is_output).count() * 3 >= lines.len();
    if lines.len() < MIN_OUTPUT_LINES || limit < MIN_OUTPUT || !is_pasted {
        return None;
    }
    let front = cut::head(text, limit * 3 / 5);
    let rest = lines.get(front.lines().count()..)?;
    // Where nothing went wrong, the end says so.
    let end = || {
        let last: Vec<&str> =
            rest.iter().rev().filter(|line| !line.trim().is_empty()).take(3).copied().collect();
        let last = last.into_iter().rev().map(|line| cut::head(line, limit * 2 / 15)).collect::<Vec<_>>();
        last.join("\n")
    };
    let causes = cut::causes(rest, 3, limit * 2 / 5).unwrap_or_else(end);
    Some(format!("{front}\n{causes}"))
}

/// For each part how much of its body is shown; nothing where it is left out as a whole.
fn shares(parts: &[Part<'_>], limit: usize) -> Vec<Option<usize>> {
    let mut shares: Vec<Option<usize>> = vec![None; parts.len()];
    let mut room = limit;
    for with_reasons in [false, true] {
        let mut chosen: Vec<usize> = Vec::new();
        for (at, part) in parts.iter().enumerate().filter(|(_, part)| part.gives_reasons == with_reasons) {
            let head = part.heading.chars().count() + 3;
            // Reasons stand there with some of their words or not at all.
            let least = if with_reasons { head + MIN_BODY } else { head };
            if least > room {
                break;
            }
            room -= head;
            chosen.push(at);
        }
        let wanted = |at: &usize| match parts[*at].heading.is_empty() {
            true => parts[*at].body.chars().count().min(MAX_OPENING),
            false => parts[*at].body.chars().count(),
        };
        chosen.sort_by_key(wanted);
        let count = chosen.len();
        for (place, at) in chosen.into_iter().enumerate() {
            let share = wanted(&at).min(room / (count - place));
            room -= share;
            shares[at] = Some(share);
        }
    }
    shares
}

/// A part with so much of its body.
fn shown(part: &Part<'_>, length: usize) -> String {
    let whole = part.body.chars().count() <= length;
    let body = if whole { part.body.to_owned() } else { without_code(part.body) };
    let body = match (whole || body.chars().count() <= length, length < MIN_BODY) {
        (true, _) => body,
        (false, true) => String::new(),
        (false, false) => cut::head(&body, length - 2),
    };
    let body = if body == "…" { String::new() } else { body };
    match (part.heading.is_empty(), body.is_empty(), part.body.is_empty()) {
        (true, ..) => body,
        (false, true, true) => part.heading.to_owned(),
        (false, true, false) => format!("{} …", part.heading),
        (false, false, _) => format!("{}\n{body}", part.heading),
    }
}

/// The sections of a text; what stands in blocks of code is no heading.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let (mut start, mut heading, mut at, mut fenced) = (0, "", 0, false);
    let mut reasons_level: Option<usize> = None;
    let mut gives_reasons = false;
    let mut end = |heading, from: usize, to: usize, gives_reasons| {
        let body = text[from..to].trim();
        if !body.is_empty() || !str::is_empty(heading) {
            parts.push(Part { heading, body, gives_reasons });
        }
    };
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        fenced ^= bare.starts_with("```") || bare.starts_with("~~~");
        if let Some(level) = level(bare).filter(|_| !fenced) {
            end(heading, start, at, gives_reasons);
            (heading, start) = (bare, at + line.len());
            let is_below = reasons_level.is_some_and(|reasons| level > reasons);
            gives_reasons = is_below || (level > 1 && names_reasons(bare));
            if !is_below {
                reasons_level = gives_reasons.then_some(level);
            }
        }
        at += line.len();
    }
    end(heading, start, text.len(), gives_reasons);
    parts
}

/// The level of a heading.
fn level(line: &str) -> Option<usize> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    ((1..=6).contains(&level) && line[level..].starts_with(' ')).then_some(level)
}

fn names_reasons(heading: &str) -> bool {
    let title = heading.trim_start_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    let begins = |words: &&str| {
        title.strip_prefix(*words).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    title.split_whitespace().count() <= 4 && REASONS.iter().any(begins)
}

/// A text in which each block of code is a `…`.
fn without_code(text: &str) -> String {
    let (mut fenced, mut lines) = (false, Vec::new());
    for line in text.lines() {
        let mark = line.trim_start();
        if mark.starts_with("```") || mark.starts_with("~~~") {
            fenced = !fenced;
            if fenced {
                lines.push("…");
            }
        } else if !fenced && !line.trim().is_empty() {
            lines.push(line);
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "Implement the following plan:\n\n# Compute the path\n\n## Context\n\nWe store the path, and need not: it follows \
        from the id of the session and from the folder. It is stored in three places, each of which may be stale.\n\n\
        **Why this change:**\n- less is stored\n\n### How it flows\n\nHooks give it.\n\n## Changes\n\n### 1. Add `path_of` to the \
        interface\n\nIn `agent.rs`:\n```rust\nfn path_of(&self, id: &str) -> Path;\n```\n### 2. Remove the field\n\nFrom `state.rs`; \
        old files still load.\n\n## Verification\n\n```bash\nmake test\n```";

    #[test]
    fn the_steps_of_a_plan_go_before_its_reasons() {
        let short = head(PLAN, 330);
        for step in [
            "# Compute the path",
            "### 1. Add `path_of`",
            "### 2. Remove the field",
            "old files still load",
            "## Verification",
        ] {
            assert!(short.contains(step), "{step}: {short}");
        }
        assert!(!short.contains("three places") && !short.contains("Hooks give it"), "{short}");
        assert!(short.ends_with("… (left out: Context, How it flows)"), "{short}");
        assert!(short.chars().count() <= 340, "{short}");
        assert!(head(PLAN, 480).contains("We store the path"), "what room is left is for the reasons");
        assert_eq!(head(PLAN, 5000), PLAN);
    }

    #[test]
    fn the_shortest_has_the_title_and_the_first_steps() {
        let short = head(PLAN, 140);
        assert!(
            short.contains("# Compute the path") && short.contains("…") && short.chars().count() <= 150,
            "{short}"
        );
    }

    #[test]
    fn a_pasted_failure_is_told_with_its_cause() {
        let text = format!(
            "--- FAIL: TestReverted (3.40s)\n{}    late_test.go:808: second commit should NOT have a trailer, got 7940d55\n    \
             late_test.go:814: done\nFAIL",
            "    hooks.go:209: Hook output: captured state before the prompt\n".repeat(20)
        );
        let short = head(&text, 400);
        assert!(
            short.starts_with("--- FAIL: TestReverted") && short.contains("second commit should NOT"),
            "{short}"
        );
    }

    #[test]
    fn a_pasted_run_that_passed_is_told_with_its_end() {
        let text =
            format!("=== RUN TestA\n{}PASS\nok  \texample/e2e\t41.1s", "=== PAUSE TestOther\n".repeat(60));
        let short = head(&text, 400);
        assert!(
            short.starts_with("=== RUN TestA") && short.ends_with("PASS\nok  \texample/e2e\t41.1s"),
            "{short}"
        );
    }

    #[test]
    fn a_text_without_headings_is_cut_at_its_end() {
        let text = "Mend the lexer. ".repeat(20);
        assert_eq!(head(&text, 100), cut::head(&text, 100));
        let code = format!("```sh\n# one\n# two\n# three\n```\n{text}");
        assert_eq!(head(&code, 100), cut::head(&code, 100));
    }
}
