//! `baton transcripts push`, `pushed` and `withdraw`

use baton_model::id::{short, visible};
use baton_model::transcript_copy::CopyManifest;
use baton_ops::project::{Show, ShowInput};
use baton_ops::transcript::{
    Copies, CopiesInput, Copy, CopyInput, CopyOutput, CopyRow, Push as PushOperation, PushInput,
    Withdraw as WithdrawOperation, WithdrawInput,
};
use baton_store::Target;
use baton_transcripts::Header;
use serde::Serialize;

use super::super::ActingIdentity;
use crate::app::App;
use crate::error::AppError;
use crate::render;
use crate::transcript_copies::{pack, upload};

/// How many characters of a title are shown.
const TITLE_LEN: usize = 60;

#[derive(clap::Args)]
pub(super) struct Push {
    /// Session id, a unique prefix, a path to a transcript, or `latest`: the newest of this working copy
    #[arg(default_value = "latest")]
    id: String,
    /// Tool that wrote the session: claude, codex, gemini, …
    #[arg(long, value_name = "A")]
    agent: Option<String>,
    #[command(flatten)]
    who: ActingIdentity,
    /// Show what would be pushed, and who could read it
    #[arg(long)]
    dry_run: bool,
}

#[derive(clap::Args)]
pub(super) struct PushedArgs {
    /// Only sessions of this tool: claude, codex, gemini, …
    #[arg(long, value_name = "A")]
    agent: Option<String>,
}

#[derive(clap::Args)]
pub(super) struct Withdraw {
    /// Session id, or a unique prefix; see `baton transcripts pushed`
    #[arg(required_unless_present = "all")]
    id: Option<String>,
    /// Everything that you have pushed to this project
    #[arg(long, conflicts_with_all = ["id", "force"])]
    all: bool,
    /// Tool that wrote the session: claude, codex, gemini, …
    #[arg(long, value_name = "A")]
    agent: Option<String>,
    /// Who pushed the session, where several have
    #[arg(long, value_name = "NAME")]
    pushed_by: Option<String>,
    #[command(flatten)]
    who: ActingIdentity,
    /// Withdraw what another agent has pushed
    #[arg(long, requires = "why")]
    force: bool,
    /// Reason for using --force; recorded in the ledger
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    why: Option<String>,
}

pub(super) fn push(args: Push, app: &mut App) -> Result<(), AppError> {
    let Push { id, agent, who, dry_run } = args;
    let project = app.project.clone();
    let remote = app.run::<Show>(&ShowInput { project: project.clone() })?.project.vcs_remote_url;
    let made = app.run::<Copy>(&CopyInput { project, id, agent, remote })?;
    let packed = pack(app, &made.project_id, &made.copy)?;
    if dry_run {
        return preview(&made, &packed.manifest, app);
    }
    upload(app, &made.project_id, &packed)?;
    let project = Some(made.project_id.clone());
    let input = PushInput { project, identity: who.identity, copy: packed.manifest };
    let pushed = app.run::<PushOperation>(&input)?;
    if app.config.server.is_none() && matches!(app.config.store, Target::File(_)) {
        app.remark(
            "the ledger is a file of this machine: another one reaches it where you run `baton serve`",
        );
    }
    app.show(&pushed, |pushed| {
        let manifest = &pushed.copy.manifest;
        let (id, project) = (render::short_id(&manifest.transcript_id), visible(&pushed.project_id));
        let again = if pushed.replaced { ", in place of what was pushed before" } else { "" };
        format!(
            "pushed: session {id} of {} to project {project}{again}\n{}{}  elsewhere: baton continue {} --native --in TOOL\n  \
             back: baton transcripts withdraw {id}\n",
            visible(&manifest.agent),
            session_label(&made.copy.header),
            copy_label(manifest),
            visible(&manifest.transcript_id)
        )
    })
}

/// What a push would do.
#[derive(Serialize)]
struct Preview<'a> {
    project_id: &'a str,
    copy: &'a CopyManifest,
    dry_run: bool,
    is_taken: bool,
}

