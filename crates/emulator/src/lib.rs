//! GitHub's issues, and Qdrant, each in one process: stateful, and able to fail before, during and after each call. Tests and the demo talk to it
//! as they would to GitHub; nothing in it knows Baton.

mod answer;
mod embedder;
mod http;
mod hub;
mod proxy;
mod qdrant;
mod routes;
mod service;

use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

pub use embedder::Embedder;
pub use http::Request;
pub use hub::{Comment, Hub, Issue};
pub use proxy::{Exchange, Proxy};
pub use qdrant::{Collection, Points, Qdrant};
use service::Service;

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
    /// It is done, and answered with a malformed response.
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
    /// The scripted failures.
    pub script: Option<Script>,
    /// Repositories that there are; none: every one.
    pub repos: Option<Vec<String>>,
}

/// A running emulator; it ends when it is dropped.
pub struct Emulator {
    hub: Arc<Mutex<Hub>>,
    service: Service,
}

impl Emulator {
    /// Starts one on a free port of this machine.
    pub fn start(options: Options) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let base = format!("http://{}", listener.local_addr()?);
        let hub = Arc::new(Mutex::new(Hub::new(options.repos, options.limit, options.search_lag)));
        let (holds, token) = (Arc::clone(&hub), options.token);
        let service = Service::start(listener, (options.latency, options.script), move |request| {
            routes::answer(request, &mut lock(&holds), token.as_deref(), &base)
        })?;
        Ok(Self { hub, service })
    }

    /// The base URL of its API.
    pub fn url(&self) -> String {
        format!("http://{}", self.service.address())
    }

    /// What it holds.
    pub fn hub(&self) -> MutexGuard<'_, Hub> {
        lock(&self.hub)
    }

    /// Replaces the scripted failures.
    pub fn script(&self, script: Option<Script>) {
        self.service.script(script);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
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
