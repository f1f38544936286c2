//! Background services of a server: each a thread that makes one pass after the other, started and stopped in one way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Work that is done again and again in the background.
pub(crate) trait Service: Send + 'static {
    /// Name of its thread, for debuggers and panics.
    const NAME: &'static str;

    /// One pass. Returns the pause before the next one.
    fn pass(&mut self, stop: &StopSignal) -> Duration;

    /// Runs once, after the last pass.
    fn end(&mut self) {}
}

/// Says during a pass whether the service is to end.
pub(crate) struct StopSignal(Arc<AtomicBool>);

impl StopSignal {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A running service. Dropping it leaves the thread running; [`stop`](Self::stop) ends it.
#[must_use]
pub(crate) struct ServiceHandle {
    signal: Arc<AtomicBool>,
    /// Closed to interrupt a pause.
    wake: Sender<()>,
    thread: JoinHandle<()>,
}

impl ServiceHandle {
    /// Starts a service whose first pass comes after a pause.
    pub(crate) fn start<S: Service>(mut service: S, first: Duration) -> std::io::Result<Self> {
        let signal = Arc::new(AtomicBool::new(false));
        let stop = StopSignal(Arc::clone(&signal));
        let (wake, woken) = channel::<()>();
        let run = move || {
            let mut pause = first;
            while woken.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) && !stop.is_set() {
                pause = service.pass(&stop);
            }
            service.end();
        };
        let thread = std::thread::Builder::new().name(S::NAME.to_owned()).spawn(run)?;
        Ok(Self { signal, wake, thread })
    }

    /// Waits for the pass in progress and ends the service.
    pub(crate) fn stop(self) {
        self.signal.store(true, Ordering::Relaxed);
        drop(self.wake);
        // A panic in a service was reported by its thread.
        let _ = self.thread.join();
    }
}

/// The services of a server, stopped in the reverse order of their start.
#[derive(Default)]
pub(crate) struct Services(Vec<ServiceHandle>);

impl Services {
    pub(crate) fn add(&mut self, handle: ServiceHandle) {
        self.0.push(handle);
    }

    pub(crate) fn stop(self) {
        // All of them are told first, so that their last passes overlap.
        for handle in &self.0 {
            handle.signal.store(true, Ordering::Relaxed);
        }
        self.0.into_iter().rev().for_each(ServiceHandle::stop);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Sender;

    use super::*;

    /// Reports its passes and its end, and pauses for an hour after the third pass.
    struct Counter {
        passes: u32,
        report: Sender<&'static str>,
    }

    impl Service for Counter {
        const NAME: &'static str = "counter";

        fn pass(&mut self, _: &StopSignal) -> Duration {
            self.passes += 1;
            let _ = self.report.send("pass");
            if self.passes < 3 { Duration::ZERO } else { Duration::from_secs(3600) }
        }

        fn end(&mut self) {
            let _ = self.report.send("end");
        }
    }

    #[test]
    fn a_stop_interrupts_a_pause_and_the_end_comes_last() {
        let (report, reports) = channel();
        let mut services = Services::default();
        services.add(ServiceHandle::start(Counter { passes: 0, report }, Duration::ZERO).expect("a thread"));
        for _ in 0..3 {
            assert_eq!(reports.recv(), Ok("pass"));
        }
        services.stop();
        assert_eq!(reports.iter().collect::<Vec<_>>(), ["end"]);
    }

    #[test]
    fn a_service_that_never_passed_ends_at_once() {
        let (report, reports) = channel();
        let handle =
            ServiceHandle::start(Counter { passes: 0, report }, Duration::from_secs(3600)).expect("a thread");
        handle.stop();
        assert_eq!(reports.iter().collect::<Vec<_>>(), ["end"]);
    }
}
