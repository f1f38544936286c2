//! A file of rules (`.gitignore`, `.gitattributes`) that git opens and never finishes to read: a pipe or a device.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The files of a folder in which git looks for rules.
const NAMES: [&str; 2] = [".gitattributes", ".gitignore"];

/// The first file of rules in a working copy that is neither a regular file nor what git takes for none; none where it is not found
/// in time.
pub(super) fn blocking(root: &Path, until: Instant) -> Option<PathBuf> {
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            if Instant::now() >= until {
                return None;
            }
            if kind.is_dir() && name != OsStr::new(".git") {
                folders.push(entry.path());
            } else if !kind.is_file() && !kind.is_dir() && !kind.is_symlink() && is_of_rules(&name) {
                return Some(entry.path());
            }
        }
    }
    None
}

fn is_of_rules(name: &OsStr) -> bool {
    NAMES.iter().any(|one| name == OsStr::new(one))
}
