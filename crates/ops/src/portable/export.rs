//! `baton_export`: a waiting baton leaves its ledger as a file.

use baton_model::accounting::Remark;
use baton_model::baton::{Baton, State};
use baton_model::baton_file::{FileLocation, MAX_EARLIER, MAX_UNFINISHED, PortableBaton};
use baton_model::changes::Manifest;
use baton_model::delta::Kind;
use baton_model::id::{short, visible};
use baton_model::packet::ValidatedPacket;
use baton_model::refusal::{self, Refusal};
use baton_model::repository::WorkingCopy;
use baton_model::time::Timestamp;
use baton_store::{Failure, Fault, Tx, agent, baton, delta, project, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::kept_back::KeptBack;
use super::reclaim::home_of;
use super::records::{ExportRecord, export_of, receipts};
use crate::changes::{EarlierChanges, LineChanges, with_earlier};
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation, Retention};
use crate::ownership::is_at_work;
use crate::project::{carried_here, require_not_merged};
use crate::resolve;
use crate::session::{
    UncommittedPlace, WorkOfBaton, brought_words_remarks, entrusted_packet, update_baton, work_of_baton,
};

/// Exports a baton.
pub struct BatonExport;

/// Input of `baton_export`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatonExportInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that exports it.
    #[serde(default)]
    pub identity: Option<String>,
    /// The baton, by its id or a unique prefix of one; else the only one that waits for this identity.
    #[serde(default)]
    pub baton_id: Option<String>,
    /// Give what was exported before once more: the file was lost.
    #[serde(default)]
    pub again: bool,
    /// Only give it: the baton still waits here.
    #[serde(default)]
    pub dry_run: bool,
}

/// Answer of `baton_export`.
#[derive(Serialize, Deserialize)]
pub struct BatonExportOutput {
    /// The project.
    pub project_id: String,
    /// Id of the baton.
    pub baton_id: String,
    /// The baton, as the file holds it. The content of changes is read in parts.
    pub baton: PortableBaton,
    /// Changes of earlier batons of its line that were not applied: they stay in this ledger.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_changes: Vec<EarlierChanges>,
    /// What others brought of its conversation, which the file does not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words_of_others: Vec<Remark>,
    /// What its session wrote down besides, and the file does not hold.
    #[serde(default, skip_serializing_if = "KeptBack::is_nothing")]
    pub kept_back: KeptBack,
    /// Files that are not committed on this machine, and that the file does not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<UncommittedPlace>,
    /// Whether the place of the work is on another machine than the caller's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_place_elsewhere: bool,
    /// Whether it was exported before.
    pub exported_before: bool,
    /// Whether nothing was changed.
    pub dry_run: bool,
}

impl Operation for BatonExport {
    const META: Meta = Meta::write("baton_export", "Let a waiting baton leave the ledger as a file")
        .retention(Retention::Reference(&["project_id", "baton_id", "exported_before", "dry_run"]));
    type Input = BatonExportInput;
    type Output = BatonExportOutput;

    /// The packet is not kept a second time: it is read again from the baton that was exported.
    fn replay(answer: Value, cx: &mut Cx<'_>) -> Result<Value, Failure> {
        let unreadable = |error: serde_json::Error| Fault::other(format!("a kept answer: {error}"));
        let stored: KeptExport = serde_json::from_value(answer).map_err(unreadable)?;
        let input = BatonExportInput {
            project: Some(stored.project_id),
            baton_id: Some(stored.baton_id),
            again: true,
            dry_run: stored.dry_run,
            ..BatonExportInput::default()
        };
        let again = BatonExportOutput { exported_before: stored.exported_before, ..Self::run(input, cx)? };
        Ok(serde_json::to_value(again).map_err(unreadable)?)
    }

