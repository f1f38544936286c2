//! What an agent says of what it does next: its calls tell it better, and once it is done it is out of date.

use super::{begins, lowered};
use crate::shared::words::{is_item, sentences};

/// Longest message, in bytes, that counts as narration.
const MAX_BYTES: usize = 320;
/// Longest such message, in bytes, that ends with a step.
const MAX_STEP_BYTES: usize = 480;

/// Fewest words beside the next step that count as content.
const MIN_TELLING_WORDS: usize = 12;

/// With a look at something at its end a message needs more: `This is a new task, about tests. Let me explore the code.`
const MIN_WORDS_WITH_A_LOOK: usize = 42;

/// Beginnings of sentences that announce.
const STARTS: &[&str] = &[
    "let me",
    "let's",
    "i'll",
    "i will",
    "i'm going to",
    "i am going to",
    "i need to",
    "i still need to",
    "i also need to",
    "i have to",
    "need to",
    "we need to",
    "now let me",
    "now let's",
    "now i'll",
    "now i need",
    "now i will",
    "now i have",
    "now the",
    "next, i'll",
    "next i'll",
    "next, let me",
    "first, let me",
    "first, i'll",
    "first let me",
    "also",
    "time to",
    "starting with",
    "moving on",
    "on to",
    "continuing with",
];
/// Sentences that say nothing by themselves.
const PLEASANTRIES: &[&str] = &[
    "good",
    "great",
    "perfect",
    "excellent",
    "nice",
    "ok",
    "okay",
    "right",
    "yes",
    "sure",
    "got it",
    "understood",
    "good point",
    "good question",
    "good idea",
    "good catch",
    "makes sense",
    "you're right",
    "you're absolutely right",
    "you are right",
    "all clean",
    "all clear",
    "all good",
    "all green",
    "on it",
    "will do",
    "done",
    "thanks",
    "i see",
    "now i see",
    "i understand",
    "now i understand",
];

/// Whether a message tells nothing but what comes next: `Let me check the exports:`, `👍`.
pub(crate) fn only_announces(text: &str) -> bool {
    is_made_of(text, &|sentence| {
        let bare = lowered(sentence.trim_matches(|c: char| !c.is_alphanumeric()));
        PLEASANTRIES.contains(&&*bare)
    })
}

/// Whether a message tells something of its own: it does not end by saying what comes next, or says enough before that.
pub(crate) fn tells_something(text: &str) -> bool {
    let own =
        text.lines().flat_map(sentences).filter(|sentence| !announces(sentence) && !orders_step(sentence));
    let own = own.flat_map(str::split_whitespace).count();
    let says_enough = match looks_first(text) {
        true => text.split_whitespace().count() >= MIN_WORDS_WITH_A_LOOK && own > 0,
        false => own >= MIN_TELLING_WORDS,
    };
    !only_announces(text) && (!leads_to_step(text) || says_enough)
}

/// Whether a message ends by announcing a step, or begins by saying what has to be done: once that is done it is of the past.
pub(crate) fn leads_to_step(text: &str) -> bool {
    let last =
        text.lines().map(str::trim).rfind(|line| line.contains(char::is_alphanumeric)).unwrap_or_default();
    let ends = !is_item(last) && sentences(last).last().is_some_and(|sentence| announces(sentence));
    ends || text.lines().flat_map(sentences).next().is_some_and(sets_out)
}

/// Whether a sentence is a numbered step that is told as an order: `Fix 2: Change the key`, `**Step 3:** Move it`.
fn orders_step(sentence: &str) -> bool {
    let parts = sentence.trim_start_matches('*').split_once(':');
    parts
        .is_some_and(|(title, rest)| names_step(title) && is_instruction(rest.trim_start_matches(['*', ' '])))
}

/// Whether a sentence says what the agent has to do: `I need to check the flag and update the note.`
fn sets_out(sentence: &str) -> bool {
    begins(
        &lowered(sentence.trim()),
        &["i need to", "i still need to", "i also need to", "i have to", "need to"],
    )
}

