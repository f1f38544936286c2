//! A packet in one line.

use super::{cut, facts, quote};
use crate::packet::Packet;

/// The longest headline, in characters.
pub const HEADLINE_CHARS: usize = 160;

/// One line for a status card: `claude: summary · 3 files · 2 open · last failure exit 101`.
pub fn headline(packet: &Packet) -> String {
    let open = packet.pending_tasks.iter().filter(|item| facts::is_open(item)).count();
    let count = |count: usize, one: &str, many: &str| match count {
        0 => String::new(),
        1 => format!(" · 1 {one}"),
        _ => format!(" · {count} {many}"),
    };
    let failure = packet.last_failure.as_ref().map(|failure| match failure.exit_code {
        Some(code) => format!(" · last failure exit {code}"),
        None => " · last command failed".into(),
    });
    let facts = count(packet.files_modified.len(), "file", "files")
        + &count(open, "open task", "open tasks")
        + &failure.unwrap_or_default();
    let source = packet.source.as_ref().and_then(|source| source.agent.as_deref()).and_then(quote::name);
    let source = source.map(|source| format!("{source}: ")).unwrap_or_default();
    let free = HEADLINE_CHARS.saturating_sub(source.chars().count() + facts.chars().count() + 10);
    let summary = quote::prose(packet.summary.trim().lines().next().unwrap_or_default());
    source + &cut::head(&summary, free) + &facts
}
