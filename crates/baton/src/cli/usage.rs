//! What a wrong call and a command that ends without success write.

use std::io::{IsTerminal, Write};

use baton_model::printable;
use serde_json::json;

use super::quotation::with_quotation_marks;
use super::{arguments, command, help};
use crate::app::Format;
use crate::error::{AppError, quote};
use crate::render;

/// Help that lists commands, said by the command in which all of them are described.
pub(super) fn in_full(error: clap::Error) -> clap::Error {
    use clap::error::ErrorKind::{
        DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, InvalidSubcommand, UnknownArgument,
    };
    if error.kind() == UnknownArgument {
        return with_quotation_marks(error, &arguments(), command);
    }
    if error.kind() == InvalidSubcommand {
        return with_command_meant(with_settings_file(error));
    }
    if !matches!(error.kind(), DisplayHelp | DisplayHelpOnMissingArgumentOrSubcommand) {
        return error;
    }
    help::grouped(command()).try_get_matches_from(arguments()).err().unwrap_or(error)
}

/// Adds to the error of an unknown verb of `baton config` where settings are written: it has no verb for that.
fn with_settings_file(mut error: clap::Error) -> clap::Error {
    use clap::error::{ContextKind, ContextValue};
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    if usage.contains("baton config ") {
        let tip = "settings are lines of config.toml in ~/.config/baton, or variables; `baton config show` lists them";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Words that other tools have for what is a command here: the command in which one is said, the word, and what is meant.
const MEANT: [(&str, &str, &str); 9] = [
    ("baton", "inbox", "mail inbox"),
    ("baton", "list", "task list`, `baton sessions` or `baton batons"),
    ("baton", "ready", "task ready"),
    ("baton", "show", "handoff show ID`, `baton task show ID` or `baton sessions show ID"),
    ("baton handoff", "done", "handoff complete"),
    ("baton handoff", "finish", "handoff complete"),
    ("baton handoff", "close", "handoff complete"),
    ("baton handoff", "reject", "handoff decline"),
    ("baton handoff", "refuse", "handoff decline"),
];

/// Puts the command that is meant in the place of one that only looks alike.
fn with_command_meant(mut error: clap::Error) -> clap::Error {
    use clap::error::{ContextKind, ContextValue};
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    // The usage of a group names it before its options: `Usage: baton handoff [OPTIONS] <COMMAND>`.
    let is_said_in =
        |group: &str| usage.contains(&format!("{group} [")) || usage.contains(&format!("{group} <"));
    let command = MEANT.iter().find(|(group, known, _)| known == word && is_said_in(group));
    if let Some((_, _, command)) = command {
        error.remove(ContextKind::SuggestedSubcommand);
        let tip = format!("`baton {command}` is what does this here");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Help and version go to standard output; a usage error goes to standard error, as JSON with `--json` or `--jsonl`.
/// Returns the exit status.
pub(super) fn usage(error: &clap::Error) -> i32 {
    if !error.use_stderr() {
        let _ = error.print();
        return 0;
    }
    let rendered = error.render().to_string();
    let message = plainly(&rendered);
    let wants_json = std::env::args_os().any(|arg| arg == "--json" || arg == "--jsonl");
    if wants_json {
        let (what, hint) = parts(&message);
        let error = json!({ "error": { "code": "usage", "message": quote(&what), "hint": quote(&hint) } });
        let _ = writeln!(std::io::stdout(), "{error}");
    } else if message != rendered || quotes_control_characters(error) {
        // In words of our own, or without the colours of the library: it prints an argument raw among them.
        let lines: String = message.lines().map(|line| quote(line) + "\n").collect();
        let _ = std::io::stderr().write_all(lines.as_bytes());
    } else {
        let _ = error.print();
    }
    2
}

/// Whether the message holds an argument that a terminal would take for commands. The rendered text does not tell: it is stripped of
/// escape sequences, those of the argument among them.
fn quotes_control_characters(error: &clap::Error) -> bool {
    use clap::error::ContextValue::{String as One, Strings as Many};
    let is_raw = |text: &String| printable::block(text) != *text;
    is_raw(&error.render().to_string())
        || error.context().any(|(_, value)| match value {
            One(text) => is_raw(text),
            Many(texts) => texts.iter().any(is_raw),
            _ => false,
        })
}

/// What is wrong, with all that it names, and what may have been meant; each on one line. The library writes it as a paragraph, tips
/// and the usage, with empty lines between them.
fn parts(message: &str) -> (String, String) {
    let one_line = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let what = message.split("\n\n").next().unwrap_or_default();
    let tips = message.lines().filter_map(|line| line.trim().strip_prefix("tip: "));
    let hint = tips.chain(["see `baton --help`, or the command's own --help"]).collect::<Vec<_>>().join("; ");
    (one_line(what.trim_start_matches("error: ")), hint)
}

/// What is wrong with a number, without the library's words for it.
fn plainly(message: &str) -> String {
    let words = [
        ("invalid digit found in string", "it is not a whole number"),
        ("invalid float literal", "it is not a number"),
        ("cannot parse integer from empty string", "it is empty"),
        ("cannot parse float from empty string", "it is empty"),
        ("number too large to fit in target type", "it is too large"),
        ("number too small to fit in target type", "it is too small"),
    ];
    words.into_iter().fold(message.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours))
}

/// Prints why a command ended without success: text on standard error, JSON on standard output.
pub(super) fn report(error: &AppError, format: Format, color: bool) {
    if matches!(error, AppError::Reported | AppError::Unfinished | AppError::Tool(_) | AppError::Interrupted)
    {
        return;
    }
    if format == Format::Text {
        let text = error.text();
        let text = render::for_terminal(&text, std::io::stderr().is_terminal() && color);
        let _ = std::io::stderr().write_all(text.as_bytes());
    } else {
        let _ = writeln!(std::io::stdout(), "{}", error.to_json());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_with_an_escape_sequence_is_never_printed_raw() {
        let error =
            |words: &[&str]| super::super::command().try_get_matches_from(words).expect_err("it is refused");
        let raw = "sta\u{1b}[31mtus";
        for words in
            [&["baton", raw][..], &["baton", "status", raw], &["baton", "status", &format!("--{raw}")]]
        {
            assert!(quotes_control_characters(&error(words)), "{words:?}");
        }
        assert!(!quotes_control_characters(&error(&["baton", "statis"])));
    }

    #[test]
    fn a_word_of_another_tool_leads_to_the_command_that_is_meant() {
        for (group, word, command) in MEANT {
            let words = group.split(' ').chain([word]);
            let error =
                super::super::command().try_get_matches_from(words).expect_err("there is no such command");
            let text = in_full(error).render().to_string();
            assert!(
                text.contains(&format!("`baton {command}` is what")) && !text.contains("similar"),
                "{text}"
            );
        }
        let slip = super::super::command().try_get_matches_from(["baton", "hndoff"]).expect_err("a slip");
        assert!(in_full(slip).render().to_string().contains("'handoff'"));
    }

    #[test]
    fn several_words_for_one_text_are_given_back_in_quotation_marks() {
        let tip = |words: &str| {
            let words: Vec<std::ffi::OsString> = words.split(' ').map(Into::into).collect();
            let error = super::super::command().try_get_matches_from(&words).expect_err("a word too many");
            with_quotation_marks(error, &words, super::super::command).render().to_string()
        };
        for (given, quoted) in [
            ("baton memory add half up always", "baton memory add 'half up always'"),
            ("baton --json note it's done now", "baton --json note 'it'\\''s done now'"),
            ("baton task create fix the cart --priority 1", "baton task create 'fix the cart' --priority 1"),
            ("baton mail send --to Bob --subject half up", "baton mail send --to Bob --subject 'half up'"),
            ("baton wrap --summary half of it --next n", "baton wrap --summary 'half of it' --next n"),
            ("baton checkpoint --summary half of it", "baton checkpoint --summary 'half of it'"),
            ("baton end --reason no more to do", "baton end --reason 'no more to do'"),
        ] {
            let text = tip(given);
            assert!(text.contains(&format!("quotation marks: `{quoted}`")), "{text}");
        }
        for given in ["baton status now", "baton handoff show 0198 0199"] {
            let text = tip(given);
            assert!(!text.contains("quotation"), "{text}");
        }
    }

    /// So that the rule holds for a command that comes later, too.
    #[test]
    fn every_command_whose_last_argument_is_one_text_says_how_several_words_are_given() {
        fn walk(command: &clap::Command, path: &[&str], found: &mut Vec<(Vec<String>, usize)>) {
            for inner in command.get_subcommands() {
                walk(inner, &[path, &[inner.get_name()]].concat(), found);
            }
            let texts = ["TEXT", "TITLE", "SUBJECT", "REASON", "WHAT"];
            let last = command.get_positionals().last();
            let is_text = last.is_some_and(|last| {
                let names = last.get_value_names().unwrap_or_default();
                let is_one = last.get_num_args().is_none_or(|count| count.max_values() == 1);
                is_one && names.iter().any(|name| texts.contains(&name.as_str()))
            });
            if is_text {
                let needed = command.get_arguments().filter(|arg| arg.is_required_set());
                let needed = needed.filter_map(|arg| Some(format!("--{}=x", arg.get_long()?)));
                let path = path.iter().map(|word| (*word).to_owned()).chain(needed).collect();
                found.push((path, command.get_positionals().count()));
            }
        }
        let mut found = Vec::new();
        walk(&super::super::command(), &["baton"], &mut found);
        assert!(found.len() > 3, "{found:?}");
        for (path, positionals) in found.into_iter().filter(|(path, _)| path[1] != "bd") {
            let before = vec!["1".to_owned(); positionals - 1];
            let words = ["half", "up", "always"].map(str::to_owned).to_vec();
            let words: Vec<std::ffi::OsString> =
                [path.clone(), before, words].concat().into_iter().map(Into::into).collect();
            let error = super::super::command().try_get_matches_from(&words).expect_err("a word too many");
            let text = with_quotation_marks(error, &words, super::super::command).render().to_string();
            assert!(text.contains("'half up always'`"), "{path:?}: {text}");
        }
    }

    #[test]
    fn everything_that_is_missing_is_named_and_a_tip_is_the_hint() {
        let missing = "error: the following required arguments were not provided:\n  --to <PROJECT>\n  --subject <T>\n\nUsage: baton\n";
        let (what, hint) = parts(missing);
        assert_eq!(what, "the following required arguments were not provided: --to <PROJECT> --subject <T>");
        assert_eq!(hint, "see `baton --help`, or the command's own --help");
        let slip = "error: unexpected argument '--hand' found\n\n  tip: a similar argument exists: '--handoff'\n\nUsage: baton\n";
        let (what, hint) = parts(slip);
        assert_eq!(what, "unexpected argument '--hand' found");
        assert!(hint.starts_with("a similar argument exists: '--handoff'; see "), "{hint}");
    }
}