/// Whether a message ends by saying that the agent looks at something first: what it told before that was not sure.
pub(crate) fn looks_first(text: &str) -> bool {
    const STARTS: &[&str] =
        &["let me", "let's", "i'll", "i will", "i need to", "now let me", "first, let me", "first let me"];
    const VERBS: &[&str] = &[
        "check",
        "debug",
        "design",
        "examine",
        "explore",
        "find",
        "inspect",
        "investigate",
        "launch",
        "look",
        "plan",
        "read",
        "search",
        "see",
        "trace",
        "understand",
        "verify",
        "view",
    ];
    let last =
        text.lines().map(str::trim).rfind(|line| line.contains(char::is_alphanumeric)).unwrap_or_default();
    let Some(sentence) = sentences(last).pop().filter(|_| !is_item(last)) else { return false };
    let lower = lowered(sentence.trim());
    let rest = STARTS.iter().find_map(|start| lower.strip_prefix(start)).unwrap_or_default();
    let verb =
        rest.split_whitespace().find(|word| !matches!(*word, "also" | "now" | "first" | "just" | "quickly"));
    verb.is_some_and(|verb| VERBS.contains(&verb.trim_end_matches([':', '.', ',', '!'])))
}

/// Whether a message begins with a doubt in what was said or done before, `Wait, the handler reads it twice`: it is thought over.
pub(crate) fn thinks_aloud(text: &str) -> bool {
    begins(&lowered(text.trim()), &["wait", "hmm", "hm", "oops", "actually, wait", "hold on"])
}

/// What a step tells beside what comes next: `No session starts with a summary. Let me check the others.`
pub(crate) fn findings(text: &str) -> Vec<&str> {
    const MIN_WORDS: usize = 4;
    /// Of what is asked for, and not of what was found.
    const OF_THE_TASK: &[&str] = &[
        "this is a new",
        "this is a different",
        "the existing plan",
        "the previous plan",
        "the plan",
        "the user",
        "now i",
        "i now",
        "i understand",
        "i have a",
    ];
    let tells = |sentence: &&str| {
        sentence.split_whitespace().count() >= MIN_WORDS
            && !announces(sentence)
            && !sentence.ends_with('?')
            && !begins(&lowered(sentence), OF_THE_TASK)
    };
    let is_short = text.len() <= MAX_STEP_BYTES && !text.lines().any(is_item) && is_step(text);
    let lines = text.lines().filter(|_| is_short);
    lines.flat_map(sentences).filter(tells).collect()
}

/// Whether a message is one step among many: short, and it says what comes next.
pub(crate) fn is_step(text: &str) -> bool {
    let announced = || text.lines().flat_map(sentences).any(announces);
    // A question that the agent puts to itself is a step: `Let me see: does it end there?`
    let asks = text.lines().flat_map(sentences).any(|one| one.ends_with('?') && !announces(one));
    let is_short = text.len() <= MAX_STEP_BYTES && !asks && !text.lines().any(is_item);
    only_announces(text) || (is_short && announced())
}

/// Whether a message has no words, or ends by announcing and has beside that nothing but what is `spare`.
fn is_made_of(text: &str, spare: &dyn Fn(&str) -> bool) -> bool {
    let text = text.trim();
    if !text.contains(char::is_alphanumeric) {
        return true;
    }
    if text.len() > MAX_BYTES || text.contains('?') || text.contains("```") || text.lines().any(is_item) {
        return false;
    }
    if is_title(text) {
        return true;
    }
    let all: Vec<&str> = text.lines().flat_map(sentences).collect();
    let Some((last, before)) = all.split_last() else { return true };
    let ends = announces(last) || (before.last().is_some_and(|one| announces(one)) && is_instruction(last));
    ends && before.iter().all(|sentence| announces(sentence) || spare(sentence) || is_title(sentence))
}

/// Whether a text is the title of what is done next: `**Fix 2: Add timeouts**`, `### Task 3`.
fn is_title(text: &str) -> bool {
    let text = text.trim();
    let bold = text.strip_prefix("**").and_then(|rest| rest.trim_end_matches(':').strip_suffix("**"));
    let is_bold = bold.is_some_and(|inside| {
        !inside.contains("**") && (!inside.ends_with(['.', '!', '?']) || names_step(inside))
    });
    !text.contains('\n')
        && (is_bold || (text.starts_with('#') && text.trim_start_matches('#').starts_with(' ')))
}

/// Whether a sentence tells oneself what to do: `Insert after the existing trigger (line 416).`
fn is_instruction(sentence: &str) -> bool {
    const VERBS: &[&str] = &[
        "add",
        "adjust",
        "call",
        "change",
        "check",
        "convert",
        "create",
        "delete",
        "drop",
        "extend",
        "extract",
        "fix",
        "implement",
        "insert",
        "make",
        "move",
        "put",
        "refactor",
        "remove",
        "rename",
        "replace",
        "rewrite",
        "run",
        "set",
        "simplify",
        "split",
        "switch",
        "update",
        "use",
        "write",
    ];
    begins(&lowered(sentence.trim()), VERBS)
}

