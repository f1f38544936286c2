//! The chats of a file.

use std::path::Path;

use crate::shared::{json_file, time};

/// What opens a chat.
pub(super) const HEADING: &str = "# aider chat started at ";

/// The times at which chats started: by these they are named. Of two in the same second the second is the same chat.
pub(super) fn starts(path: &Path) -> Result<Vec<String>, &'static str> {
    let text = json_file::text(path)?;
    let mut starts: Vec<String> = text.lines().filter_map(start).map(str::to_owned).collect();
    starts.dedup();
    Ok(starts)
}

/// The time in a line that opens a chat.
pub(super) fn start(line: &str) -> Option<&str> {
    line.strip_prefix(HEADING).map(str::trim).filter(|time| time::lenient(time).is_some())
}

/// The lines of a chat with their numbers: of this one, or of the last.
pub(super) fn lines<'t>(text: &'t str, key: Option<&str>) -> Vec<(u64, &'t str)> {
    let wanted = key.or_else(|| text.lines().rev().find_map(start));
    let mut here = wanted.is_none();
    let numbered = (1..).zip(text.lines());
    let own = numbered.filter(|(_, line)| {
        if let Some(start) = start(line) {
            here = Some(start) == wanted;
        }
        here
    });
    own.collect()
}

/// The id of a chat: the digits of its time, so that its beginning is the day.
pub(super) fn id(start: &str) -> String {
    start
        .chars()
        .filter_map(|c| if c == ' ' { Some('-') } else { Some(c).filter(char::is_ascii_digit) })
        .collect()
}
