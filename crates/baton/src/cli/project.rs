//! `baton project`

use baton_ops::op::Operation;
use serde_json::{Value, json};

use super::Who;
use crate::app::App;
use crate::error::Ended;
use crate::render;

/// List, show and change registered projects
#[derive(clap::Args)]
pub struct Args {
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
    /// Change a project's phase, focus, tracker or webhook; an empty text removes
    Set(Box<Set>),
    /// Say that two projects belong together, so that recall may look into both
    Relate(Relate),
}

#[derive(clap::Args)]
struct Relate {
    /// The other project
    to: String,
    #[command(flatten)]
    who: Who,
    /// What they are to each other
    #[arg(long, value_name = "K", default_value = "related")]
    kind: String,
    /// Take the relation away
    #[arg(long)]
    remove: bool,
}

#[derive(clap::Args)]
struct Set {
    /// Project id
    id: Option<String>,
    #[command(flatten)]
    who: Who,
    /// Current phase of the work
    #[arg(long, value_name = "T")]
    phase: Option<String>,
    /// What the work is about; give it several times
    #[arg(long, value_name = "TAG")]
    focus: Option<Vec<String>>,
    /// Tracker: github, local or none
    #[arg(long, value_name = "P")]
    issues_provider: Option<String>,
    /// Issue tracker, as owner/repo
    #[arg(long, value_name = "O/R")]
    issues_repo: Option<String>,
    /// Owner of issue repositories that are named like their project
    #[arg(long, value_name = "O")]
    default_owner: Option<String>,
    /// URL that every delta is posted to
    #[arg(long, value_name = "URL")]
    webhook: Option<String>,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    match args.verb {
        Verb::List => {
            let answer = app.call(baton_ops::project::List::NAME, json!({}))?;
            app.answer(&answer, |a| {
                render::table(&render::list(a, "items").iter().map(row).collect::<Vec<_>>())
            })
        }
        Verb::Show { id } => {
            let answer = app.call(
                baton_ops::project::Show::NAME,
                json!({ "project": id.or_else(|| app.project.clone()) }),
            )?;
            app.answer(&answer, fields)
        }
        Verb::Relate(relate) => {
            let answer = app.call(
                baton_ops::project::Relate::NAME,
                json!({
                    "project": app.project, "identity": relate.who.identity, "to": relate.to, "kind": relate.kind,
                    "remove": relate.remove,
                }),
            )?;
            app.answer(&answer, |a| {
                let rows: Vec<Vec<String>> = render::list(a, "related")
                    .iter()
                    .map(|r| vec![render::text(r, "project_id"), render::text(r, "kind")])
                    .collect();
                render::table(&rows)
            })
        }
        Verb::Set(set) => {
            let input = json!({
                "project": set.id.or_else(|| app.project.clone()), "identity": set.who.identity, "phase": set.phase,
                "focus": set.focus, "issues_provider": set.issues_provider, "issues_repo": set.issues_repo,
                "webhook": set.webhook, "default_owner": set.default_owner,
            });
            let answer = app.call(baton_ops::project::Set::NAME, input)?;
            app.answer(&answer, fields)
        }
    }
}

fn row(project: &Value) -> Vec<String> {
    vec![
        render::text(project, "project_id"),
        render::text(project, "vcs_provider"),
        render::text(project, "phase"),
        render::age(project, "last_wrapped_at"),
    ]
}

fn fields(project: &Value) -> String {
    let shown = project.as_object().into_iter().flatten().filter(|(_, v)| !v.is_null());
    render::table(&shown.map(|(key, _)| vec![key.clone(), render::text(project, key)]).collect::<Vec<_>>())
}
