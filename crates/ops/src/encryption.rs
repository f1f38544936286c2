//! Encrypts what is sensitive: selects the recipients and checks that each has a key. The host encrypts; it has the
//! keys.

use baton_model::id::identity_key;
use baton_model::message::Address;
use baton_model::refusal::{Kind, Refusal};
use baton_store::{Failure, Tx, agent, key};

use crate::message::{Warning, WarningKind};
use crate::op::Cx;

/// The sender and the addressee of an encrypted text.
pub(crate) struct Mail<'a> {
    pub(crate) from_project: &'a str,
    pub(crate) to_project: &'a str,
    pub(crate) from: &'a str,
    pub(crate) to: &'a Address,
}

/// What came out.
pub(crate) struct EncryptedText {
    pub(crate) text: String,
    /// Who can read it.
    pub(crate) readers: Vec<String>,
    pub(crate) warnings: Vec<Warning>,
}

/// Encrypts a text for its receivers and its sender.
pub(crate) fn encrypt(cx: &mut Cx<'_>, mail: &Mail<'_>, text: &str) -> Result<EncryptedText, Failure> {
    let (mut keys, own) =
        cx.store.read(|tx| Ok((of_receivers(tx, mail)?, key::get(tx, mail.from_project, mail.from)?)))?;
    if keys.is_empty() {
        return Err(no_receiver_key_refusal(mail).into());
    }
    let mut warnings = Vec::new();
    match own {
        Some(own) => keys.push(own),
        None => warnings.push(Warning {
            kind: WarningKind::SenderWithoutKey,
            message: format!(
                "{} has no key in project {} and cannot read it again",
                mail.from, mail.from_project
            ),
            near: None,
        }),
    }
    let mut readers: Vec<String> = Vec::new();
    let mut recipients: Vec<String> = Vec::new();
    for key in keys {
        if !recipients.contains(&key.recipient) {
            recipients.push(key.recipient);
        }
        if !readers.iter().any(|known| identity_key(known) == identity_key(&key.identity)) {
            readers.push(key.identity);
        }
    }
    Ok(EncryptedText { text: cx.env.host.encrypt(&recipients, text)?, readers, warnings })
}

/// The listed keys of a receiver, or of every agent with the role.
fn of_receivers(tx: &mut Tx<'_>, mail: &Mail<'_>) -> Result<Vec<key::PublicKey>, Failure> {
    match mail.to {
        Address::Identity(name) => Ok(key::get(tx, mail.to_project, name)?.into_iter().collect()),
        Address::Role(role) => {
            let mut keys = Vec::new();
            for agent in agent::list(tx, mail.to_project)?.iter().filter(|agent| agent.has_role(role)) {
                keys.extend(key::get(tx, mail.to_project, &agent.identity)?);
            }
            Ok(keys)
        }
    }
}

fn no_receiver_key_refusal(mail: &Mail<'_>) -> Refusal {
    let (who, hint) = match mail.to {
        Address::Identity(name) => {
            (name.clone(), format!("{name} makes one with `baton key create --as {name}`"))
        }
        Address::Role(role) => (
            format!("nobody of role {role}"),
            "an agent of the role makes one with `baton key create`".to_owned(),
        ),
    };
    let has = if matches!(mail.to, Address::Identity(_)) { "has no key" } else { "has a key" };
    let what = format!("{who} {has} in project {}: nothing sensitive can be sent to them", mail.to_project);
    Refusal::new(Kind::Refused, "key_missing", what, hint)
}
