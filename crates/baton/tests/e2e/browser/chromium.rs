//! A real Chromium without a window, spoken to over a pipe in the DevTools protocol: no port that others could reach,
//! and it ends by itself when the test does, because the pipe closes.

use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::stage::env;

/// What the browser answers where the page that it looks at is replaced by another.
const LEFT_PAGE: &str = "Inspected target navigated or closed";

/// How long anything may take before the test says that it did not come. The machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(15);

/// The running browser, with a profile of its own.
pub(super) struct Chromium {
    child: Child,
    pipe: RefCell<ChildStdin>,
    heard: Receiver<Value>,
    asked: Cell<u64>,
    events: RefCell<Vec<Value>>,
    _profile: TempDir,
}

/// The program, if there is one here.
fn program() -> Option<String> {
    if let Some(named) = env("BATON_TEST_CHROMIUM") {
        return Some(named);
    }
    let path = env("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let places = path.split(':').flat_map(|folder| names.map(|name| Path::new(folder).join(name)));
    places.into_iter().find(|place| place.is_file()).map(|place| place.display().to_string())
}

impl Chromium {
    /// Starts the browser; `None` where there is none.
    pub(super) fn start() -> Option<Self> {
        let program = program()?;
        let profile = tempfile::Builder::new().prefix("baton-browser-").tempdir().expect("profile");
        // The protocol runs over the descriptors 3 and 4; what the browser prints is nobody's business.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null", "sh", &program]);
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ]);
        command.args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-extensions",
        ]);
        command.args([
            "--disable-sync",
            "--metrics-recording-only",
            "--mute-audio",
            "--remote-debugging-pipe",
        ]);
        // Whoever asks for another machine gets nothing: the page has to do without.
        command.arg("--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1");
        command.arg(format!("--user-data-dir={}", profile.path().join("data").display()));
        command.env("HOME", profile.path()).env("XDG_CONFIG_HOME", profile.path());
        command.env("XDG_CACHE_HOME", profile.path()).env("TMPDIR", profile.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the browser starts");
        let pipe = RefCell::new(child.stdin.take().expect("pipe"));
        let mut answers = BufReader::new(child.stdout.take().expect("pipe"));
        let (tell, heard) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while answers.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { break };
                if tell.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        Some(Self { child, pipe, heard, asked: Cell::new(0), events: RefCell::default(), _profile: profile })
    }

    /// One command and its result.
    pub(super) fn call(&self, session: Option<&str>, method: &str, params: &Value) -> Value {
        let id = self.asked.get() + 1;
        self.asked.set(id);
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.pipe.borrow_mut().write_all(&bytes).expect("the browser listens");
        let begin = Instant::now();
        loop {
            let left = TIMEOUT.checked_sub(begin.elapsed()).unwrap_or_default();
            let Ok(mut heard) = self.heard.recv_timeout(left) else {
                panic!("the browser does not answer to {method} {params}")
            };
            if heard["id"] == id {
                // The page was left while it looked: nothing is known of the next one yet.
                if method == "Runtime.evaluate" && heard["error"]["message"] == LEFT_PAGE {
                    return Value::Null;
                }
                assert!(heard["error"].is_null(), "{method} {params}: {heard:#}");
                return heard["result"].take();
            }
            self.events.borrow_mut().push(heard);
        }
    }

    /// The events so far of this kind, in one page.
    pub(super) fn events(&self, session: &str, method: &str) -> Vec<Value> {
        let all = self.events.borrow();
        all.iter().filter(|one| one["sessionId"] == session && one["method"] == method).cloned().collect()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Asked first, so that its own children end with it.
        let _ = self.pipe.borrow_mut().write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(5) {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for something; says so when it does not come.
pub(super) fn eventually<T>(what: impl Fn() -> String, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < TIMEOUT, "{}", what());
        std::thread::sleep(Duration::from_millis(25));
    }
}
