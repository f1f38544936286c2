//! The packet with which a session wraps, as the call gives it.

use baton_model::packet::{Packet, Party, Text, ValidatedPacket};
use baton_model::refusal::Refusal;
use baton_model::time::rfc3339;
use baton_store::Failure;
use serde_json::{Value, json};

use super::force::EndRequest;
use super::prior_changes::is_unchanged_since_begin;
use super::wrap::WrapInput;
use crate::op::{Cx, Env};
use crate::{packet_input, resolve};

/// The packet that a call gives, or of its summary and what was given beside it.
pub(super) fn packet(input: &WrapInput, env: &Env<'_>) -> Result<ValidatedPacket, Refusal> {
    let Some(packet) = packet_input::read(input.packet.as_ref(), input.packet_text.as_deref())? else {
        return summarized(input, env);
    };
    let is_alone = input.summary.is_none() && input.next.is_empty() && input.focus.is_empty();
    if is_alone && !input.done && input.fields.is_empty() {
        return Ok(packet);
    }
    Err(Refusal::invalid(
        "packet_invalid",
        "a packet is stored as it is, so --summary, --next, --focus and --done cannot be added to it",
        "put them into the packet, or leave the packet out",
    ))
}

/// The packet of a summary and what was given beside it.
fn summarized(input: &WrapInput, env: &Env<'_>) -> Result<ValidatedPacket, Refusal> {
    if input.done && !input.next.is_empty() {
        let what = "`done` says that nothing is left to do, and `next` names what is";
        return Err(Refusal::invalid("packet_invalid", what, "leave one of the two out"));
    }
    let summary = input.summary.clone().unwrap_or_default();
    let mut view = Packet { summary, ..Packet::default() };
    if !input.fields.is_empty() {
        let mut fields = input.fields.clone();
        fields.insert("summary".into(), json!(view.summary));
        view = ValidatedPacket::parse(Value::Object(fields).to_string())?.view().clone();
    }
    let next = input.next.iter().map(|text| Text { text: text.clone(), at: None });
    view.next_steps.splice(..0, next);
    view.focus.splice(..0, input.focus.iter().cloned());
    view.source = Some(source(input, env)?);
    view.created_at = Some(rfc3339(env.now));
    view.git = view.git.or_else(|| env.caller.git_root.as_deref().and_then(|root| env.host.git(root)));
    view.other.extend(input.done.then(|| ("done".to_owned(), json!(true))));
    ValidatedPacket::from_view(view)
}

/// The packet, which says of the working copy whether all that is not committed there lay there when the session began. One that the
/// caller gives is stored as it is, and so is the state of git that he gives.
pub(super) fn with_beginning(
    cx: &mut Cx<'_>,
    packet: ValidatedPacket,
    input: &WrapInput,
    project_id: &str,
) -> Result<ValidatedPacket, Failure> {
    let is_given = input.packet.is_some() || input.packet_text.is_some() || input.fields.contains_key("git");
    let is_dirty = packet.view().git.as_ref().is_some_and(|git| git.dirty == Some(true));
    if is_given || !is_dirty {
        return Ok(packet);
    }
    let Cx { store, env } = &mut *cx;
    let own = match store.read(|tx| EndRequest::of_wrap(input).session(tx, env, project_id)) {
        Ok(own) => own,
        // What is wrong with the call the transaction says.
        Err(Failure::Refused(_)) => return Ok(packet),
        Err(fault) => return Err(fault),
    };
    if !is_unchanged_since_begin(cx, &own)? {
        return Ok(packet);
    }
    let mut view = packet.view().clone();
    if let Some(git) = &mut view.git {
        git.unchanged_since_begin = true;
    }
    Ok(ValidatedPacket::from_view(view)?)
}

/// Who hands over, as far as the call itself tells.
fn source(input: &WrapInput, env: &Env<'_>) -> Result<Party, Refusal> {
    let named = input.session.is_none().then(|| resolve::identity(env.caller, input.identity.as_deref()));
    let surface = Some(env.caller.surface.clone()).filter(|surface| !surface.is_empty());
    Ok(Party { agent: surface, id: named.transpose()?, path: None })
}
