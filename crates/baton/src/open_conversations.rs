//! Which conversations of coding agents are open on this machine: the hook of a start writes down the conversation of its
//! agent's process. Where no hook runs, nothing is known.

use std::fs;
use std::path::{Path, PathBuf};

use baton_model::id::visible;

use crate::{private_file, process};

/// The longest record that is read, in bytes.
const MAX_RECORD_BYTES: u64 = 4_096;

/// Writes down that the process works in this conversation, in place of the one that it worked in before. Records of processes that have
/// ended go.
pub(crate) fn open(data_dir: &Path, process: &str, agent: &str, id: &str) {
    if process.is_empty() {
        return;
    }
    let folder = folder(data_dir);
    let path = folder.join(name(process));
    if fs::read_to_string(&path).is_ok_and(|known| known == record(process, agent, id)) {
        return;
    }
    // A conversation that is not written down counts as one of which nothing is known.
    let _ = private_file::create_folder(&folder)
        .and_then(|()| private_file::write(&path, record(process, agent, id).as_bytes()));
    for (path, text) in records(&folder) {
        if text.lines().next().is_none_or(process::has_ended) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Writes down that the process has ended this conversation. It may have begun the next one already.
pub(crate) fn close(data_dir: &Path, process: &str, agent: &str, id: &str) {
    let path = folder(data_dir).join(name(process));
    if fs::read_to_string(&path).is_ok_and(|known| known == record(process, agent, id)) {
        let _ = fs::remove_file(path);
    }
}

/// Whether a process that still runs works in this conversation.
pub(crate) fn is_open(data_dir: &Path, agent: &str, id: &str) -> bool {
    records(&folder(data_dir)).any(|(_, text)| {
        let process = text.lines().next().unwrap_or_default();
        text == record(process, agent, id) && process::is_running(process)
    })
}

fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("conversations")
}

/// The file of a process: its fingerprint, without characters that a path gives a meaning to.
fn name(process: &str) -> String {
    process.chars().take(80).map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn record(process: &str, agent: &str, id: &str) -> String {
    format!("{process}\n{} {}\n", visible(agent), visible(id))
}

fn records(folder: &Path) -> impl Iterator<Item = (PathBuf, String)> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let is_small = entry.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_RECORD_BYTES);
        let path = entry.path();
        is_small.then(|| fs::read_to_string(&path).ok()).flatten().map(|text| (path, text))
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_open_while_its_process_runs_and_works_in_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("sleep");
        let process = process::fingerprint_of(child.id()).expect("it runs");
        open(dir.path(), &process, "claude", "one");
        assert!(is_open(dir.path(), "claude", "one"));
        assert!(!is_open(dir.path(), "codex", "one") && !is_open(dir.path(), "claude", "on"));
        open(dir.path(), &process, "claude", "two");
        assert!(!is_open(dir.path(), "claude", "one") && is_open(dir.path(), "claude", "two"));
        let own = process::own_fingerprint();
        open(dir.path(), &own, "claude", "three");
        close(dir.path(), &own, "claude", "two");
        assert!(is_open(dir.path(), "claude", "three"));
        close(dir.path(), &own, "claude", "three");
        assert!(!is_open(dir.path(), "claude", "three"));
        child.kill().expect("killed");
        child.wait().expect("ended");
        assert!(!is_open(dir.path(), "claude", "two"));
        open(dir.path(), &own, "claude", "four");
        assert_eq!(records(&folder(dir.path())).count(), 1, "that of an ended process goes");
    }
}
