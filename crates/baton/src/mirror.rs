//! The Beads file of a server's project, kept in step on a thread with a store of its own.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::app::{App, Format};
use crate::beads;
use crate::config::Config;
use crate::error::Ended;
use crate::repo_file::RepoFile;

/// Pause between two looks: what changes meanwhile is written together.
const EVERY: Duration = Duration::from_secs(1);

/// A running mirror.
pub struct Mirror {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Mirror {
    /// Starts it, where the settings name a file.
    pub fn start(config: &Config) -> Option<Self> {
        let path = config.tasks_mirror.clone()?;
        let config = config.clone();
        let (stop, stopped) = channel::<()>();
        let thread = std::thread::spawn(move || {
            let mut keeper =
                Keeper { app: App::new(config, Format::Json, false, true), file: path, told: String::new() };
            while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                keeper.look();
            }
            // What was written last is in the file when the server has ended.
            keeper.look();
            keeper.app.leave();
        });
        Some(Self { stop, thread })
    }

    /// Writes what is left to write and ends.
    pub fn stop(self) {
        drop(self.stop);
        if self.thread.join().is_err() {
            tracing::error!("the thread of the mirror panicked");
        }
    }
}

struct Keeper {
    app: App,
    file: RepoFile,
    /// What went wrong last: the same is told once.
    told: String,
}

impl Keeper {
    fn look(&mut self) {
        let why = match step(&mut self.app, &self.file) {
            Ok(()) => String::new(),
            Err(ended) => ended.text().lines().next().unwrap_or_default().to_owned(),
        };
        if !why.is_empty() && why != self.told {
            tracing::warn!(path = %self.file.path().display(), why, "the tasks' file is not in step");
        }
        self.told = why;
    }
}

fn step(app: &mut App, file: &RepoFile) -> Result<(), Ended> {
    match beads::own_project(app) {
        Some(project) => beads::mirror(app, &project, file),
        // Its folder is not registered, or not any more.
        None => Ok(()),
    }
}
