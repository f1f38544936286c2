//! Late calls: what an agent sends to a session that was released is refused, and kept as a note.

use baton_model::delta::{Kind, brief_text};
use baton_model::id::{check_identity, identity_key, short, visible};
use baton_model::refusal::Refusal;
use baton_model::session::Session;
use baton_store::{Failure, Tx, baton, session};
use serde_json::{Value, json};

use super::{Author, append_json};
use crate::idempotency::request::Request;
use crate::op::Env;
use crate::session::send_signal;

/// How many characters of what came too late go into the signal.
const MAX_TOLD: usize = 8_000;

/// Keeps what a late call carried as a note of the released session, and returns the refusal that names the note. The
/// same content is kept once for each session, so a retry adds nothing, with or without a request id; what Baton itself
/// adds, such as times, is no part of it.
pub(crate) fn keep_late_note(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    released: &Session,
    (body, content): (&Value, &Value),
) -> Result<Refusal, Failure> {
    let content = json!([&released.session_id, content]);
    let once = Request::of_hash(&released.project_id, "late_note", &content);
    let delta_id = match once.earlier_answer::<String>(tx)? {
        Some(earlier) => earlier,
        None => {
            let note = append_json(tx, env, &Author::session(released), Kind::Note, body)?;
            once.keep(tx, env.now, &note.delta_id)?;
            tell_successor(tx, env, released, &note.delta_id, body)?;
            note.delta_id
        }
    };
    let mut refusal = crate::ownership::release_refusal(tx, env, released)?;
    refusal.hint = format!("what you sent is kept as note {}; {}", short(&delta_id), refusal.hint);
    Ok(refusal.with("kept_delta_id", delta_id))
}

/// Another agent that has the work of a released session now: the holder of the baton that was left, else the session that took over, else
/// the addressee of the baton.
pub(crate) fn next_holder(tx: &mut Tx<'_>, released: &Session) -> Result<Option<String>, Failure> {
    let project_id = &released.project_id;
    let left = baton::of_session(tx, project_id, &released.session_id)?;
    let holder = left.as_ref().and_then(|left| left.holder_session_id.clone());
    let successor = released.release.as_ref().and_then(|release| release.successor.clone());
    let next = match holder.or(successor) {
        Some(id) => session::get(tx, project_id, &id)?.map(|next| next.identity),
        None => left.and_then(|left| left.to_identity),
    };
    let is_another = |next: &String| {
        identity_key(next) != identity_key(&released.identity) && check_identity(next).is_ok()
    };
    Ok(next.filter(is_another))
}

/// Sends what came too late to the agent that has the work now.
fn tell_successor(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    released: &Session,
    note: &str,
    body: &Value,
) -> Result<(), Failure> {
    let (project_id, from) = (&released.project_id, &released.identity);
    let Some(next) = next_holder(tx, released)? else { return Ok(()) };
    let subject = format!("{} sent more after its session was over", visible(from));
    let text = brief_text(body).unwrap_or_default();
    // A signal holds 64 KiB; the ledger has all of it.
    let (text, rest) = match text.char_indices().nth(MAX_TOLD) {
        Some((end, _)) => (&text[..end], "…"),
        None => (text.as_str(), ""),
    };
    let text = format!("{text}{rest}\n\nAll of it is note {note}: `baton log --kind note --json`");
    send_signal(tx, env, (project_id, from, &next), (&subject, &text))
}
