//! `baton work`

use baton_model::refusal::Refusal;

use clap::builder::PossibleValuesParser;

use super::{ActingIdentity, span};
use crate::app::App;
use crate::error::AppError;
use crate::worker::{self, Plan};

/// Work unattended: run a command on each task of a role and record the result
///
/// The command gets the task as JSON on standard input and in the file named by BATON_HANDOFF, along with BATON_TASK,
/// BATON_SESSION and the other variables that `baton` itself reads. It may write a JSON object to the file named by
/// BATON_RESULT: result (pass, fail or error), reason, context, handoff_instructions. Without one, exit code 0 is a
/// pass, and 1 is a failure for testing and verification; anything else means that the agent failed, and the task goes
/// to another.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Role whose tasks to take
    #[arg(long, value_name = "R")]
    role: String,
    #[command(flatten)]
    who: ActingIdentity,
    /// Skill beyond those of its role; may be repeated
    #[arg(long = "skill", value_name = "S")]
    skills: Vec<String>,
    /// Exit after one task, or at once if none is ready
    #[arg(long)]
    once: bool,
    /// Exit after this many tasks
    #[arg(long, value_name = "N", conflicts_with = "once")]
    max: Option<u64>,
    /// Stop the command after this span; defaults to the role's max_session_duration
    #[arg(long, value_name = "SPAN")]
    max_duration: Option<String>,
    /// How often to look for work
    #[arg(long, value_name = "SPAN", default_value = "1s")]
    poll: String,
    /// First pause after the command failed; it doubles with each failure in a row. At a provider's limit the worker waits
    /// until that answers again. 0s: none
    #[arg(long, value_name = "SPAN", default_value = "5s")]
    backoff: String,
    /// Tool to run without a terminal, instead of a command
    #[arg(long, value_name = "TOOL", value_parser = agents())]
    agent: Option<String>,
    /// What the tool may do without asking
    #[arg(long, value_name = "M", value_parser = ["plan", "edits", "full"], default_value = "edits", requires = "agent")]
    mode: String,
    /// Command to run; with --agent, arguments added to its command line
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// The agents that run without a terminal.
fn agents() -> PossibleValuesParser {
    PossibleValuesParser::new(baton_tools::headless().map(|(launcher, _)| launcher.tool.id))
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let (launcher, command) = match &args.agent {
        Some(tool) => {
            let (launcher, words) = worker::preset(tool, &args.mode, &args.command, &worker::folder(app))?;
            (Some(launcher), words)
        }
        None if args.command.is_empty() => {
            let what = "nothing says what to run";
            let hint = "baton work --role testing -- ./run-tests.sh, or --agent claude";
            return Err(Refusal::invalid("command_missing", what, hint).into());
        }
        None => (None, args.command.clone()),
    };
    let named = args.who.identity.or_else(|| app.config.identity.clone());
    let plan = Plan {
        is_named: named.is_some(),
        name: named.unwrap_or_else(|| format!("{}-{}", args.role, std::process::id())),
        role: args.role,
        skills: args.skills,
        most: if args.once { Some(1) } else { args.max },
        once: args.once,
        max_duration: args.max_duration.as_deref().map(span).transpose()?,
        poll: span(&args.poll)?,
        backoff: span(&args.backoff)?,
        command,
        launcher,
    };
    worker::run(plan, app)
}
