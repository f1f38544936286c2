//! `baton run`

use std::path::PathBuf;

use baton_model::refusal::Refusal;

use baton_tools::{Launcher, launcher, launcher_of_program, launchers};

use super::headless::starts_headless;
use super::{ActingIdentity, span};
use crate::app::App;
use crate::error::AppError;
use crate::launch;
use crate::supervisor::Plan;
use crate::supervisor::tool_sequence::{self, Link};

/// Run a coding agent in its own session and save what it did when it exits
///
/// The agent has the terminal; its signals and its exit code are passed on. When it exits, what it did is read from its
/// transcript and left as a baton, unless it has wrapped on its own. When the agent calls `baton`, it acts in this
/// session. With --then, the next tool goes on in the same terminal with that baton where one stops at a limit or a
/// failure.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    who: ActingIdentity,
    /// Tool to start; arguments after -- are added to its command line
    #[arg(long, value_name = "TOOL")]
    agent: Option<String>,
    /// What the tool may do without asking
    #[arg(long, value_name = "M", value_parser = ["plan", "ask", "edits", "full"], requires = "agent")]
    mode: Option<String>,
    /// Pick up a baton, the newest or this one, and start with its document
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "", requires = "agent")]
    pickup: Option<String>,
    /// Maximum size of its document, in tokens (2000) or bytes (2KiB)
    #[arg(long, value_name = "N|NKiB", requires = "pickup")]
    budget: Option<String>,
    /// Tools that go on, one after the other, if the one before stops at a limit or a failure
    #[arg(long, value_name = "TOOL,…", value_delimiter = ',', conflicts_with = "no_wrap")]
    then: Vec<String>,
    /// Leave no baton; save a checkpoint and end the session
    #[arg(long)]
    no_wrap: bool,
    /// How often to save a checkpoint while it runs; 0s for never
    #[arg(long, value_name = "SPAN", default_value = "5m")]
    checkpoint_every: String,
    /// Command to run; with --agent, arguments added to its command line
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let named = args.agent.as_deref().map(named_launcher).transpose()?;
    let (launcher, program, words) = match (named, args.command.split_first()) {
        (Some(one), _) => (Some(one), find_program(one, app)?, args.command),
        (None, Some((program, rest))) => (launcher_of_program(program), program.into(), rest.to_vec()),
        (None, None) => {
            let what = "nothing says what to run";
            let hint = "baton run -- claude, or baton run --agent codex";
            return Err(Refusal::invalid("command_missing", what, hint).into());
        }
    };
    // Without a baton there is no prompt, so the user's own arguments say how it runs.
    let headless = args.pickup.is_some() && named.is_some_and(|one| starts_headless(one, &words, app));
    let plan = Plan {
        launcher,
        built: named.is_some(),
        program,
        more: words,
        identity: args.who.identity,
        mode: args.mode,
        pickup: args.pickup,
        budget: args.budget,
        wrap: !args.no_wrap,
        every: span(&args.checkpoint_every)?,
        headless,
        next: None,
    };
    let link = |name: &String| {
        let launcher = named_launcher(name)?;
        Ok(Link { launcher, program: find_program(launcher, app)? })
    };
    let links = args.then.iter().map(link).collect::<Result<Vec<Link>, Refusal>>()?;
    tool_sequence::run_chain(plan, links, app)
}

fn named_launcher(name: &str) -> Result<Launcher, Refusal> {
    launcher(name).ok_or_else(|| {
        let known: Vec<&str> = launchers().map(|one| one.tool.id).collect();
        let what = format!("`{}` is no tool that can be started by its name", baton_model::id::visible(name));
        let hint = format!("use one of {}, or give the command after --", known.join(", "));
        Refusal::invalid("tool_unknown", what, hint)
    })
}

/// Where the tool lies.
fn find_program(launcher: Launcher, app: &App) -> Result<PathBuf, Refusal> {
    let path = app.config.vars.get("PATH").map(String::as_str).unwrap_or_default();
    launch::installed(launcher.program(), path)
        .ok_or_else(|| launch::not_installed_refusal(launcher, "give its whole command after --"))
}
