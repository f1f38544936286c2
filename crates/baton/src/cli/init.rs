//! `baton init`

use serde_json::json;

use super::Who;
use crate::app::App;
use crate::error::Ended;
use crate::{host, render};

/// Register this repository as a project
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    who: Who,
    /// Project id; else made from the folder's name
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Take part in nothing implicit: no related projects, no recall across projects
    #[arg(long)]
    isolated: bool,
    /// Where the code lives: github, gitlab, pantheon or none; else guessed from the remote
    #[arg(long, value_name = "P")]
    vcs: Option<String>,
    /// Issue tracker, as owner/repo
    #[arg(long, value_name = "O/R")]
    issues_repo: Option<String>,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let remote = app.config.cwd.as_deref().and_then(|cwd| host::git(cwd, &["remote", "get-url", "origin"]));
    let id = args.id.or_else(|| app.project.clone());
    let answer = app.call(
        "project_init",
        json!({
            "id": id, "isolated": args.isolated, "vcs": args.vcs, "issues_repo": args.issues_repo,
            "remote": remote, "identity": args.who.identity,
        }),
    )?;
    app.answer(&answer, |a| {
        let verb = if a["created"] == true { "registered" } else { "already registered:" };
        let vcs = render::text(&a["project"], "vcs_provider");
        format!(
            "{verb} project {} for {} (vcs: {vcs})\n",
            render::text(a, "project_id"),
            render::text(a, "root")
        )
    })
}
