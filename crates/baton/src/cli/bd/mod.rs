//! `bd`: the tasks with the flags, the JSON and the exit codes of the issue tracker Beads.
//!
//! The binary speaks so when it is called by the name `bd`, and as `baton bd`. What Beads leaves open is decided here: `ready`
//! sorts by priority, then oldest first.

mod about;
mod annotate;
mod args;
mod batch;
mod change;
mod close;
mod count;
mod each;
mod edit;
mod file;
mod folder;
mod gate;
mod graph;
#[cfg(test)]
pub(super) mod lines;
mod link;
mod list;
mod memory;
mod part;
mod plan;
pub(super) mod reference;
mod relation;
mod remove;
mod report;
mod select;
mod setup;
mod shape;
mod view;
mod work;

use std::fmt::Write as _;
use std::path::PathBuf;

use args::{Command, KvVerb, Relation, Setup, View};
use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use clap::Parser;
use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
use each::EachIssue;
use serde::Serialize;
use serde_json::{Value, json};

use crate::app::{App, Format};
use crate::error::{AppError, quote};

/// Use the commands of the issue tracker Beads: `bd create`, `bd ready --json` and so on
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(super) struct Args {
    /// Command of bd with its flags; `--help` lists the commands
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    args: Vec<String>,
}

/// How answers are written.
struct Out<'a> {
    app: &'a mut App,
    json: bool,
    quiet: bool,
    envelope: bool,
    actor: Option<String>,
}

impl Args {
    /// The folder that the call is about, where it is not the working directory.
    pub(super) fn folder(&self) -> Result<Option<PathBuf>, AppError> {
        match folder::choose(&self.args, crate::config::variable) {
            Ok(folder) => Ok(folder),
            Err(no) => {
                fail(&no.into(), self.args.iter().any(|word| word == "--json"), false)?;
                Ok(None)
            }
        }
    }
}

/// Verbs that accept any option of Beads.
const LENIENT: [&str; 5] = ["bootstrap", "doctor", "init", "prime", "sync"];

/// The words with the options of every command first, where the verb would swallow them among those that it ignores.
fn reordered(words: &[String]) -> Vec<String> {
    let verb = words.iter().find(|word| !word.starts_with('-'));
    if !verb.is_some_and(|verb| LENIENT.contains(&verb.as_str())) {
        return words.to_vec();
    }
    let (mut first, mut rest, mut words) = (Vec::new(), Vec::new(), words.iter().cloned());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" | "--quiet" | "-q" | "--readonly" => first.push(word),
            "--actor" | "--directory" | "-C" | "--db" => {
                first.extend([Some(word), words.next()].into_iter().flatten())
            }
            _ => rest.push(word),
        }
    }
    first.extend(rest);
    first
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let given = std::iter::once("bd".to_owned()).chain(reordered(&args.args));
    let bd = match args::Bd::try_parse_from(given) {
        Ok(bd) => bd,
        Err(error) if !error.use_stderr() => return Ok(error.print()?),
        // A group without a verb shows its verbs, as it does there.
        Err(error) if error.kind() == DisplayHelpOnMissingArgumentOrSubcommand => {
            return write(&error.render().to_string());
        }
        Err(error) => {
            let json = app.format == Format::Json || args.args.iter().any(|word| word == "--json");
            return fail(&misused(&error, &args.args).into(), json, false);
        }
    };
    let var = |name: &str| app.config.vars.get(name).filter(|value| !value.is_empty()).cloned();
    let global = bd.global;
    let actor = global.actor.or_else(|| var("BEADS_ACTOR")).or_else(|| var("BD_ACTOR"));
    let envelope = var("BD_JSON_ENVELOPE").is_some_and(|value| value != "0");
    // git is asked only where a name is written down.
    let actor = if bd.command.writes() { actor.or_else(|| person(app)) } else { actor };
    let json = global.json || app.format != Format::Text;
    let mut out = Out { app, json, quiet: global.quiet, envelope, actor: actor.as_deref().map(identity) };
    let done = match global.readonly && bd.command.writes() {
        true => {
            Err(Refusal::new(Kind::Refused, "readonly", "this command writes", "leave out --readonly").into())
        }
        false => dispatch(bd.command, &mut out),
    };
    match done {
        Ok(()) => Ok(()),
        // What was refused of several issues is said already.
        Err(ended) if ended.is_unread() || matches!(ended, AppError::Reported) => Err(ended),
        Err(ended) => fail(&ended, json, envelope),
    }
}

