//! `bd`: the tasks with the flags, the JSON and the exit codes of the issue tracker Beads.
//!
//! The binary speaks so when it is called by the name `bd`, and as `baton bd`. What Beads leaves open is decided here: `ready`
//! sorts by priority, then oldest first.

mod about;
mod annotate;
mod args;
mod batch;
mod blocked;
mod change;
mod close;
mod count;
mod deferral;
mod doctor;
mod duplicates;
mod each;
mod edit;
mod exclude;
mod explain;
mod failure;
mod file;
mod folder;
mod gate;
mod graph;
mod graph_plan;
mod help;
mod history;
mod human;
#[cfg(test)]
pub(super) mod lines;
mod link;
mod list;
mod memory;
mod molecule;
mod nameless;
mod nested;
mod options;
mod part;
mod plan;
mod redirect;
pub(super) mod reference;
mod relation;
mod remove;
mod replace;
mod report;
mod select;
mod settings;
mod setup;
mod shape;
mod swarm;
mod view;
mod work;

use std::io::Write as _;
use std::path::PathBuf;

use args::{Command, HumanVerb, KvVerb, Relation, Setup, View};
use baton_model::refusal::{Kind, Refusal};
use baton_ops::task::Row;
use clap::Parser;
use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand};
use each::EachIssue;
use failure::{fail, misused_refusal, print_error};
use serde::{Serialize, Serializer as _};
use serde_json::{Value, json};

use crate::app::{App, Format};
use crate::error::AppError;

/// Use the commands of the issue tracker Beads: `bd create`, `bd ready --json` and so on
#[derive(clap::Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
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
            Err(refusal) => {
                fail(&refusal.into(), self.args.iter().any(|word| word == "--json"), false)?;
                Ok(None)
            }
        }
    }
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let given: Vec<String> = std::iter::once("bd".to_owned()).chain(args.args.iter().cloned()).collect();
    let bd = match args::Bd::try_parse_from(&given) {
        Ok(bd) => bd,
        Err(error) if error.kind() == DisplayHelp => return help::print(&given),
        Err(error) if !error.use_stderr() => return Ok(error.print()?),
        // A group without a verb shows its verbs, as it does there.
        Err(error) if error.kind() == DisplayHelpOnMissingArgumentOrSubcommand => {
            return write(&error.render().to_string());
        }
        Err(error) => {
            let json = app.format == Format::Json || args.args.iter().any(|word| word == "--json");
            return fail(&misused_refusal(&error, &args.args).into(), json, false);
        }
    };
    if let Some(refusal) = failure::unsupported(&bd, &args.args) {
        let json = app.format == Format::Json || bd.global.json;
        return fail(&refusal.into(), json, false);
    }
    app.in_words_of_face = Some(failure::in_words_of_bd);
    if let Err(refusal) = redirect::refuse(&bd.command, app) {
        let json = app.format == Format::Json || bd.global.json;
        return fail(&refusal.into(), json, false);
    }
    let var = |name: &str| app.config.vars.get(name).filter(|value| !value.is_empty()).cloned();
    let global = bd.global;
    let actor = global.actor.or_else(|| var("BEADS_ACTOR")).or_else(|| var("BD_ACTOR"));
    let envelope = var("BD_JSON_ENVELOPE").is_some_and(|value| value != "0");
    // git is asked only where a name is written down.
    let actor = if bd.command.writes() { actor.or_else(|| person(app)) } else { actor };
    let json = global.json || app.format != Format::Text;
    // Before the verb the option is one of every command of `baton`.
    let quiet = global.quiet || app.quiet;
    let mut out = Out { app, json, quiet, envelope, actor: actor.as_deref().map(identity) };
    let done = match global.readonly && bd.command.writes() {
        true => {
            Err(Refusal::new(Kind::Refused, "readonly", "this command writes", "leave out --readonly").into())
        }
        false => dispatch(bd.command, &mut out),
    };
    match done {
        Ok(()) => Ok(()),
        // What was refused of several issues is said already.
        Err(error) if error.is_unread() || matches!(error, AppError::Reported) => Err(error),
        Err(error) => fail(&error, json, envelope),
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
                Setup::Init(_)
                    | Setup::Bootstrap(_)
                    | Setup::Import { .. }
                    | Setup::Export { .. }
                    | Setup::Sync(_)
                    | Setup::Dolt { .. }
                    | Setup::Hooks { .. }
                    | Setup::Human { verb: Some(HumanVerb::Respond { .. } | HumanVerb::Dismiss { .. }) }
            ),
        }
    }
}

/// The person at the keyboard, by the name that git has for him; none where an agent calls, whose processes are told apart, and
/// where the settings name an identity or an access token, which has one.
fn person(app: &mut App) -> Option<String> {
    let has_token = app.config.server.as_ref().is_some_and(|server| server.token.is_some());
    if app.config.identity.is_some() || app.config.session.is_some() || has_token {
        return None;
    }
    let folder = app.config.cwd.clone()?;
    let name = crate::git::user_name(&folder)?;
    let name = name.trim();
    (!name.is_empty() && app.caller().surface == "human").then(|| name.to_owned())
}

/// An actor may be any text there; here it is a name of letters, digits, `.`, `_` and `-`.
fn identity(actor: &str) -> String {
    baton_model::id::actor_name(actor)
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

    /// Writes issues as a bare array, or the text for people. They are written as they are read: there may be a whole project.
    fn print_list(&self, issues: &[Row], text: impl FnOnce(&[Row]) -> String) -> Result<(), AppError> {
        if !self.json || self.envelope {
            return self.print(issues, text);
        }
        let mut out = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
        let mut json = serde_json::Serializer::pretty(&mut out);
        let written = json.collect_seq(issues.iter().map(shape::ListedIssue));
        written.map_err(std::io::Error::from)?;
        out.write_all(b"\n")?;
        Ok(out.flush()?)
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
}
