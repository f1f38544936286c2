//! The documents that a hand-off links are files of its sender. The words of small ones go along as they are when it is left: what the
//! receiver's repository has under the same path is another file, and the sender's folder may be on another machine.

use baton_model::handoff::Handoff;
use baton_model::id::visible;
use baton_model::suggest::suggestions;
use baton_model::tracker::{Warning, WarningKind};
use baton_store::{Failure, Store, project_root};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::details::HandoffDetails;
use crate::document::{CleanDocument, MAX_CARRIED_BYTES, MAX_CARRIED_TOTAL_BYTES, OmissionReason};
use crate::op::Env;
use crate::session::first_of;

/// The link that names documents.
const DOCUMENTS: &str = "docs";

/// A document that a hand-off links, as its sender had it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedDocument {
    /// Where it lies in the sender's repository.
    pub path: String,
    /// What it says, without secrets; nothing where it does not go along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How many secrets were taken out of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub secrets: usize,
    /// Why its text does not go along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<OmissionReason>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A linked document in few words, for its sender.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedDocumentSummary {
    /// Where it lies in the sender's repository.
    pub path: String,
    /// How many bytes of it go along; nothing where none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// How many secrets were taken out of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub secrets: usize,
    /// Why it does not go along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

impl LinkedDocument {
    fn read(env: &Env<'_>, folders: &[String], (path, room): (&str, &mut usize)) -> Self {
        let path = path.to_owned();
        match carried_text(env, folders, &path, room) {
            Ok((text, secrets)) => Self { path, text: Some(text), secrets, left_out: None },
            Err(why) => Self { path, text: None, secrets: 0, left_out: Some(why) },
        }
    }

    fn summary(&self) -> LinkedDocumentSummary {
        LinkedDocumentSummary {
            path: self.path.clone(),
            bytes: self.text.as_ref().map(String::len),
            secrets: self.secrets,
            left_out: self.left_out.map(|why| why.reason().to_owned()),
        }
    }
}

/// The paths that links name as documents. An address is no document: its reader follows it.
pub fn paths(links: &Map<String, Value>) -> Vec<String> {
    let named = match links.get(DOCUMENTS) {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(items)) => items.iter().filter_map(|v| v.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    };
    named.into_iter().filter(|path| !path.contains("://")).collect()
}

/// The documents of a hand-off that is left now. What cannot be read is taken from the hand-off that this one replaces, if that had it.
pub(super) fn read(
    store: &mut Store,
    env: &Env<'_>,
    (from, links): (&str, &Map<String, Value>),
    earlier: &[LinkedDocument],
) -> Result<Vec<LinkedDocument>, Failure> {
    let paths = paths(links);
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let folders = sender_folders(store, env, from)?;
    let mut room = MAX_CARRIED_TOTAL_BYTES;
    let known = |path: &str| earlier.iter().find(|one| one.path == path && one.text.is_some());
    let read = |path: &String| {
        let found = LinkedDocument::read(env, &folders, (path, &mut room));
        // Of a file that cannot be seen from here, why it did not go along before says more.
        let was_seen = |before: &&LinkedDocument| before.left_out.is_some_and(|why| !is_unseen(why));
        let before = match found.left_out {
            Some(why) if is_unseen(why) => {
                known(path).or_else(|| earlier.iter().filter(was_seen).find(|one| one.path == *path))
            }
            Some(_) => known(path),
            None => None,
        };
        before.cloned().unwrap_or(found)
    };
    Ok(paths.iter().map(read).collect())
}

/// Whether the file was out of sight.
fn is_unseen(why: OmissionReason) -> bool {
    matches!(why, OmissionReason::Elsewhere | OmissionReason::OnServer)
}

