//! What it costs to have it: the binary on disk, a server that waits.

use std::fs;
use std::time::Duration;

use anyhow::Result;

use crate::lab::Lab;
use crate::process::{User, status_kib};
use crate::report::{Line, Target};
use crate::server::Server;

/// Size and memory.
pub fn run(lab: &Lab) -> Result<Vec<Line>> {
    let user = User::new(lab, "idle")?;
    let server = Server::start(&user)?;
    server.project("p")?;
    std::thread::sleep(Duration::from_secs(1));
    let resident = status_kib(server.pid(), "VmRSS:").unwrap_or(0);
    let own = status_kib(server.pid(), "RssAnon:").unwrap_or(0);
    let size = fs::metadata(&lab.baton)?.len();
    Ok(vec![
        Line::new("the binary", size as f64 / 1048576.0, "MiB"),
        Line::new("an idle server: resident", resident as f64 / 1024.0, "MiB").target(Target::AtMost(16.0)),
        Line::new("an idle server: of which its own", own as f64 / 1024.0, "MiB"),
    ])
}
