//! The clock and the source of randomness: the one place that reads either.

use std::time::{SystemTime, UNIX_EPOCH};

use baton_model::time::Millis;

/// Milliseconds since 1970.
#[allow(clippy::disallowed_methods, reason = "the one place that reads the clock")]
pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

/// Fills bytes at random. Without a source of randomness ids would collide, so then the process ends.
pub(crate) fn random(bytes: &mut [u8]) {
    if getrandom::fill(bytes).is_err() {
        std::process::abort();
    }
}
