//! What in a message of the user is pasted: output of programs, screens of an agent, documents. Its words are not his.

use super::{begins, lowered};
use crate::shared::words::{has_phrase, is_item};

/// So many lines of a region of output may look like anything between two that look like output.
const MAX_GAP: usize = 20;
/// A message with headings is a document from this many lines on.
const DOCUMENT_LINES: usize = 12;
/// Fewer pasted lines before the user's words are told with them.
const MIN_PASTED: usize = 3;
/// Marks of lines on the screen of an agent.
const SCREEN: &[&str] = &["⏺", "⎿", "❯", "✻", "✽", "✶", "●"];
/// A message with so many rules of pytest across it holds its report.
const RULED_LINES: usize = 3;
/// A message with so many of them holds a screen, from the first to the last.
const SCREEN_LINES: usize = 4;

/// Who wrote a line, as far as it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The user.
    Typed,
    /// A document with headings, the user's own or another's.
    Document,
    /// The output of a program or the screen of an agent.
    Output,
}

/// The lines of a message outside of blocks of code, and who wrote each.
pub(super) fn lines(text: &str) -> Vec<(Origin, &str)> {
    let all: Vec<&str> = text.lines().collect();
    let mut output: Vec<bool> = regions(&all);
    quoted(&all).into_iter().for_each(|at| output[at] = true);
    let headings = all.iter().filter(|line| is_heading(line)).count();
    let is_document = headings >= 2 && all.len() >= DOCUMENT_LINES;
    let (mut fenced, mut under) = (false, Origin::Typed);
    let mut lines = Vec::new();
    for (line, is_output) in all.into_iter().zip(output) {
        let bare = line.trim_start();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        if is_document && is_heading(line) {
            under = if sets_rules(line) { Origin::Typed } else { Origin::Document };
        }
        lines.push((if is_output { Origin::Output } else { under }, line));
    }
    lines
}

/// The words of the user in a message: without what is pasted, as far as that shows.
pub(crate) fn typed(text: &str) -> String {
    let own = lines(text).into_iter().filter(|(origin, _)| *origin == Origin::Typed);
    own.map(|(_, line)| format!("{line}\n")).collect()
}

/// What is told of a message in place of lines that were pasted before the user's own words.
pub(crate) fn without_output(text: &str) -> Option<String> {
    let is_pasted = |(origin, _): &&(Origin, &str)| *origin == Origin::Output;
    let all = lines(text);
    let count = all.iter().take_while(is_pasted).count();
    let own: Vec<&str> = all[count..].iter().map(|(_, line)| *line).collect();
    let own = own.join("\n");
    (count >= MIN_PASTED && !own.trim().is_empty()).then(|| format!("[{count} pasted lines] {}", own.trim()))
}

/// The lines of words that the user quotes to ask what they mean: `Can you clarify this:` and the paragraph below it.
fn quoted(lines: &[&str]) -> Vec<usize> {
    let is_blank = |at: usize| lines[at].trim().is_empty();
    let mut found = Vec::new();
    for lead in (0..lines.len()).filter(|at| asks_what_follows_means(lines[*at])) {
        let mut at = lead + 1;
        while at < lines.len() {
            let Some(from) = (at..lines.len()).find(|at| !is_blank(*at)) else { break };
            let to = (from..lines.len()).find(|at| is_blank(*at)).unwrap_or(lines.len());
            // Behind the first paragraph only what is set in belongs to it.
            let is_set_in = lines[from].starts_with([' ', '\t', '>']);
            if is_item(lines[from]) || (at > lead + 1 && !is_set_in) {
                break;
            }
            found.extend(from..to);
            at = to + 1;
        }
    }
    found
}

/// Whether a line asks what the words below it mean.
fn asks_what_follows_means(line: &str) -> bool {
    const ASKS: &[&str] = &[
        "clarify",
        "explain",
        "rephrase",
        "elaborate on",
        "you mean",
        "you meant",
        "meant it",
        "what does",
        "understand this",
        "confused by",
    ];
    const WORK: &[&str] = &["fix", "add", "implement", "change", "address", "write", "make", "update", "do"];
    let lower = line.trim().to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| has_phrase(&lower, word));
    lower.ends_with(':') && lower.split_whitespace().count() <= 16 && has(ASKS) && !has(WORK)
}

