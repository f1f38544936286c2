//! `baton project`

mod places;

use baton_model::id::visible;
use baton_ops::project::{self, ListInput, RelateInput, RelatedProject, Row, SetInput, ShowInput};
use serde::Serialize;
use serde_json::Value;

use super::ActingIdentity;
use crate::app::App;
use crate::error::AppError;
use crate::render;

/// List, show and change registered projects
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// List the registered projects
    List,
    /// Show a project's registration
    Show {
        /// Project id
        id: Option<String>,
    },
    /// Change a project's phase, focus, tracker or webhook; an empty string clears it
    Set(Box<Set>),
    /// Relate two projects, so that recall may search both
    Relate(Relate),
    /// List the folders and worktrees in which a project is worked on
    Places,
    /// Give a project another name; its id keeps leading to it
    Rename(places::Rename),
    /// Give a folder to another project, or to a new one
    Split(places::Split),
    /// Forget a folder; nothing of the ledger is removed
    Remove(places::Remove),
    /// Merge a project into another: folders and open batons move
    Merge(places::Merge),
}

#[derive(clap::Args)]
struct Relate {
    /// Project to relate to
    to: String,
    #[command(flatten)]
    who: ActingIdentity,
    /// Kind of relation
    #[arg(long, value_name = "K", default_value = "related")]
    kind: String,
    /// Remove the relation
    #[arg(long)]
    remove: bool,
}

#[derive(clap::Args)]
struct Set {
    /// Project id
    id: Option<String>,
    #[command(flatten)]
    who: ActingIdentity,
    /// Current phase of the work
    #[arg(long, value_name = "T")]
    phase: Option<String>,
    /// Tag for what the work is about; may be repeated
    #[arg(long, value_name = "TAG")]
    focus: Option<Vec<String>>,
    /// Tracker: github, local or none
    #[arg(long, value_name = "P")]
    issues_provider: Option<String>,
    /// Issue tracker, as owner/repo
    #[arg(long, value_name = "O/R")]
    issues_repo: Option<String>,
    /// Default owner of issue repositories named after their project
    #[arg(long, value_name = "O")]
    default_owner: Option<String>,
    /// URL to post every ledger entry to
    #[arg(long, value_name = "URL")]
    webhook: Option<String>,
    /// Whether sessions may be pushed to its ledger: yes or no
    #[arg(long, value_name = "YES|NO", value_parser = ["yes", "no"])]
    transcripts: Option<String>,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    match args.verb {
        Verb::List => {
            let projects = app.run::<project::List>(&ListInput {})?;
            app.show(&projects, |all| match all.items.as_slice() {
                [] => "no project is registered: run `baton init` in a repository\n".to_owned(),
                items => render::table(&items.iter().map(row).collect::<Vec<_>>()),
            })
        }
        Verb::Show { id } => {
            let project = id.or_else(|| app.project.clone());
            let shown = app.run::<project::Show>(&ShowInput { project })?;
            app.show(&shown, fields)
        }
        Verb::Relate(relate) => {
            let input = RelateInput {
                project: app.project.clone(),
                identity: relate.who.identity,
                to: relate.to,
                kind: relate.kind,
                remove: relate.remove,
            };
            let answer = app.run::<project::Relate>(&input)?;
            app.show(&answer, |answer| {
                let row = |other: &RelatedProject| vec![visible(&other.project_id), visible(&other.kind)];
                render::table(&answer.related.iter().map(row).collect::<Vec<_>>())
            })
        }
        Verb::Places => places::list(app),
        Verb::Rename(args) => places::rename(args, app),
        Verb::Split(args) => places::split(args, app),
        Verb::Remove(args) => places::remove(args, app),
        Verb::Merge(args) => places::merge(args, app),
        Verb::Set(set) => {
            let input = SetInput {
                project: set.id.or_else(|| app.project.clone()),
                identity: set.who.identity,
                phase: set.phase,
                focus: set.focus,
                issues_provider: set.issues_provider,
                issues_repo: set.issues_repo,
                default_owner: set.default_owner,
                webhook: set.webhook,
                takes_transcripts: set.transcripts.map(|word| word == "yes"),
            };
            let changed = app.run::<project::Set>(&input)?;
            app.show(&changed, fields)
        }
    }
}

fn row(row: &Row) -> Vec<String> {
    let project = &row.project;
    let text = |field: &Option<String>| field.as_deref().map(visible).unwrap_or_default();
    vec![
        visible(&project.title()),
        text(&project.vcs_provider),
        text(&project.phase),
        project.last_wrap.as_ref().map(|last| render::time_ago(last.last_wrapped_at)).unwrap_or_default(),
        project
            .merged_into
            .as_deref()
            .map(|into| format!("merged into {}", visible(into)))
            .unwrap_or_default(),
    ]
}

/// Every field that an answer has, as it stands in the JSON.
fn fields<T: Serialize>(answer: &T) -> String {
    let answer = serde_json::to_value(answer).unwrap_or_default();
    let row = |(key, value): (&String, &Value)| match value {
        Value::Null => None,
        Value::String(text) => Some(vec![key.clone(), visible(text)]),
        other => Some(vec![key.clone(), other.to_string()]),
    };
    render::table(&answer.as_object().into_iter().flatten().filter_map(row).collect::<Vec<_>>())
}
