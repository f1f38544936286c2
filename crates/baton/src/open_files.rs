//! Which other processes have a file open, as far as the system shows it to this user.

use std::path::Path;

use serde::Serialize;

/// A process that has a file open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Holder {
    /// Its number.
    pub pid: u32,
    /// Its command line, cut where it is long.
    pub command: String,
}

/// The longest command line that is shown.
const COMMAND: usize = 120;

/// Every other process that has this file open. Where the system does not tell, none.
#[cfg(target_os = "linux")]
pub(crate) fn of(file: &Path) -> Vec<Holder> {
    use std::os::unix::fs::MetadataExt;
    let Ok(meta) = std::fs::metadata(file) else { return Vec::new() };
    let is_it = |open: &Path| {
        std::fs::metadata(open).is_ok_and(|other| (other.dev(), other.ino()) == (meta.dev(), meta.ino()))
    };
    let numbers = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()).collect::<Vec<_>>()
    };
    let mut holders = Vec::new();
    for pid in numbers(Path::new("/proc")).into_iter().filter(|pid| *pid != std::process::id()) {
        let open = format!("/proc/{pid}/fd");
        let open = Path::new(&open);
        if numbers(open).iter().any(|number| is_it(&open.join(number.to_string()))) {
            holders.push(Holder { pid, command: command(pid) });
        }
    }
    holders
}

#[cfg(not(target_os = "linux"))]
pub fn of(_: &Path) -> Vec<Holder> {
    Vec::new()
}

#[cfg(target_os = "linux")]
fn command(pid: u32) -> String {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    let shown: String = line.trim().chars().take(COMMAND).collect();
    baton_model::id::visible(&shown)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_has_a_file_open_is_named() {
        let dir = tempfile::tempdir().expect("dir");
        let file = dir.path().join("file");
        std::fs::write(&file, "x").expect("written");
        let open = std::fs::File::open(&file).expect("open");
        assert_eq!(of(&file), [], "this process is not another");
        let mut child = std::process::Command::new("sleep").arg("60").stdin(open).spawn().expect("sleep");
        // For a moment after it was started, the system has no words of its command line.
        let mut holders = of(&file);
        for _ in 0..500 {
            if holders.iter().all(|holder| !holder.command.is_empty()) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
            holders = of(&file);
        }
        child.kill().expect("killed");
        child.wait().expect("ended");
        assert_eq!(holders, [Holder { pid: child.id(), command: "sleep 60".into() }]);
    }
}
