//! Calls of the command line: `baton <command> --flag`.

use super::{Command, FindingKind, KnownNames, RawFinding, Run};
use crate::suggest::suggestions;

/// What ends a command of a shell.
const ENDS: [&str; 8] = ["&&", "||", ";", "|", ">", "<", "#", "&"];
/// What may stand before a command of a shell.
const BEFORE: [&str; 6] = ["$", "%", "sudo", "exec", "time", "env"];
/// Words after which, in prose, a command follows.
const VERBS: [&str; 5] = ["run", "runs", "running", "execute", "invoke"];
/// Words that are no command, in prose.
const PLAIN: [&str; 18] = [
    "to", "as", "for", "and", "or", "in", "on", "at", "when", "before", "after", "if", "with", "is", "the",
    "a", "from", "so",
];

/// Every call that names a command or a flag that is not there.
pub(super) fn check(runs: &[Run<'_>], known: &KnownNames<'_>) -> Vec<RawFinding> {
    if known.commands.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for run in runs {
        let (Run::Code(text) | Run::Prose(text)) = run;
        let prose = matches!(run, Run::Prose(_));
        let tokens = if prose { text.split_whitespace().collect() } else { shell_words(text) };
        for (at, token) in tokens.iter().enumerate() {
            let is_baton = bare(token) == "baton" || token.ends_with("/baton");
            if is_baton && calls(&tokens, at, prose) {
                found.extend(call(&tokens[at + 1..], known));
            }
        }
    }
    found
}

/// Words as a shell reads them: what stands between quotes is one, quotes included.
fn shell_words(text: &str) -> Vec<&str> {
    let (mut words, mut start, mut quote, mut before) = (Vec::new(), None, None, ' ');
    for (at, c) in text.char_indices() {
        match (quote, start) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, Some(begin)) if c.is_whitespace() => {
                words.push(&text[begin..at]);
                start = None;
            }
            (None, None) if c.is_whitespace() => {}
            (None, _) => {
                start = start.or(Some(at));
                quote = (matches!(c, '"' | '\'') && (before.is_whitespace() || before == '=')).then_some(c);
            }
        }
        before = c;
    }
    words.extend(start.map(|begin| &text[begin..]));
    words
}

/// Whether the word at this place is called as a program.
fn calls(tokens: &[&str], at: usize, prose: bool) -> bool {
    let before = at.checked_sub(1).and_then(|at| tokens.get(at)).copied();
    let next = tokens.get(at + 1).copied().unwrap_or_default();
    if prose {
        let verb = before.is_some_and(|word| VERBS.contains(&word.to_lowercase().as_str()));
        let flagged = tokens.get(at + 2).is_some_and(|word| word.starts_with("--"));
        return is_name(bare(next)) && !PLAIN.contains(&bare(next)) && (verb || flagged);
    }
    match before {
        None => true,
        Some(word) => {
            BEFORE.contains(&word)
                || ENDS.contains(&word)
                || word.ends_with([';', '(', ':'])
                || (word.contains('=') && !word.starts_with('-'))
        }
    }
}

/// A token without quotes, brackets and marks of punctuation round it.
fn bare(token: &str) -> &str {
    token.trim_matches(|c: char| "\"'()[]{},.:;*!?…".contains(c))
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_'))
}

/// Follows the words of a call as far as they name commands, and judges its flags by the command it came to.
fn call(tokens: &[&str], known: &KnownNames<'_>) -> Vec<RawFinding> {
    let mut path = String::new();
    let mut flags = Vec::new();
    let mut found = Vec::new();
    let mut tokens = tokens.iter();
    while let Some(token) = tokens.next() {
        if ENDS.contains(token) {
            break;
        }
        let word = bare(token);
        if word.starts_with('-') && word.len() > 1 {
            let name = word.split('=').next().unwrap_or(word);
            flags.push(flag_name(name));
            if !word.contains('=') && takes_value(known, &path, name) {
                tokens.next();
            }
        } else if !has_subcommands(known, &path) {
            // An argument.
        } else if word.split('|').all(is_name) {
            let unknown = word.split('|').filter(|name| find(known, &join(&path, name)).is_none());
            let unknown: Vec<RawFinding> = unknown.map(|name| unknown_command(known, &path, name)).collect();
            if !unknown.is_empty() {
                found.extend(unknown);
                return found;
            }
            path = join(&path, word.split('|').next().unwrap_or(word));
        } else {
            break;
        }
        if token.ends_with(';') {
            break;
        }
    }
    let strange = flags.into_iter().filter(|flag| !has_flag(known, &path, flag));
    found.extend(strange.map(|flag| unknown_flag(known, &path, flag)).collect::<Vec<_>>());
    found
}

/// `-vv` and `-n5` are `-v` and `-n`.
fn flag_name(word: &str) -> &str {
    let short = !word.starts_with("--");
    match word.char_indices().nth(2) {
        Some((end, _)) if short => &word[..end],
        _ => word,
    }
}

fn join(path: &str, word: &str) -> String {
    if path.is_empty() { word.to_owned() } else { format!("{path} {word}") }
}

fn find<'a>(known: &KnownNames<'a>, path: &str) -> Option<&'a Command> {
    known.commands.iter().find(|command| command.name == path)
}

/// The names under a command.
fn below<'a>(known: &KnownNames<'a>, path: &str) -> Vec<&'a str> {
    let inside =
        |name: &'a str| if path.is_empty() { Some(name) } else { name.strip_prefix(path)?.strip_prefix(' ') };
    let names = known.commands.iter().filter_map(|command| inside(&command.name));
    names.filter(|name| !name.is_empty() && !name.contains(' ')).collect()
}

fn has_subcommands(known: &KnownNames<'_>, path: &str) -> bool {
    !below(known, path).is_empty()
}

fn has_flag(known: &KnownNames<'_>, path: &str, flag: &str) -> bool {
    let always = ["--help", "--version", "-h", "-V", "--"];
    always.contains(&flag) || find(known, path).is_some_and(|command| command.flags.iter().any(|f| f == flag))
}

fn takes_value(known: &KnownNames<'_>, path: &str, flag: &str) -> bool {
    find(known, path).is_some_and(|command| command.valued.iter().any(|f| f == flag))
}

fn unknown_command(known: &KnownNames<'_>, path: &str, name: &str) -> RawFinding {
    let full = join(path, name);
    let similar = suggestions(name, below(known, path));
    let hint = match similar.first() {
        Some(similar) => format!("did you mean `baton {}`?", join(path, similar)),
        None => format!("`baton {}` names the commands that there are", join(path, "--help")),
    };
    let message = format!("there is no command `baton {full}`");
    RawFinding { kind: FindingKind::UnknownCommand, name: format!("baton {full}"), message, hint }
}

fn unknown_flag(known: &KnownNames<'_>, path: &str, flag: &str) -> RawFinding {
    let own = find(known, path).map(|command| command.flags.as_slice()).unwrap_or_default();
    let hint = match suggestions(flag, own.iter().map(String::as_str)).first() {
        Some(similar) => format!("did you mean `{similar}`?"),
        None => format!("`baton {}` names its flags", join(path, "--help")),
    };
    let command = if path.is_empty() { "baton".to_owned() } else { format!("baton {path}") };
    let message = format!("`{command}` has no flag `{flag}`");
    RawFinding { kind: FindingKind::UnknownFlag, name: format!("{command} {flag}"), message, hint }
}
