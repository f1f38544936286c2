//! A file of rules (`.gitignore`, `.gitattributes`) that git opens and never finishes to read: a pipe or a device.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a folder in which git looks for rules.
const NAMES: [&str; 2] = [".gitattributes", ".gitignore"];
/// How many entries of a working copy are looked at: more take longer than git may.
const LIMIT: usize = 2_000_000;

/// The first file of rules in a working copy that is neither a regular file nor what git takes for none.
pub(super) fn blocking(root: &Path) -> Option<PathBuf> {
    let mut folders = vec![root.to_owned()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            if seen > LIMIT {
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
