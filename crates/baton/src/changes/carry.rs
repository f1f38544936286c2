//! Changes between a working copy and the ledger.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_model::changes::{LeftOut, Manifest, PART_BYTES, RemoteContent};
use baton_model::refusal::{Kind, Refusal};
use baton_ops::changes::{
    Attach, AttachInput, Part, PartInput, Record, RecordInput, Show, ShowInput, ShowOutput, Upload,
    UploadInput,
};
use baton_ops::ledger::{Note, NoteInput};
use baton_ops::session::{ApplyOutcome, Status, StatusInput, UncommittedFiles, WrapInput, WrapOutput};
use baton_ops::transcript::CaptureOutput;

use super::new_place::Caller;
use super::owner::other_owner;
use super::push_note::Owner;
use super::put_away::remark_applied;
use super::remote::ChangesRemote;
use super::{
    Applied, Changes, ExportNotes, Fault, Leftover, Limits, PushNote, Recovered, Recovery, apply, capture,
    content, new_place, patch, recover, scratch, settle,
};
use crate::app::{App, Format};
use crate::config::{ChangesMode, Config};
use crate::error::AppError;
use crate::fingerprint::fingerprints;
use crate::git::{self, Plumbing};

/// What was captured, and its content.
pub(crate) struct CapturedCopy {
    /// What goes to the ledger with the baton.
    pub manifest: Manifest,
    content: Vec<u8>,
}

/// The top folder of the working copy that a command stands in.
pub(crate) fn root(app: &App) -> Result<PathBuf, Refusal> {
    let root = app.config.cwd.as_deref().and_then(git::root);
    let root = root.ok_or_else(|| {
        let what = "this folder is in no working copy of git";
        Refusal::new(Kind::NotFound, "working_copy_none", what, "go to the working copy first: `cd FOLDER`")
    })?;
    match git::repository(&root) {
        Ok(_) => Ok(root),
        Err(fault) => {
            let hint = "run `git worktree repair` in its repository if that moved, then repeat";
            Err(Refusal::new(
                Kind::NotFound,
                "working_copy_none",
                format!("git cannot read this working copy: {fault}"),
                hint,
            ))
        }
    }
}

/// Says what an interrupted application of changes left in the working copy in which a command is given.
pub(crate) fn remark_interrupted(app: &App) {
    if let Some(left) = app.config.cwd.as_deref().and_then(git::root).and_then(|root| Leftover::find(&root)) {
        app.remark(&format!("warning: {}", left.sentence()));
    }
}

/// Captures a working copy; nothing where everything is committed. An application of changes that was interrupted in it is finished or
/// taken back before, which is said.
pub(crate) fn capture_copy(app: &App, root: &Path) -> Result<Option<CapturedCopy>, Refusal> {
    let settled = settle(&Plumbing, root)?;
    if let Some(sentence) = settled.recovered.sentence() {
        let more = match settled.recovered.recovery {
            Recovery::Finished => ": what it wrote is among what is not committed",
            _ => "",
        };
        app.remark(&format!("{sentence}{more}"));
    }
    let changes = {
        let exports = ExportNotes::of(&app.config.data_dir);
        capture(&Plumbing, root, &scratch(&app.config.data_dir)?, Limits::default(), &exports)?
    };
    if changes.is_empty() && changes.left_out.is_empty() && changes.unfinished.is_empty() {
        return Ok(None);
    }
    let content = content::encode(&changes)?;
    let left_out = changes.left_out.iter();
    let manifest = Manifest {
        base: changes.base.clone(),
        branch: git::repository(root).ok().and_then(|own| own.branch),
        fingerprints: fingerprints(root, &changes.files),
        files: changes.files.clone(),
        left_out: left_out
            .map(|left| LeftOut { path: left.path.clone(), reason: left.reason.clone() })
            .collect(),
        content_hash: content::hash(&content),
        bytes: content.len() as u64,
        remote: None,
        unfinished: changes.unfinished.clone(),
    };
    manifest.check()?;
    Ok(Some(CapturedCopy { manifest, content }))
}

/// What is named in place of a remote to keep changes in the ledger, whatever the settings say.
const IN_LEDGER: &str = "ledger";

