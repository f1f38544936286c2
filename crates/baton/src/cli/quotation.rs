//! Several words where a command takes one text: the same command again, with quotation marks around them.

use std::ffi::OsString;

use baton_model::shell::shell_word;
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgMatches, Command};

/// The names under which commands ask for a text that is written in words.
const TEXTS: [&str; 8] = ["TEXT", "TITLE", "SUBJECT", "REASON", "WHAT", "T", "T|-", "S"];

/// Adds to the error of a word too many the command that takes it as part of the text before it, where there is one.
pub(super) fn with_quotation_marks(
    mut error: clap::Error,
    words: &[OsString],
    command: impl Fn() -> Command,
) -> clap::Error {
    let Some(ContextValue::String(extra)) = error.get(ContextKind::InvalidArg) else { return error };
    let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
    let Some(words) = words else { return error };
    let found = (2..words.len())
        .filter(|at| words[*at] == extra && !extra.starts_with('-'))
        .find_map(|at| quoted(&words, at, &command));
    if let Some(line) = found {
        let tip = format!("several words are one text in quotation marks: `{line}`");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// The command line in which the word at this place, the one before it and those after it are one text, where the command takes that.
fn quoted(words: &[&str], at: usize, command: &impl Fn() -> Command) -> Option<String> {
    let end =
        words[at..].iter().position(|word| word.starts_with('-')).map_or(words.len(), |after| at + after);
    let text = words[at - 1..end].join(" ");
    let mut whole: Vec<&str> = words[..at - 1].to_vec();
    whole.push(&text);
    whole.extend(&words[end..]);
    let root = command();
    let matches = root.clone().try_get_matches_from(&whole).ok()?;
    is_text(&root, &matches, &text).then(|| {
        let is_option = |word: &str| word.starts_with("--") && word[2..].chars().all(is_plain);
        let rest = whole.iter().skip(1).map(|word| match is_option(word) {
            true => (*word).to_owned(),
            false => shell_word(word).to_string(),
        });
        std::iter::once("baton".to_owned()).chain(rest).collect::<Vec<_>>().join(" ")
    })
}

/// Whether a shell takes a character of an option for itself.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

/// Whether a command has taken this for an argument that is a text.
fn is_text(command: &Command, matches: &ArgMatches, text: &str) -> bool {
    if let Some((name, inner)) = matches.subcommand() {
        return command.find_subcommand(name).is_some_and(|command| is_text(command, inner, text));
    }
    let has_it = |arg: &&Arg| {
        let given = matches.try_get_raw(arg.get_id().as_str()).ok().flatten();
        given.is_some_and(|mut given| given.any(|one| one == text))
    };
    command.get_arguments().filter(has_it).any(|arg| {
        let names = arg.get_value_names().unwrap_or_default();
        names.iter().any(|name| TEXTS.contains(&name.as_str()))
    })
}
