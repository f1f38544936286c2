//! What `bd` says when it fails, in its own words.

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::suggest::suggestions;
use serde::Serialize;
use serde_json::{Map, Value};

use super::args::{Bd, Command, Dep, Relation, Setup, Work};
use super::{Out, change, doctor, gate, link, options, reference, settings};
use crate::error::{AppError, quote};

/// What is wrong with the words of a call, whole: a verb of Beads that is not here says what to use.
pub(super) fn misused_refusal(error: &clap::Error, words: &[String]) -> Refusal {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    if error.kind() == ErrorKind::InvalidSubcommand
        && let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand)
    {
        let group = words.iter().find(|word| !word.starts_with('-'));
        if group == Some(name) {
            let below = words.iter().filter(|word| !word.starts_with('-')).nth(1);
            let below = below.and_then(|below| reference::nested_refusal(name, below));
            return below.unwrap_or_else(|| reference::refusal(name));
        }
        if let Some(refusal) = group.and_then(|group| reference::nested_refusal(group, name)) {
            return refusal;
        }
        // A verb two groups down; below `wisp` any other name is that of a template, unless it is a slip.
        let before = words.iter().take_while(|word| *word != name).filter(|word| !word.starts_with('-'));
        let is_slip = error.get(ContextKind::SuggestedSubcommand).is_some();
        if let Some("wisp") = before.last().map(String::as_str) {
            let wisp = |verb| reference::nested_refusal("wisp", verb);
            let template = if is_slip { None } else { wisp("create") };
            if let Some(refusal) = wisp(name).or(template) {
                return refusal;
            }
        }
    }
    if let Some(refusal) = unsaid_direction(error, words) {
        return refusal;
    }
    let bare: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| !word.starts_with('-')).take(2).collect();
    if matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidValue)
        && let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg)
        && let Some(refusal) =
            option.split([' ', '=']).next().and_then(|name| options::option_refusal(&bare, name))
    {
        return refusal;
    }
    let similar = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(option))) => near_options(&bare, option),
        _ => Vec::new(),
    };
    let (message, mut hint) = text_of_usage(error, &similar);
    let verb: Vec<&str> =
        words.iter().map(String::as_str).take_while(|word| !word.starts_with('-')).take(1).collect();
    hint.push_str(&format!("see `bd {} --help`", visible(&verb.join(" "))).replace("  ", " "));
    Refusal::invalid("usage", message, hint)
}

/// What the parser says is wrong, on one line, and its hints. `similar`: options of the verb that are near.
fn text_of_usage(error: &clap::Error, similar: &[String]) -> (String, String) {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut message = lines.next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let mut hint = String::new();
    if !similar.is_empty() {
        hint = format!("did you mean {}? ", similar.join(" or "));
    }
    for line in lines {
        // It looks among the options of every command, too.
        if line.starts_with("tip: a similar argument exists")
            || line.starts_with("tip: some similar arguments exist")
        {
            continue;
        }
        if let Some(tip) = line.strip_prefix("tip: ") {
            // It names the first letters of what was written, and not the text.
            let tip = match tip.starts_with("to pass '") {
                true => {
                    "there is no such option; a text that begins with a hyphen stands behind `--`, after all options"
                }
                false => tip,
            };
            hint.push_str(tip);
            hint.push_str("; ");
        } else if !line.starts_with("Usage:") && !line.starts_with("For more information") && hint.is_empty()
        {
            message = format!("{message} {line}");
        }
    }
    (message, hint)
}

/// What there is to say of `bd dep A B`, which does not say which of the two waits.
fn unsaid_direction(error: &clap::Error, words: &[String]) -> Option<Refusal> {
    let bare: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    let ["dep", one, other] = bare.as_slice() else { return None };
    (error.kind() == clap::error::ErrorKind::ArgumentConflict).then(|| {
        let [one, other] = [one, other].map(|id| visible(id));
        let what = format!("`bd dep {one} {other}` does not say which of the two waits");
        let hint = format!("`bd dep add {one} {other}`: {one} waits for {other}; `bd dep {one} --blocks {other}`: {other} waits for {one}");
        Refusal::invalid("usage", what, hint)
    })
}

