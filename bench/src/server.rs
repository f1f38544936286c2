//! A `baton serve` of our own, and clients that hand batons over in it.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::json;

use crate::http::Client;
use crate::process::{ChildGuard, User, cpu_seconds, packet};

/// A server that ends with this value.
pub struct Server {
    process: ChildGuard,
    address: SocketAddr,
}

/// What a crowd of clients managed.
pub struct Crowd {
    /// Wrap and pickup, both, a second.
    pub cycles: f64,
    /// Microseconds of the server's processor time for each.
    pub cpu: f64,
    /// Seconds of each request, sorted.
    pub latencies: Vec<f64>,
}

impl Server {
    /// Starts it on a free port.
    pub fn start(user: &User) -> Result<Self> {
        Self::start_on(user, &[])
    }

    /// The same with flags before the command, such as a store.
    pub fn start_on(user: &User, flags: &[&str]) -> Result<Self> {
        let args: Vec<&str> = flags.iter().chain(&["serve", "--listen", "127.0.0.1:0"]).copied().collect();
        let mut command = user.command(&args);
        let mut process = ChildGuard(command.stderr(Stdio::piped()).spawn()?);
        let stderr = process.0.stderr.take().context("the server has no standard error")?;
        let mut lines = BufReader::new(stderr);
        let address = loop {
            let mut line = String::new();
            if lines.read_line(&mut line)? == 0 {
                bail!("the server ended before it served");
            }
            if let Some((_, text)) = line.trim().split_once("serves on http://") {
                break text.parse().with_context(|| format!("the server said {line:?}"))?;
            }
        };
        // What it logs must find a reader.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Ok(Self { process, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.process.0.id()
    }

    /// Registers a project with a session that can wrap.
    pub fn project(&self, name: &str) -> Result<()> {
        let mut client = Client::of_project(self.address, name)?;
        client.call("project_init", &json!({ "id": name, "vcs": "none" }))?;
        client.call("session_start", &json!({ "project": name, "identity": "Ann" }))?;
        Ok(())
    }

    /// Lets a client hand batons over in each project for a while.
    pub fn crowd(&self, projects: &[String], span: Duration) -> Result<Crowd> {
        let used = || cpu_seconds(self.pid()).unwrap_or_default();
        let before = used();
        let ready = Barrier::new(projects.len() + 1);
        let (began, all) = std::thread::scope(|scope| {
            let (ready, server) = (&ready, self);
            let start = |project: &'_ String| {
                let project = project.clone();
                scope.spawn(move || server.client(&project, span, ready))
            };
            let clients: Vec<_> = projects.iter().map(start).collect();
            ready.wait();
            let began = Instant::now();
            let all: Vec<_> = clients.into_iter().map(|client| client.join()).collect();
            (began, all)
        });
        let took = began.elapsed().as_secs_f64();
        let mut latencies = Vec::new();
        for one in all {
            latencies.extend(one.map_err(|_| anyhow!("a client panicked"))??);
        }
        latencies.sort_by(f64::total_cmp);
        let cycles = latencies.len() as f64 / 2.0;
        Ok(Crowd { cycles: cycles / took, cpu: (used() - before) / cycles * 1e6, latencies })
    }

    /// Ann and Bob by turns: one wraps, the other picks up.
    fn client(&self, project: &str, span: Duration, ready: &Barrier) -> Result<Vec<f64>> {
        let client = Client::of_project(self.address, project);
        ready.wait();
        let (mut client, began) = (client?, Instant::now());
        let mut latencies = Vec::new();
        while began.elapsed() < span {
            for (at_work, next) in [("Ann", "Bob"), ("Bob", "Ann")] {
                let wrap = json!({ "project": project, "identity": at_work, "packet": packet() });
                let pickup = json!({ "project": project, "identity": next });
                for (operation, input) in [("session_wrap", &wrap), ("hd_exec", &pickup)] {
                    let sent = Instant::now();
                    client.call(operation, input)?;
                    latencies.push(sent.elapsed().as_secs_f64());
                }
            }
        }
        Ok(latencies)
    }
}
