//! What the ledger keeps of batons that left as files or arrived so.

use baton_model::accounting::{Remark, RemarkKind};
use baton_model::baton::Baton;
use baton_model::baton_file::Receipt;
use baton_model::delta::{Delta, Kind};
use baton_model::id::short;
use baton_model::refusal::{self, Refusal};
use baton_model::time::{Millis, Timestamp, ago};
use baton_store::{Failure, Fault, Tx, baton, delta, project, session};
use serde::{Deserialize, Serialize};

use crate::op::Env;

/// The most entries that are looked through for records.
pub(super) const MAX_ENTRIES: i64 = 1_000;

/// That a baton left as a file.
#[derive(Serialize, Deserialize)]
pub(crate) struct ExportRecord {
    pub(super) summary: String,
    pub(super) exported_baton: String,
    pub(crate) exported_at: Timestamp,
}

/// That a baton arrived as a file.
#[derive(Serialize, Deserialize)]
pub(super) struct ImportRecord {
    pub(super) summary: String,
    /// Its id in the ledger that it left.
    pub(super) imported_baton: String,
    /// The project there.
    pub(super) imported_from: String,
    /// Its id here.
    pub(super) baton_id: String,
}

/// That a baton which left as a file was picked up elsewhere.
#[derive(Serialize, Deserialize)]
pub(super) struct ReceiptRecord {
    pub(super) summary: String,
    pub(super) export_receipt: Receipt,
}

/// The export by which a baton is spent, if that is what has spent it.
pub(crate) fn export_of(tx: &mut Tx<'_>, of: &Baton) -> Result<Option<(String, ExportRecord)>, Failure> {
    let Some(spent_by) = &of.spent_by else { return Ok(None) };
    let Some(entry) = delta::get(tx, &of.project_id, spent_by)? else { return Ok(None) };
    let record = (entry.kind == Kind::Other).then(|| serde_json::from_str::<ExportRecord>(&entry.body).ok());
    Ok(record
        .flatten()
        .filter(|record| record.exported_baton == of.baton_id)
        .map(|record| (entry.identity, record)))
}

/// The receipt of a baton that was exported here, if one came back.
pub(super) fn receipt_of(tx: &mut Tx<'_>, of: &Baton) -> Result<Option<Receipt>, Failure> {
    let entries = delta::newest_of_kind(tx, &of.project_id, Kind::Other, MAX_ENTRIES)?;
    let mut receipts = entries
        .iter()
        .filter_map(|entry| serde_json::from_str::<ReceiptRecord>(&entry.body).ok())
        .map(|record| record.export_receipt);
    Ok(receipts.find(|receipt| receipt.baton_id == of.baton_id))
}

/// What became of batons that arrived as files and were picked up here, the newest first.
pub(super) fn receipts(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<Receipt>, Failure> {
    let mut found = Vec::new();
    for entry in delta::newest_of_kind(tx, project_id, Kind::Other, MAX_ENTRIES)? {
        let Ok(record) = serde_json::from_str::<ImportRecord>(&entry.body) else { continue };
        let Some(here) = baton::get(tx, project_id, &record.baton_id)? else { continue };
        let (Some(holder), Some(held_at)) = (&here.holder_session_id, here.held_at) else { continue };
        let Some(holder) = session::get(tx, project_id, holder)? else { continue };
        found.push(Receipt {
            baton_id: record.imported_baton,
            picked_up_by: holder.identity,
            picked_up_at: Timestamp(held_at),
        });
        if found.len() == baton_model::baton_file::MAX_RECEIPTS {
            break;
        }
    }
    Ok(found)
}

/// The refusal of a pickup where the baton left as a file; none where it was carried on here.
pub(crate) fn exported_refusal(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    of: &Baton,
) -> Result<Option<Refusal>, Failure> {
    let Some((by, record)) = export_of(tx, of)? else { return Ok(None) };
    let when = ago(env.now, record.exported_at.0);
    let elsewhere = receipt_of(tx, of)?
        .map(|receipt| format!(", and {} picked it up there", receipt.picked_up_by))
        .unwrap_or_default();
    let what = format!("{by} exported baton {} to a file {when}{elsewhere}", short(&of.baton_id));
    let hint = format!("`baton handoff reclaim {}` has it wait here again", of.baton_id);
    let refusal = Refusal::new(refusal::Kind::Conflict, "baton_exported", what, hint);
    Ok(Some(refusal.with("baton_id", of.baton_id.as_str())))
}

/// The entries among which the newest exports are.
fn newest(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<Delta>, Fault> {
    delta::newest_of_kind(tx, project_id, Kind::Other, 50)
}

/// Sends ahead what the function below asks first.
pub(crate) fn prefetch_exports(tx: &mut Tx<'_>, project_id: &str) {
    drop(newest(tx, project_id));
}

/// For so long an export is named although another baton waits.
const NAMED_BESIDE: Millis = 7 * 86_400_000;

/// The newest baton that left as a file and was picked up nowhere, as far as is known; also of a project that was merged into this
/// one since. Beside a baton that waits here, only one of the last days is named: not every import elsewhere is reported back.
pub(crate) fn waiting_elsewhere(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    is_alone: bool,
) -> Result<Option<Remark>, Failure> {
    for entry in newest(tx, project_id)? {
        if !is_alone && env.now.saturating_sub(entry.created_at) > NAMED_BESIDE {
            break;
        }
        let named = match serde_json::from_str::<ExportRecord>(&entry.body) {
            Ok(record) => exported(tx, env, (project_id, &entry), &record)?,
            Err(_) => match merged_here(tx, env, project_id, &entry)? {
                Some(from) => waiting_elsewhere(tx, env, &from, is_alone)?,
                None => None,
            },
        };
        if named.is_some() {
            return Ok(named);
        }
    }
    Ok(None)
}

/// Names a baton that left as a file, unless it is here again or was picked up.
fn exported(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (project_id, entry): (&str, &Delta),
    record: &ExportRecord,
) -> Result<Option<Remark>, Failure> {
    let Some(of) = baton::get(tx, project_id, &record.exported_baton)? else { return Ok(None) };
    if of.spent_by.as_ref() != Some(&entry.delta_id) || receipt_of(tx, &of)?.is_some() {
        return Ok(None);
    }
    let (when, id) = (ago(env.now, record.exported_at.0), &of.baton_id);
    let message = format!(
        "{} exported baton {} to a file {when}: `baton handoff import FILE` where the work is to go on, or `baton handoff reclaim {id}` here",
        entry.identity,
        short(id)
    );
    Ok(Some(Remark { kind: RemarkKind::ExportedBaton, message }))
}

/// That another project was merged into this one.
#[derive(Deserialize)]
struct MergeNote {
    merged_from: String,
}

/// The project that was merged into this one, where this entry tells so, the merge still holds and the caller reaches it.
fn merged_here(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    entry: &Delta,
) -> Result<Option<String>, Failure> {
    let Ok(MergeNote { merged_from: from }) = serde_json::from_str(&entry.body) else { return Ok(None) };
    let is_merged = project::get(tx, &from)?.is_some_and(|of| of.merged_into.as_deref() == Some(project_id));
    Ok(Some(from).filter(|from| is_merged && env.caller.grant.reaches(from)))
}