    fn run(input: BatonExportInput, cx: &mut Cx<'_>) -> Result<BatonExportOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        // What left before a merge lies in the ledger of the project that was merged.
        let project_id = match &input.baton_id {
            Some(id) if input.again => store.read(|tx| home_of(tx, &env.caller.grant, &project_id, id))?.0,
            _ => project_id,
        };
        let mut output = store.read(|tx| {
            if !input.dry_run && !input.again {
                require_not_merged(tx, &project_id)?;
            }
            Ok(read(tx, env, &input, (&project_id, &identity))?.1)
        })?;
        // Where the work lies, as a pickup would find it: the session that left the baton may have looked only. It is looked for before
        // the baton leaves, since what fails afterwards would lose the file.
        let WorkOfBaton { place, unfinished } = work_of_baton(cx, &project_id, &output.baton_id)?;
        if !input.dry_run {
            let Cx { store, env } = cx;
            output = store.write(&[&project_id], |tx| export(tx, env, &input, (&project_id, &identity)))?;
        }
        output.baton.unfinished = unfinished.into_iter().take(MAX_UNFINISHED).collect();
        if let Some(place) = place {
            output.is_place_elsewhere = place.machine != cx.env.caller.location.machine;
            output.baton.machine = place.machine;
            output.baton.earlier = place.earlier.into_iter().take(MAX_EARLIER).collect();
            output.baton.location = Some(FileLocation { was_dirty: place.was_dirty, ..location(place.copy) });
            output.left_behind = left_behind(place.uncommitted, output.baton.changes.as_ref());
        }
        Ok(output)
    }
}

/// What is kept of an answer for a retry of the request.
#[derive(Deserialize)]
struct KeptExport {
    project_id: String,
    baton_id: String,
    exported_before: bool,
    dry_run: bool,
}

fn export(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    input: &BatonExportInput,
    (project_id, identity): (&str, &str),
) -> Result<BatonExportOutput, Failure> {
    resolve::require(tx, project_id)?;
    if !input.again {
        require_not_merged(tx, project_id)?;
    }
    let (left, output) = read(tx, env, input, (project_id, identity))?;
    if output.exported_before {
        return Ok(output);
    }
    require_not_merged(tx, project_id)?;
    let record = ExportRecord {
        summary: format!("baton {} was exported to a file", short(&left.baton_id)),
        exported_baton: left.baton_id.clone(),
        exported_at: Timestamp(env.now),
    };
    let author = Author { project_id, identity, session: None };
    let entry = append_json(tx, env, &author, Kind::Other, &json!(record))?;
    update_baton(tx, &Baton { spent_by: Some(entry.delta_id), ..left })?;
    Ok(output)
}

/// The baton that is meant, and what its file holds. Nothing is written.
fn read(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    input: &BatonExportInput,
    (project_id, identity): (&str, &str),
) -> Result<(Baton, BatonExportOutput), Failure> {
    resolve::require_project(tx, project_id)?;
    let left = find(tx, env, input, (project_id, identity))?;
    let before = export_of(tx, &left)?;
    let (exported_by, exported_at) = match (&before, &left.spent_by) {
        (Some(_), _) if !input.again => return Err(exported_before_refusal(&left).into()),
        (Some((by, record)), _) => (by.clone(), record.exported_at),
        (None, Some(next)) if !left.is_finished() => return Err(carried_on_refusal(&left, next).into()),
        (None, _) => (identity.to_owned(), Timestamp(env.now)),
    };
    let from = session::get(tx, project_id, &left.session_id)?;
    let from = from.ok_or_else(|| Fault::other(format!("baton {} has no session", left.baton_id)))?;
    let packet = whole_packet(tx, &left)?;
    let kept_back = KeptBack::of(tx, &left, packet.text())?;
    let LineChanges { own: changes, earlier: mut earlier_changes, applied } =
        with_earlier(tx, project_id, &left.baton_id)?;
    for one in &applied {
        earlier_changes.extend(one.missing(tx, env, project_id)?);
    }
    let baton = PortableBaton {
        baton_id: left.baton_id.clone(),
        project_id: project_id.to_owned(),
        remote: project::get(tx, project_id)?.and_then(|of| of.vcs_remote_url),
        exported_at,
        exported_by,
        identity: left.identity.clone(),
        surface: from.surface.clone(),
        thread_id: left.thread_id.clone(),
        created_at: Timestamp(left.created_at),
        to_identity: left.to_identity.clone(),
        to_role: left.to_role.clone(),
        location: from.working_copy.clone().map(location),
        machine: from.location.machine,
        packet: packet.value()?,
        packet_text: packet.is_text_exact_only()?.then(|| packet.text().to_owned()),
        changes: changes.map(|changes| changes.manifest),
        unfinished: Vec::new(),
        earlier: Vec::new(),
        receipts: receipts(tx, project_id)?,
    };
    let of_baton = (left.baton_id.as_str(), left.session_id.as_str());
    let output = BatonExportOutput {
        words_of_others: brought_words_remarks(tx, env, project_id, of_baton)?,
        project_id: project_id.to_owned(),
        baton_id: left.baton_id.clone(),
        baton,
        earlier_changes,
        kept_back,
        left_behind: Vec::new(),
        is_place_elsewhere: false,
        exported_before: before.is_some(),
        dry_run: input.dry_run,
    };
    Ok((left, output))
}