fn dispatch(command: Command, out: &mut Out<'_>) -> Result<(), AppError> {
    match command {
        Command::Work(verb) => work::run(verb, out),
        Command::View(verb) => view::run(verb, out),
        Command::Relation(verb) => relation::run(verb, out),
        Command::Setup(verb) => setup::run(verb, out),
    }
}

impl Command {
    /// Whether it may write anything.
    fn writes(&self) -> bool {
        match self {
            Self::View(verb) => matches!(verb, View::Ready { claim: true, .. }),
            Self::Work(_) => true,
            Self::Relation(verb) => !matches!(
                verb,
                Relation::Recall { .. }
                    | Relation::Memories { .. }
                    | Relation::State { .. }
                    | Relation::Kv { verb: KvVerb::Get { .. } | KvVerb::List }
            ),
            Self::Setup(verb) => matches!(
                verb,
                Setup::Init { .. }
                    | Setup::Import { .. }
                    | Setup::Export { .. }
                    | Setup::Sync { .. }
                    | Setup::Dolt { .. }
                    | Setup::Hooks { .. }
            ),
        }
    }
}

/// What is wrong with the words of a call, whole: a verb of Beads that is not here says what to use.
fn misused(error: &clap::Error, words: &[String]) -> Refusal {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    if error.kind() == ErrorKind::InvalidSubcommand
        && let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand)
    {
        let group = words.iter().find(|word| !word.starts_with('-'));
        if group == Some(name) {
            return reference::refusal(name);
        }
        if let Some(refusal) = group.and_then(|group| reference::nested_refusal(group, name)) {
            return refusal;
        }
    }
    let bare: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| !word.starts_with('-')).take(2).collect();
    if matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidValue)
        && let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg)
        && let Some(refusal) =
            option.split([' ', '=']).next().and_then(|name| reference::option_refusal(&bare, name))
    {
        return refusal;
    }
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut message = lines.next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let mut hint = String::new();
    for line in lines {
        if let Some(tip) = line.strip_prefix("tip: ") {
            // It names the first letters of what was written, and not the text.
            let tip = match tip.starts_with("to pass '") {
                true => "a text that begins with a hyphen stands behind `--`, after all options",
                false => tip,
            };
            hint.push_str(tip);
            hint.push_str("; ");
        } else if !line.starts_with("Usage:") && !line.starts_with("For more information") && hint.is_empty()
        {
            message = format!("{message} {line}");
        }
    }
    let verb: Vec<&str> =
        words.iter().map(String::as_str).take_while(|word| !word.starts_with('-')).take(1).collect();
    hint.push_str(&format!("see `bd {} --help`", visible(&verb.join(" "))).replace("  ", " "));
    Refusal::invalid("usage", message, hint)
}

/// The person at the keyboard, by the name that git has for him; none where an agent calls, whose processes are told apart, and
/// where the settings name an identity.
fn person(app: &mut App) -> Option<String> {
    if app.config.identity.is_some() || app.config.session.is_some() {
        return None;
    }
    let folder = app.config.cwd.clone()?;
    let name = crate::git::read(&folder, &["config", "user.name"])?;
    let name = name.trim();
    (!name.is_empty() && app.caller().surface == "human").then(|| name.to_owned())
}

/// An actor may be any text there; here it is a name of letters, digits, `.`, `_` and `-`.
fn identity(actor: &str) -> String {
    let name: String = actor
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' })
        .take(64)
        .collect();
    let name = name.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    if name.is_empty() { baton_model::id::BOT.to_owned() } else { name.to_owned() }
}

/// A text that names commands of `baton task` in backquotes, with those of `bd` in their place where there is the same one.
fn in_words_of_bd(text: &str) -> String {
    let part = |(at, part): (usize, &str)| match part.strip_prefix("baton task ").filter(|_| at % 2 == 1) {
        Some(command) => command_of_bd(command).unwrap_or_else(|| part.to_owned()),
        None => part.to_owned(),
    };
    text.split('`').enumerate().map(part).collect::<Vec<String>>().join("`")
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
        ("claim", None) => Some(format!("bd update {rest} --claim")),
        _ => SAME.contains(&verb).then(|| format!("bd {command}")),
    }
}

