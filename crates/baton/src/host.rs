//! The machine: clock, randomness, processes, git. Everything that an operation may not ask for itself.

use std::cell::LazyCell;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use baton_model::changes::{CommittedFile, FileHistoryQuery};
use baton_model::packet::Git;
use baton_model::refusal::Refusal;
use baton_model::remote::{enterprise_of, token_host_of};
use baton_model::repository::{CommitsPlace, MadeCommit, Repository, SessionCommitsQuery, is_host_name};
use baton_model::role;
use baton_model::session::{ProcessLocation, Session};
use baton_model::task::claim::FileClaim;
use baton_model::time::Millis;
use baton_ops::document::{DocumentPath, OmissionReason};
use baton_ops::op::{Caller, PathKind};
use baton_store::{CommitObserver, Store};

use crate::beads_file_claims;
use crate::config::{self, Config};
use crate::error::AppError;
use crate::fingerprint::fingerprints;
use crate::index_progress::Indexing;
use crate::keys::{self, Keys};
use crate::live::{self, Live};
use crate::machine_id::machine_id;
use crate::memory_index::IndexServices;
use crate::repo_file::{Fault, MAX_SMALL_FILE_BYTES, RepoFile};
use crate::{clock, document, git, open_conversations, path_kind, process};

/// The clock skew that is tolerated, in milliseconds.
const CLOSE_ENOUGH: i64 = 500;

/// What operations may ask of this machine.
pub(crate) struct Machine {
    /// Its id.
    pub id: String,
    /// Where long work is shown; nowhere in a server.
    pub progress: Option<Indexing>,
    /// By how many milliseconds the database's clock is ahead of ours.
    ahead: Arc<AtomicI64>,
    data_dir: PathBuf,
    transcripts: baton_transcripts::TranscriptEnv,
    github: OnceLock<bool>,
    /// The GitHub Enterprise host of the settings.
    enterprise: Option<String>,
    config: Config,
    keys: Keys,
    matrices: baton_ops::memory_index::MatrixCache,
    index_services: OnceLock<Option<Arc<IndexServices>>>,
    /// Live state beside the ledger, from the first store on.
    live: OnceLock<Option<Arc<Live>>>,
}

impl Machine {
    pub(crate) fn new(config: &Config) -> Self {
        let id = config.machine.clone().unwrap_or_else(|| machine_id(&config.data_dir));
        let os = match std::env::consts::OS {
            "macos" => baton_transcripts::Os::MacOs,
            "windows" => baton_transcripts::Os::Windows,
            _ => baton_transcripts::Os::Linux,
        };
        let transcripts = baton_transcripts::TranscriptEnv {
            home: config.home.clone(),
            vars: config.vars.clone(),
            os,
            folders: config.cwd.iter().cloned().collect(),
        };
        let keys = Keys::new(config.config_dir.join("keys"));
        Self {
            id,
            progress: None,
            ahead: Arc::default(),
            data_dir: config.data_dir.clone(),
            transcripts,
            keys,
            github: OnceLock::new(),
            enterprise: enterprise_of(&config.github.api),
            live: OnceLock::new(),
            config: config.clone(),
            matrices: Default::default(),
            index_services: OnceLock::new(),
        }
    }

    /// The current time by the clock shared by all users of the store: the database's where there is one, so that
    /// liveness and leases do not depend on the local clock.
    pub(crate) fn now(&self) -> Millis {
        clock::now().saturating_add(self.ahead.load(Ordering::Relaxed))
    }

    /// Live state beside the ledger, if a Redis is configured.
    pub(crate) fn live(&self) -> Option<&Arc<Live>> {
        let config = &self.config;
        let start = || {
            let ahead = Arc::clone(&self.ahead);
            let clock = Arc::new(move || clock::now().saturating_add(ahead.load(Ordering::Relaxed)));
            config.redis.as_ref().map(|redis| Live::start(redis, config.limits, clock))
        };
        self.live.get_or_init(start).as_ref()
    }

    /// Lets a store know of the heartbeats beside it, and them of its commits. What judges who is live is given a store so.
    pub(crate) fn observe(&self, store: &mut Store) {
        if let Some(live) = self.live() {
            store.observe(Arc::clone(live) as Arc<dyn CommitObserver>);
        }
    }

    /// For a process that is about to end: says what is still to be said beside the ledger.
    pub(crate) fn flush(&self) {
        self.live.get().and_then(Option::as_ref).into_iter().for_each(|live| live.flush());
    }

    /// Sets the clock after the store's. A small difference is left alone: asking takes time, too.
    pub(crate) fn follow_clock(&self, store: &mut Store) {
        let sent_at = clock::now();
        let Ok(Some(theirs)) = store.server_time() else { return };
        let ahead = theirs - (sent_at + clock::now()) / 2;
        let ahead = if ahead.abs() < CLOSE_ENOUGH { 0 } else { ahead };
        if self.ahead.swap(ahead, Ordering::Relaxed) == 0 && ahead != 0 {
            tracing::warn!(
                ahead_ms = ahead,
                "this machine's clock is not the database's, whose time is used"
            );
        }
    }

