//! How far long work has come: one line on standard error, only on a terminal, and only when it takes longer than half a
//! second.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Milliseconds before the first line.
const FIRST_LINE_DELAY_MS: u64 = 500;
/// Milliseconds between two lines.
const LINE_INTERVAL_MS: u64 = 100;

/// A line that is written over and over.
pub(crate) struct Indexing {
    began: Instant,
    /// Milliseconds from the beginning to the last line; 0 before the first.
    shown: AtomicU64,
}

impl Indexing {
    /// On the terminal that standard error is, if it is one.
    pub(crate) fn on_terminal() -> Option<Self> {
        let terminal = std::io::stderr().is_terminal();
        terminal.then(|| Self { began: Instant::now(), shown: AtomicU64::new(0) })
    }

    /// So many bytes of so many are done; the line goes when it is all of them.
    pub(crate) fn show(&self, done: u64, total: u64) {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let last = self.shown.load(Ordering::Relaxed);
        let text = match (done < total, last) {
            (false, 0) => return,
            (false, _) => "\r\x1b[K".to_owned(),
            (true, _) if now < FIRST_LINE_DELAY_MS || now < last + LINE_INTERVAL_MS => return,
            (true, _) => line(done, total),
        };
        self.shown.store(if done < total { now } else { 0 }, Ordering::Relaxed);
        // A progress line that cannot be written is ignored.
        let mut out = std::io::stderr().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

fn line(done: u64, total: u64) -> String {
    let percent = u128::from(done) * 100 / u128::from(total.max(1));
    let mib = |bytes: u64| bytes / (1024 * 1024);
    format!("\r\x1b[Kreading transcripts: {percent} % ({} of {} MiB)", mib(done), mib(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_it_is() {
        let text = line(512 * 1024 * 1024, 1024 * 1024 * 1024);
        assert_eq!(text, "\r\x1b[Kreading transcripts: 50 % (512 of 1024 MiB)");
        assert_eq!(line(0, 0), "\r\x1b[Kreading transcripts: 0 % (0 of 0 MiB)");
    }
}
