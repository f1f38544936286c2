//! What was not committed in a working copy before a session worked there. As long as it is just so, it is no work of that session.

use std::collections::{BTreeMap, BTreeSet};

use baton_model::delta::Kind;
use baton_model::repository::WorkingCopy;
use baton_model::session::Session;
use baton_store::{Failure, Tx, delta};
use serde_json::{Value, json};

use crate::idempotency::request::hash;
use crate::op::{Cx, Env, Host};

/// The field of a beginning that holds the marks.
const FIELD: &str = "uncommitted_before";
/// The field of a beginning that holds the id of the repository.
const REPOSITORY: &str = "repository_id";
/// The most files that are noted; of more, all count as the session's work.
const MAX_FILES: usize = 256;
/// How much of a hash is kept. A collision only hides that a file was edited.
const MARK_LEN: usize = 12;
/// The entries that say where a session began.
const BEGINNINGS: [Kind; 2] = [Kind::Start, Kind::Pickup];

/// A folder in which a session began or picked up.
#[derive(Debug)]
pub(super) struct Beginning {
    /// The working copy.
    pub copy: WorkingCopy,
    /// The id of its repository.
    pub repository_id: Option<String>,
    marks: BTreeSet<String>,
}

/// What is not committed in the working copies that a call looks at. Git is asked once for each: an answer takes 0.15 s where there
/// are 100,000 files.
#[derive(Debug, Default)]
pub(super) struct UncommittedFiles(BTreeMap<String, Option<Vec<String>>>);

impl UncommittedFiles {
    /// The paths in a working copy; nothing where git does not tell.
    pub(super) fn of(&mut self, host: &dyn Host, root: &str) -> Option<Vec<String>> {
        self.0.entry(root.to_owned()).or_insert_with(|| host.uncommitted(root)).clone()
    }
}

/// Marks of what is not committed where the caller stands. They are read before the transaction of a beginning: git and the disk
/// are asked.
#[derive(Debug, Default)]
pub(super) struct UncommittedMarks(Option<Vec<String>>);

impl UncommittedMarks {
    /// Reads them.
    pub(super) fn read(env: &Env<'_>, files: &mut UncommittedFiles) -> Self {
        let Some(root) = &env.caller.git_root else { return Self::default() };
        let files = files.of(env.host, root).filter(|files| !files.is_empty());
        Self(files.and_then(|files| marks(env.host, root, &files)))
    }
}

/// Notes in the entry of a beginning where it was, and what is not committed there.
pub(super) fn note_beginning(env: &Env<'_>, marks: &UncommittedMarks, own: &Session, body: &mut Value) {
    let Some(copy) = &own.working_copy else { return };
    body["place"] = json!(copy);
    if env.caller.git_root.as_ref() != Some(&copy.root) {
        return;
    }
    if let Some(id) = env.caller.repository.as_ref().and_then(|repository| repository.id.as_ref()) {
        body[REPOSITORY] = json!(id);
    }
    if let Some(marks) = &marks.0 {
        body[FIELD] = json!(marks);
    }
}

/// The folders in which a session began or picked up, the first one first.
pub(super) fn beginnings(tx: &mut Tx<'_>, of: &Session) -> Result<Vec<Beginning>, Failure> {
    let mut found = Vec::new();
    for kind in BEGINNINGS {
        let Some(begun) = delta::last_of_session(tx, &of.project_id, &of.session_id, kind)? else { continue };
        let mut body = serde_json::from_str::<Value>(&begun.body).unwrap_or_default();
        let marks = serde_json::from_value(body[FIELD].take()).unwrap_or_default();
        if let Ok(copy) = serde_json::from_value::<WorkingCopy>(body["place"].take()) {
            let repository_id = body[REPOSITORY].as_str().map(str::to_owned);
            found.push(Beginning { copy, repository_id, marks });
        }
    }
    Ok(found)
}

/// Reads ahead what [`beginnings`] asks for.
pub(super) fn prefetch(tx: &mut Tx<'_>, of: &Session) {
    for kind in BEGINNINGS {
        drop(delta::last_of_session(tx, &of.project_id, &of.session_id, kind));
    }
}

/// Whether all that is not committed in a folder was so before a session worked there. `root`: the folder as the session named it;
/// `now`: where it lies now.
pub(super) fn is_prior(
    host: &dyn Host,
    beginnings: &[Beginning],
    (root, now): (&str, &str),
    files: &[String],
) -> bool {
    let Some(begun) = beginnings.iter().find(|begun| begun.copy.root == root) else { return false };
    if begun.marks.is_empty() {
        return false;
    }
    marks(host, now, files).is_some_and(|marks| marks.iter().all(|mark| begun.marks.contains(mark)))
}

/// Whether all that is not committed where the caller stands lay there when a session began, and holds what it held then. Git and the disk
/// are asked, so that this is found before the transaction of a wrap.
pub(super) fn is_unchanged_since_begin(cx: &mut Cx<'_>, own: &Session) -> Result<bool, Failure> {
    let caller = cx.env.caller;
    let Some(root) = caller.git_root.as_deref().filter(|_| own.location.machine == caller.location.machine)
    else {
        return Ok(false);
    };
    let begun = cx.store.read(|tx| beginnings(tx, own))?;
    let files = cx.env.host.uncommitted(root).filter(|files| !files.is_empty());
    Ok(files.is_some_and(|files| is_prior(cx.env.host, &begun, (root, root), &files)))
}

/// A mark for each file: its path and what it holds.
fn marks(host: &dyn Host, root: &str, files: &[String]) -> Option<Vec<String>> {
    if files.len() > MAX_FILES {
        return None;
    }
    let held = host.fingerprints(root, files).filter(|held| held.len() == files.len())?;
    let mark = |(path, held): (&String, String)| hash(&format!("{path}\0{held}"))[..MARK_LEN].to_owned();
    Some(files.iter().zip(held).map(mark).collect())
}