/// What a push would do, and whether it would be taken.
fn preview(made: &CopyOutput, manifest: &CopyManifest, app: &mut App) -> Result<(), AppError> {
    let project_id = made.project_id.as_str();
    let input = CopiesInput { project: Some(project_id.to_owned()), ..CopiesInput::default() };
    let is_taken = app.run::<Copies>(&input)?.takes_transcripts;
    let answer = Preview { project_id, copy: manifest, dry_run: true, is_taken };
    app.show(&answer, |_| {
        let (id, agent) = (render::short_id(&manifest.transcript_id), visible(&manifest.agent));
        let refused = "  it would be refused: the project takes no sessions before `baton project set --transcripts yes`\n";
        let refused = if is_taken { "" } else { refused };
        let (session, copy) = (session_label(&made.copy.header), copy_label(manifest));
        format!("nothing was pushed: session {id} of {agent} would be\n{session}{copy}{refused}")
    })
}

/// Which session it is: its title and the folder in which it began, as this machine has them.
fn session_label(header: &Header) -> String {
    let title = header.title.as_deref().map(visible).filter(|title| !title.is_empty());
    let title = title.map(|title| format!("\"{}\", ", title.chars().take(TITLE_LEN).collect::<String>()));
    let folder = header.cwd.as_deref().map_or_else(|| "an unknown folder".to_owned(), visible);
    format!("  {}in {folder}\n", title.unwrap_or_default())
}

fn copy_label(manifest: &CopyManifest) -> String {
    let readers = match &manifest.readers {
        None => "not encrypted: whoever reads the project can read it".to_owned(),
        Some(names) => {
            format!("encrypted for {}", names.iter().map(|name| visible(name)).collect::<Vec<_>>().join(", "))
        }
    };
    format!("  {} events, {} KiB, {readers}\n", manifest.events, manifest.bytes.div_ceil(1024))
}

pub(super) fn pushed(args: PushedArgs, app: &mut App) -> Result<(), AppError> {
    let input = CopiesInput { project: app.project.clone(), agent: args.agent, ..CopiesInput::default() };
    let listed = app.run::<Copies>(&input)?;
    app.show(&listed, |listed| match listed.items.as_slice() {
        [] if listed.takes_transcripts => "nothing was pushed\n".to_owned(),
        [] => format!("nothing was pushed; project {} takes no transcripts\n", visible(&listed.project_id)),
        items => render::table(&items.iter().map(|copy| row(copy, items)).collect::<Vec<_>>()),
    })
}

/// The id of a session as it finds that one among these: short where no other begins so, as those of tools that count do.
fn findable_id(copy: &CopyRow, all: &[CopyRow]) -> String {
    let id = &copy.manifest.transcript_id;
    let short = short(id);
    let is_other =
        |one: &CopyRow| one.manifest.transcript_id != *id && one.manifest.transcript_id.starts_with(short);
    if all.iter().any(is_other) { visible(id) } else { visible(short) }
}

fn row(copy: &CopyRow, all: &[CopyRow]) -> Vec<String> {
    let manifest = &copy.manifest;
    let text = |text: &Option<String>| text.as_deref().map(visible).unwrap_or_default();
    let title = match &manifest.readers {
        Some(_) => "(encrypted)".to_owned(),
        None => text(&manifest.title).chars().take(TITLE_LEN).collect(),
    };
    vec![
        findable_id(copy, all),
        visible(&manifest.agent),
        visible(&copy.identity),
        render::time_ago(copy.pushed_at),
        text(&manifest.branch),
        title,
    ]
}

pub(super) fn withdraw(args: Withdraw, app: &mut App) -> Result<(), AppError> {
    let Withdraw { id, all: _, agent, pushed_by, who, force, why } = args;
    let project = app.project.clone();
    let input = WithdrawInput { project, identity: who.identity, id, agent, pushed_by, force, why };
    let withdrawn = app.run::<WithdrawOperation>(&input)?;
    app.show(&withdrawn, |withdrawn| {
        let line = |copy: &CopyRow| {
            let (id, agent) = (render::short_id(&copy.manifest.transcript_id), visible(&copy.manifest.agent));
            format!("withdrawn: session {id} of {agent}\n")
        };
        withdrawn.items.iter().map(line).collect::<String>()
    })
}
