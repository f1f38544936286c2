//! Whether source files were changed after something was run: what it showed then may no longer hold.

use crate::packet::{Command, Packet};

/// What is told of a run that the last changes came after.
pub(super) const BEFORE_CHANGES: &str = ", before the last changes";

/// The words for a run at this place, or nothing where no source file was changed after it.
pub(super) fn staleness_note(packet: &Packet, at: Option<&str>) -> &'static str {
    if is_stale(packet, at) { BEFORE_CHANGES } else { "" }
}

/// Whether a check is older than the last changes: it says so itself, or its place tells it.
pub(super) fn is_check_stale(packet: &Packet, check: &Command) -> bool {
    check.outdated == Some(true) || is_stale(packet, check.at.as_deref())
}

/// The words for such a check, or nothing.
pub(super) fn check_note(packet: &Packet, check: &Command) -> &'static str {
    if is_check_stale(packet, check) { BEFORE_CHANGES } else { "" }
}

/// Whether a source file was changed after this place, as the lines of one transcript or the sender tell. What was removed tells
/// nothing: it may have been made for a trial.
pub(super) fn is_stale(packet: &Packet, at: Option<&str>) -> bool {
    let is_told = |run: &&Command| run.at.as_deref() == at && run.outdated == Some(true);
    if at.is_some() && packet.checks.iter().any(|check| is_told(&check)) {
        return true;
    }
    let Some((session, line)) = at.and_then(place) else { return false };
    let changed = packet.files_modified.iter().filter(|file| file.change.as_deref() != Some("deleted"));
    changed
        .filter(|file| file.is_source())
        .filter_map(|file| file.at.as_deref().and_then(place))
        .any(|(of, changed_at)| of == session && changed_at > line)
}

/// The transcript and the line of a place.
fn place(at: &str) -> Option<(&str, u64)> {
    let (session, line) = at.rsplit_once('#')?;
    Some((session, line.parse().ok()?))
}
