//! The shape of an operation, and what it is given.

use std::path::Path;

use baton_model::access::Scope;
use baton_model::changes::{CommittedFile, FileHistoryQuery};
use baton_model::id::{ID_RANDOM, new_id};
use baton_model::refusal::{Kind, Refusal};
use baton_model::repository::{CommitsPlace, MadeCommit, Repository, SessionCommitsQuery};
use baton_model::session::{Limits, ProcessLocation, Session};
use baton_model::task::claim::FileClaim;
use baton_model::time::Millis;
use baton_store::{Failure, Store};
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::caller::Caller;
use crate::document::{CleanDocument, DocumentPath, OmissionReason};
pub use crate::meta::{BeginsStore, HandoffEffect, Meta, Reach, Retention, SessionEffect, Site, TxMode};
pub use crate::path_kind::PathKind;
pub use crate::project_name::RenamedProject;
use crate::{clock, force_request, input, process_identity, project, project_name, resolve};

/// One thing that Baton can do.
pub trait Operation {
    /// What faces have to know of it.
    const META: Meta;
    /// Its name.
    const NAME: &'static str = Self::META.name;
    /// What it takes.
    type Input: Serialize + DeserializeOwned + JsonSchema;
    /// What it answers.
    type Output: Serialize + DeserializeOwned;