fn location(copy: WorkingCopy) -> FileLocation {
    let WorkingCopy { root, branch, commit, is_worktree, .. } = copy;
    FileLocation { root, branch, commit, is_worktree, was_dirty: None }
}

/// The files that are not committed and that the changes of the baton do not hold. Where more are there than are named, and the changes
/// hold all that are named, nobody can say it of the rest.
fn left_behind(places: Vec<UncommittedPlace>, changes: Option<&Manifest>) -> Vec<UncommittedPlace> {
    let Some(changes) = changes else { return places };
    let without_given = |mut place: UncommittedPlace| {
        let named = place.files.len();
        place.files.retain(|path| !changes.files.contains(path));
        place.files_total = place.files_total.saturating_sub(named - place.files.len());
        (!place.files.is_empty()).then_some(place)
    };
    places.into_iter().filter_map(without_given).collect()
}

/// The packet of a baton, on top of it what its last holder saved before it let go.
fn whole_packet(tx: &mut Tx<'_>, left: &Baton) -> Result<ValidatedPacket, Failure> {
    let missing = || Fault::other(format!("baton {} has no wrap; run `baton doctor`", left.baton_id));
    let wrap = delta::get(tx, &left.project_id, &left.baton_id)?.ok_or_else(missing)?;
    let holder = match &left.holder_session_id {
        Some(id) => session::get(tx, &left.project_id, id)?,
        None => None,
    };
    let whole = match holder.filter(|holder| holder.baton_id.is_some()) {
        Some(holder) => entrusted_packet(tx, &holder)?,
        None => None,
    };
    let Some(whole) = whole else { return Ok(ValidatedPacket::parse_stored(wrap.body)?) };
    whole.check_stored_size().map_err(|refusal| {
        let hint = format!("`baton pickup --handoff {} --as NAME` takes all of it over; wrap that, and export the baton that the wrap leaves", left.baton_id);
        Refusal { hint, ..refusal }
    })?;
    Ok(whole)
}

