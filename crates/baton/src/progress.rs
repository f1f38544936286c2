//! A sign of life on standard error for what takes longer than half a second: only on a terminal, gone without a trace.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What is done sooner needs no sign.
const FIRST_SIGN_DELAY: Duration = Duration::from_millis(500);
/// How often the bar moves.
const STEP: Duration = Duration::from_millis(120);
/// How wide the bar is.
const WIDTH: usize = 20;

/// Work that is under way. Dropping it takes the bar away.
pub(crate) struct Progress {
    /// Hanging up ends the thread.
    work: Option<Sender<()>>,
    bar: Option<JoinHandle<()>>,
}

impl Progress {
    /// Begins to wait. How much there is to do is not known beforehand, so the bar says only what, and for how long.
    pub(crate) fn begin(what: &'static str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self { work: None, bar: None };
        }
        let (work, done) = mpsc::channel::<()>();
        let run = move || {
            let begun = Instant::now();
            let mut wait = FIRST_SIGN_DELAY;
            let mut drawn = 0;
            while done.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                let line = line(what, drawn, begun.elapsed());
                let _ = write!(std::io::stderr(), "\r{line}\u{1b}[K");
                (drawn, wait) = (drawn + 1, STEP);
            }
            if drawn > 0 {
                let _ = write!(std::io::stderr(), "\r\u{1b}[K");
            }
        };
        Self { work: Some(work), bar: Some(std::thread::spawn(run)) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.work.take();
        // The bar is gone before anything else is written.
        if let Some(bar) = self.bar.take() {
            let _ = bar.join();
        }
    }
}

/// The bar: a piece that wanders, what is done, since when.
fn line(what: &str, step: usize, since: Duration) -> String {
    let at = step % WIDTH;
    let cell = |n: usize| if (n + WIDTH - at) % WIDTH < 4 { '█' } else { '░' };
    let bar: String = (0..WIDTH).map(cell).collect();
    format!("{bar} {what} {:.0} s", since.as_secs_f32())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_keeps_its_width() {
        for step in 0..50 {
            let bar = line("reading", step, Duration::from_millis(2_600));
            let full = bar.chars().filter(|c| *c == '█').count();
            assert_eq!((bar.chars().count(), full), (WIDTH + " reading 3 s".len(), 4), "{bar}");
        }
    }
}