    /// Runs the operation.
    fn run(input: Self::Input, cx: &mut Cx<'_>) -> Result<Self::Output, Failure>;
    /// The kept answer as a retry gets it. One that says that something is the caller's says, too, whether it still is.
    fn replay(answer: Value, cx: &mut Cx<'_>) -> Result<Value, Failure> {
        let _ = cx;
        Ok(answer)
    }
}

/// What an operation may ask of the machine.
pub trait Host {
    /// Whether the process of this place, on this machine, is known to have ended.
    fn has_process_ended(&self, place: &ProcessLocation) -> bool;
    /// The machines of whose processes it may be known that they have ended; none where that is not settled beforehand. At most two.
    fn machines_with_known_processes(&self) -> Option<Vec<String>> {
        None
    }
    /// Whether what is said of the processes of a place is the word of the caller alone: it runs elsewhere and no other source is asked.
    fn only_caller_answers(&self, _place: &ProcessLocation) -> bool {
        false
    }
    /// Whether it is known that the agent of a tool's conversation runs on this machine.
    fn is_conversation_open(&self, _agent: &str, _id: &str) -> bool {
        false
    }
    /// Where other tools keep their transcripts.
    fn transcript_env(&self) -> &baton_transcripts::TranscriptEnv;
    /// Branch, commit, dirtiness of the working copy at this path.
    fn git(&self, folder: &str) -> Option<baton_model::packet::Git>;
    /// The top folder of the working copy around a folder, and its repository; nothing where there is none, or its files are not
    /// sound.
    fn repository(&self, _folder: &str) -> Option<(String, Repository)> {
        None
    }
    /// Whether the repository with this id lies in this common git folder; nothing where that cannot be said.
    fn holds_repository(&self, _common_dir: &str, _id: &str) -> Option<bool> {
        None
    }
    /// Whether a folder is there; nothing where that cannot be said.
    fn has_folder(&self, _folder: &str) -> Option<bool> {
        None
    }
    /// The tasks that the Beads file of a folder has in progress, as the file is now.
    fn file_claims(&self, _folder: &str) -> Vec<FileClaim> {
        Vec::new()
    }
    /// The files of a working copy with changes that are not committed; nothing where that cannot be said.
    fn uncommitted(&self, _folder: &str) -> Option<Vec<String>> {
        None
    }
    /// A fingerprint of what each of these files of a working copy holds; nothing where that cannot be said.
    fn fingerprints(&self, _folder: &str, _paths: &[String]) -> Option<Vec<String>> {
        None
    }
    /// Whether GitHub can be spoken to: a token or an app is configured.
    fn github_access(&self) -> bool {
        false
    }
    /// Whether agents are told what waits by sender and age only, without its subject.
    fn hides_subjects(&self) -> bool {
        false
    }
    /// The GitHub Enterprise host that the settings name; none where github.com is meant.
    fn github_enterprise(&self) -> Option<&str> {
        None
    }
    /// Whether a working copy holds a commit; nothing where that cannot be said.
    fn has_commit(&self, _folder: &str, _revision: &str) -> Option<bool> {
        None
    }
    /// Whether what is checked out in a working copy has a commit; nothing where that cannot be said.
    fn head_contains(&self, _folder: &str, _commit: &str) -> Option<bool> {
        None
    }
    /// Whether a commit of the repository around a folder, or that of a branch by its full name, has another one; nothing where that cannot be said.
    fn commit_contains(&self, _folder: &str, _tip: &str, _commit: &str) -> Option<bool> {
        None
    }
    /// The working copy of the repository around a folder in which a branch is checked out.
    fn checkout_of(&self, _folder: &str, _branch: &str) -> Option<String> {
        None
    }
    /// The linked worktree that has this name in the repository around a folder, wherever it lies, and since when it has it; nothing
    /// where there is none, or that cannot be said.
    fn worktree_named(&self, _folder: &str, _name: &str) -> Option<(String, Millis)> {
        None
    }
    /// The commits that were made in a working copy since an instant, and since `head` was checked out there, oldest first;
    /// nothing where that cannot be said.
    fn commits_made(&self, _folder: &str, _since: Millis, _head: Option<&str>) -> Option<Vec<MadeCommit>> {
        None
    }
    /// Where the newest commits of a session are; nothing where there are none, or that cannot be said.
    fn commits_place(&self, _query: &SessionCommitsQuery) -> Option<CommitsPlace> {
        None
    }
    /// What files of a working copy were committed as, on what is checked out there and by what was committed there; nothing where
    /// that cannot be said.
    fn committed_files(&self, _query: &FileHistoryQuery) -> Option<Vec<CommittedFile>> {
        None
    }
    /// What a path or glob names below a folder; nothing where that cannot be said.
    fn path_kind(&self, _folder: &str, _pattern: &str) -> Option<PathKind> {
        None
    }
    /// The text of a document below a folder, or why it is not given along. Of what another project's agent named only what git
    /// tracks and is not hidden is read, and nothing for a caller who came over a socket.
    fn document(&self, _folder: &str, _path: DocumentPath<'_>) -> Result<String, OmissionReason> {
        Err(OmissionReason::Missing)
    }
    /// Such a document without its secrets, as it goes along with what the caller leaves: taken out by the rules of the machine on
    /// which the file lies. A longer one than goes along is not given.
    fn linked_document(&self, folder: &str, path: &str) -> Result<CleanDocument, OmissionReason> {
        CleanDocument::of_linked(&self.document(folder, DocumentPath::Named(path))?)
    }
    /// The cache directory; without one nothing is cached.
    fn cache_dir(&self) -> Option<&Path> {
        None
    }
    /// Reports progress of long work, in bytes.
    fn progress(&self, done: u64, total: u64) {
        let _ = (done, total);
    }
    /// The roles file of the repository in this folder: its name there, and its text. A refusal: it is there and cannot be
    /// read.
    fn role_file(&self, _folder: &str) -> Result<Option<(String, String)>, Refusal> {
        Ok(None)
    }
    /// Encrypts a text for these public keys.
    fn encrypt(&self, _recipients: &[String], _text: &str) -> Result<String, Refusal> {
        Err(no_keys_refusal())
    }
    /// Decrypts a text with the private key that this identity has in a project, on this machine.
    fn decrypt(&self, _project_id: &str, _identity: &str, _sealed: &str) -> Result<String, Refusal> {
        Err(no_keys_refusal())
    }
    /// Decrypts a JSON object. Where another machine decrypts it, the object holds what that machine knows it by.
    fn decrypt_object(&self, project_id: &str, identity: &str, sealed: &str) -> Result<String, Refusal> {
        self.decrypt(project_id, identity, sealed)
    }
    /// The public key of an identity in a project, if its private key is on this machine.
    fn own_key(&self, _project_id: &str, _identity: &str) -> Result<Option<String>, Refusal> {
        Ok(None)
    }
    /// Makes a private key for an identity in a project, unless there is one, and returns its public key.
    fn make_key(&self, _project_id: &str, _identity: &str) -> Result<String, Refusal> {
        Err(no_keys_refusal())
    }
    /// Reads a transcript where the caller is. `None`: it lies on this machine and is read here.
    fn transcript(&self, _request: &crate::transcript::DocumentRequest) -> Option<Result<Value, Refusal>> {
        None
    }
    /// Whether questions about the machine are answered by the caller's, so that nothing of this one's disk is read.
    fn client_answers(&self) -> bool {
        false
    }
    /// Whether the caller came over a socket and is no Baton client that can be asked: what it says of folders means nothing here.
    fn is_served(&self) -> bool {
        false
    }
    /// How memories are indexed beside the ledger's own text search.
    fn memory_index(&self) -> crate::memory_index::Setup {
        crate::memory_index::Setup::default()
    }
    /// Vectors that are kept in memory between two calls. Without it they are read each time.
    fn matrices(&self) -> Option<&crate::memory_index::MatrixCache> {
        None
    }
    /// Keeps a heartbeat outside the ledger, without waiting. False if there is no such cache: then it must be written
    /// to the ledger.
    fn keep_beat(&self, _session: &Session, _at: Millis) -> bool {
        false
    }
    /// Whether heartbeats are kept beside the ledger just now.
    fn keeps_beats(&self) -> bool {
        false
    }
    /// Refuses what is no public key.
    fn check_key(&self, _recipient: &str) -> Result<(), Refusal> {
        Err(no_keys_refusal())
    }
}

/// The refusal where private keys are not for the caller.
pub fn no_keys_refusal() -> Refusal {
    let what = "keys are kept on the machine of their owner, and this one has none";
    Refusal::new(Kind::Refused, "keys_unavailable", what, "call `baton` on the machine that has the key")
}

/// Time, randomness, caller and settings: everything from outside but the ledger.
pub struct Env<'a> {
    /// Now.
    pub now: Millis,
    /// Fills bytes at random.
    pub random: &'a mut dyn FnMut(&mut [u8]),
    /// Who calls.
    pub caller: &'a Caller,
    /// The cut-offs of liveness.
    pub limits: Limits,
    /// The machine.
    pub host: &'a dyn Host,
}

