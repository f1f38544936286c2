//! `bd`: the tasks with the flags, the JSON and the exit codes of the issue tracker Beads.
//!
//! The binary speaks so when it is called by the name `bd`, and as `baton bd`. What Beads leaves open is decided here: `ready`
//! sorts by priority, then oldest first.

mod annotate;
mod args;
mod count;
mod file;
mod link;
mod shape;
mod verbs;

use baton_model::refusal::Refusal;
use clap::Parser;
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

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let given = std::iter::once("bd".to_owned()).chain(args.args);
    let bd = match args::Bd::try_parse_from(given) {
        Ok(bd) => bd,
        Err(error) if !error.use_stderr() => return Ok(error.print()?),
        Err(error) => {
            let json = app.format == Format::Json;
            let first = error.render().to_string();
            let first = first.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            let refusal = Refusal::invalid("usage", first, "see `bd --help`, or the command's own --help");
            return fail(&refusal.into(), json, false);
        }
    };
    let var = |name: &str| app.config.vars.get(name).filter(|value| !value.is_empty()).cloned();
    let actor = bd.actor.or_else(|| var("BEADS_ACTOR")).or_else(|| var("BD_ACTOR"));
    let envelope = var("BD_JSON_ENVELOPE").is_some_and(|value| value != "0");
    let json = bd.json || app.format != Format::Text;
    let mut out = Out { app, json, quiet: bd.quiet, envelope, actor: actor.as_deref().map(identity) };
    match verbs::run(bd.command, &mut out) {
        Ok(()) => Ok(()),
        Err(ended) if ended.is_unread() => Err(ended),
        Err(ended) => fail(&ended, json, envelope),
    }
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

/// Prints an error in Beads' shape; the exit status is always 1.
fn fail(ended: &AppError, json: bool, envelope: bool) -> Result<(), AppError> {
    use std::io::Write;
    let error = &ended.to_json()["error"];
    let (message, hint) =
        (error["message"].as_str().unwrap_or_default(), error["hint"].as_str().unwrap_or_default());
    if json {
        let mut shown = json!({ "error": message, "hint": hint, "code": error["code"] });
        if envelope {
            shown = json!({ "schema_version": 1, "error": message, "hint": hint, "code": error["code"] });
        } else {
            shown["schema_version"] = json!(1);
        }
        writeln!(std::io::stdout(), "{shown:#}")?;
    } else {
        writeln!(std::io::stderr(), "Error: {}\nHint: {}", quote(message), quote(hint))?;
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
