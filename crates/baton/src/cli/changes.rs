//! `baton changes`

use std::io::{IsTerminal, Write};

use baton_model::changes::{LeftOut, Manifest, UnfinishedOperation};
use baton_model::id::{short, visible};
use baton_model::refusal::{Kind, Refusal};
use baton_ops::changes::{
    Attach, AttachInput, BatonChanges, Drop, DropInput, DropOutput, EarlierChanges, RecordInput, Show,
    ShowInput, ShowOutput,
};
use serde::Serialize;

use super::ActingIdentity;
use crate::app::App;
use crate::changes::{Applied, carry, require_own_files};
use crate::error::AppError;
use crate::render;

/// Show, apply or drop the uncommitted changes that go with a baton
///
/// `baton wrap --with-changes` takes along what is not committed, `baton pickup --apply` puts it into the working copy of
/// the next agent. BATON is the id of a baton or a unique prefix of one; for show, diff and apply it defaults to the one that you hold, else to the newest with
/// changes.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Show which files they concern, and what did not travel
    Show {
        /// Baton with the changes
        baton: Option<String>,
        #[command(flatten)]
        who: ActingIdentity,
    },
    /// Print them as a patch; this repository has to hold their commit
    Diff {
        /// Baton with the changes
        baton: Option<String>,
        #[command(flatten)]
        who: ActingIdentity,
    },
    /// Put them into this working copy, all or none
    ///
    /// Tracked files must have no changes of their own; an untracked one matters only where a file of the changes goes. At the same commit it is then equal to the one in which they were
    /// captured, the index apart from the files; at another commit they are merged, and conflicts are named before anything
    /// is written.
    Apply {
        /// Baton with the changes
        baton: Option<String>,
        #[command(flatten)]
        who: ActingIdentity,
    },
    /// Give what is not committed here to a baton that waits
    Keep {
        /// Baton to give it to
        baton: String,
        /// Take it in place of other changes that the baton has
        #[arg(long)]
        replace: bool,
        /// Keep them as a reference in this git remote, not in the ledger: its name, or its address
        #[arg(long, value_name = "REMOTE")]
        changes_remote: Option<String>,
        #[command(flatten)]
        who: ActingIdentity,
    },
    /// Remove them from the ledger, or from the remote that holds them; the baton stays
    Drop {
        /// Baton with the changes
        baton: String,
        /// Leave the reference in the remote: it cannot be reached any more
        #[arg(long)]
        leave_remote: bool,
        #[command(flatten)]
        who: ActingIdentity,
    },
}

impl Verb {
    fn identity(&self) -> Option<&String> {
        match self {
            Self::Show { who, .. }
            | Self::Diff { who, .. }
            | Self::Apply { who, .. }
            | Self::Keep { who, .. }
            | Self::Drop { who, .. } => who.identity.as_ref(),
        }
    }
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    // The baton that the named identity holds is meant, and its session has what is applied.
    if let Some(identity) = args.verb.identity() {
        app.config.identity = Some(identity.clone());
    }
    let project = app.project.clone();
    match args.verb {
        Verb::Show { baton, .. } => {
            let shown = app.run::<Show>(&ShowInput { project, baton_id: baton, ..ShowInput::default() })?;
            app.show(&shown, |shown| list(&shown.changes))
        }
        Verb::Diff { baton, .. } => {
            let (_, changes) = carry::load(app, project.as_deref(), baton.as_deref())?;
            let patch = carry::patch_here(app, &changes)?;
            let mut out = std::io::stdout().lock();
            if app.shows_text() && !out.is_terminal() {
                return Ok(out.write_all(&patch)?);
            }
            drop(out);
            let text = String::from_utf8_lossy(&patch).into_owned();
            app.show(&Patch { patch: &text }, |_| text.clone())
        }
        Verb::Apply { baton, .. } => apply(baton.as_deref(), app),
        Verb::Keep { baton, replace, changes_remote, .. } => {
            keep((baton, replace), changes_remote.as_deref(), app)
        }
        Verb::Drop { baton, leave_remote, who } => {
            // What is half applied here can be finished only as long as it is known what to do.
            if carry::root(app).is_ok() {
                carry::settle_here(app)?.sentence().iter().for_each(|sentence| app.remark(sentence));
            }
            let input = DropInput { project, identity: who.identity, baton_id: baton };
            let dropped = if leave_remote { app.run::<Drop>(&input)? } else { drop_everywhere(&input, app)? };
            app.show(&dropped, |dropped| {
                let also = match dropped.earlier.as_slice() {
                    [] => String::new(),
                    earlier => format!(", and the same changes of {}", batons(earlier)),
                };
                format!("dropped: the changes of baton {}{also}\n", visible(&dropped.changes.baton_id))
            })
        }
    }
}

