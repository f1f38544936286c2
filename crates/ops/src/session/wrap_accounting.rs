//! What a wrap is warned of: accounting is soft, it never blocks.

use baton_model::accounting::{self, SessionActivity, WrapFacts};
use baton_model::id::{is_shared_name, short, visible};
use baton_model::packet::{FIELDS, ValidatedPacket};
use baton_model::session::Session;
use baton_model::suggest::suggestions;
use baton_store::{Failure, Tx, conversation, delta, handoff, task};

use super::Address;
use super::accepted_handoffs;
use super::warning::{BatonWarning, Warning, WarningKind};
use crate::op::{Cx, Env};
use crate::{agent, changes, roles};

/// Whether the baton of a session that wraps came with changes, or one before it did. One round trip with what the wrap asks next.
pub(super) fn has_earlier_changes(tx: &mut Tx<'_>, own: &Session) -> Result<bool, Failure> {
    tx.prefetch(|tx| {
        drop(changes::has_earlier(tx, own));
        drop(handoff::accepted(tx, &own.project_id));
        drop(delta::of_session(tx, &own.project_id, &own.session_id));
        drop(conversation::of_session(tx, &own.project_id, &own.session_id));
        if let Some(baton_id) = &own.baton_id {
            drop(delta::get(tx, &own.project_id, baton_id));
        }
    });
    changes::has_earlier(tx, own)
}

/// An unknown role does not refuse a wrap; it adds a warning.
pub(super) fn role_warning(
    cx: &mut Cx<'_>,
    project_id: &str,
    role: Option<&str>,
) -> Result<Option<Warning>, Failure> {
    let Some(role) = role else { return Ok(None) };
    let known =
        roles::of_project(cx.store, &cx.env, project_id).and_then(|roles| Ok(roles.check_known(role)?));
    match known {
        Ok(_) => Ok(None),
        Err(Failure::Refused(refusal)) => Ok(Some(Warning::new(
            WarningKind::Role(refusal.code.to_owned()),
            format!("{}: {}", refusal.message, refusal.hint),
        ))),
        Err(fault) => Err(fault),
    }
}

/// Adds to the warning about an unknown addressee how the baton that was left is addressed anew.
pub(super) fn name_baton(warnings: &mut [Warning], baton_id: &str) {
    let is_of_addressee = |one: &&mut Warning| one.kind == WarningKind::Baton(BatonWarning::AddresseeUnknown);
    for warning in warnings.iter_mut().filter(is_of_addressee) {
        let command = format!("`baton pickup {}`", short(baton_id));
        warning.message.push_str(&format!(
            " To address it anew, take it back with {command}, then wrap again with `--to NAME`"
        ));
    }
}

/// The warning about an addressee that is not known in the project.
fn addressee_warning(
    tx: &mut Tx<'_>,
    project_id: &str,
    to: &Address<'_>,
) -> Result<Option<Warning>, Failure> {
    let Some(name) = to.identity.filter(|name| !is_shared_name(name) && baton_tools::by_name(name).is_none())
    else {
        return Ok(None);
    };
    if agent::first_name(tx, project_id, name)?.is_some() {
        return Ok(None);
    }
    let known = agent::known_names(tx, project_id)?;
    let near = suggestions(name, known.iter().map(String::as_str));
    let suggestion =
        if near.is_empty() { ".".to_owned() } else { format!("; did you mean {}?", near.join(" or ")) };
    let message = format!(
        "nobody called {} has worked in project {project_id} yet: the baton waits for that name{suggestion}",
        visible(name)
    );
    Ok(Some(Warning::new(WarningKind::Baton(BatonWarning::AddresseeUnknown), message)))
}

/// The warnings of a session that wraps with this packet.
pub(super) fn warnings(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (own, packet): (&Session, &ValidatedPacket),
    (to, role): (&Address<'_>, Option<&Warning>),
) -> Result<Vec<Warning>, Failure> {
    let accepted = handoff::accepted(tx, &own.project_id)?;
    let did = SessionActivity::read(&delta::of_session(tx, &own.project_id, &own.session_id)?);
    let focus = match &own.baton_id {
        Some(baton_id) => focus(tx, &own.project_id, baton_id)?,
        None => Vec::new(),
    };
    let mut labels = Vec::new();
    if !focus.is_empty() {
        for id in &did.tasks {
            labels.extend(task::get(tx, &own.project_id, id)?.into_iter().flat_map(|task| task.labels));
        }
    }
    let wrapping = WrapFacts { packet, did: &did, focus: &focus, labels: &labels };
    let mut remarks = accounting::warnings(&wrapping);
    let is_done = accounting::is_finished(packet.view());
    remarks.extend(accepted_handoffs::when_wrapped(tx, env, &accepted, (own, is_done))?);
    let mut warnings: Vec<Warning> = remarks.into_iter().map(Warning::from).chain(role.cloned()).collect();
    warnings.extend(addressee_warning(tx, &own.project_id, to)?);
    warnings.extend(field_warnings(packet));
    Ok(warnings)
}

/// A warning for each unknown field of a packet with nearly the name of a known one: it is stored and not read as that one.
fn field_warnings(packet: &ValidatedPacket) -> impl Iterator<Item = Warning> {
    packet.view().other.keys().filter_map(|name| {
        let near = suggestions(name, FIELDS);
        let similar = near.first()?;
        let message = format!(
            "the packet's field `{}` is none that Baton reads; did you mean `{similar}`? It is stored as it is",
            visible(name)
        );
        Some(Warning::new(WarningKind::Baton(BatonWarning::FieldUnknown), message))
    })
}

/// The tags of a baton's packet.
fn focus(tx: &mut Tx<'_>, project_id: &str, baton_id: &str) -> Result<Vec<String>, Failure> {
    let wrap = delta::get(tx, project_id, baton_id)?;
    let packet = wrap.and_then(|wrap| ValidatedPacket::parse_stored(wrap.body).ok());
    Ok(packet.map(|packet| packet.view().focus.clone()).unwrap_or_default())
}
