//! What was true while the work went on: what the agent saw or did at one time, what the user asked for once. After more
//! was done it says nothing of the present.

use super::narration::announces;
use super::salience::weigh;
use super::{begins, lowered, tells_of_failing_tests};
use crate::shared::words::{has_phrase, sentences};

/// Beginnings of sentences that tell of a fault that was just found.
const FINDS: &[&str] = &[
    "the issue is",
    "the problem is",
    "the bug is",
    "the error is",
    "the cause is",
    "the root cause",
    "the failure is",
    "the failures",
    "the failing",
    "the test",
    "the tests",
    "actually, looking",
    "looking at",
    "the reason is",
    "i see",
    "i can see",
    "i found",
    "i notice",
    "i understand",
    "now i",
    "it looks like",
    "looks like",
    "it seems",
    "there's still",
    "there is still",
    "there are still",
    "still failing",
    "still waiting",
    "waiting for",
    "waiting on",
    "most tests",
    "build succeeded",
    "the build",
    "that's a pre-existing",
    "wait",
    "hmm",
    "oops",
    "ah",
    "good catch",
    "great catch",
    "nice catch",
    "excellent catch",
    "good find",
    "great find",
    "here's my plan",
    "here is my plan",
    "here's the plan",
    "my plan",
    "the fix is",
    "the solution is",
    "this would",
    "that would",
    "why this",
    "you're right",
    "you're absolutely right",
];
/// Beginnings of what weighs options before one is chosen.
const OPTIONS: &[&str] = &[
    "my take",
    "honestly",
    "i'd recommend",
    "i would recommend",
    "i recommend",
    "my recommendation",
    "recommendation",
    "i'd suggest",
    "i suggest",
    "option",
    "options",
    "one option",
    "another option",
    "two options",
    "three options",
    "some alternatives",
    "alternatives",
    "alternatively",
    "approaches",
    "possible approaches",
    "what works well",
    "pros",
    "cons",
    "trade-offs",
    "tradeoffs",
    "we could",
    "you could",
    "if you want",
];
/// The longest lead-in of a list, in bytes.
const MAX_LEAD: usize = 60;
/// Beginnings of items of a plan.
const STEPS: &[&str] = &[
    "add",
    "fix",
    "change",
    "remove",
    "delete",
    "use",
    "run",
    "write",
    "create",
    "update",
    "check",
    "implement",
    "rename",
    "move",
    "test",
    "verify",
    "refactor",
    "document",
    "ensure",
    "extract",
    "replace",
];
/// Beginnings of sentences in which the user asks for one thing.
const ORDERS: &[&str] = &[
    "can we",
    "can you",
    "could we",
    "could you",
    "would you",
    "will you",
    "should we",
    "how about",
    "what about",
    "what if",
    "let's",
    "lets",
    "now",
    "instead of",
    "please",
    "pls",
    "i want",
    "i'd like",
    "i would like",
    "we should",
    "we need",
    "you should",
    "ok",
    "okay",
    "yeah",
    "yes",
    "yep",
    "cool",
    "great",
    "sure",
    "also",
    "and",
    "then",
    "next",
    "i think",
    "i'm wondering",
    "i wonder",
    "sorry",
    "go",
    "do",
    "try",
    "add",
    "fix",
    "make",
    "change",
    "remove",
    "delete",
    "use",
    "run",
    "write",
    "create",
    "update",
    "check",
    "look",
    "have a look",
    "implement",
    "review",
    "rename",
    "move",
    "commit",
    "push",
    "handle",
    "replace",
    "show",
    "print",
    "split",
    "insert",
    "extract",
    "convert",
    "explain",
    "find",
    "investigate",
    "test",
    "rebase",
    "merge",
    "read",
    "start",
    "continue",
    "build",
    "refactor",
    "clean",
    "document",
    "put",
    "set",
    "open",
    "close",
    "give",
    "tell",
    "verify",
    "compare",
    "kannst du",
    "bitte",
    "this looks",
    "it looks",
    "still",
    "i get",
    "i got",
    "i see",
    "there's",
    "there is",
    "there are",
    "unrelated",
    "when i",
    "mach",
    "peux-tu",
    "s'il te plaît",
    "puedes",
    "por favor",
];

/// Whether the agent's words name something of the code and no choice: it said so while it worked there.
pub(crate) fn tells_of_code(text: &str) -> bool {
    names_code(text) && !weigh(&lowered(text)).choice
}

/// Whether the agent's words set options before the user, or say what it thinks of them.
pub(crate) fn weighs_options(text: &str) -> bool {
    begins(&lowered(text), OPTIONS)
}

/// Whether the agent's words tell what it saw or was about to do, and no choice.
pub(crate) fn is_of_the_moment(text: &str) -> bool {
    let salience = weigh(&lowered(text));
    let tells_of_code = names_code(text) && !salience.choice && !salience.compare;
    finds_or_plans(text) || tells_of_code || tells_of_failing_tests(text)
}

/// Whether a sentence of it announces a step, tells of a fault that was just found, or orders, as an item of a plan does.
pub(crate) fn finds_or_plans(text: &str) -> bool {
    let of_now = |sentence: &str| announces(sentence) || begins(&lowered(sentence), FINDS);
    let item =
        text.split_once(": ").map_or(text, |(lead, item)| if lead.len() <= MAX_LEAD { item } else { text });
    let plans = begins(&lowered(text), STEPS) || begins(&lowered(item), STEPS);
    let sets_out = has_phrase(&lowered(text), "i need to");
    (plans || sets_out || sentences(text).into_iter().any(of_now)) && !weigh(&lowered(text)).choice
}

/// Whether the user's words ask for one thing, so that they tell of the past once it was done.
pub(crate) fn asks_for_one_thing(text: &str) -> bool {
    let asks = |sentence: &str| sentence.trim_end().ends_with('?') || begins(&lowered(sentence), ORDERS);
    sentences(text).into_iter().any(asks) || has_phrase(&lowered(text), "please")
}

/// Whether a text names something of the code: in backticks, or written as a name, `loadUser`, `load_user`, `load()`.
pub(crate) fn names_code(text: &str) -> bool {
    let is_name = |word: &str| {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let chars: Vec<char> = inner.chars().collect();
        let humps = chars.windows(2).any(|pair| pair[0].is_lowercase() && pair[1].is_uppercase());
        let joined = inner.trim_matches('_').contains('_');
        humps || joined || word.contains("()")
    };
    text.contains('`') || text.split_whitespace().any(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_or_announced_at_one_time_is_told_from_what_was_chosen() {
        for text in [
            "The issue is that new files are not tracked, so they are not in the check.",
            "I see that `SessionIDs` is still used, since the plan keeps it. Let me look.",
            "The tests are failing because they expect the old format.",
            "The `Reset` function needs more changes because it looks for the branch first.",
        ] {
            assert!(is_of_the_moment(text), "{text}");
        }
        for text in [
            "I picked a map over a list because `load_all` is called often.",
            "Rather than a refactor of the parser, I added a comment to `parse`.",
            "Writes were slow, so the index had to go.",
        ] {
            assert!(!is_of_the_moment(text), "{text}");
        }
    }

    #[test]
    fn an_order_is_told_from_a_statement() {
        assert!(asks_for_one_thing("This looks odd. Can we change the message?"));
        assert!(asks_for_one_thing("now remove the rest"));
        assert!(!asks_for_one_thing("The vendor folder belongs to another team."));
    }
}