/// The options of a verb that are near to one that it does not have.
fn near_options(bare: &[&str], option: &str) -> Vec<String> {
    use clap::CommandFactory;
    let mut command = Bd::command();
    let mut names: Vec<String> = Vec::new();
    let mut verbs = bare.iter();
    loop {
        let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
        names.extend(shown.filter_map(|arg| arg.get_long().map(str::to_owned)));
        let below = verbs.next().and_then(|verb| command.find_subcommand(verb)).cloned();
        let Some(below) = below else { break };
        // Options of every command, and not those of a group, are options of its verbs.
        if command.get_name() != "bd" {
            names.clear();
        }
        command = below;
    }
    let found = suggestions(option.trim_start_matches('-'), names.iter().map(String::as_str));
    found.into_iter().map(|name| format!("`--{name}`")).collect()
}

/// What is wrong with a call whose words are understood, and which asks for something that is not here.
pub(super) fn unsupported(bd: &Bd, words: &[String]) -> Option<Refusal> {
    match &bd.command {
        Command::Setup(Setup::Config { verb }) => settings::refusal(verb),
        Command::Relation(Relation::Gate { verb }) => gate::refusal(verb),
        Command::Relation(Relation::Link { on, kind, .. }) => link::external_refusal(on, kind),
        Command::Relation(Relation::Dep {
            verb: Some(Dep::Add { on, blocked_by, depends_on, kind, .. }),
            ..
        }) => {
            let on = on.as_ref().or(blocked_by.as_ref()).or(depends_on.as_ref())?;
            link::external_refusal(on, kind)
        }
        Command::Work(Work::Create(args)) => change::refusal(args).or_else(|| {
            args.deps.iter().find_map(|dep| {
                let at = dep.find("external:")?;
                let kind = dep[..at].trim_end_matches(':');
                link::external_refusal(&dep[at..], if kind.is_empty() { "blocks" } else { kind })
            })
        }),
        Command::Setup(Setup::Doctor(args)) => doctor::refusal(args),
        // Before the verb the option is one of every command, and means something else.
        Command::Setup(Setup::Import { .. }) => {
            let after = words.iter().skip_while(|word| *word != "import");
            after.into_iter().any(|word| word == "--allow-stale").then_some(())?;
            options::option_refusal(&["import"], "--allow-stale")
        }
        _ => None,
    }
}

/// A text that names commands of `baton` in backquotes, with those of `bd` in their place where there is the same one.
pub(super) fn in_words_of_bd(text: &str) -> String {
    let part = |(at, part): (usize, &str)| {
        let command = part.strip_prefix("baton ").filter(|_| at % 2 == 1);
        let of_bd = command.and_then(|command| match command.strip_prefix("task ") {
            Some(command) => command_of_bd(command),
            None if command == "init" => Some("bd init".to_owned()),
            None => command.strip_prefix("import beads ").map(|file| format!("bd import {file}")),
        });
        of_bd.unwrap_or_else(|| part.to_owned())
    };
    let text = text.split('`').enumerate().map(part).collect::<Vec<String>>().join("`");
    // The option has another name there.
    text.replace("say --project ID", "name its folder: `bd -C DIR`")
}

/// The command of `bd` that does what this one of `baton task` does.
fn command_of_bd(command: &str) -> Option<String> {
    const SAME: [&str; 15] = [
        "blocked",
        "close",
        "comment",
        "create",
        "delete",
        "dep",
        "increment",
        "list",
        "ready",
        "rename",
        "reopen",
        "search",
        "show",
        "stats",
        "update",
    ];
    let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
    match (verb, rest.split_once(" --force")) {
        // There a claim is given back before it is taken.
        ("claim", Some((id, _))) => Some(format!("bd unclaim {id} --force --reason REASON")),
        ("release", Some((id, _))) => Some(format!("bd unclaim {id} --force --reason REASON")),
        ("release", None) => Some(format!("bd unclaim {rest}")),
        // The other options of a claim are not there.
        ("claim", None) if rest.contains("--") => None,
        ("claim", None) => Some(format!("bd update {rest} --claim")),
        _ => SAME.contains(&verb).then(|| format!("bd {command}")),
    }
}

