//! What the address of a share shows.

use baton_model::baton::Baton;
use baton_model::markdown::{Options, Preset, render};
use baton_model::packet::ValidatedPacket;
use baton_model::refusal::Refusal;
use baton_model::share::SharedKind;
use baton_model::time::Timestamp;
use baton_store::{Failure, Tx, baton, delta};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::op::{Cx, Env};
use crate::page::Position;
use crate::project::VisibleProjects;
use crate::thread::{self, Story, ThreadSession};

/// The most sessions of a thread that a share shows.
const MAX_ENTRIES: usize = 50;

/// A baton or a thread as it is read from outside. Secrets are taken out of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SharedView {
    /// The project.
    pub project_id: String,
    /// What is shared.
    pub kind: SharedKind,
    /// Id of the baton or the thread.
    pub object_id: String,
    /// What it is about.
    pub title: String,
    /// The sessions, the earliest first, each with the document of the baton that it left.
    pub sessions: Vec<ThreadSession>,
    /// There were sessions before these.
    pub more: bool,
    /// When it was read.
    pub read_at: Timestamp,
    /// When the address ends; none where nothing was shared yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// A baton or thread that is shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) project_id: String,
    pub(super) kind: SharedKind,
    pub(super) object_id: String,
}

/// Finds what an id names, among what the caller sees.
pub(super) fn subject(
    cx: &mut Cx<'_>,
    project: Option<&str>,
    (id, kind): (&str, Option<&str>),
) -> Result<Subject, Failure> {
    let wanted = kind.map(read_kind).transpose()?;
    let visible = VisibleProjects::read(cx, project, project.is_none())?;
    let Cx { store, env } = cx;
    let found = store.read(|tx| {
        thread::find(tx, id, |project_id| {
            env.caller.grant.reaches(project_id) && visible.contains(project_id)
        })
    })?;
    let (kind, object_id) = match (wanted, found.baton_id) {
        (None | Some(SharedKind::Baton), Some(baton_id)) => (SharedKind::Baton, baton_id),
        (Some(SharedKind::Baton), None) => return Err(no_baton_refusal(id).into()),
        (None | Some(SharedKind::Thread), _) => (SharedKind::Thread, found.thread_id),
    };
    Ok(Subject { project_id: found.project_id, kind, object_id })
}

fn read_kind(word: &str) -> Result<SharedKind, Refusal> {
    SharedKind::from_word(word).ok_or_else(|| {
        let what = format!("`{}` is nothing that can be shared", baton_model::id::visible(word));
        Refusal::invalid("share_kind_unknown", what, "use baton or thread")
    })
}

fn no_baton_refusal(id: &str) -> Refusal {
    let what =
        format!("`{}` is the id of a session or a thread, not of a baton", baton_model::id::visible(id));
    Refusal::invalid(
        "share_kind_unknown",
        what,
        "share the thread, or give the id of a baton: `baton batons`",
    )
}

/// Reads it, with the documents, and takes secrets out.
pub(super) fn view(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    subject: Subject,
    expires_at: Option<Timestamp>,
) -> Result<SharedView, Failure> {
    let Subject { project_id, kind, object_id } = subject;
    let Story { mut title, mut sessions, next } = match kind {
        SharedKind::Baton => thread::baton_story(tx, env, (&project_id, &object_id))?,
        SharedKind::Thread => {
            thread::story(tx, env, (&project_id, &object_id), (&Position::newest(), MAX_ENTRIES))?
        }
    };
    for of in &mut sessions {
        let baton_id = match kind {
            SharedKind::Baton => Some(object_id.clone()),
            SharedKind::Thread => of.left.as_ref().map(|left| left.baton_id.clone()),
        };
        if let Some(left) = baton_id.map(|id| baton::get(tx, &project_id, &id)).transpose()?.flatten() {
            of.document = document(tx, env, &left)?;
        }
        thread::redact(of);
    }
    title = baton_transcripts::redact::shared().redact(&title).text.into_owned();
    let read_at = Timestamp(env.now);
    Ok(SharedView { project_id, kind, object_id, title, sessions, more: next.is_some(), read_at, expires_at })
}

impl SharedView {
    /// Without what the rules of this machine take out, too: it may have been read on another one, by that one's rules.
    #[must_use]
    pub fn without_secrets(mut self) -> Self {
        self.title = baton_transcripts::redact::shared().redact(&self.title).text.into_owned();
        self.sessions.iter_mut().for_each(thread::redact);
        self
    }
}

/// A packet that does not say in which folder of which home the session ran, and where its tool keeps it.
fn without_folders(packet: String) -> String {
    let Ok(mut fields) = serde_json::from_str::<Value>(&packet) else { return packet };
    for (section, field) in [("source", "path"), ("environment", "cwd")] {
        if let Some(section) = fields.get_mut(section).and_then(Value::as_object_mut) {
            section.remove(field);
        }
    }
    fields.to_string()
}

fn document(tx: &mut Tx<'_>, env: &Env<'_>, left: &Baton) -> Result<Option<String>, Failure> {
    let Some(wrap) = delta::get(tx, &left.project_id, &left.baton_id)? else { return Ok(None) };
    let packet = without_secrets(ValidatedPacket::parse_stored(without_folders(wrap.body))?)?;
    let options = Options { preset: Preset::Standard, now_ms: Some(env.now), ..Options::default() };
    Ok(Some(render(packet.view(), &options).text))
}

/// The packet without the secrets in its texts: the document cuts them, and of one that is cut in two the rules find no part.
fn without_secrets(packet: ValidatedPacket) -> Result<ValidatedPacket, Failure> {
    let mut value = packet.value()?;
    redact_texts(&mut value);
    Ok(ValidatedPacket::parse_stored(value.to_string()).unwrap_or(packet))
}

fn redact_texts(value: &mut Value) {
    match value {
        Value::String(text) => *text = baton_transcripts::redact::shared().redact(text).text.into_owned(),
        Value::Array(items) => items.iter_mut().for_each(redact_texts),
        Value::Object(fields) => fields.values_mut().for_each(redact_texts),
        _ => {}
    }
}
