//! The documents that the sender of a hand-off linked, as its receiver gets them: they are the sender's files. One of the receiver's own
//! under the same path is never given for it without a word.

use serde::{Deserialize, Serialize};

use super::received_check::{Check, CheckKind, check};
use crate::document::{DocumentPath, MAX_TOTAL_BYTES, OmissionReason};
use crate::handoff::LinkedDocument;
use crate::handoff::details::HandoffDetails;
use crate::handoff::linked_documents::paths;
use crate::op::Host;

/// Whose file a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentOwner {
    /// The project that sent the hand-off.
    Sender,
    /// The project that receives it.
    Receiver,
}

/// A document that is given along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Where it lies.
    pub path: String,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<DocumentOwner>,
    /// Its length.
    pub bytes: usize,
    /// What it says.
    pub text: String,
}

/// A document that the sender named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedDocument {
    /// Where it lies.
    pub path: String,
    /// Whether it is given along.
    pub included: bool,
    /// Why it is not.
    pub left_out: Option<String>,
    /// Whose file is given along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<DocumentOwner>,
    /// What else there is to know of it: whose file has the same path, or how it differs from the sender's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The folders of this machine in which documents are looked for.
#[derive(Debug, Default)]
pub(super) struct DocumentFolders {
    /// The receiver's.
    pub(super) own: Vec<String>,
    /// The sender's; none of a project that is kept apart from the receiver's.
    pub(super) sender: Vec<String>,
}

impl DocumentFolders {
    pub(super) fn all(&self) -> impl Iterator<Item = &String> {
        self.own.iter().chain(&self.sender)
    }
}

/// The documents that the sender named.
#[derive(Default)]
pub(super) struct NamedDocuments {
    /// Each path, with whether it is given along and why not.
    pub(super) named: Vec<NamedDocument>,
    pub(super) included: Vec<Document>,
    pub(super) checks: Vec<Check>,
}

/// What is given for a path.
struct FoundDocument {
    owner: DocumentOwner,
    text: String,
    note: Option<String>,
}

impl NamedDocuments {
    pub(super) fn read(folders: &DocumentFolders, host: &dyn Host, details: &HandoffDetails) -> Self {
        let (mut all, mut room) = (Self::default(), MAX_TOTAL_BYTES);
        for path in paths(&details.links) {
            let carried = details.documents.iter().find(|one| one.path == path);
            let found = find(folders, host, &path, carried).and_then(|found| {
                room = room.checked_sub(found.text.len()).ok_or(OmissionReason::TooLarge)?;
                Ok(found)
            });
            all.add(path, found);
        }
        all
    }

    fn add(&mut self, path: String, found: Result<FoundDocument, OmissionReason>) {
        let ok = match found {
            Ok(_) | Err(OmissionReason::TooLarge | OmissionReason::TooLargeToSend) => Some(true),
            Err(OmissionReason::Missing) => Some(false),
            Err(_) => None,
        };
        let how = match &found {
            Ok(found) => match found.owner {
                DocumentOwner::Sender => "there",
                DocumentOwner::Receiver => "your own file",
            },
            Err(why) => why.reason(),
        };
        self.checks.push(check(CheckKind::Document, &path, ok, how));
        let mut named = NamedDocument {
            path: path.clone(),
            included: found.is_ok(),
            left_out: found.as_ref().err().map(|why| why.reason().to_owned()),
            owner: None,
            note: None,
        };
        if let Ok(FoundDocument { owner, text, note }) = found {
            (named.owner, named.note) = (Some(owner), note);
            self.included.push(document(&path, text, owner));
        }
        self.named.push(named);
    }
}

/// What is given for a path: what the sender sent along, else the sender's file where its folder is on this machine, else the receiver's
/// file, which is said.
fn find(
    folders: &DocumentFolders,
    host: &dyn Host,
    path: &str,
    carried: Option<&LinkedDocument>,
) -> Result<FoundDocument, OmissionReason> {
    let own = read_in(&folders.own, host, path);
    let sent = carried.and_then(|one| Some((one.text.clone()?, one.secrets)));
    let (sender, secrets) = match sent {
        Some((text, secrets)) => (Ok(text), secrets),
        None => (read_in(&folders.sender, host, path), 0),
    };
    match (sender, own) {
        (Ok(text), own) => {
            let is_other = own.is_ok_and(|own| own != text) && secrets == 0;
            let other = is_other.then(|| "your own repository has another file of this path".to_owned());
            let taken_out = (secrets > 0).then(|| format!("without {secrets} of its secrets"));
            let notes: Vec<String> = other.into_iter().chain(taken_out).collect();
            let note = (!notes.is_empty()).then(|| notes.join("; "));
            Ok(FoundDocument { owner: DocumentOwner::Sender, text, note })
        }
        (Err(why), Ok(text)) => {
            let why = carried.and_then(|one| one.left_out).unwrap_or(why);
            let note = match why {
                OmissionReason::Missing => {
                    "the sender has no file of this path, as far as is known".to_owned()
                }
                why => format!("the sender's file did not come along: {}", why.reason()),
            };
            Ok(FoundDocument { owner: DocumentOwner::Receiver, text, note: Some(note) })
        }
        (Err(sender), Err(own)) => Err(match carried.and_then(|one| one.left_out) {
            // It may have been meant as one of the receiver's.
            Some(OmissionReason::Missing) => own,
            Some(why) => why,
            None => sender.or_more(own),
        }),
    }
}

/// A document in the first of these folders that has it.
fn read_in(folders: &[String], host: &dyn Host, path: &str) -> Result<String, OmissionReason> {
    first_of(folders, host, |folder| host.document(folder, DocumentPath::Named(path)))
}

/// What `read` gives of the first of these folders that has it. Of several reasons why none does the one that says most counts.
pub(crate) fn first_of<T>(
    folders: &[String],
    host: &dyn Host,
    read: impl Fn(&str) -> Result<T, OmissionReason>,
) -> Result<T, OmissionReason> {
    let mut why = None::<OmissionReason>;
    for folder in folders {
        match read(folder) {
            Ok(found) => return Ok(found),
            Err(omission) => why = Some(why.map_or(omission, |before| before.or_more(omission))),
        }
    }
    let unread = if host.is_served() { OmissionReason::OnServer } else { OmissionReason::Missing };
    Err(why.unwrap_or(unread))
}

/// The document in which the receiver's repository says what it is.
pub(super) fn own_document(folders: &DocumentFolders, host: &dyn Host) -> Option<Document> {
    let text = folders.own.iter().find_map(|folder| host.document(folder, DocumentPath::Own).ok())?;
    Some(document(DocumentPath::Own.path(), text, DocumentOwner::Receiver))
}

fn document(path: &str, text: String, owner: DocumentOwner) -> Document {
    Document { path: path.to_owned(), owner: Some(owner), bytes: text.len(), text }
}