/// Prints an error in Beads' shape; the exit status is always 1. Some clients read standard output and some standard error, so
/// that JSON goes to the one and the text to the other.
fn fail(ended: &AppError, json: bool, envelope: bool) -> Result<(), AppError> {
    use std::io::Write;
    let error = &ended.to_json()["error"];
    let [message, hint] =
        ["message", "hint"].map(|key| in_words_of_bd(error[key].as_str().unwrap_or_default()));
    let (message, hint) = (message.as_str(), hint.as_str());
    writeln!(std::io::stderr(), "Error: {}\nHint: {}", quote(message), quote(hint))?;
    if json {
        let mut shown = json!({ "error": message, "hint": hint, "code": error["code"] });
        if envelope {
            shown = json!({ "schema_version": 1, "error": message, "hint": hint, "code": error["code"] });
        } else {
            shown["schema_version"] = json!(1);
        }
        writeln!(std::io::stdout(), "{shown:#}")?;
    }
    Err(AppError::Reported)
}

impl Out<'_> {
    /// The project of a call.
    fn project(&self) -> Option<String> {
        self.app.project.clone()
    }

    /// Who acts; none: as for any other command.
    fn identity(&self) -> Option<String> {
        self.actor.clone()
    }

    /// Writes an object or an array, or the text for people.
    fn print<T: Serialize + ?Sized>(
        &self,
        payload: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<(), AppError> {
        if !self.json {
            let text = if self.quiet { String::new() } else { text(payload) };
            return write(&crate::render::for_terminal(&text, false));
        }
        let shown = match serde_json::to_value(payload).map_err(anyhow::Error::from)? {
            payload if self.envelope => json!({ "schema_version": 1, "data": payload }),
            Value::Object(mut fields) => {
                fields.insert("schema_version".into(), json!(1));
                Value::Object(fields)
            }
            other => other,
        };
        write(&format!("{shown:#}\n"))
    }

    /// Writes a bare array, or the text for people. Each item becomes JSON when its turn comes: there may be a whole project.
    fn print_list<T: Serialize>(
        &self,
        items: &[T],
        text: impl FnOnce(&[T]) -> String,
    ) -> Result<(), AppError> {
        if !self.json || self.envelope || items.is_empty() {
            return self.print(items, text);
        }
        let mut shown = String::from("[\n");
        for (at, item) in items.iter().enumerate() {
            let item = serde_json::to_value(item).map_err(anyhow::Error::from)?;
            let end = if at + 1 == items.len() { "\n]\n" } else { ",\n" };
            for (at, line) in format!("{item:#}").lines().enumerate() {
                let _ = write!(shown, "{}  {line}", if at == 0 { "" } else { "\n" });
            }
            shown.push_str(end);
            if shown.len() > 1 << 16 {
                write(&std::mem::take(&mut shown))?;
            }
        }
        write(&shown)
    }

    /// Writes a text for people, whatever the format.
    fn text(&self, text: &str) -> Result<(), AppError> {
        write(&crate::render::for_terminal(text, false))
    }

    /// The name that acts.
    fn acting_name(&mut self) -> Result<String, AppError> {
        let named = self.actor.clone().or_else(|| self.app.config.identity.clone());
        let named = named.or_else(|| person(self.app).as_deref().map(identity));
        Ok(named.unwrap_or_else(|| baton_model::id::BOT.to_owned()))
    }

    /// A remark on standard error.
    fn remark(&self, text: &str) {
        if !self.quiet {
            self.app.remark(text);
        }
    }
}

fn write(text: &str) -> Result<(), AppError> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::args::Bd;

    #[test]
    fn the_command_line_is_well_formed() {
        Bd::command().debug_assert();
    }

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
            ("`baton task release a-1`, baton task list", "`baton task release a-1`, baton task list"),
        ] {
            assert_eq!(super::in_words_of_bd(ours), theirs);
        }
    }
}