    /// The external services of the memory index, if the settings name any; created on first use.
    pub(crate) fn index_services(&self) -> Result<Option<Arc<IndexServices>>, AppError> {
        if let Some(known) = self.index_services.get() {
            return Ok(known.clone());
        }
        let made = IndexServices::new(&self.config)?;
        Ok(self.index_services.get_or_init(|| made).clone())
    }

    /// The caller of this process.
    pub(crate) fn caller(&self, config: &Config) -> Caller {
        let cwd = config.cwd.as_deref();
        let behind = LazyCell::new(process::ProcessAncestry::ancestry);
        Caller {
            identity: config.identity.clone(),
            project: config.project.clone(),
            session: config.session.clone(),
            surface: if config.surface.is_empty() {
                behind.surface().to_owned()
            } else {
                config.surface.clone()
            },
            location: ProcessLocation {
                machine: self.id.clone(),
                process: config.process.clone().unwrap_or_else(|| behind.fingerprint()),
            },
            hides_subjects: !config.subjects,
            stale_after: config.origins.contains_key("stale_after").then_some(config.limits.stale_after),
            ..cwd.map(|cwd| Self::caller_in(cwd, config)).unwrap_or_default()
        }
    }

    /// A caller who stands in this folder, with the name of the host where the machine has none of its own.
    fn caller_in(cwd: &Path, config: &Config) -> Caller {
        let mut caller = caller_in(cwd);
        if let Some(repository) = caller.repository.as_mut().filter(|_| config.machine.is_none()) {
            repository.host = host_name();
        }
        caller
    }
}

/// A caller who stands in this folder: the folder with those above it, and the working copy around it.
pub(crate) fn caller_in(cwd: &Path) -> Caller {
    let root = git::root(cwd);
    let (repository, git_fault) = match root.as_deref().map(git::repository) {
        Some(Ok(repository)) => (Some(repository), None),
        Some(Err(fault)) => (None, Some(fault)),
        None => (None, None),
    };
    Caller {
        folders: cwd.ancestors().map(|folder| folder.display().to_string()).collect(),
        git_root: root.map(|root| root.display().to_string()),
        repository,
        git_fault,
        ..Caller::default()
    }
}

/// The same caller with what a folder has checked out now: a process that lives long reads it anew for every call.
pub(crate) fn caller_at(caller: &Caller, folder: &Path) -> Caller {
    let Caller { folders, git_root, mut repository, git_fault, .. } = caller_in(folder);
    if let Some(repository) = &mut repository {
        repository.host = caller.repository.as_ref().and_then(|own| own.host.clone());
    }
    Caller { folders, git_root, repository, git_fault, ..caller.clone() }
}

impl baton_ops::op::Host for Machine {
    fn hides_subjects(&self) -> bool {
        !self.config.subjects
    }

    fn has_process_ended(&self, place: &ProcessLocation) -> bool {
        place.machine == self.id && process::has_ended(&place.process)
    }

    fn machines_with_known_processes(&self) -> Option<Vec<String>> {
        Some(vec![self.id.clone()])
    }

    fn is_conversation_open(&self, agent: &str, id: &str) -> bool {
        open_conversations::is_open(&self.data_dir, agent, id)
    }

    fn transcript_env(&self) -> &baton_transcripts::TranscriptEnv {
        &self.transcripts
    }

    fn git(&self, folder: &str) -> Option<Git> {
        git::state(Path::new(folder))
    }

    fn repository(&self, folder: &str) -> Option<(String, Repository)> {
        let root = git::root(Path::new(folder))?;
        let repository = git::repository(&root).ok()?;
        Some((root.display().to_string(), repository))
    }

    fn has_folder(&self, folder: &str) -> Option<bool> {
        Some(Path::new(folder).is_dir())
    }

    fn file_claims(&self, folder: &str) -> Vec<FileClaim> {
        let settings = config::in_folder(&self.config, Path::new(folder)).ok();
        let file = settings.and_then(|settings| settings.beads_file);
        file.map(|file| beads_file_claims::read(&file)).unwrap_or_default()
    }

    fn uncommitted(&self, folder: &str) -> Option<Vec<String>> {
        git::uncommitted(Path::new(folder))
    }

    fn fingerprints(&self, folder: &str, paths: &[String]) -> Option<Vec<String>> {
        Some(fingerprints(Path::new(folder), paths))
    }

    fn holds_repository(&self, common_dir: &str, id: &str) -> Option<bool> {
        Some(git::holds_id(Path::new(common_dir), id))
    }

