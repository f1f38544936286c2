//! What all of them have in common: a listener whose calls go wrong by a script, and which ends when it is dropped.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::answer::Answer;
use crate::http::{Connection, Request};
use crate::{Fault, Script, carry_out, lock};

/// A running listener.
pub(crate) struct Service {
    address: SocketAddr,
    calls: Arc<Calls>,
}

struct Calls {
    stop: AtomicBool,
    latency: Duration,
    script: Mutex<Option<Script>>,
}

impl Service {
    /// Answers what comes over this listener, each connection on a thread of its own, every answer so late.
    pub(crate) fn start(
        listener: TcpListener,
        (latency, script): (Duration, Option<Script>),
        answer: impl Fn(&Request) -> Answer + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let address = listener.local_addr()?;
        let calls = Arc::new(Calls { stop: AtomicBool::new(false), latency, script: Mutex::new(script) });
        let (serving, answer) = (Arc::clone(&calls), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if serving.is_over() {
                    break;
                }
                let (serving, answer) = (Arc::clone(&serving), Arc::clone(&answer));
                std::thread::spawn(move || serving.serve(stream, &*answer));
            }
        });
        Ok(Self { address, calls })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Replaces the scripted failures.
    pub(crate) fn script(&self, script: Option<Script>) {
        *lock(&self.calls.script) = script;
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.calls.stop.store(true, Ordering::Relaxed);
        // Wakes the listener, so that it sees.
        let _ = TcpStream::connect(self.address);
    }
}

impl Calls {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn serve(&self, stream: TcpStream, answer: &impl Fn(&Request) -> Answer) {
        let _ = stream.set_nodelay(true);
        let Ok(mut connection) = Connection::new(stream) else { return };
        while let Some(request) = connection.read() {
            let word = request.headers.get("connection");
            let is_last = word.is_some_and(|word| word.eq_ignore_ascii_case("close"));
            std::thread::sleep(self.latency);
            let fault = lock(&self.script).as_mut().map_or(Fault::None, |script| script(&request));
            let goes_on = !self.is_over() && carry_out(fault, &mut connection, || answer(&request));
            if !goes_on || is_last {
                return;
            }
        }
    }
}