impl Env<'_> {
    /// Whether this caller is told what waits without its subject: the settings say so of agents, and people see it always.
    pub fn hides_subjects(&self) -> bool {
        let is_agent = !matches!(self.caller.surface.as_str(), "" | "human" | "web");
        is_agent && (self.caller.hides_subjects || self.host.hides_subjects())
    }

    /// A new id.
    pub fn id(&mut self) -> String {
        let mut bytes = [0; ID_RANDOM];
        (self.random)(&mut bytes);
        new_id(self.now, &bytes)
    }

    /// A random number.
    pub fn number(&mut self) -> u64 {
        let mut bytes = [0; 8];
        (self.random)(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}

/// What an operation runs in.
pub struct Cx<'a> {
    /// The ledger.
    pub store: &'a mut Store,
    /// Everything else.
    pub env: Env<'a>,
}

/// A line of the table of operations.
pub struct OperationEntry {
    /// What faces have to know of it.
    pub meta: Meta,
    /// JSON Schema of its input.
    pub input_schema: fn() -> Schema,
    /// Runs it on JSON.
    pub run: fn(Value, &mut Cx<'_>) -> Result<Value, Failure>,
    /// Reads an answer as the operation's output and writes it again: what a typed client of a server gets.
    pub reread: fn(&Value) -> Result<Value, serde_json::Error>,
    /// A kept answer as a retry gets it.
    pub replay: fn(Value, &mut Cx<'_>) -> Result<Value, Failure>,
}

impl std::ops::Deref for OperationEntry {
    type Target = Meta;

    fn deref(&self) -> &Meta {
        &self.meta
    }
}

/// The table line of an operation.
pub const fn entry<O: Operation>() -> OperationEntry {
    OperationEntry {
        meta: O::META,
        input_schema: input_schema::<O>,
        run: run_json::<O>,
        reread: reread::<O>,
        replay: O::replay,
    }
}

fn reread<O: Operation>(answer: &Value) -> Result<Value, serde_json::Error> {
    serde_json::to_value(O::Output::deserialize(answer)?)
}

fn input_schema<O: Operation>() -> Schema {
    schemars::schema_for!(O::Input)
}

/// Runs an operation on JSON, for a caller in this process that takes the answer as it is.
pub fn run_typed<O: Operation>(input: Value, cx: &mut Cx<'_>) -> Result<O::Output, Failure> {
    authorize(&O::META, &cx.env, &input)?;
    let Some(identity) = process_identity::look_up(cx, &input)? else {
        return run_authorized::<O>(&input, cx);
    };
    let caller = Caller { identity: Some(identity), ..cx.env.caller.clone() };
    run_authorized::<O>(&input, &mut as_caller(cx, &caller))
}

fn run_authorized<O: Operation>(input: &Value, cx: &mut Cx<'_>) -> Result<O::Output, Failure> {
    match O::run(input::read(input)?, cx) {
        Err(failure) => run_renamed::<O>(input, cx, failure)
            .map_err(|failure| project::hide_merge(failure, &cx.env.caller.grant))
            .map_err(|failure| force_request::without_right(failure, &cx.env.caller.grant)),
        done => done,
    }
}

/// The same context for a caller of whom more is known.
fn as_caller<'a>(cx: &'a mut Cx<'_>, caller: &'a Caller) -> Cx<'a> {
    let Env { now, limits, host, .. } = cx.env;
    Cx { store: &mut *cx.store, env: Env { now, random: &mut *cx.env.random, caller, limits, host } }
}

