//! What must be known of a rollout before it is read: whether messages stand in it as items, and which lines belong
//! to turns that were rolled back.

use std::ops::RangeInclusive;

use memchr::memmem::Finder;

use super::line;
use super::lineage::Segment;
use crate::report::Complaints;
use crate::shared::lines::{self, Line, Lines};

/// What the scan found.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Whether user messages stand as items.
    pub user_items: bool,
    /// Whether agent messages stand as items.
    pub agent_items: bool,
    /// Sorted and apart.
    dropped: Vec<RangeInclusive<u64>>,
}

impl Scan {
    /// Whether a line belongs to a turn that was rolled back.
    pub(super) fn is_dropped(&self, number: u64) -> bool {
        let at = self.dropped.partition_point(|range| *range.end() < number);
        self.dropped.get(at).is_some_and(|range| range.contains(&number))
    }
}

/// Scans a rollout without parsing it; only if there were rollbacks are prompts looked at.
pub(super) fn scan(segment: &Segment) -> std::io::Result<Scan> {
    let item = Finder::new("\"response_item\"");
    let has_role = |bytes: &[u8], role: &str| lines::may_hold(bytes, "\"role\"", role);
    let rollback = Finder::new("\"thread_rolled_back\"");
    let (mut scan, mut rolled_back) = (Scan::default(), false);
    let mut lines = Lines::new(segment.open()?);
    while let Some(line) = lines.next_line() {
        let Some(bytes) = line.bytes else { continue };
        if item.find(bytes).is_some() || line::leading_type(bytes) == Some("message") {
            scan.user_items = scan.user_items || has_role(bytes, "\"user\"");
            scan.agent_items = scan.agent_items || has_role(bytes, "\"assistant\"");
        }
        rolled_back |= rollback.find(bytes).is_some();
    }
    if rolled_back {
        scan.dropped = dropped(segment, scan.user_items)?;
    }
    Ok(scan)
}

/// The lines of turns that were rolled back, each from its prompt to the rollback.
fn dropped(segment: &Segment, items: bool) -> std::io::Result<Vec<RangeInclusive<u64>>> {
    let (mut turns, mut dropped) = (Vec::new(), Vec::new());
    let mut lines = Lines::new(segment.open()?);
    while let Some(line) = lines.next_line() {
        match mark(&line, items) {
            LineKind::Prompt => turns.push(line.position.line),
            LineKind::Rollback(count) => {
                let keep = turns.len().saturating_sub(count);
                if let Some(first) = turns.drain(keep..).next() {
                    // A rollback may reach over an earlier one.
                    dropped.retain(|range: &RangeInclusive<u64>| *range.start() < first);
                    dropped.push(first..=line.position.line);
                }
            }
            LineKind::None => {}
        }
    }
    Ok(dropped)
}

enum LineKind {
    None,
    Prompt,
    Rollback(usize),
}

fn mark(line: &Line<'_>, items: bool) -> LineKind {
    // Faults are counted by the read that follows.
    let mut complaints = Complaints::default();
    let Some(text) = lines::text(line, &mut complaints) else { return LineKind::None };
    if !text.contains("\"thread_rolled_back\"") && !text.contains("user") {
        return LineKind::None;
    }
    let Some(json) = lines::value(&text, line, &mut complaints) else { return LineKind::None };
    let payload = json.get("payload");
    let is_item = json.get("type").str() == Some("response_item");
    match payload.get("type").str() {
        Some("thread_rolled_back") => {
            LineKind::Rollback(usize::try_from(payload.get("num_turns").count()).unwrap_or(0))
        }
        Some("user_message") if !items => LineKind::Prompt,
        _ if is_item
            && payload.get("role").str() == Some("user")
            && line::prompt(payload.get("content")).is_some() =>
        {
            LineKind::Prompt
        }
        _ => LineKind::None,
    }
}
