//! Carrying a plan out.

use std::path::Path;

use baton_model::refusal::{Kind, Refusal};

use crate::private_file;

use super::change::{Change, Plan};
use super::files;
use super::record::Record;

/// Writes what a plan changes. A file that changed since it was read is left, and so is all that would come after it.
pub(crate) fn apply(plan: &Plan, record: &mut Record, path: &Path) -> Result<(), Refusal> {
    // The record is written first: a recorded entry that does not exist is harmless, an unrecorded one is not.
    if plan.adds && !plan.changes.is_empty() {
        plan.changes.iter().for_each(|change| record.add(&change.file, change.mark.clone()));
        keep(record, path)?;
    }
    plan.changes.iter().try_for_each(|change| write(change, record))
}

/// Forgets files that hold nothing of ours any more.
pub(crate) fn forget(plan: &Plan, record: &mut Record, path: &Path) -> Result<(), Refusal> {
    plan.changes.iter().for_each(|change| record.remove(&change.file));
    match (record.is_empty(), path.exists()) {
        (true, true) => std::fs::remove_file(path).map_err(|error| unwritten_refusal(path, &error)),
        (true, false) => Ok(()),
        _ => keep(record, path),
    }
}

fn keep(record: &Record, path: &Path) -> Result<(), Refusal> {
    let folder = path.parent().map_or(Ok(()), private_file::create_folder);
    // The record contains settings of other tools.
    folder
        .and_then(|()| private_file::write(path, record.text().as_bytes()))
        .map_err(|error| unwritten_refusal(path, &error))
}

fn write(change: &Change, record: &Record) -> Result<(), Refusal> {
    let file = &change.file;
    if files::read(file)? != change.before {
        let what = format!("{} changed while you were being asked; it was not touched", file.display());
        return Err(Refusal::new(Kind::Conflict, "install_file_moved", what, "try again"));
    }
    let done = match &change.after {
        Some(text) => files::write(file, text),
        None => files::delete(file, record.get(file).map_or(&[], |mark| &mark.folders)),
    };
    done.map_err(|error| unwritten_refusal(file, &error))
}

fn unwritten_refusal(file: &Path, error: &std::io::Error) -> Refusal {
    let what = format!("{} cannot be written: {error}", file.display());
    Refusal::new(Kind::Refused, "install_file_unwritable", what, "see who may write there, and try again")
        .with("path", file.display().to_string())
}
