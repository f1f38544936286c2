//! `baton resolve`

use baton_model::id::visible;
use baton_model::seed::{View, next_action};
use baton_ops::session::{Resolution, Resolve, ResolveInput, ResolveOutput};

use super::ActingIdentity;
use crate::app::App;
use crate::error::AppError;
use crate::render;

/// Find the saved or seeded session state to continue from
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    who: ActingIdentity,
    /// Task of the exact state to find
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// What the user said, to match against the states
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    said: Option<String>,
    /// Continue, whatever the user said
    #[arg(long)]
    resume: bool,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let resolved = app.run::<Resolve>(&ResolveInput {
        project: app.project.clone(),
        identity: args.who.identity,
        task: args.task,
        said: args.said,
        resume: args.resume,
    })?;
    app.show(&resolved, show)
}

fn show(resolved: &ResolveOutput) -> String {
    match resolved.resolution {
        Resolution::Resume => format!(
            "go on: session {}\n{}",
            resolved.session_id.as_deref().map(visible).unwrap_or_default(),
            render::quoted(resolved.state.as_ref().map(next_action).unwrap_or_default())
        ),
        Resolution::ChoiceRequired => {
            let rows: Vec<Vec<String>> = resolved.candidates.iter().map(row).collect();
            format!("several could be meant: say which with --as and --task\n{}", render::table(&rows))
        }
        Resolution::New => "nothing to go on with: begin anew\n".to_owned(),
    }
}

fn row(candidate: &View) -> Vec<String> {
    vec![
        visible(&candidate.identity),
        visible(&candidate.task_id),
        visible(candidate.next_action()),
        render::time_ago(candidate.updated_at),
    ]
}