/// For each line whether it belongs to a region of output: from one line that looks like it to the last one near it.
fn regions(lines: &[&str]) -> Vec<bool> {
    let mut marked = vec![false; lines.len()];
    let mut last: Option<usize> = None;
    for at in (0..lines.len()).filter(|at| is_output(lines[*at])) {
        let from = last.filter(|last| at - last <= MAX_GAP).unwrap_or(at);
        marked[from..=at].fill(true);
        last = Some(at);
    }
    // A report of failures is ruled off from test to test, and holds the source of each.
    let rules: Vec<usize> = (0..lines.len()).filter(|at| rules_off_test(lines[*at].trim())).collect();
    if let ([first, ..], Some(last), true) = (rules.as_slice(), last, rules.len() >= RULED_LINES) {
        marked[*first..=last.max(*first)].fill(true);
    }
    // A runner's header names the command whose output follows.
    for at in 1..lines.len() {
        marked[at - 1] |= marked[at] && lines[at - 1].starts_with("Run ");
    }
    let screen = |line: &str| SCREEN.iter().any(|mark| line.trim_start().starts_with(mark));
    let screens: Vec<usize> = (0..lines.len()).filter(|at| screen(lines[*at])).collect();
    if let ([first, .., last], true) = (screens.as_slice(), screens.len() >= SCREEN_LINES) {
        marked[*first..=*last].fill(true);
    }
    marked
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    rest.len() < line.len() && line.len() - rest.len() <= 6 && rest.starts_with(' ')
}

/// Whether a heading announces rules, which are the user's no matter who wrote them down.
fn sets_rules(line: &str) -> bool {
    const RULES: &[&str] = &[
        "rule",
        "constraint",
        "requirement",
        "guideline",
        "important",
        "must",
        "don't",
        "do not",
        "scope",
        "non-goal",
        "limits",
    ];
    let lower = line.to_lowercase();
    RULES.iter().any(|word| lower.contains(word))
}

/// Whether a line can hardly be anything but output.
fn is_output(line: &str) -> bool {
    const STARTS: &[&str] = &[
        "--- FAIL",
        "--- PASS",
        "=== RUN",
        "=== PAUSE",
        "=== CONT",
        "FAIL\t",
        "ok  \t",
        "Traceback (",
        "File \"",
        "npm ERR!",
        "npm error",
        "panic:",
        "goroutine ",
        "diff --git",
        "@@ ",
        "+++ ",
        "--- a/",
        "error[",
        "Error:",
        "error:",
        "warning:",
        "Process exited",
        "Exit code",
        "│",
        "├",
        "└",
        "╭",
        "╰",
        "E   ",
        "$ ",
        "Caused by:",
        "test result:",
    ];
    let bare = line.trim();
    STARTS.iter().chain(SCREEN).any(|start| bare.starts_with(start))
        || is_rule(bare)
        || (bare.starts_with("at ") && bare.ends_with(')') && bare.contains(':'))
        || begins_with_time(bare)
        || begins_with_place(bare)
        || begins_with_task(bare)
        || is_result_of_package(bare)
        || is_test_progress(bare)
        || begins_with_module(bare)
        || is_numbered_change(bare)
}

/// `==== FAILURES ====`: a line that rules off.
fn is_rule(line: &str) -> bool {
    let ruled = |mark: char| {
        line.len() >= 10 && line.chars().filter(|c| *c == mark).count() * 2 > line.chars().count()
    };
    ['=', '_', '-', '─', '━'].into_iter().any(ruled) || rules_off_test(line)
}

/// `____ test_a ____` and `_ _ _ _ _ _`, as pytest sets one failure off from the next.
fn rules_off_test(line: &str) -> bool {
    let (mut marks, mut all) = (0, 0);
    line.chars().filter(|c| *c != ' ').for_each(|c| (marks, all) = (marks + usize::from(c == '_'), all + 1));
    line.len() >= 10 && marks * 2 > all
}

