//! Whether a fact survived in a document.

use crate::fact::{Check, Fact};
use crate::passage::{Passage, passages, plain};

/// A document to be searched.
pub struct Document {
    passages: Vec<Passage>,
}

/// What a kind came to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Share {
    /// Facts that were planted.
    pub planted: usize,
    /// Those that survived.
    pub survived: usize,
    /// Lures that were taken.
    pub taken: usize,
}

impl Share {
    /// Between 0 and 1: a lure that was taken costs as much as a fact that was lost.
    pub fn value(self) -> f64 {
        if self.planted == 0 {
            return 1.0;
        }
        self.survived.saturating_sub(self.taken) as f64 / self.planted as f64
    }

    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            planted: self.planted + other.planted,
            survived: self.survived + other.survived,
            taken: self.taken + other.taken,
        }
    }
}

impl Document {
    /// Reads Markdown.
    pub fn new(markdown: &str) -> Self {
        Self { passages: passages(markdown) }
    }

    /// Shares of the nine kinds.
    pub fn score(&self, facts: &[Fact]) -> [Share; 9] {
        let mut shares = [Share::default(); 9];
        for fact in facts {
            let Some(share) = shares.get_mut(usize::from(fact.kind).wrapping_sub(1)) else { continue };
            let found = self.holds(fact);
            share.planted += usize::from(!fact.lure);
            share.survived += usize::from(!fact.lure && found);
            share.taken += usize::from(fact.lure && found);
        }
        shares
    }

    /// Whether the fact survived, or the lure was taken.
    pub fn holds(&self, fact: &Fact) -> bool {
        self.evidence(fact).is_some()
    }

    /// The passage that tells the fact, or in which the lure was taken.
    pub fn evidence(&self, fact: &Fact) -> Option<String> {
        let passages: Vec<&Passage> = match fact.lure {
            true => self.under(fact.kind),
            false => self.passages.iter().collect(),
        };
        let evidence = passages.into_iter().find(|passage| self.tells(passage, &fact.check))?;
        Some(format!("[{}] {}", evidence.heading, evidence.text()))
    }

    /// The passages that claim to hold facts of a kind; in a document without such a heading all but the turns.
    fn under(&self, kind: u8) -> Vec<&Passage> {
        let words: &[&str] = match kind {
            1 => &["constraint", "request", "rule", "instruction", "start", "goal"],
            3 => &["file", "modif", "change"],
            5 => &["decision"],
            6 => &["fail", "attempt"],
            7 => &["question", "open"],
            _ => &[],
        };
        let titled =
            |words: &[&str], passage: &Passage| words.iter().any(|word| passage.heading.contains(word));
        if self.passages.iter().any(|passage| titled(words, passage)) {
            return self.passages.iter().filter(|passage| titled(words, passage)).collect();
        }
        let talk = ["turn", "conversation", "message", "history", "transcript"];
        self.passages.iter().filter(|passage| !titled(&talk, passage)).collect()
    }

    fn tells(&self, passage: &Passage, check: &Check) -> bool {
        match check {
            Check::Words { said: phrase, keys } => words(&passage.text(), phrase, keys),
            Check::File { path, how, from } => file(passage, path, how, from.as_deref()),
            Check::Command { command, exit, message } => {
                let ended = passage.lines.iter().any(|line| exit_code(line, command) == Some(*exit));
                ended && message.as_ref().is_none_or(|message| self.message(passage, message))
            }
            Check::Item { title, state } => {
                passage.lines.iter().any(|line| item(line, &passage.heading, title, state))
            }
            Check::Branch { name } => {
                let text = passage.text();
                find_whole(&text, &plain(name)).is_some() && text.contains("branch")
            }
            Check::Commit { id } => {
                let text = passage.text();
                let near = format!("{} {text}", passage.heading);
                text.contains(id.as_str()) && ["commit", "head", "git"].iter().any(|word| near.contains(word))
            }
            Check::Dirty => {
                let text = passage.text();
                let words = ["uncommitted", "not committed", "dirty", "unstaged"];
                words.iter().any(|word| text.find(word).is_some_and(|at| negations(&text[..at], 20) == 0))
            }
        }
    }

    /// The message stands in the passage of the command or in its section.
    fn message(&self, passage: &Passage, message: &str) -> bool {
        let message = plain(message);
        let near = self.passages.iter().filter(|other| other.section == passage.section);
        near.into_iter().any(|other| other.text().contains(&message))
    }
}

/// The keys in their order, close to each other, and not in a sentence that says the opposite.
fn words(text: &str, phrase: &str, keys: &[String]) -> bool {
    let keys: Vec<String> = keys.iter().map(|key| trimmed(&plain(key))).collect();
    let phrase = plain(phrase);
    let Some(first) = keys.first() else { return false };
    let negated = phrase.find(first.as_str()).map_or(0, |at| negations(&phrase[..at], 60));
    let reach = phrase.len() * 2 + 80;
    let mut from = 0;
    while let Some(at) = text[from..].find(first.as_str()).map(|at| at + from) {
        let window = &text[at..floor(text, at + reach)];
        if in_order(window, &keys) && sentence_negations(&text[..at]) <= negated {
            return true;
        }
        from = at + first.len();
    }
    false
}

fn in_order(text: &str, keys: &[String]) -> bool {
    let mut rest = text;
    keys.iter().all(|key| {
        let Some(at) = rest.find(key.as_str()) else { return false };
        rest = &rest[at + key.len()..];
        true
    })
}