/// Whether a sentence announces what the agent does next.
pub(crate) fn announces(sentence: &str) -> bool {
    let lower = lowered(without_step_title(sentence.trim()));
    let asks = begins(&lower, &["let me know", "let's see what you"]);
    lower.ends_with(':') || (begins(&lower, STARTS) && !asks) || orders_itself(&lower)
}

/// What stands behind the numbered title of a step: `**Step 5: Create tests.** I'll create all three.`
fn without_step_title(sentence: &str) -> &str {
    let parts = sentence.strip_prefix("**").and_then(|rest| rest.split_once("** "));
    parts.filter(|(title, _)| names_step(title)).map_or(sentence, |(_, rest)| rest)
}

/// Whether a title is that of a numbered step.
fn names_step(title: &str) -> bool {
    const PARTS: &[&str] = &["Step", "Task", "Item", "Fix", "Phase", "Part"];
    let mut words = title.split_whitespace();
    words.next().is_some_and(|word| PARTS.contains(&word))
        && words.next().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

/// `Now commit and push.` `Now it works` and `Next is the lexer` report.
fn orders_itself(lower: &str) -> bool {
    const REPORTS: &[&str] = &[
        "it",
        "the",
        "that",
        "this",
        "these",
        "those",
        "they",
        "we",
        "you",
        "all",
        "there",
        "everything",
        "both",
        "i",
        "is",
        "are",
        "tests",
        "only",
        "every",
        "each",
        "no",
        "nothing",
        "a",
        "an",
        "when",
        "if",
        "what",
        "with",
        "in",
        "on",
        "for",
        "works",
        "passes",
        "your",
        "our",
        "its",
    ];
    let rest =
        ["now ", "next ", "now, ", "next, ", "then "].iter().find_map(|start| lower.strip_prefix(start));
    let first = rest.and_then(|rest| rest.split_whitespace().next());
    first
        .map(|word| word.trim_end_matches([',', ';', '.']))
        .is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()) && !REPORTS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_announces_is_told_from_what_reports() {
        for text in [
            "👍",
            "",
            "Now let me commit:",
            "Good point. Let me look at the hooks:",
            "Let me check.\nI'll run it.",
            "Now the stop hook trigger in `hooks.go`. Insert after the existing review trigger (line 416).",
            "**Fix 2: Add timeouts to the spawn**",
            "**Item 3: Extract the helper**\n\nNow update the file:",
            "**Step 5: Create tests.** I'll create all three test files.",
            "**Step 4: Register the handlers.**",
        ] {
            assert!(only_announces(text), "{text}");
        }
        for text in [
            "Need to add the `fmt` import:",
            "All clean. Now commit, push, then reply to the thread.",
            "One comment from Copilot. Let me read the full comment.",
            "I need to fix lint issues in `list`.",
            "Now let me check the hook: does the session end there?",
        ] {
            assert!(is_step(text), "{text}");
        }
        for text in [
            "The cache is stale because the key lacks the branch. Let me fix that.",
            "Now it works.",
            "Done: the parser reads both.",
            "Shall I go on? Let me know.",
            "All tests pass.",
            "**All 14 tests pass.**",
            "The flag is set too late. Use the new one.",
            "Let me explain:\n- one\n- two",
        ] {
            let finds = text.ends_with("fix that.");
            assert!(!only_announces(text) && is_step(text) == finds, "{text}");
        }
        assert!(!only_announces("Rebase completed. Let me verify everything."));
        for text in [
            "Remaining: update the docs.\n\n```bash\nmake docs\n```",
            "Done.",
            "1. Rename it\n2. Let me know",
        ] {
            assert!(tells_something(text), "{text}");
        }
        for text in [
            "This is in `run`. I should update it to use the new function:",
            "The plan before is complete. This is a new task, about the tests of the update.\n\nLet me explore the code.",
            "I need to check for the file and update the note. The package has `root()` which I'll need.",
        ] {
            assert!(!tells_something(text), "{text}");
        }
        assert!(looks_first("Oh! We are on the old branch.\n\nLet me also check what branch that is:"));
        assert!(!looks_first("All six are valid. Let me fix them.") && !looks_first("Let me know."));
    }
}
