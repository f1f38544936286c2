//! `baton hook`

use crate::hook::{self, Call};

/// Answer a session hook of a coding agent; set up by `baton install`
///
/// Reads the agent's JSON from standard input. Never fails: whatever is not ready after 300 ms (on a machine that is too busy, a
/// second) is left out, and saving is handed to a separate process, usually within 20 ms and in a second at most. Errors are
/// written to `hooks.log` beside the store.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Event: session-start, prompt, before-compaction, after-compaction, failure, session-end
    #[arg(value_name = "EVENT", default_value = "")]
    event: String,
    /// Tool that calls the hook
    #[arg(long, value_name = "A", default_value = "")]
    agent: String,
    /// Do the work of an event taken over from a hook
    #[arg(long, hide = true)]
    detached: bool,
    /// Arguments that later versions of a tool may add
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<String>,
}

/// Answers; there is no way to fail.
pub(super) fn run(args: Args, store: Option<String>) {
    let _ = args.rest;
    let call = Call { event: args.event, agent: args.agent, store };
    if args.detached { hook::work(&call) } else { hook::answer(call) }
}
