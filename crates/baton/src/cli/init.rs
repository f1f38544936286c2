//! `baton init`

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use baton_model::refusal::Refusal;
use serde_json::json;

use super::{Who, merge_driver};
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
    /// Owner of issue repositories that are named like their project: the last resort of a hand-off
    #[arg(long, value_name = "O")]
    default_owner: Option<String>,
    /// Read docs/PROJECT.md back, in place of writing into it
    #[arg(long)]
    sync: bool,
    /// Let git merge the Beads file field by field: a line in .gitattributes and a section in this clone's settings
    #[arg(long)]
    merge_driver: bool,
    /// Do not ask about that
    #[arg(long, conflicts_with = "merge_driver")]
    no_merge_driver: bool,
}

/// Where a repository says what it is.
const DOCUMENT: &str = "docs/PROJECT.md";

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let remote = app.config.cwd.as_deref().and_then(|cwd| host::git(cwd, &["remote", "get-url", "origin"]));
    let caller = app.caller();
    let root = caller.git_root.or_else(|| caller.folders.first().cloned()).map(PathBuf::from);
    let file = root.map(|root| root.join(DOCUMENT));
    let document = match file.as_deref().map(std::fs::read_to_string) {
        Some(Ok(text)) => Some(text),
        Some(Err(error)) if error.kind() != ErrorKind::NotFound => return Err(unreadable(&error).into()),
        _ => None,
    };
    let id = args.id.or_else(|| app.project.clone());
    let mut answer = app.call(
        "project_init",
        json!({
            "id": id, "isolated": args.isolated, "vcs": args.vcs, "issues_repo": args.issues_repo,
            "remote": remote, "identity": args.who.identity, "default_owner": args.default_owner, "sync": args.sync,
            "document": document,
        }),
    )?;
    if let (Some(text), Some(file)) = (answer["document"].as_str(), file)
        && let Err(error) = write(&file, text)
    {
        app.remark(&format!("{} cannot be written: {error}", file.display()));
    }
    if let Some(changes) = merge_driver::offer(app, args.merge_driver, args.no_merge_driver)? {
        answer["merge_driver"] = json!(changes);
    }
    app.answer(&answer, |a| {
        let verb = if a["created"] == true { "registered" } else { "already registered:" };
        let vcs = render::text(&a["project"], "vcs_provider");
        format!(
            "{verb} project {} for {} (vcs: {vcs})\n",
            render::text(a, "project_id"),
            render::text(a, "root")
        ) + &render::list(a, "merge_driver")
            .iter()
            .filter_map(serde_json::Value::as_str)
            .map(|change| format!("changed {change}\n"))
            .collect::<String>()
    })
}

fn write(file: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, text)
}

fn unreadable(error: &std::io::Error) -> Refusal {
    let what = format!("{DOCUMENT} cannot be read: {error}");
    Refusal::invalid("project_document_invalid", what, "make it a readable UTF-8 file, or move it away")
}
