//! Marks that something was written, from which notifications are made. No service runs for them: a process that writes to the ledger
//! leaves a mark in the folder `notify` beside it and starts the sender, a short process that reads what is new. Marks that come
//! meanwhile are taken by that sender or by the next one.

mod folder;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

pub(crate) use folder::{LimitMark, Marks, Memory, NotifyFolder};

use baton_store::Target;

use crate::config::Config;

/// How this process starts the sender; set once, before anything is written.
static SENDER: OnceLock<Sender> = OnceLock::new();

struct Sender {
    folder: NotifyFolder,
    /// The user's home: no repository's settings count there.
    home: PathBuf,
    /// The store, where the command line names one.
    store: Option<String>,
}

/// Makes this process leave marks, if the settings name a channel.
pub(crate) fn start(config: &Config) {
    if config.notify.is_on() && !config.vars.contains_key(SENDS) && config.store != Target::Memory {
        let named = config.origins.get("store").filter(|(_, from)| from == "--store");
        let store = named.map(|(store, _)| store.clone());
        _ = SENDER.set(Sender { folder: NotifyFolder::of(config), home: config.home.clone(), store });
    }
}

/// Variables that say who writes, where and in which session.
const OF_THE_AGENT: [&str; 7] = [
    "BATON_IDENTITY",
    "PRISM_AGENT_IDENTITY",
    "BATON_PROJECT",
    "BATON_SESSION",
    "BATON_PROCESS",
    "BATON_SURFACE",
    "BATON_SUPERVISOR",
];

/// Marks the sender's own environment: what it starts leaves no marks.
const SENDS: &str = "BATON_NOTIFY_SENDS";

/// Something was written in a project.
pub(crate) fn notify_write(project_id: &str) {
    if let Some(sender) = SENDER.get() {
        sender.begin(sender.folder.mark_project(project_id));
    }
}

/// An agent stopped at its limit, or failed.
pub(crate) fn stopped(mark: &LimitMark) {
    if let Some(sender) = SENDER.get() {
        sender.begin(sender.folder.mark_limit(mark));
    }
}

impl Sender {
    /// Starts the sender with the first mark of a file; later marks of it are taken with that one.
    fn begin(&self, is_first: std::io::Result<bool>) {
        let begun = is_first.and_then(|is_first| if is_first { self.spawn() } else { Ok(()) });
        if let Err(error) = begun {
            tracing::debug!(%error, "no notification can be sent");
        }
    }

    fn spawn(&self) -> std::io::Result<()> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["notify", "send"]).env(SENDS, "1");
        // The notification is for the user, not for the agent that has written.
        for name in OF_THE_AGENT {
            command.env_remove(name);
        }
        command.current_dir(&self.home);
        if let Some(store) = &self.store {
            command.env("BATON_STORE", store).env_remove("BATON_SERVER");
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        // A server runs on: without this the ended sender stays as a zombie.
        std::thread::spawn(move || _ = child.wait());
        Ok(())
    }
}
