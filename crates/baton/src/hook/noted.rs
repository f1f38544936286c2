//! The projects in which the hooks of a conversation spoke: the end of the conversation is kept there, wherever its agent stands by then,
//! and what was said in an isolated one is shown from there alone.
//!
//! They are noted where transcripts are listed: in the ledger, or, where that is on a server, in the client's own small store.

use std::sync::atomic::{AtomicBool, Ordering};

use baton_ops::transcript::{note_project, noted_in};
use baton_store::{Failure, Store, Target};

use super::Call;
use super::payload::Payload;
use crate::clock;
use crate::config::Config;
use crate::remote::client_store;

/// A conversation of a tool, as its transcript names both.
pub(super) struct HookedConversation {
    agent: &'static str,
    id: String,
}

impl HookedConversation {
    /// The conversation of which a hook speaks, if it says so.
    pub(super) fn of(call: &Call, payload: &Payload) -> Option<Self> {
        Self::by_id(call, payload.session.as_deref()?)
    }

    /// The conversation of this id.
    pub(super) fn by_id(call: &Call, id: &str) -> Option<Self> {
        let tool = baton_tools::by_name(&call.agent)?;
        let agent = tool.reader.map_or(tool.id, |reader| reader.id());
        Some(Self { agent, id: id.to_owned() })
    }

    /// The tool's id of its transcripts, and the conversation's own.
    pub(super) fn key(&self) -> (&str, &str) {
        (self.agent, &self.id)
    }

    /// The projects in which its hooks spoke, the first one first.
    pub(super) fn noted(&self, config: &Config) -> Result<Vec<String>, Failure> {
        let target = target(config);
        if let Target::File(path) = &target
            && !path.is_file()
        {
            return Ok(Vec::new());
        }
        noted_in(&mut Store::open_existing(&target, clock::now())?, self.key())
    }

    /// Notes that a hook of it speaks in a project. `is_noting` is set meanwhile.
    pub(super) fn note(
        &self,
        config: &Config,
        project_id: &str,
        is_noting: &AtomicBool,
    ) -> Result<(), Failure> {
        is_noting.store(true, Ordering::Relaxed);
        let noted = self.write(config, project_id);
        is_noting.store(false, Ordering::Relaxed);
        noted
    }

    fn write(&self, config: &Config, project_id: &str) -> Result<(), Failure> {
        let mut store = match config.server {
            Some(_) => Store::open(&target(config), clock::now())?,
            None => Store::open_existing(&target(config), clock::now())?,
        };
        if !noted_in(&mut store, self.key())?.iter().any(|noted| noted == project_id) {
            note_project(&mut store, self.key(), project_id, clock::now())?;
        }
        store.leave();
        Ok(())
    }
}

/// The store that knows of this machine's transcripts.
fn target(config: &Config) -> Target {
    match &config.server {
        Some(server) => Target::File(client_store(&config.data_dir, &server.url)),
        None => config.store.clone(),
    }
}
