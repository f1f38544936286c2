//! The questions that a server asks the machine of its caller.

use baton_model::changes::FileHistoryQuery;
use baton_model::time::Millis;
use baton_ops::transcript::DocumentRequest;
use serde::{Deserialize, Serialize};

/// Something that only the client's machine can tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum Question {
    /// Whether this process has ended.
    ProcessGone {
        /// Its fingerprint.
        process: String,
    },
    /// The state of the working copy in this folder.
    Git {
        /// Where.
        folder: String,
    },
    /// Whether the repository in which the caller stands lies in this common git folder, too.
    HoldsRepository {
        /// The folder.
        common_dir: String,
        /// The id of the caller's repository.
        id: String,
    },
    /// Whether a working copy of the caller's repository is there.
    HasFolder {
        /// Its top folder.
        folder: String,
    },
    /// The files of a working copy of the caller's repository with changes that are not committed.
    Uncommitted {
        /// Its top folder.
        folder: String,
    },
    /// Fingerprints of files of a working copy of the caller's repository that are not committed.
    Fingerprints {
        /// Its top folder.
        folder: String,
        /// The files, from there.
        paths: Vec<String>,
    },
    /// The repository of a working copy of it.
    Repository {
        /// Its top folder.
        folder: String,
    },
    /// Whether the working copy holds a commit.
    HasCommit {
        /// Where.
        folder: String,
        /// Which.
        revision: String,
    },
    /// Whether what is checked out in a working copy of the caller's repository has a commit, or a commit of it has.
    HeadContains {
        /// Its top folder.
        folder: String,
        /// Which.
        commit: String,
        /// The commit that has it or not, in place of what is checked out. Clients of older versions answer of the latter all the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tip: Option<String>,
    },
    /// The working copy in which a branch is checked out.
    CheckoutOf {
        /// Where the repository is.
        folder: String,
        /// Which.
        branch: String,
    },
    /// The commits that were made in a working copy since an instant.
    CommitsMade {
        /// Its top folder.
        folder: String,
        /// In milliseconds since 1970.
        since: Millis,
        /// What was checked out there when the session last said so.
        head: Option<String>,
    },
    /// What files of a working copy were committed as.
    CommittedFiles(FileHistoryQuery),
    /// What a path or glob names below a folder.
    PathKind {
        /// The folder.
        folder: String,
        /// The path or glob, from there.
        pattern: String,
    },
    /// The text of a file below a folder.
    Document {
        /// The folder.
        folder: String,
        /// The file, from there.
        path: String,
        /// It is the one in which the repository says what it is, which need not be tracked.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_own: bool,
    },
    /// The roles file of the repository: its name and text.
    RoleFile {
        /// Where.
        folder: String,
    },
    /// Whether this can be decrypted. The text itself never comes here: the client puts it into the answer.
    Unseal {
        /// Of which project.
        project_id: String,
        /// With whose key.
        identity: String,
        /// What.
        sealed: String,
    },
    /// This, encrypted for these keys. It is a stand-in, or holds one: what it stands for never comes here.
    Seal {
        /// Recipients: public keys.
        recipients: Vec<String>,
        /// What.
        text: String,
    },
    /// The public half of a private key that is there.
    OwnKey {
        /// Of which project.
        project_id: String,
        /// Whose.
        identity: String,
    },
    /// A private key is to be made: its public half.
    MakeKey {
        /// For which project.
        project_id: String,
        /// The identity.
        identity: String,
    },
    /// A transcript, read into a packet.
    Transcript(DocumentRequest),
}

impl Question {
    /// The question for the repository's own document as clients of before know it.
    pub(crate) fn without_own(&self) -> Option<Self> {
        match self {
            Self::Document { folder, path, is_own: true } => {
                Some(Self::Document { folder: folder.clone(), path: path.clone(), is_own: false })
            }
            _ => None,
        }
    }
}
