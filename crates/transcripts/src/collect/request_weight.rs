//! Whether what the user said asks for something by itself.

/// What a message of the user holds. The order is that of weight: of several parts the heaviest decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RequestWeight {
    /// A greeting, thanks, a farewell: nothing.
    Courtesy,
    /// That it is well: nothing, where nothing was asked.
    Praise,
    /// That the work goes on.
    GoOn,
    /// A yes, a choice: it means what was asked before.
    Consent,
    /// A no, a halt.
    Refusal,
    /// A request, or anything else that has content.
    Request,
}

const COURTESIES: &[&str] = &[
    "hi",
    "hello",
    "hey",
    "hi there",
    "hello there",
    "good morning",
    "thanks",
    "thank you",
    "thx",
    "ty",
    "quit",
    "exit",
    "bye",
    "goodbye",
    "test",
    "ping",
    "clear",
    "q",
    "hallo",
    "danke",
    "merci",
    "gracias",
    "hola",
];
const PRAISES: &[&str] = &[
    "ok",
    "okay",
    "k",
    "great",
    "perfect",
    "good",
    "fine",
    "nice",
    "cool",
    "wow",
    "awesome",
    "right",
    "exactly",
    "correct",
    "lgtm",
    "looks good",
    "sounds good",
    "well done",
    "all good",
];
const GO_ON: &[&str] = &[
    "continue",
    "continue from where you left off",
    "go on",
    "go ahead",
    "go",
    "proceed",
    "next",
    "carry on",
    "keep going",
    "resume",
    "start",
    "begin",
    "again",
    "try again",
    "retry",
    "weiter",
    "mach weiter",
    "continúa",
];
const CONSENTS: &[&str] = &[
    "yes",
    "y",
    "yep",
    "yeah",
    "yup",
    "sure",
    "do it",
    "do that",
    "do so",
    "go for it",
    "please do",
    "agreed",
    "approved",
    "both",
    "all",
    "all of them",
    "either",
    "ja",
    "oui",
    "si",
    "sí",
    "da",
    "the first",
    "the second",
    "the first one",
    "the second one",
    "option a",
    "option b",
    "option 1",
    "option 2",
    "option 3",
    "a",
    "b",
    "c",
    "1",
    "2",
    "3",
    "4",
    "5",
];
const REFUSALS: &[&str] = &[
    "no", "n", "nope", "neither", "none", "not yet", "not now", "stop", "wait", "hold on", "cancel", "nein",
    "non",
];
/// Words that add nothing to one of the above.
const FILLERS: &[&str] = &["please", "pls", "then", "now", "bitte", "so", "much", "very", "claude", "codex"];
/// A message that is longer has content.
const MAX_BYTES: usize = 60;

/// What a message holds.
pub(super) fn request_weight(text: &str) -> RequestWeight {
    let lower = text.trim().to_lowercase();
    if lower.len() > MAX_BYTES || lower.contains('\n') {
        return RequestWeight::Request;
    }
    let parts = lower.split([',', '.', '!', ';', '…']).map(str::trim).filter(|part| !part.is_empty());
    let parts: Vec<RequestWeight> = parts.map(of_part).collect();
    let most = parts.iter().max().copied().unwrap_or(RequestWeight::Request);
    if most == RequestWeight::Request && !lower.contains('?') && chooses(&lower) {
        return RequestWeight::Consent;
    }
    // `ok, thanks` ends a matter.
    let ends = most == RequestWeight::Praise && parts.contains(&RequestWeight::Courtesy);
    if ends { RequestWeight::Courtesy } else { most }
}

/// Words of which a message consists that chooses from what was offered, beside the names of options.
const CHOOSING: &[&str] = &[
    "let's",
    "lets",
    "try",
    "do",
    "go",
    "with",
    "option",
    "options",
    "number",
    "the",
    "first",
    "second",
    "third",
    "last",
    "one",
    "both",
    "all",
    "these",
    "those",
    "that",
    "this",
    "it",
    "them",
    "and",
    "yes",
    "yeah",
    "yep",
    "ok",
    "okay",
    "sure",
    "to",
    "of",
    "please",
    "then",
    "for",
    "now",
    "apply",
    "take",
    "use",
    "pick",
    "choose",
    "your",
    "suggested",
    "suggestion",
    "suggestions",
    "recommended",
    "recommendation",
    "recommendations",
    "proposal",
    "approach",
    "next",
    "continue",
    "steps",
    "implement",
    "sounds",
    "good",
    "great",
    "i",
    "like",
    "want",
    "prefer",
    "variant",
];
/// Of these words one must be there, or the name of an option: the others alone choose nothing.
const CHOSEN: &[&str] = &[
    "option",
    "options",
    "first",
    "second",
    "third",
    "last",
    "both",
    "all",
    "these",
    "those",
    "that",
    "it",
    "them",
    "suggested",
    "suggestion",
    "suggestions",
    "recommended",
    "recommendation",
    "recommendations",
    "proposal",
    "approach",
    "this",
];

