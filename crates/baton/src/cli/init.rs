//! `baton init`

use std::path::{Path, PathBuf};

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_ops::op::Caller;
use baton_ops::project::{Init, InitInput, InitOutput, Suggestion};
use serde::Serialize;

use super::{ActingIdentity, merge_driver};
use crate::app::App;
use crate::claimed_project::WAY_TO_WORKTREE;
use crate::commit_hook::CommitHook;
use crate::config;
use crate::config::trust::{TrustStore, sha256};
use crate::error::AppError;
use crate::git;
use crate::merge_driver::Changes;
use crate::repo_file::{Fault, MAX_SMALL_FILE_BYTES, RepoFile};

/// Register this repository as a project
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    who: ActingIdentity,
    /// Project id; derived from the folder's name if omitted
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Make this folder a place of a project that is there: another clone of the same repository
    #[arg(long, value_name = "ID", conflicts_with_all = ["id", "separate"])]
    join: Option<String>,
    /// Keep this clone apart: a project of its own, whatever its remote or its settings say
    #[arg(long)]
    separate: bool,
    /// Take this folder away from the project that it belongs to
    #[arg(long = "move")]
    move_folder: bool,
    /// Keep the project to itself: no related projects, no recall across projects
    #[arg(long)]
    isolated: bool,
    /// Code host: github, gitlab, pantheon or none; detected from the remote if omitted
    #[arg(long, value_name = "P")]
    vcs: Option<String>,
    /// Issue tracker, as owner/repo
    #[arg(long, value_name = "O/R", alias = "tracker", alias = "repo")]
    issues_repo: Option<String>,
    /// Default owner of issue repositories named after their project: the last resort of a hand-off
    #[arg(long, value_name = "O")]
    default_owner: Option<String>,
    /// Read docs/PROJECT.md back instead of writing to it
    #[arg(long)]
    sync: bool,
    /// Let git merge the Beads file field by field; changes .gitattributes and this clone's settings
    #[arg(long)]
    merge_driver: bool,
    /// Do not ask about the merge driver
    #[arg(long, conflicts_with = "merge_driver")]
    no_merge_driver: bool,
    /// Add a trailer `Baton: ID` to commits that an agent makes here; writes a commit-msg hook of this clone
    #[arg(long)]
    commit_trailer: bool,
    /// Remove that hook
    #[arg(long, conflicts_with = "commit_trailer")]
    no_commit_trailer: bool,
}

/// Where a repository says what it is.
pub(super) const DOCUMENT: &str = "docs/PROJECT.md";

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    refuse_git_folder(app)?;
    let remote = app.config.cwd.as_deref().and_then(git::remote);
    let caller = app.caller();
    let root = caller.git_root.clone().or_else(|| caller.folders.first().cloned()).map(PathBuf::from);
    let file = root.as_ref().map(|root| RepoFile::new(root, DOCUMENT));
    let document = match file.as_ref().map(|file| file.text(MAX_SMALL_FILE_BYTES)) {
        Some(Ok(text)) => text,
        Some(Err(fault)) => return Err(unreadable_refusal(&fault).into()),
        None => None,
    };
    let had_document = document.is_some();
    let document_before = document.clone();
    let has_remote = remote.is_some();
    let is_joined = args.join.is_some();
    let trusted = TrustStore::read(&app.config.config_dir);
    let is_trusted = root
        .zip(document.as_deref())
        .is_some_and(|(root, text)| trusted.holds_document(&root, &sha256(text.as_bytes())));
    let claimed = app.config.repository.as_ref().and_then(|file| file.claim().map(str::to_owned));
    let id = args.id.or_else(|| app.project.clone());
    let made = app.run::<Init>(&InitInput {
        id,
        isolated: args.isolated,
        vcs: args.vcs,
        issues_repo: args.issues_repo,
        default_owner: args.default_owner,
        document,
        document_trusted: is_trusted,
        sync: args.sync,
        remote,
        claimed,
        join: args.join,
        separate: args.separate,
        move_folder: args.move_folder,
        identity: args.who.identity,
    })?;
    write_id(app, &made, &caller);
    // A worktree of a project that is there has the document in another folder. A clone that joins one has it as its team has
    // committed it.
    let is_linked = caller.git_root.as_ref().is_some_and(|root| Path::new(root).join(".git").is_file());
    // Where there is no commit yet, those that are fetched bring it, and git would not write over one that lies there.
    let is_empty = || app.config.cwd.as_deref().is_some_and(|cwd| git::commit_id(cwd, "HEAD").is_none());
    let is_brought = is_linked || is_joined && caller.git_root.is_some() && is_empty();
    let file = file.filter(|_| made.created || if had_document { !is_joined } else { !is_brought });
    let mut wrote_document = false;
    if let (Some(text), Some(file)) = (&made.document, file) {
        match file.replace(text) {
            Ok(_) => wrote_document = document_before.as_ref() != Some(text),
            Err(fault) => app.remark(&format!("{DOCUMENT} cannot be written: {fault}")),
        }
    }
    remark_on(app, &made, wrote_document);
    let changes = merge_driver::offer(app, args.merge_driver, args.no_merge_driver)?;
    let commit_hook = change_hook(app, args.commit_trailer, args.no_commit_trailer)?;
    let has_git = caller.git_root.is_some();
    let result = InitResult { made, merge_driver: changes, commit_hook, wrote_document, has_git, has_remote };
    app.show(&result, text)
}

