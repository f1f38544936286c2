//! What decisions are about: whether a later one takes the place of an earlier one.

use super::lowered;

/// Whether two decisions are about the same things, so that the later one holds: most of what the one sets against
/// each other is named by the other too.
pub(crate) fn same_matter(one: &str, other: &str) -> bool {
    let (one, other) = (topic(one), topic(other));
    let shared = one.iter().filter(|word| other.contains(*word)).count();
    let least = one.len().min(other.len());
    least >= 2 && shared >= 2 && shared * 4 >= least * 3
}

/// Whether a text speaks of what a decision is about: of most things that the decision names.
pub(crate) fn speaks_of(text: &str, named: &[String]) -> bool {
    let lower = lowered(text);
    let words: Vec<&str> = parts(&lower).filter(|word| word.len() > 2).collect();
    let shared = named.iter().filter(|word| words.contains(&word.as_str())).count();
    shared >= 2 && shared * 5 >= named.len() * 3
}

/// The words of a text, a name with a dash as one.
fn parts(lower: &str) -> impl Iterator<Item = &str> {
    lower.split(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '\''))
}

/// Words of deciding and other words that name no thing.
const PLAIN: &[&str] = &[
    "approach",
    "also",
    "well",
    "comparing",
    "compared",
    "comparison",
    "considering",
    "weighed",
    "weighing",
    "tempting",
    "option",
    "options",
    "chosen",
    "choosing",
    "sticking",
    "switching",
    "opting",
    "won",
    "preferred",
    "settling",
    "picking",
    "taking",
    "keeping",
    "choice",
    "superior",
    "simpler",
    "and",
    "the",
    "not",
    "was",
    "for",
    "but",
    "use",
    "its",
    "our",
    "you",
    "one",
    "two",
    "all",
    "any",
    "are",
    "can",
    "has",
    "had",
    "let",
    "now",
    "per",
    "way",
    "why",
    "yes",
    "too",
    "own",
    "out",
    "off",
    "new",
    "old",
    "about",
    "actually",
    "after",
    "against",
    "alternative",
    "argument",
    "because",
    "been",
    "before",
    "better",
    "between",
    "both",
    "change",
    "changed",
    "chose",
    "choose",
    "considered",
    "decided",
    "decision",
    "deliberately",
    "favour",
    "favor",
    "former",
    "forget",
    "from",
    "going",
    "have",
    "having",
    "here",
    "i'll",
    "i'm",
    "i've",
    "instead",
    "into",
    "it's",
    "less",
    "let's",
    "like",
    "looking",
    "mind",
    "more",
    "opted",
    "over",
    "pick",
    "picked",
    "plan",
    "prefer",
    "rather",
    "reason",
    "rejected",
    "ruled",
    "said",
    "scrap",
    "second",
    "settled",
    "since",
    "stick",
    "switched",
    "take",
    "than",
    "that",
    "then",
    "there",
    "they",
    "this",
    "thought",
    "used",
    "using",
    "very",
    "we'll",
    "were",
    "what",
    "will",
    "wins",
    "with",
    "work",
    "would",
    "your",
];

/// The words of a decision that name things: without its reason and without the words of deciding.
pub(crate) fn topic(text: &str) -> Vec<String> {
    let lower = lowered(text);
    // `Decision:` or `Actually, scrap that:` opens; the reason ends what is compared.
    let head = match lower.split_once(':') {
        Some((opening, rest)) if opening.split_whitespace().count() <= 4 && rest.len() > 20 => rest,
        _ => &lower,
    };
    let ends = [
        " because ",
        " since ",
        " given that ",
        "; the reason",
        ": ",
        " – ",
        " — ",
        ", as ",
        ", but ",
        " (because",
    ];
    let end = ends.iter().filter_map(|end| head.find(end)).filter(|at| *at > 12).min().unwrap_or(head.len());
    let mut named: Vec<String> = parts(&head[..end])
        .filter(|word| word.len() > 2 && !PLAIN.contains(word))
        .map(str::to_owned)
        .collect();
    named.sort();
    named.dedup();
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_taken_back_is_about_the_same_things() {
        let first = "I'm going with hashed addresses rather than a Bloom filter, because it is less work.";
        assert!(same_matter(first, "Change of plan: we use a Bloom filter, not hashed addresses."));
        let named = topic(first);
        assert!(speaks_of(
            "Turns out hashed addresses were wrong: it leaks. Back to the Bloom filter.",
            &named
        ));
        assert!(!speaks_of("The addresses are shown twice on the page.", &named));
        assert!(!same_matter(first, "I chose a ring buffer over a linked list because it is faster."));
    }
}