/// Words that stand for something else: alone they choose nothing.
const PRONOUNS: &[&str] = &["these", "those", "that", "it", "them", "this"];

/// Whether a short message only chooses from what was offered: `1+2`, `let's try 2`, `yes to all`. A command to the tool, whole or
/// half typed, is no answer to the agent.
fn chooses(lower: &str) -> bool {
    let words: Vec<&str> = words_of(lower).collect();
    let is_pronoun = matches!(words.as_slice(), [word] if PRONOUNS.contains(word));
    if is_pronoun || lower.starts_with('/') {
        return false;
    }
    let is_option = |word: &&str| is_name_of_option(word);
    let says = words.iter().all(|word| CHOOSING.contains(word) || is_option(word));
    says && words.iter().any(|word| CHOSEN.contains(word) || is_option(word))
}

fn words_of(lower: &str) -> impl Iterator<Item = &str> {
    lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty())
}

/// `2`, `b`; `a` and `i` are words.
fn is_name_of_option(word: &str) -> bool {
    let digits = word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit());
    digits || (word.len() == 1 && matches!(word.as_bytes()[0], b'b'..=b'h'))
}

/// The names of the options that a short message chooses.
pub(super) fn picks(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let all = words_of(&lower).filter(|word| is_name_of_option(word) || *word == "a");
    if lower.len() > MAX_BYTES { Vec::new() } else { all.map(str::to_owned).collect() }
}

/// Whether a message of the user asks for something by itself: it is no greeting, no praise, no `go on` and no answer.
pub fn is_request(text: &str) -> bool {
    request_weight(text) == RequestWeight::Request
}

fn of_part(part: &str) -> RequestWeight {
    if let Some(held) = list_of(part) {
        return held;
    }
    let words: Vec<&str> = part.split_whitespace().filter(|word| !FILLERS.contains(word)).collect();
    let Some((first, rest)) = words.split_first() else { return RequestWeight::Courtesy };
    // `yes do it`, `ok go on`
    let both = || Some(list_of(first)?.max(list_of(&rest.join(" "))?));
    list_of(&words.join(" ")).or_else(both).unwrap_or(RequestWeight::Request)
}

fn list_of(part: &str) -> Option<RequestWeight> {
    let lists = [
        (COURTESIES, RequestWeight::Courtesy),
        (PRAISES, RequestWeight::Praise),
        (GO_ON, RequestWeight::GoOn),
        (CONSENTS, RequestWeight::Consent),
        (REFUSALS, RequestWeight::Refusal),
    ];
    lists.iter().find(|(words, _)| words.contains(&part)).map(|(_, held)| *held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_asks_for_nothing_is_no_request() {
        for (text, held) in [
            ("hi", RequestWeight::Courtesy),
            ("Thank you so much!", RequestWeight::Courtesy),
            ("ok, thanks", RequestWeight::Courtesy),
            ("Yes please.", RequestWeight::Consent),
            ("yes do it", RequestWeight::Consent),
            ("2", RequestWeight::Consent),
            ("perfect", RequestWeight::Praise),
            ("stop, not yet", RequestWeight::Refusal),
            ("", RequestWeight::Request),
            ("ok, continue", RequestWeight::GoOn),
            ("Go ahead", RequestWeight::GoOn),
            ("please continue", RequestWeight::GoOn),
            ("1+2", RequestWeight::Consent),
            ("let's try 2=", RequestWeight::Consent),
            ("yes to all", RequestWeight::Consent),
            ("go with option B please", RequestWeight::Consent),
            ("commit this change", RequestWeight::Request),
            ("use 2 threads", RequestWeight::Request),
            ("next: the docs", RequestWeight::Request),
            ("yes, but keep the old name", RequestWeight::Request),
            ("continue with the parser", RequestWeight::Request),
            ("no tests", RequestWeight::Request),
            ("/them", RequestWeight::Request),
            ("/option 2", RequestWeight::Request),
            ("them", RequestWeight::Request),
            ("all of them", RequestWeight::Consent),
            ("that one", RequestWeight::Consent),
            ("?", RequestWeight::Request),
            ("stop it at once\nplease", RequestWeight::Request),
        ] {
            assert_eq!(request_weight(text), held, "{text}");
        }
    }
}