/// Keeps the content, before a wrap or an attachment names it: in a remote where one is named, here or in the settings, else in the
/// ledger.
pub(crate) fn keep(
    app: &mut App,
    project: Option<&str>,
    copy: &mut CapturedCopy,
    named: Option<&str>,
) -> Result<(), AppError> {
    let remote = match (named, app.config.wrap_changes_remote.clone()) {
        (Some(IN_LEDGER), _) => return upload(app, project, copy),
        (Some(named), _) => ChangesRemote::by_name(&root(app)?, named, true)?,
        (None, Some(set)) => ChangesRemote::by_name(&root(app)?, &set, false)?,
        (None, None) => return upload(app, project, copy),
    };
    let root = root(app)?;
    let owner = Owner { root: &root, project, ledger: &app.config.ledger() };
    let data_dir = &app.config.data_dir;
    copy.manifest.remote = Some(remote.push(data_dir, &copy.manifest.content_hash, &copy.content, &owner)?);
    Ok(())
}

/// Notes that the ledger has the baton whose changes were kept: from here on a baton names what lies in a remote.
pub(crate) fn confirm(data_dir: &Path, manifest: Option<&Manifest>) {
    if let Some(copy) = manifest.and_then(|manifest| manifest.remote.as_ref()) {
        PushNote::forget(data_dir, &copy.reference);
    }
}

/// Takes back what was kept in a remote: no baton names it.
pub(crate) fn discard(app: &App, manifest: &Manifest) -> Result<(), Refusal> {
    let Some(copy) = &manifest.remote else { return Ok(()) };
    let remote = ChangesRemote::by_address(&root(app)?, copy)?;
    remote.remove(&scratch(&app.config.data_dir)?, &copy.reference)?;
    PushNote::forget(&app.config.data_dir, &copy.reference);
    Ok(())
}

/// Removes references that no baton has any more. Where a remote does not answer, one stays with a note, by which `baton doctor` names
/// it; a remark says so.
pub(crate) fn remove_unnamed(
    app: &App,
    project: Option<&str>,
    unnamed: &[RemoteContent],
) -> Result<(), Refusal> {
    for copy in unnamed {
        let root = root(app)?;
        let remote = ChangesRemote::by_address(&root, copy);
        let url = remote.as_ref().map_or(copy.address.clone(), ChangesRemote::shown_url);
        let owner = Owner { root: &root, project, ledger: &app.config.ledger() };
        let data_dir = &app.config.data_dir;
        let note = PushNote::of_given_up(url, copy.reference.clone(), &owner);
        note.write(data_dir);
        match remote.and_then(|remote| remote.remove(&scratch(data_dir)?, &copy.reference)) {
            Ok(()) => PushNote::forget(data_dir, &copy.reference),
            Err(refusal) => app.remark(&format!(
                "earlier changes are still in the remote, where no baton names them: {}; `baton doctor` has the command that removes them",
                refusal.message
            )),
        }
    }
    Ok(())
}

/// Uploads the content to the ledger.
fn upload(app: &mut App, project: Option<&str>, copy: &CapturedCopy) -> Result<(), AppError> {
    for (part, content) in (0..).zip(parts(&copy.content)) {
        app.run::<Upload>(&UploadInput {
            project: project.map(str::to_owned),
            content_hash: copy.manifest.content_hash.clone(),
            part,
            content,
        })?;
    }
    Ok(())
}

/// What is not committed where a command stands, uploaded, if the settings send it along with every baton.
pub(crate) fn always(app: &mut App, project: Option<&str>) -> Result<Option<CapturedCopy>, AppError> {
    if app.config.wrap_changes != ChangesMode::Always {
        return Ok(None);
    }
    // A project need not be in git.
    let Ok(root) = root(app) else { return Ok(None) };
    if other_owner(app, project).is_some() {
        return Ok(None);
    }
    let mut copy = capture_copy(app, &root)?;
    if let Some(copy) = &mut copy {
        keep(app, project, copy, None)?;
    }
    Ok(copy)
}

/// The wrap that an agent calls as a tool, with what is not committed in the working copy that it stands in; else why not. Nothing
/// where nothing is to be added.
pub(crate) fn add_to_wrap(
    config: Config,
    root: PathBuf,
    wrap: WrapInput,
) -> Result<Option<WrapInput>, String> {
    if wrap.force || wrap.changes.is_some() {
        return Ok(None);
    }
    let mut app = App::new(Config { cwd: Some(root), ..config }, Format::Json, false, true);
    let copy = (|| {
        // The work of another project has its changes elsewhere.
        let own = app.run::<Status>(&StatusInput::default())?.project_id;
        let named = wrap.project.as_ref().unwrap_or(&own);
        if *named == own { always(&mut app, Some(&own)) } else { Ok(None) }
    })();
    app.shut_down();
    let copy = copy.map_err(|error| sentence(&error))?;
    Ok(copy.map(|copy| WrapInput { changes: Some(copy.manifest), ..wrap }))
}

