//! What a wrong call and a command that ends without success write.

use std::io::{IsTerminal, Write};

use serde_json::json;

use super::{command, help, words};
use crate::app::Format;
use crate::error::{AppError, quote};
use crate::render;

/// Help that lists commands, said by the command in which all of them are described.
pub(super) fn in_full(error: clap::Error) -> clap::Error {
    use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand};
    if !matches!(error.kind(), DisplayHelp | DisplayHelpOnMissingArgumentOrSubcommand) {
        return error;
    }
    help::grouped(command()).try_get_matches_from(words()).err().unwrap_or(error)
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
    } else if message != rendered || baton_model::printable::block(&message) != message {
        // It quotes something that would reach into the terminal, or says it in words of our own.
        let lines: String = message.lines().map(|line| quote(line) + "\n").collect();
        let _ = std::io::stderr().write_all(lines.as_bytes());
    } else {
        let _ = error.print();
    }
    2
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
pub(super) fn report(ended: &AppError, format: Format, color: bool) {
    if matches!(ended, AppError::Reported | AppError::Unfinished | AppError::Tool(_) | AppError::Interrupted)
    {
        return;
    }
    if format == Format::Text {
        let text = ended.text();
        let text = render::for_terminal(&text, std::io::stderr().is_terminal() && color);
        let _ = std::io::stderr().write_all(text.as_bytes());
    } else {
        let _ = writeln!(std::io::stdout(), "{}", ended.to_json());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
