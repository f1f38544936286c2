//! What agents had asked that held a baton and did not wrap, with the answers that came: they go to whoever takes the work over, too.

use baton_model::id::{identity_key, is_shared_name};
use baton_model::message::Message;
use baton_model::notification::QUESTIONS;
use baton_model::printable::quotable;
use baton_model::session::Session;
use baton_model::time::Timestamp;
use baton_store::{Failure, Tx, message};
use serde::{Deserialize, Serialize};

/// How many of the newest messages of a project are looked through.
const LOOKED_AT: i64 = 200;
/// The most questions that are told.
const MAX_QUESTIONS: usize = 5;
/// The most characters of a question and of an answer.
const MAX_CHARS: usize = 400;

/// A question of an agent whose work another takes over: another agent's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HolderQuestion {
    /// Its id.
    pub message_id: String,
    /// Who asked.
    pub from: String,
    /// Who is asked; in another project, `PROJECT/IDENTITY`.
    pub to: String,
    /// What it is about, cleaned and shortened.
    pub subject: String,
    /// What it says, cleaned and shortened; none of an encrypted one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// When it was sent.
    pub created_at: Timestamp,
    /// What came in answer, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<HolderAnswer>,
}

/// An answer to such a question: another agent's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HolderAnswer {
    /// Its id.
    pub message_id: String,
    /// Who gave it; of another project, `PROJECT/IDENTITY`.
    pub from: String,
    /// What it says, cleaned and shortened; none of an encrypted one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// When it was sent.
    pub created_at: Timestamp,
}

/// The questions that these sessions asked, newest first. A name that many share tells nobody's from another's, and who takes the work
/// over under the same name gets the answers by mail.
pub(super) fn read(
    tx: &mut Tx<'_>,
    project_id: &str,
    (sessions, picker): (&[Session], &str),
) -> Result<Vec<HolderQuestion>, Failure> {
    let is_others = |one: &&Session| {
        !is_shared_name(&one.identity) && identity_key(&one.identity) != identity_key(picker)
    };
    let holders: Vec<&Session> = sessions.iter().filter(is_others).collect();
    if holders.is_empty() {
        return Ok(Vec::new());
    }
    let mut questions = message::newest(tx, project_id, i64::MAX, LOOKED_AT)?;
    questions.retain(|one| QUESTIONS.contains(&one.kind.as_str()) && is_of(one, &holders));
    questions.truncate(MAX_QUESTIONS);
    questions.iter().map(|one| with_answers(tx, one)).collect()
}

/// Whether one of these sessions sent a message that still counts.
fn is_of(one: &Message, holders: &[&Session]) -> bool {
    let is_sender = |holder: &&Session| {
        identity_key(&holder.identity) == identity_key(&one.from_identity)
            && holder.started_at <= one.created_at
            && holder.release.as_ref().is_none_or(|release| one.created_at <= release.at)
    };
    one.from_project_id.is_none()
        && one.from_type.is_agent()
        && one.recalled_at.is_none()
        && holders.iter().any(is_sender)
}

fn with_answers(tx: &mut Tx<'_>, question: &Message) -> Result<HolderQuestion, Failure> {
    let thread = question.thread_id.as_deref().unwrap_or(&question.message_id);
    let answers = message::of_thread(tx, &question.project_id, thread)?;
    let is_answer = |one: &&Message| {
        one.reply_to.as_ref() == Some(&question.message_id)
            && one.recalled_at.is_none()
            && identity_key(&one.from_identity) != identity_key(&question.from_identity)
    };
    Ok(HolderQuestion {
        message_id: question.message_id.clone(),
        from: question.from_identity.clone(),
        to: place(question.to_project_id.as_deref(), &question.to_identity),
        subject: quotable(&question.subject, MAX_CHARS),
        body: body(question),
        created_at: Timestamp(question.created_at),
        answers: answers.iter().filter(is_answer).map(answer).collect(),
    })
}

fn answer(one: &Message) -> HolderAnswer {
    HolderAnswer {
        message_id: one.message_id.clone(),
        from: place(one.from_project_id.as_deref(), &one.from_identity),
        body: body(one),
        created_at: Timestamp(one.created_at),
    }
}

fn body(one: &Message) -> Option<String> {
    let is_plain = one.readers.is_none() && !one.body.trim().is_empty();
    is_plain.then(|| quotable(&one.body, MAX_CHARS))
}

fn place(project: Option<&str>, name: &str) -> String {
    project.map_or_else(|| name.to_owned(), |project| format!("{project}/{name}"))
}