/// The changes that go along with the baton of a supervised agent: it is left even where they cannot go along.
pub(crate) fn always_or_remark(app: &mut App, project: Option<&str>) -> Option<Manifest> {
    match always(app, project) {
        Ok(copy) => copy.map(|copy| copy.manifest),
        Err(error) => {
            remark_left_behind(app, &error);
            None
        }
    }
}

/// Gives a baton that was kept without its agent's doing what is not committed, if the settings say so.
pub(crate) fn attach_kept(app: &mut App, captured: &CaptureOutput) -> Result<(), AppError> {
    let is_new = captured.delta_id.is_some() && captured.existing_baton.is_none();
    let Some(baton_id) = captured.baton_id.clone().filter(|_| is_new) else { return Ok(()) };
    let project = Some(captured.project_id.clone());
    let copy = match always(app, project.as_deref()) {
        Ok(copy) => copy,
        Err(error) => {
            // The next agent reads it, too.
            let text =
                format!("what is not committed does not go with baton {baton_id}: {}", sentence(&error));
            app.run::<Note>(&NoteInput { project, text, ..NoteInput::default() })?;
            return Err(error);
        }
    };
    let Some(copy) = copy else { return Ok(()) };
    let input = AttachInput { project, baton_id, changes: copy.manifest, replace: true };
    let attached = app.run::<Attach>(&input)?;
    confirm(&app.config.data_dir, Some(&input.changes));
    remove_unnamed(app, input.project.as_deref(), &attached.unnamed)?;
    Ok(())
}

/// Says that what is not committed stays where it is, and why.
pub(crate) fn remark_left_behind(app: &App, error: &AppError) {
    app.remark(&format!("what is not committed does not go with the baton: {}", sentence(error)));
}

/// What a wrap left in the working copy with this top folder, where the settings have that said: no baton has it.
pub(crate) fn left_uncommitted(
    mode: ChangesMode,
    root: &Path,
    wrapped: &WrapOutput,
) -> Option<UncommittedFiles> {
    let is_offered = !wrapped.finished && wrapped.forced_by.is_none() && !wrapped.replay.replayed;
    let is_new = wrapped.warnings.iter().all(|warning| warning.existing_baton.is_none());
    if mode != ChangesMode::Ask || wrapped.changes.is_some() || !is_offered || !is_new {
        return None;
    }
    let count = git::uncommitted(root)?.len();
    let command = format!("baton changes keep {}", wrapped.baton_id);
    (count > 0).then_some(UncommittedFiles { count, command })
}

/// Why something ended, and what to do.
fn sentence(error: &AppError) -> String {
    match error {
        AppError::Refused(refusal) => format!("{}; {}", refusal.message, refusal.hint),
        other => format!("{other:?}"),
    }
}

/// The changes of a baton, out of the ledger.
pub(crate) fn load(
    app: &mut App,
    project: Option<&str>,
    baton: Option<&str>,
) -> Result<(ShowOutput, Changes), AppError> {
    let (project, baton_id) = (project.map(str::to_owned), baton.map(str::to_owned));
    let input = ShowInput { project, baton_id, ..ShowInput::default() };
    let shown = app.run::<Show>(&input)?;
    let bytes = content_of(app, &shown.project_id, &shown.changes.baton_id, &shown.changes.manifest)?;
    let mut changes = content::decode(&bytes).map_err(Refusal::from)?;
    changes.baton_id = Some(shown.changes.baton_id.clone());
    (changes.branch, changes.given_here) = (shown.changes.manifest.branch.clone(), shown.given_here.clone());
    changes.given_fingerprints.clone_from(&shown.given_fingerprints);
    Ok((shown, changes))
}

