//! Processes as Linux shows them, in `/proc`.

use std::fs;

use super::record::Process;

/// The process of this pid; none where it is not there or has ended.
pub(super) fn read(pid: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may itself hold spaces and parentheses: what counts follows the last one.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    // One that has ended and waits for its parent to notice does nothing any more.
    if matches!(fields.first(), Some(&("Z" | "X"))) {
        return None;
    }
    let args = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    Some(Process {
        parent: fields.get(1)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
        args_address: fields.get(45).and_then(|field| field.parse().ok()).unwrap_or(0),
        args: args
            .split(|b| *b == 0)
            .filter(|a| !a.is_empty())
            .map(|a| String::from_utf8_lossy(a).into_owned())
            .collect(),
    })
}

/// The process that started this one.
#[allow(clippy::unnecessary_wraps, reason = "other systems have none")]
pub(super) fn parent_id() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

/// Pids mean something only inside their namespace: a container's are not the machine's.
pub(super) fn namespace() -> String {
    let link = fs::read_link("/proc/self/ns/pid")
        .ok()
        .and_then(|l| l.to_str().map(str::to_owned))
        .unwrap_or_default();
    link.chars().filter(char::is_ascii_digit).collect()
}
