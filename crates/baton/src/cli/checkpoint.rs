//! `baton checkpoint`

use baton_model::id::{short, visible};
use baton_model::lossless_json;
use baton_model::refusal::Refusal;
use baton_ops::session::{Checkpoint, CheckpointInput};
use serde_json::Value;

use super::{ActingIdentity, read_input};
use crate::app::App;
use crate::error::AppError;

/// Save the state of a session without ending it
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    who: ActingIdentity,
    /// One-sentence summary of what has been done
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    summary: Option<String>,
    /// State to save: a JSON object in a file, or - for standard input
    #[arg(long, value_name = "FILE|-")]
    state: Option<String>,
    /// Task that the state belongs to, such as a hand-off's (`handoff-ID`); `baton resolve --task` gives it back
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// Version of the state you last saw; refused if the state has changed since
    #[arg(long, value_name = "N")]
    expected_version: Option<i64>,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let state: Option<Value> = match &args.state {
        None => None,
        Some(path) => Some(lossless_json::read(read_input(path)?.as_bytes()).map_err(|error| {
            Refusal::invalid("state_invalid", format!("the state is not JSON: {error}"), "give a JSON object")
        })?),
    };
    let input = CheckpointInput {
        project: app.project.clone(),
        session: app.session.clone(),
        identity: args.who.identity,
        state,
        task: args.task,
        summary: args.summary,
        expected_version: args.expected_version,
    };
    let saved = app.run::<Checkpoint>(&input)?;
    app.show(&saved, |saved| {
        let id = visible(&saved.delta_id);
        format!("saved as {} (state version {})\n", short(&id), saved.state_version)
    })
}
