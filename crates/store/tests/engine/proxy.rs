//! A proxy before a PostgreSQL server that can be slow, go away, and cut a connection at its most awkward moment.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// When a connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// The COMMIT never reaches the server.
    BeforeCommit,
    /// It does, and its answer never comes back.
    AfterCommit,
    /// The same, and a pooler in between says in the server's place that it is gone.
    ByPooler,
}

/// What a pooler tells its client when it lost the server.
const CRASHED: &[u8] = b"SFATAL\0VFATAL\0C08P01\0Mserver conn crashed?\0\0";

/// A proxy on a port of its own; it forgets its connections at the end.
pub(super) struct Proxy {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// Pause before every answer.
    delay_ms: AtomicU64,
    /// Nobody gets through.
    closed: AtomicBool,
    /// How many more commits are cut, and how.
    before: AtomicUsize,
    after: AtomicUsize,
    /// Whether the client is told of a cut, as by a pooler.
    told: AtomicBool,
    /// Whether nobody gets through any more once a commit was cut.
    close_with_cut: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// Starts a proxy before this server.
    pub(super) fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if own.closed.load(Ordering::SeqCst) {
                    let _ = client.shutdown(Shutdown::Both);
                    continue;
                }
                let Ok(server) = TcpStream::connect(server) else { continue };
                connect(client, server, &own);
            }
        });
        Self { address, shared }
    }

    /// Every answer of the server comes so much later.
    #[allow(dead_code, reason = "one of the two suites that share this file delays")]
    pub(super) fn delay(&self, pause: Duration) {
        self.shared.delay_ms.store(u64::try_from(pause.as_millis()).unwrap_or(0), Ordering::SeqCst);
    }

    /// Cuts the next so many commits.
    #[allow(dead_code, reason = "one of the two suites that share this file cuts commits")]
    pub(super) fn cut(&self, cut: Cut, times: usize, close: bool) {
        self.shared.close_with_cut.store(close, Ordering::SeqCst);
        self.shared.told.store(cut == Cut::ByPooler, Ordering::SeqCst);
        match cut {
            Cut::BeforeCommit => self.shared.before.store(times, Ordering::SeqCst),
            Cut::AfterCommit | Cut::ByPooler => self.shared.after.store(times, Ordering::SeqCst),
        }
    }

    /// Lets nobody through, or everybody again.
    pub(super) fn close(&self, closed: bool) {
        self.shared.closed.store(closed, Ordering::SeqCst);
        if closed {
            self.hang_up();
        }
    }

    /// Ends every connection.
    pub(super) fn hang_up(&self) {
        for stream in self.shared.open.lock().expect("no panic").drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.close(true);
    }
}

fn connect(client: TcpStream, server: TcpStream, shared: &Arc<Shared>) {
    for stream in [&client, &server] {
        let _ = stream.set_nodelay(true);
        shared.open.lock().expect("no panic").push(stream.try_clone().expect("cloned"));
    }
    let mute = Arc::new(AtomicBool::new(false));
    let (from_server, to_client) = (server.try_clone().expect("cloned"), client.try_clone().expect("cloned"));
    let (own, silent) = (Arc::clone(shared), Arc::clone(&mute));
    let mut writer = client.try_clone().expect("cloned");
    thread::spawn(move || {
        pump(from_server, to_client, &mut |_| {
            let delay = own.delay_ms.load(Ordering::SeqCst);
            thread::sleep(Duration::from_millis(delay));
            let silent = silent.load(Ordering::SeqCst);
            if silent && own.told.load(Ordering::SeqCst) {
                let length = u32::try_from(CRASHED.len() + 4).expect("short").to_be_bytes();
                let _ = writer.write_all(&[b"E", &length[..], CRASHED].concat());
            }
            !silent
        })
    });
    let own = Arc::clone(shared);
    thread::spawn(move || {
        pump(client, server, &mut |bytes| {
            // A simple query: its length, the text, a zero.
            if !bytes.ends_with(b"COMMIT\0") {
                return true;
            }
            if one_less(&own.before) {
                own.closed.fetch_or(own.close_with_cut.load(Ordering::SeqCst), Ordering::SeqCst);
                return false;
            }
            if one_less(&own.after) {
                own.closed.fetch_or(own.close_with_cut.load(Ordering::SeqCst), Ordering::SeqCst);
                mute.store(true, Ordering::SeqCst);
            }
            true
        })
    });
}

fn one_less(count: &AtomicUsize) -> bool {
    count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| count.checked_sub(1)).is_ok()
}

/// Passes bytes on for as long as that is wanted; then both ends are cut.
fn pump(mut from: TcpStream, mut to: TcpStream, wanted: &mut dyn FnMut(&[u8]) -> bool) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if !wanted(&buffer[..length]) || to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
