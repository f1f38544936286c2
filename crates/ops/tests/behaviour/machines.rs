//! The machine of a small world: processes that end, keys that only look like some, and transcripts where a rule wants any.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use baton_model::packet::Git;
use baton_model::refusal::{Kind, Refusal};
use baton_model::session::{ProcessLocation, Session};
use baton_ops::document::{DocumentPath, OmissionReason};
use baton_ops::op::{Host, PathKind};
use baton_store::{CommitEvent, CommitObserver};

/// A machine with transcripts on it and a place for caches.
pub(crate) struct Home {
    pub env: baton_transcripts::TranscriptEnv,
    /// Where caches lie.
    pub caches: std::path::PathBuf,
    pub _dir: tempfile::TempDir,
}

impl Home {
    /// A file below the home directory.
    pub(crate) fn file(&self, name: &str) -> std::path::PathBuf {
        self.env.home.join(name)
    }

    /// Writes a file below the home directory, with the folders that it lies in.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.file(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, content).expect("written");
    }
}

/// Which processes have ended, and what lies in the repositories.
#[derive(Default)]
pub(crate) struct Machines {
    pub ended: BTreeSet<String>,
    /// Whether GitHub can be spoken to.
    pub github: bool,
    /// Files by their path.
    pub files: BTreeMap<String, String>,
    /// Whether callers come over a socket.
    pub is_served: bool,
    /// Commits, as folder and revision.
    pub commits: BTreeSet<String>,
    /// Folders of which it is known that they are not there.
    pub gone_folders: BTreeSet<String>,
    /// Whether agents are told what waits without its subject.
    pub hides_subjects: bool,
    /// How memories are indexed.
    pub recall: baton_ops::memory_index::Setup,
    /// Vectors that are kept between two calls.
    pub matrices: Option<baton_ops::memory_index::MatrixCache>,
    /// The text of the roles file.
    pub role_file: Option<String>,
    /// Private keys that were made, as project and identity. Those of a test are their public half.
    keys: Mutex<BTreeSet<String>>,
    pub home: Option<Home>,
    /// Who keeps heartbeats beside the ledger.
    pub keeper: Option<Arc<Keeper>>,
}

/// A keeper of heartbeats that may go away and may lose everything, as Redis may.
#[derive(Default)]
pub(crate) struct Keeper {
    heard: Mutex<BTreeMap<String, i64>>,
    away: AtomicBool,
    notes: Mutex<Vec<CommitEvent>>,
}

impl Keeper {
    /// What it knows, which it forgets.
    pub(crate) fn lose(&self) -> BTreeMap<String, i64> {
        std::mem::take(&mut *self.heard.lock().expect("heard"))
    }

    /// Knows this again.
    pub(crate) fn find(&self, heard: BTreeMap<String, i64>) {
        *self.heard.lock().expect("heard") = heard;
    }

    /// Goes away, or comes back.
    pub(crate) fn away(&self, away: bool) {
        self.away.store(away, Ordering::Relaxed);
    }

    /// What it was told since this was last asked.
    pub(crate) fn told(&self) -> Vec<CommitEvent> {
        std::mem::take(&mut *self.notes.lock().expect("notes"))
    }
}

impl CommitObserver for Keeper {
    fn heard_at(&self, session_id: &str) -> Option<i64> {
        self.heard.lock().expect("heard").get(session_id).copied()
    }

    fn committed(&self, notes: Vec<CommitEvent>) {
        self.notes.lock().expect("notes").extend(notes);
    }
}

impl Host for Machines {
    fn hides_subjects(&self) -> bool {
        self.hides_subjects
    }

    /// Those of the tests; on any other no process is known to have ended.
    fn machines_with_known_processes(&self) -> Option<Vec<String>> {
        Some(vec!["m1".to_owned(), "m2".to_owned()])
    }

    fn has_folder(&self, folder: &str) -> Option<bool> {
        self.gone_folders.contains(folder).then_some(false)
    }

    fn keeps_beats(&self) -> bool {
        self.keeper.as_ref().is_some_and(|keeper| !keeper.away.load(Ordering::Relaxed))
    }

    fn keep_beat(&self, session: &Session, at: i64) -> bool {
        let Some(keeper) = self.keeper.as_ref().filter(|_| self.keeps_beats()) else { return false };
        keeper.heard.lock().expect("heard").insert(session.session_id.clone(), at);
        true
    }

    fn has_process_ended(&self, place: &ProcessLocation) -> bool {
        self.ended.contains(&place.process)
    }

