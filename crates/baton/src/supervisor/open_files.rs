//! Which files a process and its children have open for writing, where the system tells.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// More processes below one are not looked at.
const MAX_PROCESSES: usize = 256;

/// Adds the files that the process and those below it write.
pub(super) fn collect_files_written_by(pid: u32, files: &mut BTreeSet<PathBuf>) {
    let mut below = vec![pid];
    let mut at = 0;
    while let Some(pid) = below.get(at).copied().filter(|_| at < MAX_PROCESSES) {
        at += 1;
        let own = PathBuf::from(format!("/proc/{pid}"));
        below.extend(children(&own));
        let Ok(open) = fs::read_dir(own.join("fd")) else { continue };
        for one in open.flatten() {
            let Ok(path) = fs::read_link(one.path()) else { continue };
            let regular = path.is_absolute() && !path.starts_with("/dev") && !path.starts_with("/proc");
            if regular && is_written(&own.join("fdinfo").join(one.file_name())) {
                files.insert(path);
            }
        }
    }
}

fn children(process: &Path) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(process.join("task")) else { return Vec::new() };
    let lists =
        threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// The last octal digit of the flags says how a file is open: 1 and 2 are for writing.
fn is_written(info: &Path) -> bool {
    let Ok(info) = fs::read_to_string(info) else { return false };
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    flags.is_some_and(|flags| flags.trim().ends_with(['1', '2', '5', '6']))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_for_writing_is_told_and_what_is_read_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("a path");
        let (written, read) = (folder.join("written"), folder.join("read"));
        fs::write(&read, "x").expect("a file");
        let _writer = fs::OpenOptions::new().append(true).create(true).open(&written).expect("a file");
        let _reader = fs::File::open(&read).expect("a file");
        let mut files = BTreeSet::new();
        collect_files_written_by(std::process::id(), &mut files);
        assert!(files.contains(&written) && !files.contains(&read), "{files:?}");
    }
}