/// Runs an operation again that was refused because of an unknown project, with what projects are called by now. Most calls name
/// an id, and so cost nothing more. A refused operation has written nothing.
fn run_renamed<O: Operation>(
    input: &Value,
    cx: &mut Cx<'_>,
    mut failure: Failure,
) -> Result<O::Output, Failure> {
    let mut caller = cx.env.caller.clone();
    while let Some(renamed) = project_name::look_up(&failure, cx.store, &caller) {
        caller.renamed.push(renamed);
        match O::run(input::read(input)?, &mut as_caller(cx, &caller)) {
            // To a token that does not reach the project, the name stays unknown as it was said.
            Err(Failure::Refused(refusal)) if project_name::is_hidden(&refusal, &caller) => break,
            Err(next) => failure = next,
            done => return done,
        }
    }
    Err(resolve::suggest_projects(failure, cx.store, &cx.env.caller.grant))
}

fn run_json<O: Operation>(input: Value, cx: &mut Cx<'_>) -> Result<Value, Failure> {
    let output = run_typed::<O>(input, cx)?;
    serde_json::to_value(output).map_err(|error| {
        Refusal::invalid(
            "answer_unwritable",
            format!("the answer cannot be written as JSON: {error}"),
            "report this",
        )
        .into()
    })
}

/// Refuses a caller that may not do this at all; which projects it reaches is asked where they are resolved.
pub(crate) fn authorize(meta: &Meta, env: &Env<'_>, input: &Value) -> Result<(), Refusal> {
    let grant = &env.caller.grant;
    clock::check(meta.tx_mode, env.now)?;
    let is_project_scoped =
        meta.reach == Reach::Project || (meta.reach == Reach::Disk && env.host.client_answers());
    let may = grant.require(meta.scope_of(input));
    let may = if is_project_scoped { may } else { may.and_then(|()| grant.require_all_projects()) };
    may.map_err(|no| crate::project_hint::of_init(meta.name, grant, no))?;
    // Force may take work from a live session, so it needs the scope operator.
    if input.get("force") == Some(&Value::Bool(true)) {
        grant.require(Scope::Operator)?;
    }
    Ok(())
}