fn trimmed(key: &str) -> String {
    key.trim_end_matches(['.', ':', ';', ',', '?', '!']).to_owned()
}

fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Words that turn a sentence round, in its part before a key.
fn sentence_negations(before: &str) -> usize {
    let start = before.rfind(['.', '?', '!', '—', '|']).map_or(0, |at| at + 1);
    negations(&before[floor(before, start)..], 60)
}

fn negations(before: &str, reach: usize) -> usize {
    let from = floor(before, before.len().saturating_sub(reach));
    let words = before[from..].split(|c: char| !c.is_alphanumeric() && c != '\'');
    let turns = |word: &str| {
        matches!(
            word,
            "not" | "no" | "never" | "without" | "cannot" | "superseded" | "obsolete" | "withdrawn"
        ) || word.ends_with("n't")
            || word == "dont"
    };
    words.filter(|word| turns(word)).count()
}

/// Where a name stands that is not a part of a longer name.
fn find_whole(text: &str, name: &str) -> Option<usize> {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
    text.match_indices(name).map(|(at, _)| at).find(|at| {
        let before = &text[..*at];
        let rooted = ["~/", "./"].iter().any(|root| before.ends_with(root)) || is_root(before);
        let after = &text[at + name.len()..];
        let longer = after.strip_prefix('.').unwrap_or(after).starts_with(part);
        (rooted || !before.ends_with(part)) && !longer
    })
}

/// Whether this is the folder of a project, as in `/home/you/shop/` or `~/shop/`.
fn is_root(before: &str) -> bool {
    let word = before.rsplit(' ').next().unwrap_or_default();
    let parts = word.trim_matches(['"', '(']).matches('/').count();
    (word.starts_with("/home/you/") && parts == 4) || (word.starts_with("~/") && parts == 2)
}

fn file(passage: &Passage, path: &str, how: &str, from: Option<&str>) -> bool {
    let path = plain(path);
    passage.lines.iter().any(|line| {
        let Some(at) = find_whole(line, &path) else { return false };
        let rest = format!("{} {}", &line[..at], &line[at + path.len()..]);
        let change = said_how(&rest, from.is_some()).or_else(|| said_how(&passage.heading, false));
        let from = from.map(plain);
        // A name may hold any word: `error.tsx`.
        let rest = from.as_ref().map_or(rest.clone(), |from| rest.replace(from.as_str(), " "));
        let failed = ["failed", "fails", "refused", "error", "not changed", "not modified", "unchanged"];
        let refused = failed.iter().any(|word| find_whole(&rest, word).is_some());
        change == Some(how) && !refused && from.is_none_or(|from| find_whole(line, &from).is_some())
    })
}

fn said_how(text: &str, moved: bool) -> Option<&'static str> {
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    let has = |any: &[&str]| words.iter().any(|word| any.contains(word));
    if has(&["renamed", "moved", "rename"]) || (moved && text.contains('→')) {
        return Some("renamed");
    }
    if has(&["created", "added", "new", "wrote", "written", "create"]) {
        return Some("created");
    }
    if has(&["deleted", "removed", "delete"]) {
        return Some("deleted");
    }
    has(&["modified", "edited", "changed", "updated", "edit", "update"]).then_some("modified")
}

/// The exit code that a line tells of a command: the next after it, else the last before it.
fn exit_code(line: &str, command: &str) -> Option<i64> {
    let command = plain(command);
    let mut from = 0;
    while let Some(at) = line[from..].find(&command).map(|at| at + from) {
        let (before, after) = (&line[..at], &line[at + command.len()..]);
        let whole = !after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '/' | '_'));
        let more = after.starts_with(" -") || after.starts_with(" /");
        if whole && !more {
            let codes_after = codes(after);
            let code = codes_after.first().or(codes(before).last()).copied();
            if code.is_some() {
                return code;
            }
        }
        from = at + command.len();
    }
    None
}

/// The exit codes in a text: `exit 1`, `exit code: 1`, `exited with 1`, `(code 1)`.
fn codes(text: &str) -> Vec<i64> {
    let words: Vec<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty())
        .collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if !matches!(*word, "exit" | "exited" | "code" | "status" | "exitcode" | "rc") {
            continue;
        }
        let next = words[at + 1..].iter().find(|word| !matches!(**word, "code" | "status" | "with"));
        if let Some(code) = next.and_then(|word| word.parse().ok()) {
            found.push(code);
        }
    }
    found
}

fn item(line: &str, heading: &str, title: &str, state: &str) -> bool {
    let title = plain(title);
    let Some(at) = line.find(&title) else { return false };
    let rest = format!("{} {}", &line[..at], &line[at + title.len()..]);
    said_state(&rest).or_else(|| said_state(heading)) == Some(state)
}

fn said_state(text: &str) -> Option<&'static str> {
    let has = |any: &[&str]| any.iter().any(|word| text.contains(word));
    if has(&["[x]", "✅", "✓", "completed", "done", "finished", "ticked off"]) {
        return Some("done");
    }
    if has(&["[~]", "[-]", "[/]", "[>]", "in progress", "in_progress", "doing", "🔄", "active"]) {
        return Some("doing");
    }
    has(&["[ ]", "pending", "open", "todo", "to do", "remaining", "next", "not started"]).then_some("open")
}

#[cfg(test)]
mod tests;
