//! The machine in one line.

use std::fs;
use std::path::Path;

/// Cores, kernel and the file system of a folder.
pub fn line(folder: &Path) -> String {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!(
        "{} cores, kernel {}, {}, load {}",
        cores(),
        kernel.trim(),
        file_system(folder).unwrap_or_else(|| "unknown file system".to_owned()),
        load.split(' ').next().unwrap_or_default()
    )
}

/// How many threads run at a time.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The type of the file system: that of the longest mount point above the folder.
fn file_system(folder: &Path) -> Option<String> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let above = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (point, kind) = (words.next()?, words.next()?);
        folder.starts_with(point).then_some((point.len(), kind))
    });
    above.max_by_key(|(length, _)| *length).map(|(_, kind)| kind.to_owned())
}