    fn github_access(&self) -> bool {
        let config = &self.config;
        let app = config.github.app_id.is_some() && config.github.app_key.is_some();
        *self.github.get_or_init(|| config.github.token.is_some() || app || gh_token(config).is_some())
    }

    fn github_enterprise(&self) -> Option<&str> {
        self.enterprise.as_deref()
    }

    fn has_commit(&self, folder: &str, revision: &str) -> Option<bool> {
        git::has_commit(Path::new(folder), revision)
    }

    fn head_contains(&self, folder: &str, commit: &str) -> Option<bool> {
        git::head_contains(Path::new(folder), commit)
    }

    fn commit_contains(&self, folder: &str, tip: &str, commit: &str) -> Option<bool> {
        git::commit_contains(Path::new(folder), tip, commit)
    }

    fn checkout_of(&self, folder: &str, branch: &str) -> Option<String> {
        git::checkout_of(Path::new(folder), branch)
    }

    fn worktree_named(&self, folder: &str, name: &str) -> Option<(String, Millis)> {
        git::worktree_named(Path::new(folder), name)
    }

    fn commits_made(&self, folder: &str, since: Millis, head: Option<&str>) -> Option<Vec<MadeCommit>> {
        git::commits_made(Path::new(folder), since, head)
    }

    fn commits_place(&self, query: &SessionCommitsQuery) -> Option<CommitsPlace> {
        git::commits_place(query)
    }

    fn committed_files(&self, query: &FileHistoryQuery) -> Option<Vec<CommittedFile>> {
        git::committed_files(query)
    }

    fn path_kind(&self, folder: &str, pattern: &str) -> Option<PathKind> {
        path_kind::of(folder, pattern)
    }

    fn document(&self, folder: &str, path: DocumentPath<'_>) -> Result<String, OmissionReason> {
        document::read(folder, path)
    }

    fn cache_dir(&self) -> Option<&Path> {
        Some(&self.data_dir)
    }

    fn progress(&self, done: u64, total: u64) {
        if let Some(progress) = &self.progress {
            progress.show(done, total);
        }
    }

    fn role_file(&self, folder: &str) -> Result<Option<(String, String)>, Refusal> {
        role_file(Path::new(folder))
    }

    fn encrypt(&self, recipients: &[String], text: &str) -> Result<String, Refusal> {
        keys::encrypt(recipients, text)
    }

    fn decrypt(&self, project_id: &str, identity: &str, sealed: &str) -> Result<String, Refusal> {
        self.keys.decrypt(project_id, identity, sealed)
    }

    fn own_key(&self, project_id: &str, identity: &str) -> Result<Option<String>, Refusal> {
        self.keys.public(project_id, identity)
    }

    fn make_key(&self, project_id: &str, identity: &str) -> Result<String, Refusal> {
        self.keys.make(project_id, identity)
    }

    fn memory_index(&self) -> baton_ops::memory_index::Setup {
        self.config.memory_index.setup()
    }

    fn matrices(&self) -> Option<&baton_ops::memory_index::MatrixCache> {
        Some(&self.matrices)
    }

    fn keep_beat(&self, session: &Session, at: Millis) -> bool {
        self.live().is_some_and(|live| live.keep_beat(session, at))
    }

    fn keeps_beats(&self) -> bool {
        self.live().is_some_and(|live| live.state() == live::State::Up)
    }

    fn check_key(&self, recipient: &str) -> Result<(), Refusal> {
        keys::check(recipient)
    }
}

/// The first roles file that a repository has.
fn role_file(folder: &Path) -> Result<Option<(String, String)>, Refusal> {
    for name in role::FILES {
        match RepoFile::new(folder, name).text(MAX_SMALL_FILE_BYTES) {
            Ok(Some(text)) => return Ok(Some((name.to_owned(), text))),
            Ok(None) => {}
            Err(Fault::Io(error)) if error.kind() == ErrorKind::NotADirectory => {}
            Err(fault) => {
                let what = format!("{} cannot be read: {fault}", folder.join(name).display());
                return Err(Refusal::invalid("roles_invalid", what, "make it a readable UTF-8 file"));
            }
        }
    }
    Ok(None)
}

/// What people call this host.
pub(crate) fn host_name() -> Option<String> {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_str().ok().map(str::to_owned);
    #[cfg(not(unix))]
    let name: Option<String> = None;
    name.filter(|name| is_host_name(name))
}

/// The token that the `gh` command has for GitHub, if it is there and logged in.
pub(crate) fn gh_token(config: &Config) -> Option<String> {
    let mut command = std::process::Command::new(crate::process::program("gh")?);
    command.args(["auth", "token"]).env("HOME", &config.home).current_dir(&config.home);
    if let Some(host) = token_host_of(&config.github.api) {
        command.args(["--hostname", &host]);
    }
    let output = command.output().ok()?;
    let token = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Some(token).filter(|token| output.status.success() && !token.is_empty())
}