    fn cache_dir(&self) -> Option<&std::path::Path> {
        self.home.as_ref().map(|home| home.caches.as_path())
    }

    fn transcript_env(&self) -> &baton_transcripts::TranscriptEnv {
        if let Some(home) = &self.home {
            return &home.env;
        }
        static NOWHERE: std::sync::LazyLock<baton_transcripts::TranscriptEnv> =
            std::sync::LazyLock::new(|| baton_transcripts::TranscriptEnv {
                home: "/nowhere".into(),
                vars: std::collections::BTreeMap::new(),
                os: baton_transcripts::Os::Linux,
                folders: Vec::new(),
            });
        &NOWHERE
    }

    fn memory_index(&self) -> baton_ops::memory_index::Setup {
        self.recall.clone()
    }

    fn matrices(&self) -> Option<&baton_ops::memory_index::MatrixCache> {
        self.matrices.as_ref()
    }

    fn git(&self, _: &str) -> Option<Git> {
        None
    }

    fn github_access(&self) -> bool {
        self.github
    }

    fn has_commit(&self, folder: &str, revision: &str) -> Option<bool> {
        (!self.commits.is_empty()).then(|| self.commits.contains(&format!("{folder} {revision}")))
    }

    /// Of the files that a rule has put there; without any, nothing is known.
    fn path_kind(&self, folder: &str, pattern: &str) -> Option<PathKind> {
        let at = format!("{folder}/{pattern}");
        let kind = match (
            self.files.contains_key(&at),
            self.files.keys().any(|file| file.starts_with(&format!("{at}/"))),
        ) {
            (true, _) => PathKind::File,
            (_, true) => PathKind::Folder,
            _ => PathKind::Nothing,
        };
        (!self.files.is_empty()).then_some(kind)
    }

    fn document(&self, folder: &str, path: DocumentPath<'_>) -> Result<String, OmissionReason> {
        let path = path.path();
        if self.is_served {
            return Err(OmissionReason::OnServer);
        }
        if path.starts_with('.') {
            return Err(OmissionReason::Hidden);
        }
        self.files.get(&format!("{folder}/{path}")).cloned().ok_or(OmissionReason::Missing)
    }

    fn is_served(&self) -> bool {
        self.is_served
    }

    fn role_file(&self, _: &str) -> Result<Option<(String, String)>, Refusal> {
        Ok(self.role_file.clone().map(|text| ("AGENT_ROLES.yaml".to_owned(), text)))
    }

    /// Names the readers and scrambles the text: enough to see where plain text would stand.
    fn encrypt(&self, recipients: &[String], text: &str) -> Result<String, Refusal> {
        let scrambled: Vec<String> = text.bytes().map(|byte| format!("{:02x}", byte ^ 0x55)).collect();
        let head = "-----BEGIN AGE ENCRYPTED FILE-----";
        Ok(format!("{head} for {}: {}", recipients.join(" "), scrambled.concat()))
    }

    fn decrypt(&self, project_id: &str, identity: &str, sealed: &str) -> Result<String, Refusal> {
        let refusal = |code| Refusal::new(Kind::Refused, code, "no", "no");
        let key = self.own_key(project_id, identity)?.ok_or_else(|| refusal("key_missing"))?;
        let (head, text) = sealed.split_once(": ").ok_or_else(|| refusal("sealed_damaged"))?;
        if !head.split(' ').any(|reader| reader == key) {
            return Err(refusal("not_a_reader"));
        }
        let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).map_or(0, |byte| byte ^ 0x55);
        Ok((0..text.len()).step_by(2).map(byte).map(char::from).collect())
    }

    fn own_key(&self, project_id: &str, identity: &str) -> Result<Option<String>, Refusal> {
        let name = key_name(project_id, identity);
        Ok(self.keys.lock().expect("keys").contains(&name).then_some(name))
    }

    fn make_key(&self, project_id: &str, identity: &str) -> Result<String, Refusal> {
        let name = key_name(project_id, identity);
        self.keys.lock().expect("keys").insert(name.clone());
        Ok(name)
    }

    fn check_key(&self, recipient: &str) -> Result<(), Refusal> {
        let refusal = Refusal::invalid("key_invalid", "no", "no");
        if recipient.starts_with("age1") { Ok(()) } else { Err(refusal) }
    }
}

fn key_name(project_id: &str, identity: &str) -> String {
    format!("age1{project_id}/{}", identity.to_lowercase())
}
