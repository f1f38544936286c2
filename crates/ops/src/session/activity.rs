//! What a session wrote over the last hours, and what it cost, as far as its tool tells it.

use baton_model::session::Session;
use baton_model::time::Millis;
use baton_store::{Fault, Tx, delta};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A span of time that is counted.
const SPAN: Millis = 3_600_000;
/// How many of them.
const SPANS: usize = 12;

/// The tokens that a session used, as its transcript told them when it was last captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Read by the model, without what came from a cache.
    #[serde(default)]
    pub input: u64,
    /// Read from a cache.
    #[serde(default)]
    pub cache_read: u64,
    /// Written into a cache.
    #[serde(default)]
    pub cache_write: u64,
    /// Written by the model.
    #[serde(default)]
    pub output: u64,
}

impl TokenUsage {
    /// All of them.
    pub fn total(self) -> u64 {
        [self.input, self.cache_read, self.cache_write, self.output].into_iter().fold(0, u64::saturating_add)
    }
}

/// Has what [`activity`] and [`usage`] read of these sessions read in one round trip.
pub(super) fn prefetch(tx: &mut Tx<'_>, sessions: &[Session], now: Millis) {
    tx.prefetch(|tx| {
        for of in sessions.iter().filter(|of| of.is_open()) {
            drop(delta::activity(tx, (&of.project_id, &of.session_id), activity_start(now), SPAN));
            drop(delta::with_usage(tx, &of.project_id, &of.session_id));
        }
    });
}

/// How many entries it wrote in each of the last twelve hours, the earliest first.
pub(super) fn activity(tx: &mut Tx<'_>, of: &Session, now: Millis) -> Result<Vec<u32>, Fault> {
    let mut counts = vec![0; SPANS];
    for (span, count) in delta::activity(tx, (&of.project_id, &of.session_id), activity_start(now), SPAN)? {
        // What a clock that is ahead wrote counts as the newest.
        let at = usize::try_from(span).unwrap_or_default().min(SPANS - 1);
        if let Some(slot) = counts.get_mut(at) {
            *slot += u32::try_from(count).unwrap_or(u32::MAX);
        }
    }
    Ok(counts)
}

fn activity_start(now: Millis) -> Millis {
    now.saturating_sub(SPAN.saturating_mul(SPANS as Millis)).saturating_add(1)
}

/// The newest usage that a capture read from the transcript of a session; none where its tool tells none.
pub(super) fn usage(tx: &mut Tx<'_>, of: &Session) -> Result<Option<TokenUsage>, Fault> {
    let bodies = delta::with_usage(tx, &of.project_id, &of.session_id)?;
    Ok(bodies.iter().find_map(|body| told_usage(body)))
}

/// The usage in the text of an entry: a capture has its packet in a field, a wrap is one.
fn told_usage(body: &str) -> Option<TokenUsage> {
    let body: Value = serde_json::from_str(body).ok()?;
    let packets = [body.get("packet"), body.pointer("/late_checkpoint/packet"), Some(&body)];
    let usage = packets.into_iter().flatten().find_map(|packet| packet.pointer("/metadata/tokens"))?;
    serde_json::from_value(usage.clone()).ok()
}
