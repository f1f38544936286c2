//! With how much freedom a session ran: what its tool was allowed to do without asking, as the transcript says last.

use std::io::{BufRead, BufReader};
use std::path::Path;

use memchr::memmem;
use serde::{Deserialize, Serialize};

use crate::format::TranscriptReader;
use crate::shared::chunk;

/// What a tool may do without asking, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionMode {
    /// Look and plan, change nothing.
    Plan,
    /// Ask before each change: what tools do by themselves.
    Ask,
    /// Change files of the project without asking.
    Edits,
    /// Everything, without asking and without a sandbox.
    Full,
}

impl PermissionMode {
    /// Every one, from least to most.
    pub const ALL: [Self; 4] = [Self::Plan, Self::Ask, Self::Edits, Self::Full];

    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Ask => "ask",
            Self::Edits => "edits",
            Self::Full => "full",
        }
    }

    /// Reads the word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == word)
    }
}

/// Reads the mode that a line sets.
pub type LineMode = fn(&[u8]) -> Option<PermissionMode>;

/// How much of a line is looked at: the fields stand near its beginning or its end, and a line may be huge.
const LINE: usize = 64 * 1024;

/// The mode in which a session of this format last ran. None where the tool does not write it down.
///
/// A quote inside a text of JSON is escaped, so the marks looked for can only be fields.
pub fn permission_mode(format: &dyn TranscriptReader, path: &Path) -> Option<PermissionMode> {
    let read = format.permission_mode()?;
    let mut reader = BufReader::with_capacity(256 * 1024, chunk::open(path).ok()?);
    let (mut last, mut line) = (None, Vec::new());
    loop {
        line.clear();
        let mut limited = std::io::Read::take(&mut reader, LINE as u64);
        match limited.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return last,
            Ok(_) => last = read(&line).or(last),
        }
    }
}

/// The text of a field, if this piece holds it.
pub(crate) fn field<'a>(line: &'a [u8], mark: &str) -> Option<&'a str> {
    let at = memmem::rfind(line, mark.as_bytes())? + mark.len();
    let rest = &line[at..];
    std::str::from_utf8(&rest[..memchr::memchr(b'"', rest)?]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::by_id;

    fn check(agent: &str, text: &str, expected: Option<PermissionMode>) {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("a.jsonl");
        std::fs::write(&path, text).expect("written");
        assert_eq!(permission_mode(by_id(agent).expect("known"), &path), expected, "{agent}: {text}");
    }

    #[test]
    fn the_last_word_holds() {
        let mode = |name: &str| format!("{{\"type\":\"permission-mode\",\"permissionMode\":\"{name}\"}}\n");
        check("claude", &(mode("bypassPermissions") + &mode("plan")), Some(PermissionMode::Plan));
        check("claude", &(mode("plan") + &mode("acceptEdits")), Some(PermissionMode::Edits));
        check("claude", &mode("default"), Some(PermissionMode::Ask));
        check("claude", "{\"type\":\"user\"}\n", None);
        let turn = |policy: &str, sandbox: &str| {
            format!(
                "{{\"type\":\"turn_context\",\"payload\":{{\"approval_policy\":\"{policy}\",\"sandbox_policy\":{{\"type\":\"{sandbox}\"}}}}}}\n"
            )
        };
        check("codex", &turn("never", "danger-full-access"), Some(PermissionMode::Full));
        check("codex", &turn("on-request", "danger-full-access"), Some(PermissionMode::Ask));
        check("codex", &turn("never", "read-only"), Some(PermissionMode::Plan));
        check("gemini", &turn("never", "read-only"), None);
    }

    #[test]
    fn what_somebody_wrote_about_it_is_no_setting() {
        let message = serde_json::json!({ "message": "set \"permissionMode\":\"bypassPermissions\" please" });
        check("claude", &format!("{message}\n"), None);
    }
}