/// Refuses the git folder of a bare repository: its worktrees are where the work is, and `docs/` is no part of it.
fn refuse_git_folder(app: &App) -> Result<(), Refusal> {
    let cwd = app.config.cwd.as_deref().filter(|cwd| git::root(cwd).is_none());
    let Some(bare) = cwd.and_then(git::bare_folder) else { return Ok(()) };
    let what = format!("{} is the git folder of a bare repository", visible(&bare.display().to_string()));
    Err(Refusal::new(Kind::Refused, "folder_is_git", what, WAY_TO_WORKTREE))
}

/// Says what a person should know of the registration.
fn remark_on(app: &App, made: &InitOutput, wrote_document: bool) {
    if let Some(fault) = &made.document_fault {
        app.remark(&format!("warning: {fault}"));
    }
    if let Some(suggestion) = &made.suggestion {
        app.remark(&suggested(suggestion, wrote_document));
    }
    if let Some(from) = &made.taken_from {
        app.remark(&format!(
            "note: the folder belonged to project {}; what was done stays there",
            visible(from)
        ));
    }
}

fn text(result: &InitResult) -> String {
    let InitResult { made, merge_driver, commit_hook, wrote_document, has_git, has_remote } = result;
    let verb = match (made.created, made.joined) {
        (true, _) => "registered",
        (false, true) => "joined",
        (false, false) => "already registered:",
    };
    let host = made.project.vcs_provider.as_deref().filter(|host| !matches!(*host, "none" | ""));
    let host = host.map(|host| format!(" (hosted on {})", visible(host))).unwrap_or_default();
    let (mut id, root) = (visible(&made.project_id), visible(&made.root));
    if let Some(name) = &made.project.name {
        id = format!("{} (id {id})", visible(name));
    }
    let changes =
        merge_driver.iter().flatten().chain(commit_hook).map(|change| format!("changed {change}\n"));
    let written = match (wrote_document, has_git) {
        (true, true) => format!("wrote {DOCUMENT}: commit it\n"),
        (true, false) => format!("wrote {DOCUMENT}\n"),
        (false, _) => String::new(),
    };
    let reason = if *has_git { "no git remote: " } else { "" };
    let remote = match &made.project.issues_github_repo {
        _ if *has_remote || !made.created => String::new(),
        Some(repo) => format!("{reason}tasks of hand-offs are kept in {}\n", visible(repo)),
        None => format!("{reason}tasks are kept in Baton\n"),
    };
    let remarks: String = made.remarks.iter().map(|remark| format!("note: {}\n", visible(remark))).collect();
    format!("{verb} project {id} for {root}{host}\n{written}{remote}{remarks}") + &changes.collect::<String>()
}

/// Writes the id of the repository into git's settings of it, from where it moves along with the folder.
fn write_id(app: &App, made: &InitOutput, caller: &Caller) {
    let known = caller.repository.as_ref().and_then(|repository| repository.id.as_deref());
    let (Some(id), Some(root)) = (made.repository_id.as_deref(), caller.git_root.as_deref()) else { return };
    if known != Some(id) && git::configure(Path::new(root), &[git::ID_KEY, id]).is_none() {
        app.remark("note: git's settings of this repository cannot be written, so that it is not found once it moves");
    }
}

/// A registration, and what was changed in git's configuration for it.
#[derive(Serialize)]
struct InitResult {
    #[serde(flatten)]
    made: InitOutput,
    #[serde(skip_serializing_if = "Option::is_none")]
    merge_driver: Option<Changes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit_hook: Option<String>,
    #[serde(skip)]
    wrote_document: bool,
    #[serde(skip)]
    has_git: bool,
    #[serde(skip)]
    has_remote: bool,
}

/// Writes or removes the hook that adds the trailer to commits. Returns what was changed.
fn change_hook(app: &App, install: bool, remove: bool) -> Result<Option<String>, AppError> {
    if !install && !remove {
        return Ok(None);
    }
    let hook = app.config.cwd.as_deref().and_then(CommitHook::of).ok_or_else(|| {
        let what = "this folder lies in no git working copy";
        Refusal::new(Kind::NotFound, "no_repository", what, "run it in a repository")
    })?;
    if remove {
        let nothing = || "nothing: there is no hook commit-msg of Baton's here".to_owned();
        return Ok(Some(hook.remove()?.unwrap_or_else(nothing)));
    }
    let program = config::own_program(&app.config.vars);
    let unknown = || anyhow::anyhow!("the path of this program is not known");
    Ok(hook.install(&program.ok_or_else(unknown)?)?)
}

/// What is said of a tracker that the document names without the user's word, or named until it was written anew.
fn suggested(suggestion: &Suggestion, wrote_document: bool) -> String {
    if let (Some(registered), true) = (&suggestion.registered, wrote_document) {
        return format!(
            "note: {DOCUMENT} named {} as the tracker and now names {}, this project's; `{}` takes the other",
            visible(&suggestion.issues_repo),
            visible(registered),
            visible(&suggestion.command)
        );
    }
    let counts = match &suggestion.registered {
        Some(registered) => format!("{registered} stays this project's tracker"),
        None => "it is a suggestion, and no hand-off goes there".to_owned(),
    };
    let named = visible(&suggestion.issues_repo);
    let command = visible(&suggestion.command);
    format!("note: {DOCUMENT} names {named} as the tracker: {counts} until you say `{command}`")
}

pub(super) fn unreadable_refusal(fault: &Fault) -> Refusal {
    let what = format!("{DOCUMENT} cannot be read: {fault}");
    Refusal::invalid("project_document_invalid", what, "make it a readable UTF-8 file, or move it away")
}