/// Drops changes in the ledger, and in the remote where no other baton has them. One that does not answer refuses before anything is
/// done.
fn drop_everywhere(input: &DropInput, app: &mut App) -> Result<DropOutput, AppError> {
    let (project, baton_id) = (input.project.clone(), Some(input.baton_id.clone()));
    let shown = app.run::<Show>(&ShowInput { project, baton_id, ..ShowInput::default() })?;
    let own = shown.changes.manifest.remote.as_ref();
    // Who may not drop them is refused below, and the remote keeps them.
    if shown.shared_with.is_empty() && shown.is_droppable {
        carry::discard(app, &shown.changes.manifest)?;
    }
    let dropped = app.run::<Drop>(input)?;
    let is_unnamed = own.is_some_and(|own| dropped.unnamed.contains(own));
    if !shown.shared_with.is_empty() && !is_unnamed {
        app.remark(&format!(
            "the changes stay in the remote: they are also those of {}",
            batons(&shown.shared_with)
        ));
    }
    let mut unnamed = dropped.unnamed.clone();
    unnamed.retain(|copy| !shown.shared_with.is_empty() || Some(copy) != own);
    carry::remove_unnamed(app, input.project.as_deref(), &unnamed)?;
    Ok(dropped)
}

/// `baton 0199…, baton 019a…`.
fn batons(ids: &[String]) -> String {
    ids.iter().map(|id| format!("baton {}", visible(id))).collect::<Vec<_>>().join(", ")
}

/// The changes as one patch.
#[derive(Serialize)]
struct Patch<'a> {
    patch: &'a str,
}

/// How an interrupted application was ended.
#[derive(Serialize)]
struct Settlement<'a> {
    settled: &'a str,
}

/// What was applied here.
#[derive(Serialize)]
struct Application<'a> {
    project_id: &'a str,
    baton_id: &'a str,
    merged: bool,
    files: &'a [String],
    was_there: bool,
    left_out: Vec<LeftOut>,
}

/// Why settings of the changes are not applied.
const OWN_SETTINGS: &str = "is left out here: each working copy has its own settings";

fn apply(baton: Option<&str>, app: &mut App) -> Result<(), AppError> {
    let project = app.project.clone();
    // Whatever the batons have: what was interrupted here is settled.
    let settled = carry::settle_here(app)?;
    let (shown, changes) = match (carry::load(app, project.as_deref(), baton), settled.sentence()) {
        (Err(AppError::Refused(refusal)), Some(sentence)) if refusal.code == "changes_none" => {
            return app.show(&Settlement { settled: &sentence }, |_| format!("{sentence}\n"));
        }
        (Err(error), Some(sentence)) => {
            app.remark(&sentence);
            return Err(error);
        }
        (loaded, _) => loaded?,
    };
    let applied = carry::apply_here(app, &changes, &settled)?;
    let (project, baton_id) = (Some(shown.project_id.clone()), shown.changes.baton_id.clone());
    carry::record(app, RecordInput { project, baton_id, ..RecordInput::default() });
    let answer = application(&shown, &applied);
    app.show(&answer, |_| {
        let merged = if applied.is_merge {
            ", merged into the commit that is checked out here, which is another one than theirs"
        } else {
            ""
        };
        let files: Vec<Vec<String>> = applied.files.iter().map(|file| vec![visible(file)]).collect();
        let baton = visible(&shown.changes.baton_id);
        let head = match applied.was_there {
            true => format!("the changes of baton {baton} are here already{merged}\n"),
            false => format!("applied: the changes of baton {baton}{merged}\n"),
        };
        head + &render::section("files", &files) + &left_out(&shown.changes.manifest)
    })
}

/// The answer to an application. Settings that an earlier version captured are left out here.
fn application<'a>(shown: &'a ShowOutput, applied: &'a Applied) -> Application<'a> {
    let settings = applied.settings.iter();
    let settings = settings.map(|path| LeftOut { path: path.clone(), reason: OWN_SETTINGS.to_owned() });
    let left_before = shown.changes.manifest.left_out.iter().cloned();
    Application {
        project_id: &shown.project_id,
        baton_id: &shown.changes.baton_id,
        merged: applied.is_merge,
        files: &applied.files,
        was_there: applied.was_there,
        left_out: left_before.chain(settings).collect(),
    }
}