/// The named baton, else the only one that waits for this identity.
fn find(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    input: &BatonExportInput,
    (project_id, identity): (&str, &str),
) -> Result<Baton, Failure> {
    if let Some(id) = &input.baton_id {
        let found = by_id(tx, project_id, id)?;
        require_open(tx, env, &found)?;
        return Ok(found);
    }
    let roles = agent::roles(tx, project_id, identity)?;
    let (mut waiting, mut others) = (Vec::new(), Vec::new());
    for left in baton::unspent(tx, project_id, 200)? {
        if state(tx, env, &left)? == State::Open {
            if left.is_for(identity, &roles) { waiting.push(left) } else { others.push(left) }
        }
    }
    // The newest is what was left just now.
    match (waiting.len(), waiting.into_iter().next()) {
        (1, Some(one)) => Ok(one),
        (0, _) | (_, None) if !others.is_empty() => {
            let what = format!(
                "no baton waits for {} in project {project_id}, and {} for others",
                visible(identity),
                others.len()
            );
            let named: Vec<String> = others
                .iter()
                .take(3)
                .map(|one| format!("`baton handoff export {} -o FILE`", short(&one.baton_id)))
                .collect();
            let hint = format!("name the one that is to leave: {}", named.join(", "));
            Err(Refusal::new(refusal::Kind::NotFound, "baton_none", what, hint).into())
        }
        (0, _) | (_, None) => {
            let what = format!("no baton waits in project {project_id}");
            let hint = "wrap first: `baton wrap`; or name one that was exported before: `baton handoff export BATON --again -o FILE`";
            Err(Refusal::new(refusal::Kind::NotFound, "baton_none", what, hint).into())
        }
        (many, Some(newest)) => {
            let what = format!("{many} batons wait in project {project_id}");
            let hint = format!(
                "name one, such as `baton handoff export {} -o FILE`; `baton status` lists them",
                newest.baton_id
            );
            Err(Refusal::new(refusal::Kind::Conflict, "baton_ambiguous", what, hint).into())
        }
    }
}

/// The baton of this id or unique prefix.
pub(super) fn by_id(tx: &mut Tx<'_>, project_id: &str, id: &str) -> Result<Baton, Failure> {
    let ids = if id.len() >= 4 && id.is_ascii() { baton::by_prefix(tx, project_id, id)? } else { Vec::new() };
    if let [_, _, ..] = ids.as_slice() {
        return Err(resolve::ambiguous_id_refusal("baton", id, &ids).into());
    }
    let found = match ids.first() {
        Some(id) => baton::get(tx, project_id, id)?,
        // One of a project that was merged into this one goes on here under another id.
        None => match carried_here(tx, project_id, id)? {
            Some(carried) => baton::get(tx, project_id, &carried)?,
            None => None,
        },
    };
    found.ok_or_else(|| {
        let what = format!("project {project_id} has no baton `{}`", visible(id));
        let hint = "`baton status` lists those that wait";
        Refusal::new(refusal::Kind::NotFound, "baton_unknown", what, hint).into()
    })
}

fn state(tx: &mut Tx<'_>, env: &Env<'_>, of: &Baton) -> Result<State, Failure> {
    let holder = match &of.holder_session_id {
        Some(id) => session::get(tx, &of.project_id, id)?,
        None => None,
    };
    Ok(of.state(holder.as_ref(), |holder| is_at_work(env, holder)))
}

/// Refuses a baton that an agent has, at work or not: what it did since belongs to its own wrap.
fn require_open(tx: &mut Tx<'_>, env: &Env<'_>, of: &Baton) -> Result<(), Failure> {
    if matches!(state(tx, env, of)?, State::Open | State::Spent) {
        return Ok(());
    }
    let holder = match &of.holder_session_id {
        Some(id) => session::get(tx, &of.project_id, id)?.map(|holder| holder.describe(env.now)),
        None => None,
    };
    let what = format!("baton {} is held by {}", short(&of.baton_id), holder.unwrap_or_default());
    let hint = "have it wrapped first (`baton wrap`), and export the baton that the wrap leaves";
    Err(Refusal::new(refusal::Kind::Conflict, "baton_claimed", what, hint).into())
}

fn exported_before_refusal(left: &Baton) -> Refusal {
    let what = format!("baton {} was exported to a file before", short(&left.baton_id));
    let hint = format!(
        "if the file is lost: `baton handoff export {0} --again -o FILE`; to go on here: `baton handoff reclaim {0}`",
        left.baton_id
    );
    Refusal::new(refusal::Kind::Conflict, "baton_exported", what, hint)
}

fn carried_on_refusal(left: &Baton, next: &str) -> Refusal {
    let what = format!("baton {} was carried on and wrapped as {}", short(&left.baton_id), short(next));
    Refusal::new(
        refusal::Kind::Conflict,
        "baton_spent",
        what,
        format!("`baton handoff export {next} -o FILE`"),
    )
}
