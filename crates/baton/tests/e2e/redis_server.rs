//! A Redis of a test's own, which it may stop, fill, empty and kill.

use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A running server; it is killed at the end.
pub(crate) struct RedisServer {
    child: Mutex<Child>,
    /// Where it listens.
    pub address: SocketAddr,
    args: Vec<String>,
    dir: TempDir,
}

impl RedisServer {
    /// Starts one with these further settings. `None`, which is said, where the tests have no Redis.
    pub(crate) fn start(settings: &[&str]) -> Option<Self> {
        if variable("BATON_TEST_REDIS").is_none() {
            eprintln!("SKIPPED: BATON_TEST_REDIS is not set: nothing was tested with Redis");
            return None;
        }
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = free.local_addr().expect("an address");
        drop(free);
        let dir = tempfile::tempdir().expect("a folder");
        let args: Vec<String> = settings.iter().map(|word| (*word).to_owned()).collect();
        let child = Mutex::new(spawn(address, &args, &dir));
        let server = Self { child, address, args, dir };
        server.wait();
        Some(server)
    }

    /// Its URL.
    pub(crate) fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// Runs a command.
    pub(crate) fn ask<T: redis::FromRedisValue>(&self, words: &[&str]) -> T {
        let mut connection = redis::Client::open(self.url())
            .and_then(|client| client.get_connection_with_timeout(Duration::from_secs(5)))
            .expect("a connection");
        let (name, rest) = words.split_first().expect("a command");
        redis::cmd(name).arg(rest).query(&mut connection).unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    /// Sends the process a signal.
    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.lock().expect("no panic").id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().expect("kill runs").success());
    }

    /// Kills it: what it held is gone.
    pub(crate) fn kill(&self) {
        let mut child = self.child.lock().expect("no panic");
        let _ = child.kill();
        let _ = child.wait();
    }

    /// Starts it again at the same address.
    pub(crate) fn restart(&self) {
        *self.child.lock().expect("no panic") = spawn(self.address, &self.args, &self.dir);
        self.wait();
    }

    /// Waits until it answers.
    fn wait(&self) {
        let begin = Instant::now();
        let answers = || {
            let connected = redis::Client::open(self.url())
                .and_then(|client| client.get_connection_with_timeout(Duration::from_secs(1)));
            let answer = connected.and_then(|mut one| redis::cmd("PING").query::<String>(&mut one));
            // One that wants a password says so as soon as it is there.
            answer.is_ok() || answer.is_err_and(|error| error.code() == Some("NOAUTH"))
        };
        while !answers() {
            assert!(begin.elapsed() < Duration::from_secs(30), "Redis does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(address: SocketAddr, args: &[String], dir: &TempDir) -> Child {
    let port = address.port().to_string();
    // The kernel ends it with the test's thread, even where a test is killed without a chance to clean up.
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "redis-server"]);
    if Command::new("setpriv").arg("--version").stdout(Stdio::null()).status().is_err() {
        command = Command::new("redis-server");
    }
    // A Sentinel reads, and writes, a file of its own.
    if let Some(file) = args.first().filter(|first| !first.starts_with("--")) {
        command.args([file.as_str(), "--sentinel"]).args(&args[1..]);
    } else {
        command.args(["--save", "", "--appendonly", "no"]).args(args);
    }
    command.args(["--port", &port, "--bind", "127.0.0.1", "--dir"]).arg(dir.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("redis-server starts")
}

#[allow(clippy::disallowed_methods, reason = "a test learns from its environment where things are")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