fn keep((baton_id, replace): (String, bool), remote: Option<&str>, app: &mut App) -> Result<(), AppError> {
    let project = app.project.clone();
    let root = carry::root(app)?;
    require_own_files(app, project.as_deref())?;
    let Some(mut copy) = carry::capture_copy(app, &root)? else {
        let what = "everything is committed here: there is nothing to keep";
        return Err(Refusal::new(Kind::NotFound, "changes_none", what, "look at `git status`").into());
    };
    carry::keep(app, project.as_deref(), &mut copy, remote)?;
    let input = AttachInput { project, baton_id, changes: copy.manifest, replace };
    let attached = app.run::<Attach>(&input);
    if attached.as_ref().is_err_and(|error| !error.may_be_written()) {
        let _ = carry::discard(app, &input.changes);
    }
    let attached = attached?;
    carry::confirm(&app.config.data_dir, Some(&input.changes));
    carry::remove_unnamed(app, input.project.as_deref(), &attached.unnamed)?;
    app.show(&attached, |attached| keep_text(&attached.changes))
}

/// What was given to a baton, first of all that it stays here, too.
fn keep_text(changes: &BatonChanges) -> String {
    let baton = visible(&changes.baton_id);
    let head = match changes.manifest.files.len() {
        1 => format!("kept: 1 file goes with baton {baton}, and stays here\n"),
        count => format!("kept: {count} files go with baton {baton}, and stay here\n"),
    };
    head + &list(changes)
}

/// What goes with a baton, in a line, and what does not.
pub(super) fn summary(manifest: &Manifest) -> String {
    let (files, kib) = (manifest.files.len(), manifest.bytes.div_ceil(1024));
    let place = manifest.remote.as_ref().map(|remote| format!(", kept in {}", visible(&remote.address)));
    let count = match files {
        0 => return format!("  no uncommitted file goes along\n{}", left_out(manifest)),
        1 => "1 uncommitted file goes along".to_owned(),
        files => format!("{files} uncommitted files go along"),
    };
    format!("  {count} ({kib} KiB{})\n{}", place.unwrap_or_default(), left_out(manifest))
}

/// What became of changes that came with earlier batons, a line each.
pub(super) fn earlier_list(changes: &[EarlierChanges]) -> String {
    changes.iter().map(|one| format!("  {}\n", visible(&one.message))).collect()
}

/// What does not travel: paths, and what git was in the middle of.
fn left_out(manifest: &Manifest) -> String {
    let line = |left: &baton_model::changes::LeftOut| format!("  {}\n", left.sentence());
    let under_way = |one: &UnfinishedOperation| format!("  {}\n", one.sentence());
    manifest.left_out.iter().map(line).chain(manifest.unfinished.iter().map(under_way)).collect()
}

fn list(changes: &BatonChanges) -> String {
    let manifest = &changes.manifest;
    let base = manifest.base.as_deref().map_or("a repository without commits", short);
    let branch = manifest.branch.as_ref().map(|branch| format!(" ({})", visible(branch))).unwrap_or_default();
    let head = format!(
        "changes of baton {}, by {}, on {base}{branch}\n",
        visible(&changes.baton_id),
        visible(&changes.identity)
    );
    let files: Vec<Vec<String>> = manifest.files.iter().map(|file| vec![visible(file)]).collect();
    let remote = manifest
        .remote
        .as_ref()
        .map(|remote| format!("kept in {} as {}\n", visible(&remote.address), visible(&remote.reference)));
    head + &remote.unwrap_or_default() + &render::section("files", &files) + &left_out(manifest)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_of_an_earlier_version_are_left_out_and_the_answer_says_so() {
        let shown: ShowOutput = serde_json::from_value(json!({
            "project_id": "p",
            "changes": {
                "baton_id": "b", "identity": "Ann", "created_at": "2026-11-26T10:00:00Z", "files": [".baton.toml", "a"],
                "left_out": [{ "path": "big", "reason": "is too large" }], "content_hash": "", "bytes": 1,
            },
        }))
        .expect("changes");
        let applied = Applied {
            is_merge: false,
            files: vec!["a".to_owned()],
            was_there: false,
            settings: vec![".baton.toml".to_owned()],
        };
        let answer = json!(application(&shown, &applied));
        assert_eq!(answer["files"], json!(["a"]));
        let left = [("big", "is too large"), (".baton.toml", OWN_SETTINGS)];
        assert_eq!(
            answer["left_out"],
            json!(left.map(|(path, reason)| json!({ "path": path, "reason": reason })))
        );
    }
}
