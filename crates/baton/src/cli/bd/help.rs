//! The help of a verb, with the options that are accepted without an effect.

use clap::{Command, CommandFactory};

use super::args::Bd;
use crate::error::AppError;

/// Prints the help that these words ask for.
pub(super) fn print(words: &[String]) -> Result<(), AppError> {
    match with_ignored(Bd::command()).try_get_matches_from(words) {
        Err(help) => Ok(help.print()?),
        Ok(_) => Ok(()),
    }
}

/// A command whose help, and that of each verb below it, ends with the options that are accepted for the sake of scripts and
/// have nothing to act on here.
fn with_ignored(command: Command) -> Command {
    let command = command.mut_subcommands(with_ignored);
    let hidden = command.get_arguments().filter(|arg| arg.is_hide_set());
    let names: Vec<String> = hidden.filter_map(|arg| Some(format!("--{}", arg.get_long()?))).collect();
    match names.as_slice() {
        [] => command,
        names => command.after_help(format!("Accepted without effect: {}", names.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every option of a command and of those below it.
    fn hidden(command: &Command) -> Vec<(String, String)> {
        let own = command.get_arguments().filter(|arg| arg.is_hide_set());
        let own = own.map(|arg| {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            (format!("{} --{}", command.get_name(), arg.get_long().unwrap_or_default()), help)
        });
        own.chain(command.get_subcommands().flat_map(hidden)).collect()
    }

    #[test]
    fn an_option_with_an_effect_is_in_the_help_and_one_without_is_named() {
        let all = hidden(&Bd::command());
        assert!(all.len() > 20, "{all:?}");
        let acting: Vec<_> =
            all.iter().filter(|(_, help)| !help.to_lowercase().contains("accepted and ignored")).collect();
        assert!(acting.is_empty(), "{acting:?}");
        let help = with_ignored(Bd::command()).try_get_matches_from(["bd", "delete", "--help"]);
        let help = help.expect_err("the help").to_string();
        assert!(help.contains("Accepted without effect: --hard"), "{help}");
        let help = with_ignored(Bd::command()).try_get_matches_from(["bd", "--help"]);
        assert!(help.expect_err("the help").to_string().contains("--no-daemon, --no-auto-flush"));
        // What is a verb's own comes first.
        let help = with_ignored(Bd::command()).try_get_matches_from(["bd", "ready", "--help"]);
        let help = help.expect_err("the help").to_string();
        let place = |text: &str| help.find(text).unwrap_or(usize::MAX);
        assert!(
            place("--mol ") < place("Options of every command") && place("--json") < usize::MAX,
            "{help}"
        );
        assert!(place("Options of every command") < place("--json"), "{help}");
    }
}
