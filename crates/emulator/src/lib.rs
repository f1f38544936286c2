//! GitHub's issues, and Qdrant, each in one process: stateful, and able to fail before, during and after each call. Tests and the demo talk to it
//! as they would to GitHub; nothing in it knows Baton.

mod answer;
mod embedder;
mod http;
mod hub;
mod proxy;
mod qdrant;
mod routes;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

pub use embedder::Embedder;
pub use http::Request;
pub use hub::{Comment, Hub, Issue};
pub use proxy::{Exchange, Proxy};
pub use qdrant::{Collection, Points, Qdrant};

/// What happens to one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing: it is answered.
    None,
    /// It is refused with this status before anything is done; with a pause in seconds, if one is given.
    Refuse(u16, Option<u32>),
    /// The connection ends before anything is done.
    DropBefore,
    /// It is done, and the connection ends without an answer.
    DropAfter,
    /// It is done, the answer stops in its middle.
    DropDuring,
    /// It is done, and answered with this status.
    FailAfter(u16),
    /// It is done and answered, this many milliseconds late.
    Late(u64),
    /// It is done, and answered with something that nobody would answer.
    Garbage,
    /// It is answered, but done only this many milliseconds after the caller was cut off.
    DoneLater(u64),
}

/// Decides what happens to a call; `before` and `after` it, a test may do something itself.
pub type Script = Box<dyn FnMut(&Request) -> Fault + Send>;

/// How an emulator behaves.
#[derive(Default)]
pub struct Options {
    /// Time that every answer takes.
    pub latency: Duration,
    /// The only token that counts; none: any.
    pub token: Option<String>,
    /// Calls allowed in each window; none: any number.
    pub limit: Option<(u32, Duration)>,
    /// How long search lags behind.
    pub search_lag: Duration,
    /// What goes wrong.
    pub script: Option<Script>,
    /// Repositories that there are; none: every one.
    pub repos: Option<Vec<String>>,
}

/// What every connection shares.
struct Shared {
    hub: Mutex<Hub>,
    script: Mutex<Option<Script>>,
    latency: Duration,
    token: Option<String>,
    address: SocketAddr,
    stop: AtomicBool,
}

/// A running emulator; it ends when it is dropped.
pub struct Emulator {
    shared: Arc<Shared>,
}

impl Emulator {
    /// Starts one on a free port of this machine.
    pub fn start(options: Options) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let hub = Hub::new(options.repos, options.limit, options.search_lag);
        let shared = Arc::new(Shared {
            hub: Mutex::new(hub),
            script: Mutex::new(options.script),
            latency: options.latency,
            token: options.token,
            address,
            stop: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        let stopped = Arc::clone(&shared);
        listen(listener, move || stopped.stop.load(Ordering::Relaxed), move |stream| serve(stream, &serving));
        Ok(Self { shared })
    }

    /// The base URL of its API.
    pub fn url(&self) -> String {
        format!("http://{}", self.shared.address)
    }

    /// What it holds.
    pub fn hub(&self) -> MutexGuard<'_, Hub> {
        lock(&self.shared.hub)
    }

    /// Changes what goes wrong from now on.
    pub fn script(&self, script: Option<Script>) {
        *lock(&self.shared.script) = script;
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // Wakes the listener, so that it sees.
        let _ = TcpStream::connect(self.shared.address);
    }
}

/// Accepts connections, each on a thread of its own, until it is to stop.
fn listen(
    listener: TcpListener,
    is_over: impl Fn() -> bool + Send + 'static,
    serve: impl Fn(TcpStream) + Send + Sync + 'static,
) {
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            if is_over() {
                break;
            }
            let serve = Arc::clone(&serve);
            std::thread::spawn(move || serve(stream));
        }
    });
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn serve(stream: TcpStream, shared: &Shared) {
    let _ = stream.set_nodelay(true);
    let Ok(mut connection) = http::Connection::new(stream) else { return };
    while let Some(request) = connection.read() {
        let is_last =
            request.headers.get("connection").is_some_and(|word| word.eq_ignore_ascii_case("close"));
        if !one(&request, &mut connection, shared) || is_last {
            return;
        }
    }
}

/// Answers one request; says whether the connection goes on.
fn one(request: &Request, connection: &mut http::Connection, shared: &Shared) -> bool {
    std::thread::sleep(shared.latency);
    let fault = lock(&shared.script).as_mut().map_or(Fault::None, |script| script(request));
    let work = || {
        routes::answer(
            request,
            &mut lock(&shared.hub),
            shared.token.as_deref(),
            &format!("http://{}", shared.address),
        )
    };
    carry_out(fault, connection, work)
}

/// Lets a call go wrong as it shall; says whether the connection goes on.
fn carry_out(fault: Fault, connection: &mut http::Connection, work: impl FnOnce() -> answer::Answer) -> bool {
    match fault {
        Fault::None => connection.write(&work()),
        Fault::Refuse(status, after) => connection.write(&answer::refused(status, after)),
        Fault::DropBefore => false,
        Fault::DropAfter => {
            work();
            false
        }
        Fault::DropDuring => {
            connection.write_half(&work());
            false
        }
        Fault::FailAfter(status) => {
            work();
            connection.write(&answer::refused(status, None))
        }
        Fault::Garbage => {
            work();
            connection.write(&answer::ok(200, serde_json::json!({ "result": { "points": "<html>" } })))
        }
        Fault::Late(millis) => {
            let answer = work();
            std::thread::sleep(Duration::from_millis(millis));
            connection.write(&answer)
        }
        Fault::DoneLater(millis) => {
            connection.end();
            std::thread::sleep(Duration::from_millis(millis));
            work();
            false
        }
    }
}