/// `2026-02-12T16:15:30+01:00 …`, `[12:15:30] …`
fn begins_with_time(line: &str) -> bool {
    let first = line.trim_start_matches('[').split([' ', ']']).next().unwrap_or_default();
    let time = first.rsplit('T').next().unwrap_or_default();
    let numbers: Vec<&str> = time.split([':', '.', '+', 'Z', ',']).take(3).collect();
    numbers.len() == 3
        && numbers.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `[test:e2e] $ go test …`: as a runner of tasks tells what it runs.
fn begins_with_task(line: &str) -> bool {
    let parts = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    parts.is_some_and(|(task, rest)| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '_' | '.');
        rest.starts_with("$ ") && !task.is_empty() && task.chars().all(is_name)
    })
}

/// `src/a.rs:12:3: …`, `a_test.go:12: …`
fn begins_with_place(line: &str) -> bool {
    let mut parts = line.split(':');
    let (file, number) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let is_file = file.contains('.') && !file.contains(char::is_whitespace) && !file.ends_with('.');
    is_file
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && parts.next().is_some()
}

/// `ok      shop/e2e    41.069s`, as a terminal shows what Go writes with tabs.
fn is_result_of_package(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_time = |word: &str| {
        word.strip_suffix('s').is_some_and(|number| number.parse::<f64>().is_ok()) || word == "(cached)"
    };
    matches!(words.as_slice(), ["ok" | "FAIL", package, time, ..] if package.contains('/') && is_time(time))
}

/// `..FF..   [100%]` and `5 failed, 29 passed in 1.20s`, as pytest tells how a run goes and how it ended.
fn is_test_progress(line: &str) -> bool {
    if let Some((marks, share)) = line.split_once(" [") {
        let is_share = share.trim_start().strip_suffix("%]").is_some_and(|share| share.parse::<u8>().is_ok());
        let marks = marks.trim_end();
        return is_share && !marks.is_empty() && marks.chars().all(|c| ".FEsxX".contains(c));
    }
    let counts = line.split_once(" in ").map_or(line, |(counts, _)| counts).trim_matches(['=', ' ']);
    let is_count = |part: &str| {
        let words: Vec<&str> = part.split_whitespace().collect();
        let kinds = [
            "failed",
            "passed",
            "skipped",
            "error",
            "errors",
            "warning",
            "warnings",
            "xfailed",
            "deselected",
        ];
        matches!(words.as_slice(), [number, kind] if number.parse::<u32>().is_ok() && kinds.contains(kind))
    };
    !counts.is_empty() && counts.split(", ").all(is_count)
}

/// `node:fs:441` and `Node.js v22.1.0`, between which Node.js shows an error.
fn begins_with_module(line: &str) -> bool {
    let version = line.strip_prefix("Node.js v");
    version.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        || line.strip_prefix("node:").is_some_and(|rest| {
            rest.rsplit_once(':').is_some_and(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()))
        })
}

/// `86 +        // Full clear`, `+ 13 - **Title**`: as an agent shows a change on the screen.
fn is_numbered_change(line: &str) -> bool {
    if let Some(added) = line.strip_prefix("+ ") {
        let rest = added.trim_start_matches(|c: char| c.is_ascii_digit());
        return rest.len() < added.len() && (rest.is_empty() || rest.starts_with(' '));
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len()
        && (rest.starts_with(" +") || rest.starts_with(" -"))
        && !rest[2..].starts_with(char::is_alphanumeric)
}

/// Whether a sentence of a document sets a rule: it commands outside of brackets, and is no item on what one thing does.
pub(super) fn sets_a_rule(sentence: &str) -> bool {
    let lower = lowered(sentence);
    let label = lower.strip_prefix("**").and_then(|rest| rest.split_once("**"));
    let is_about = match label {
        Some((label, rest)) => (label.ends_with(':') || rest.starts_with(':')) && !commands(label),
        None => lower.starts_with('`'),
    };
    let (mut outside, mut depth) = (String::new(), 0_u32);
    for c in lower.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if depth == 0 => outside.push(c),
            _ => {}
        }
    }
    !is_about && commands(&outside)
}

