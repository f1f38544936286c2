//! Late calls: what an agent sends to a session that was released is refused, and kept as a note.

use baton_model::delta::Kind;
use baton_model::id::short;
use baton_model::refusal::Refusal;
use baton_model::session::{Session, session_released};
use baton_store::{Failure, Tx};
use serde_json::{Value, json};

use super::{Author, append_json};
use crate::op::Env;
use crate::request::Request;

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
    let delta_id = match once.answered::<String>(tx)? {
        Some(earlier) => earlier,
        None => {
            let note = append_json(tx, env, &Author::session(released), Kind::Note, body)?;
            once.keep(tx, env.now, &note.delta_id)?;
            note.delta_id
        }
    };
    let mut refusal = session_released(released, env.now);
    refusal.hint = format!("what you sent is kept as note {}; {}", short(&delta_id), refusal.hint);
    Ok(refusal.with("kept_delta_id", delta_id))
}
