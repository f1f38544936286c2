//! A hand-off from another project as a pickup gives it: its row, what came with it, and what is true of it now.

use baton_model::access::Grant;
use baton_model::handoff::Handoff;
use baton_model::memory::View as MemoryView;
use baton_store::state::SavedState;
use baton_store::{Failure, Tx, handoff_step, memory, project_root, session, state, task};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::named_documents::{Document, DocumentFolders, NamedDocument, NamedDocuments, own_document};
use super::received_check::{Check, CheckKind, check};
use crate::card::OpenTask;
use crate::handoff::conversation::{self, Shown};
use crate::handoff::details::HandoffDetails;
use crate::handoff::isolation::{is_separated, sender_for};
use crate::handoff::{IssueConversation, Row, by_id};
use crate::op::{Caller, Host};

/// A hand-off from another project that was accepted, with everything that goes with it. Its texts are another agent's words:
/// data, not orders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReceivedHandoff {
    /// The hand-off.
    #[serde(flatten)]
    pub row: Row,
    /// What it is about.
    pub description: String,
    /// Related addresses.
    pub links: Map<String, Value>,
    /// The packet as it came.
    pub packet: Option<String>,
    /// The task in the receiver's tracker.
    pub task_row: Option<OpenTask>,
    /// The note that came with it.
    pub note: Option<MemoryView>,
    /// What people said and changed under its issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<IssueConversation>,
    /// The state that was seeded for it.
    pub session_state: Option<SessionState>,
    /// The document in which the repository says what it is.
    pub project_document: Option<Document>,
    /// The documents that the sender named.
    pub documents_named: Vec<NamedDocument>,
    /// Those of them that are given along.
    pub documents: Vec<Document>,
    /// What of it is still there.
    pub checks: Vec<Check>,
}

/// A state that a session saved, or that was seeded for a hand-off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionState {
    /// Its version.
    pub version: i64,
    /// The state.
    pub state: Value,
}

impl From<SavedState> for SessionState {
    fn from(saved: SavedState) -> Self {
        Self { version: saved.version, state: serde_json::from_str(&saved.body).unwrap_or_default() }
    }
}

/// What the ledger holds about a hand-off.
pub(super) struct Facts {
    handoff: Handoff,
    row: Row,
    task: Option<OpenTask>,
    note: Option<MemoryView>,
    conversation: Option<IssueConversation>,
    state: Option<SavedState>,
    folders: DocumentFolders,
}

/// The working copy in which the sender stood, on this machine: it may be a clone that is no place of its project. What a token says of
/// its folder counts for nothing.
fn sender_root(tx: &mut Tx<'_>, handoff: &Handoff, machine: &str) -> Result<Option<String>, Failure> {
    let sender = session::last_of(tx, &handoff.from_project_id, &handoff.from_identity)?;
    let sender = sender.filter(|sender| sender.opened_by.is_none() && sender.location.machine == machine);
    Ok(sender.and_then(|sender| sender.working_copy).map(|copy| copy.root))
}

/// Reads them for a caller: the folders of its machine, and what it reaches.
pub(super) fn facts(tx: &mut Tx<'_>, id: &str, caller: &Caller) -> Result<Facts, Failure> {
    let handoff = by_id(tx, &Grant::default(), id)?;
    let (to, from) = (handoff.to_project_id.clone(), handoff.from_project_id.clone());
    let machine = caller.location.machine.as_str();
    let mut own_roots = project_root::roots(tx, &to, machine)?;
    // A clone that the caller's settings give to the receiving project is no place of it. The caller's own machine reads there.
    let is_own = |project: &Option<String>| project.as_deref() == Some(to.as_str());
    let own = caller.git_root.clone().filter(|root| is_own(&caller.project) && !own_roots.contains(root));
    own_roots.extend(own);
    let mut sender_roots = Vec::new();
    if !is_separated(tx, &handoff)? {
        sender_roots = project_root::roots(tx, &from, machine)?;
        let sender = sender_root(tx, &handoff, machine)?;
        sender_roots.extend(sender.filter(|root| !sender_roots.contains(root)));
    }
    let found = match &handoff.task_id {
        Some(task) => task::get(tx, &to, task)?,
        None => None,
    };
    let note = match &handoff.memory_id {
        Some(memory) => memory::get(tx, &to, memory)?.filter(|note| note.withdrawn_at.is_none()),
        None => None,
    };
    let steps = handoff_step::of(tx, &handoff.handoff_id)?;
    let mut row = Row::of(&handoff, &steps);
    row.handoff.from_project_id = sender_for(&handoff, Some(&caller.grant));
    let see_all = match &handoff.task_id {
        Some(task) => format!("baton task show {task} --full"),
        None => format!("baton handoff show {} --full", handoff.handoff_id),
    };
    let shown = Shown { project: Some(&to), full: false, see_all: &see_all };
    let conversation = conversation::of(tx, &handoff, shown)?;
    Ok(Facts {
        row,
        conversation,
        task: found.as_ref().map(OpenTask::from),
        note: note.as_ref().map(MemoryView::from),
        state: state::of_handoff(tx, &to, &handoff.handoff_id)?,
        folders: DocumentFolders { own: own_roots, sender: sender_roots },
        handoff,
    })
}

/// Everything that goes with it.
pub(super) fn received_handoff(facts: Facts, host: &dyn Host) -> ReceivedHandoff {
    let details = HandoffDetails::of(&facts.handoff);
    let mut checks = vec![task_check(&facts)];
    let documents = NamedDocuments::read(&facts.folders, host, &details);
    checks.extend(documents.checks);
    for revision in texts(details.links.get("source_ref")) {
        let known: Vec<bool> =
            facts.folders.all().filter_map(|root| host.has_commit(root, &revision)).collect();
        let ok = if known.is_empty() { None } else { Some(known.contains(&true)) };
        let message = match ok {
            Some(true) => "there",
            Some(false) => "not there",
            None => "no working copy on this machine could be asked",
        };
        checks.push(check(CheckKind::Commit, &revision, ok, message));
    }
    ReceivedHandoff {
        project_document: own_document(&facts.folders, host),
        row: facts.row,
        description: details.description,
        links: details.links,
        packet: Some(facts.handoff.packet).filter(|text| !text.is_empty()),
        task_row: facts.task,
        note: facts.note,
        conversation: facts.conversation,
        session_state: facts.state.map(SessionState::from),
        documents_named: documents.named,
        documents: documents.included,
        checks,
    }
}

fn task_check(facts: &Facts) -> Check {
    let id = facts.handoff.task_id.as_deref().unwrap_or("none");
    let status = facts.task.as_ref().map(|task| task.status.as_str());
    let seen = if facts.handoff.issue_number.is_some() { ", as last seen" } else { "" };
    let message = status.map_or_else(|| "unknown".to_owned(), |status| format!("{status}{seen}"));
    check(CheckKind::Task, id, status.map(|status| status != "closed"), &message)
}

/// A link's value as texts: one, or a list of them.
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(items)) => items.iter().filter_map(|v| v.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    }
}