/// The content of a baton's changes, out of the ledger or the remote that holds it.
pub(crate) fn content_of(
    app: &mut App,
    project_id: &str,
    baton_id: &str,
    manifest: &Manifest,
) -> Result<Vec<u8>, AppError> {
    let mut bytes = Vec::new();
    if let Some(copy) = &manifest.remote {
        let remote = ChangesRemote::by_address(&root(app)?, copy)?;
        bytes = remote.fetch(&scratch(&app.config.data_dir).map_err(Refusal::from)?, &copy.reference)?;
    } else {
        for part in 0..manifest.parts() {
            let (project, baton_id) = (Some(project_id.to_owned()), baton_id.to_owned());
            let answer = app.run::<Part>(&PartInput { project, baton_id, part })?;
            let damaged = |_| Refusal::from(Fault::Invalid("a part of the content is not base64".into()));
            bytes.extend(STANDARD.decode(answer.content).map_err(damaged)?);
        }
    }
    if content::hash(&bytes) != manifest.content_hash {
        return Err(Refusal::from(Fault::Invalid("the content is not that of its hash".into())).into());
    }
    Ok(bytes)
}

/// A content in parts, each in base64, as the ledger and a file have it.
pub(crate) fn parts(content: &[u8]) -> Vec<String> {
    let size = usize::try_from(PART_BYTES).unwrap_or(usize::MAX);
    content.chunks(size).map(|bytes| STANDARD.encode(bytes)).collect()
}

/// Finishes an application that was interrupted where a command stands, or takes it back.
pub(crate) fn settle_here(app: &App) -> Result<Recovered, Refusal> {
    Ok(recover(&Plumbing, &root(app)?)?)
}

/// Applies changes to the working copy that a command stands in. `settled`: what became of an application that was interrupted there.
pub(crate) fn apply_here(app: &App, changes: &Changes, settled: &Recovered) -> Result<Applied, Refusal> {
    let root = root(app)?;
    let applied = apply(&Plumbing, &root, &scratch(&app.config.data_dir)?, changes, &mut |_| Ok(()));
    let caller = Caller::of(app);
    let refused = |fault| new_place::refusal(fault, &root, changes, &caller);
    if let Ok(applied) = &applied {
        remark_applied(app, &root, applied);
    }
    let Some(sentence) = settled.sentence() else { return applied.map_err(refused) };
    match applied {
        // What was interrupted were these changes: they are there now.
        Ok(applied) if applied.was_there && settled.recovery == Recovery::Finished => {
            Ok(Applied { was_there: false, ..applied })
        }
        Ok(applied) => {
            app.remark(&sentence);
            Ok(applied)
        }
        Err(fault) => {
            let has_written = settled.recovery != Recovery::Unlocked;
            let is_changed = matches!(fault, Fault::LocalChanges(_)) && has_written;
            let mut refusal = refused(fault);
            refusal.message = format!("{sentence}; nothing else was applied: {}", refusal.message);
            if is_changed {
                refusal.code = "apply_recovered";
                refusal.hint = "look at `git status`, then repeat if need be".into();
            }
            Err(refusal)
        }
    }
}

/// Changes as a patch, for people. The repository has to hold their commit.
pub(crate) fn patch_here(app: &App, changes: &Changes) -> Result<Vec<u8>, Refusal> {
    let root = root(app)?;
    Ok(patch(&Plumbing, &root, &scratch(&app.config.data_dir)?, changes)?)
}

/// Notes in the ledger that changes are in the working copy of the caller's session, so that its wrap does not pass them on. They
/// are there whether or not that can be noted.
pub(crate) fn record(app: &mut App, input: RecordInput) {
    let input = RecordInput { session: input.session.or_else(|| app.session.clone()), ..input };
    if let Err(error) = app.run::<Record>(&input) {
        app.remark(&format!(
            "that they are here could not be noted, so a wrap passes them on once more: {}",
            sentence(&error)
        ));
    }
}

/// Applies what goes with a picked baton. The pickup is done whatever becomes of them.
pub(crate) fn apply_picked(app: &mut App, project: &str, baton: &str) -> ApplyOutcome {
    let applied = load(app, Some(project), Some(baton)).and_then(|(_, changes)| {
        let settled = settle_here(app)?;
        Ok(apply_here(app, &changes, &settled)?)
    });
    match applied {
        Ok(applied) => ApplyOutcome { applied: true, merged: applied.is_merge, failure: None },
        Err(error) => ApplyOutcome { applied: false, merged: false, failure: Some(sentence(&error)) },
    }
}
