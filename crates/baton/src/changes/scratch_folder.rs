//! Folders for copies of the index and for objects. Each is named after the process that made it, so that what a killed process left
//! is removed by the next one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use tempfile::TempDir;

use super::Fault;
use super::files::fault;
use crate::{clock, process};

/// Age in milliseconds from which a folder counts as left behind whose process cannot be looked up here: that of a container, or of an
/// older Baton.
const LEFTOVER: u128 = 86_400_000;
/// Stands for the colon of a fingerprint, which some file systems refuse.
const COLON: &str = "+";
/// Ends the fingerprint in a folder's name.
const END: char = '_';

/// The folder below which a process makes its own, without what killed processes left there.
pub(crate) fn scratch(data_dir: &Path) -> Result<PathBuf, Fault> {
    let folder = data_dir.join("scratch");
    fs::create_dir_all(&folder).map_err(fault("create", &folder))?;
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        if is_left(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(folder)
}

/// A folder of this process below that of [`scratch`]; removed with the value.
pub(super) fn folder_in(scratch: &Path) -> std::io::Result<TempDir> {
    let prefix = format!("{}{END}", process::own_fingerprint().replace(':', COLON));
    tempfile::Builder::new().prefix(&prefix).tempdir_in(scratch)
}

/// Whether the process that made a folder has ended, or the folder is old.
fn is_left(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let owner = name.split_once(END).map(|(owner, _)| owner.replace(COLON, ":"));
    if owner.is_some_and(|owner| process::has_ended(&owner)) {
        return true;
    }
    let time = path.symlink_metadata().and_then(|meta| meta.modified()).ok();
    let time = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    time.is_some_and(|time| time.as_millis() + LEFTOVER < u128::from(clock::now().unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn what_a_killed_process_left_goes_and_what_a_running_one_has_stays() {
        let data_dir = tempfile::tempdir().expect("a folder");
        let folder = scratch(data_dir.path()).expect("a folder");
        let own = folder_in(&folder).expect("a folder");
        let ended = process::own_fingerprint().replacen(':', ":1", 1).replace(':', COLON);
        let left = folder.join(format!("{ended}{END}x"));
        fs::create_dir_all(left.join("objects")).expect("a folder");
        let unknown = folder.join(".tmpX");
        fs::create_dir(&unknown).expect("a folder");
        scratch(data_dir.path()).expect("a folder");
        assert!(own.path().is_dir() && unknown.is_dir());
        assert!(!left.exists());
    }
}