/// Whether a sentence of a document commands: it describes the work more often than not.
fn commands(lower: &str) -> bool {
    const STARTS: &[&str] = &[
        "do not",
        "don't",
        "never",
        "always",
        "you must",
        "must",
        "make sure",
        "ensure",
        "avoid",
        "under no circumstances",
        "important",
        "no new",
        "no external",
        "no additional",
        "no further",
        "no extra",
        "no breaking",
        "no third-party",
    ];
    begins(lower, STARTS) || lower.contains(" must ")
}

#[cfg(test)]
mod tests {
    use super::super::constraints;

    fn insisted_on(text: &str) -> Vec<&str> {
        constraints(text).into_iter().map(|found| found.sentence).collect()
    }

    #[test]
    fn pasted_output_is_not_the_users() {
        let text = "Run python -m pytest -q\n..F...      [100%]\n=========== FAILURES ===========\n\n    def test_it():\n        \
                    # Smoke test: it should not raise\n>       importlib.import_module('a')\nE   ImportError: libEGL must be there\n\
                    1 failed, 33 passed\n\nNever touch the lexer.";
        assert_eq!(insisted_on(text), ["Never touch the lexer."]);
        for line in [
            "86 +        // Full clear on resize to avoid artifacts",
            "⏺ Committed. Only index.html was included — the changes were left unstaged and must stay so.",
            "deferred_test.go:808: Second commit should NOT have a trailer",
            "2026-02-12T16:15:30+01:00 must not be empty",
            "Error: Should NOT be empty, but was",
        ] {
            assert!(constraints(line).is_empty(), "{line}");
        }
        assert_eq!(insisted_on("Use `a.rs:12: x` - never `b`."), ["Use `a.rs:12: x` - never `b`."]);
    }

    #[test]
    fn a_report_of_failures_holds_the_source_of_each() {
        let source = "    def add(self, name):\n        kwargs = {}\n".repeat(15);
        let test = |name: &str| {
            format!("________ {name} ________\n\ncapsys = <object>\n\n{source}>       code = run()\n")
        };
        let report = format!(
            "Run pytest -q\n.FF. [100%]\n==== FAILURES ====\n{}{}{}===== short =====\n",
            test("a"),
            test("b"),
            test("c")
        );
        let text = format!("{report}2 failed, 1 passed in 0.3s\n\nPlease mend the parser.");
        assert_eq!(super::typed(&text).trim(), "Please mend the parser.");
    }

    #[test]
    fn what_node_js_shows_of_an_error_is_not_the_users() {
        let text = "it fails:\n\nnode:fs:441\n    return binding.readFileUtf8(path, stringToFlags(options.flag));\n           ^\n\n\
                    Error: ENOENT: no such file, open 'a.json'\n    at Object.readFileSync (node:fs:441:20)\n  errno: -2,\n  \
                    path: 'a.json'\n}\n\nNode.js v23.4.0\n";
        assert_eq!(super::typed(text), "it fails:\n\n");
        assert_eq!(super::typed("node: use the new one").trim(), "node: use the new one");
    }

    #[test]
    fn a_plan_that_was_pasted_describes_more_than_it_commands() {
        let plan = "Implement the following plan:\n\n# Fix the trailers\n\n## Context\n\n`EventGitCommit` never fires.\nNo shadow \
                    branch\nThe flow should remain unchanged.\n\n## Steps\n\n1. Keep the `repo` parameter\n2. Never fire it twice\n3. No external dependencies\n\n\
                    ## Constraints\n\n- No new dependencies\n\n## Tests\n\nEvery commit must be traceable.\n";
        assert_eq!(
            insisted_on(plan),
            [
                "Never fire it twice",
                "No external dependencies",
                "No new dependencies",
                "Every commit must be traceable."
            ]
        );
        assert_eq!(insisted_on("# Rules\n\nNo new dependencies."), ["No new dependencies."]);
    }
}
