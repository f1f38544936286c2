//! The machine of a server as its callers see it: they have the ledger from it, and nothing of its disk.

use std::path::Path;

use baton_model::access::Grant;
use baton_model::packet::Git;
use baton_model::refusal::Refusal;
use baton_model::session::{ProcessLocation, Session};
use baton_model::time::Millis;
use baton_ops::document::{DocumentPath, OmissionReason};
use baton_ops::op::{Host, no_keys_refusal};

use crate::host::Machine;

/// The machine for a call that came over a socket. Folders and paths in it are the caller's words: none is looked into.
pub(crate) struct SocketHost<'a> {
    here: &'a Machine,
    /// Whether the caller may do everything here, private keys included.
    is_owner: bool,
}

impl<'a> SocketHost<'a> {
    /// For a caller with this grant.
    pub(crate) fn new(here: &'a Machine, grant: &Grant) -> Self {
        Self { here, is_owner: Grant { until_first_token: false, ..grant.clone() } == Grant::default() }
    }

    fn keys(&self) -> Result<&'a Machine, Refusal> {
        if self.is_owner { Ok(self.here) } else { Err(no_keys_refusal()) }
    }
}

impl Host for SocketHost<'_> {
    fn has_process_ended(&self, place: &ProcessLocation) -> bool {
        self.here.has_process_ended(place)
    }

    fn machines_with_known_processes(&self) -> Option<Vec<String>> {
        self.here.machines_with_known_processes()
    }

    fn transcript_env(&self) -> &baton_transcripts::TranscriptEnv {
        self.here.transcript_env()
    }

    fn git(&self, _folder: &str) -> Option<Git> {
        None
    }

    fn github_access(&self) -> bool {
        self.here.github_access()
    }

    fn hides_subjects(&self) -> bool {
        self.here.hides_subjects()
    }

    fn github_enterprise(&self) -> Option<&str> {
        self.here.github_enterprise()
    }

    fn checkout_of(&self, _folder: &str, _branch: &str) -> Option<String> {
        None
    }

    fn has_commit(&self, _folder: &str, _revision: &str) -> Option<bool> {
        None
    }

    fn document(&self, _folder: &str, _path: DocumentPath<'_>) -> Result<String, OmissionReason> {
        Err(OmissionReason::OnServer)
    }

    fn role_file(&self, _folder: &str) -> Result<Option<(String, String)>, Refusal> {
        Ok(None)
    }

    fn cache_dir(&self) -> Option<&Path> {
        self.here.cache_dir()
    }

    fn encrypt(&self, recipients: &[String], text: &str) -> Result<String, Refusal> {
        self.here.encrypt(recipients, text)
    }

    fn decrypt(&self, project_id: &str, identity: &str, sealed: &str) -> Result<String, Refusal> {
        self.keys()?.decrypt(project_id, identity, sealed)
    }

    fn own_key(&self, project_id: &str, identity: &str) -> Result<Option<String>, Refusal> {
        if self.is_owner { self.here.own_key(project_id, identity) } else { Ok(None) }
    }

    fn make_key(&self, project_id: &str, identity: &str) -> Result<String, Refusal> {
        self.keys()?.make_key(project_id, identity)
    }

    fn check_key(&self, recipient: &str) -> Result<(), Refusal> {
        self.here.check_key(recipient)
    }

    fn memory_index(&self) -> baton_ops::memory_index::Setup {
        self.here.memory_index()
    }

    fn matrices(&self) -> Option<&baton_ops::memory_index::MatrixCache> {
        self.here.matrices()
    }

    fn keep_beat(&self, session: &Session, at: Millis) -> bool {
        self.here.keep_beat(session, at)
    }

    fn keeps_beats(&self) -> bool {
        self.here.keeps_beats()
    }

    fn is_served(&self) -> bool {
        true
    }
}