/// Message and hint of an error.
fn message_and_hint(error: &AppError) -> [String; 2] {
    let (message, hint) = error.to_error().map(|error| (error.message, error.hint)).unwrap_or_default();
    [message, hint].map(|text| in_words_of_bd(&text))
}

/// Prints an error for people, quiet or not; of one of several issues with its id.
pub(super) fn print_error(error: &AppError, id: Option<&str>) -> Result<(), AppError> {
    use std::io::Write;
    let [message, hint] = message_and_hint(error);
    let id = id.map(|id| format!("{}: ", quote(id))).unwrap_or_default();
    Ok(writeln!(std::io::stderr(), "Error: {id}{}\nHint: {}", quote(&message), quote(&hint))?)
}

/// Prints an error in Beads' shape; the exit status is always 1. Some clients read standard output and some standard error, so
/// that JSON goes to the one and the text to the other.
pub(super) fn fail(error: &AppError, json: bool, envelope: bool) -> Result<(), AppError> {
    fail_with(Map::new(), error, (json, envelope))
}

/// Prints an error in Beads' shape with these fields besides.
fn fail_with(
    mut fields: Map<String, Value>,
    error: &AppError,
    (json, envelope): (bool, bool),
) -> Result<(), AppError> {
    use std::io::Write;
    print_error(error, None)?;
    if json {
        let [message, hint] = message_and_hint(error);
        let code = error.to_error().map(|error| error.code);
        let error = [("error", message.into()), ("hint", hint.into()), ("code", code.into())];
        fields.extend(error.map(|(key, value)| (key.to_owned(), value)));
        match envelope {
            true => _ = fields.shift_insert(0, "schema_version".to_owned(), 1.into()),
            false => _ = fields.insert("schema_version".to_owned(), 1.into()),
        }
        writeln!(std::io::stdout(), "{:#}", Value::Object(fields))?;
    }
    Err(AppError::Reported)
}

impl Out<'_> {
    /// Fails with what Beads prints beside the error.
    pub(super) fn fail_with<T: Serialize>(&self, beside: &T, error: &AppError) -> Result<(), AppError> {
        let fields = serde_json::to_value(beside).map_err(anyhow::Error::from)?;
        let fields = if let Value::Object(fields) = fields { fields } else { Map::new() };
        fail_with(fields, error, (self.json, self.envelope))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn hints_name_commands_of_bd() {
        for (ours, theirs) in [
            ("take it away with `baton task dep remove`", "take it away with `bd dep remove`"),
            (
                "`baton task claim a-1 --force --why REASON` takes it",
                "`bd unclaim a-1 --force --reason REASON` takes it",
            ),
            ("`baton task claim a-1 --force`", "`bd unclaim a-1 --force --reason REASON`"),
            ("`baton task claim a-1` or `baton task list`", "`bd update a-1 --claim` or `bd list`"),
            ("`baton task claim a-1 --lease SPAN`", "`baton task claim a-1 --lease SPAN`"),
            ("`baton task release a-1`, baton task list", "`bd unclaim a-1`, baton task list"),
            (
                "`baton task release a-1 --force --why REASON` gives it back",
                "`bd unclaim a-1 --force --reason REASON` gives it back",
            ),
            (
                "run `baton init` in the folder of the project, or say --project ID",
                "run `bd init` in the folder of the project, or name its folder: `bd -C DIR`",
            ),
            (
                "`baton import beads .beads/issues.jsonl`, `baton init --merge-driver`",
                "`bd import .beads/issues.jsonl`, `baton init --merge-driver`",
            ),
        ] {
            assert_eq!(super::in_words_of_bd(ours), theirs);
        }
    }
}