/// The folders in which a sender's documents lie: the caller's, unless that is one of another project, then those of its project.
fn sender_folders(store: &mut Store, env: &Env<'_>, from: &str) -> Result<Vec<String>, Failure> {
    let caller = env.caller;
    let own = caller.git_root.clone().or_else(|| caller.folders.first().cloned());
    let machine = caller.location.machine.as_str();
    store.read(|tx| {
        let owner = match &own {
            Some(own) => project_root::get(tx, machine, own)?.map(|place| place.project_id),
            None => None,
        };
        let mut folders: Vec<String> =
            own.into_iter().filter(|_| owner.as_deref().is_none_or(|owner| owner == from)).collect();
        for root in project_root::roots(tx, from, machine)? {
            if !folders.contains(&root) {
                folders.push(root);
            }
        }
        Ok(folders)
    })
}

fn carried_text(
    env: &Env<'_>,
    folders: &[String],
    path: &str,
    room: &mut usize,
) -> Result<(String, usize), OmissionReason> {
    if folders.is_empty() && !env.host.is_served() {
        return Err(OmissionReason::Elsewhere);
    }
    let read = |folder: &str| env.host.linked_document(folder, path);
    let CleanDocument { text, secrets } = first_of(folders, env.host, read)?;
    if text.len() > MAX_CARRIED_BYTES {
        return Err(OmissionReason::TooLargeToSend);
    }
    *room = room.checked_sub(text.len()).ok_or(OmissionReason::TooLargeToSend)?;
    Ok((text, secrets))
}

/// The names that are written in place of that of documents.
const LIKE_DOCUMENTS: [&str; 8] =
    ["docs", "doc", "document", "documents", "documentation", "file", "files", "path"];

/// Warns of links of paths under a name that is nearly that of documents: they are plain links, and no file goes along.
fn mistyped_links(links: &Map<String, Value>) -> Vec<Warning> {
    let is_path = |value: &Value| value.as_str().is_some_and(|text| !text.contains("://"));
    let is_mistyped = |name: &str, value: &Value| {
        name != DOCUMENTS
            && !suggestions(name, LIKE_DOCUMENTS).is_empty()
            && match value {
                Value::Array(values) => values.iter().any(is_path),
                one => is_path(one),
            }
    };
    let mistyped = links.iter().filter(|(name, value)| is_mistyped(name, value));
    let warning = |(name, _): (&String, &Value)| {
        let name = visible(name);
        let message = format!(
            "link `{name}` is a plain link, and no file goes along with it: did you mean `{DOCUMENTS}`? `--link {DOCUMENTS}=PATH` (over \
             MCP and HTTP `links: {{\"{DOCUMENTS}\": [PATH]}}`) sends the document's words"
        );
        Warning { kind: WarningKind::LinkMistyped, message }
    };
    mistyped.map(warning).collect()
}

/// What the sender should know: which documents do not arrive, and why.
pub(super) fn warnings(handoff: &Handoff) -> Vec<Warning> {
    let HandoffDetails { documents, links, .. } = HandoffDetails::of(handoff);
    let left_out = documents.iter().filter_map(|one| Some((&one.path, one.left_out?)));
    let warning = |(path, why): (&String, OmissionReason)| {
        let fate = match why {
            OmissionReason::Missing => {
                "paths begin in the top folder of your working copy; if it is a file of the receiver's, the receiver gets that one"
            }
            OmissionReason::OnServer | OmissionReason::Elsewhere | OmissionReason::TooLargeToSend => {
                "the receiver gets its name, and its words only where your working copy is on the same machine"
            }
            _ => "the receiver gets its name alone",
        };
        let reason = match why {
            OmissionReason::Elsewhere => "its repository is not in the folder of this call",
            why => why.reason(),
        };
        let message = format!("document {} does not go along ({reason}): {fate}", visible(path));
        Warning { kind: WarningKind::DocumentLeftOut, message }
    };
    left_out.map(warning).chain(mistyped_links(&links)).collect()
}

/// The documents of a hand-off in few words.
pub(super) fn summaries(details: &HandoffDetails) -> Vec<LinkedDocumentSummary> {
    details.documents.iter().map(LinkedDocument::summary).collect()
}
