//! `mail_send`: write to an identity or a role, of this project or another.

use baton_model::handoff_message::{self, Envelope, Kind as HandoffKind, Urgency};
use baton_model::id::is_shared_name;
use baton_model::lossless_json;
use baton_model::message::{Address, LETTER, USUAL_ACK, View, mail_type, usual_life};
use baton_model::refusal::{Kind, Refusal};
use baton_model::suggest::suggestions;
use baton_model::time::{Millis, TEN_YEARS, bounds_hint, rfc3339, seconds_within};
use baton_store::{Failure, Tx, project, project_root};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::post::{Outgoing, post};
use super::reply::Destination;
use super::{SendOutput, Warning, WarningKind, reply};
use crate::idempotency::request::{self, Request, Requester};
use crate::op::{Cx, Meta, Operation};
use crate::project::{require_active, require_not_merged};
use crate::{agent, encryption, resolve, roles};

/// The largest body, in bytes.
const BODY: usize = 64 * 1024;

/// Sends mail.
pub struct MailSend;

/// Input of `mail_send`, also called `send_message`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MailSendInput {
    /// Project id that the sender works in; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that sends.
    #[serde(default)]
    pub identity: Option<String>,
    /// Who it is for: a name, or `role:R` for the first agent of that role that takes it. A reply goes to the other side by itself.
    #[serde(default)]
    pub to: Option<String>,
    /// Project that the receiver works in, when that is another one.
    #[serde(default)]
    pub to_project: Option<String>,
    /// `message` for a letter; a signal's type; or a hand-off message: `task_assignment`, `task_handoff`,
    /// `test_failure_report`, `fix_complete`, `verification_request`.
    #[serde(rename = "type", default = "letter")]
    pub kind: String,
    /// One line. A hand-off message and a reply bring their own.
    #[serde(default)]
    pub subject: Option<String>,
    /// The text; of a hand-off message, its JSON, when it is not given as `content`.
    #[serde(default)]
    pub body: String,
    /// The hand-off message as an object: see `mail_schema`. What its envelope says may be left out of it.
    #[serde(default)]
    pub content: Option<Map<String, Value>>,
    /// `low`, `normal`, `high` or `critical`; a hand-off message's urgency by itself.
    #[serde(default)]
    pub importance: Option<String>,
    /// The message that this one answers, by its id or a unique prefix: both are then one thread.
    #[serde(default)]
    pub reply_to: Option<String>,
    /// Asks for an acknowledgement, within a day unless `ack_by_s` says otherwise.
    #[serde(default)]
    pub ack_required: bool,
    /// To be acknowledged within so many seconds.
    #[serde(default)]
    pub ack_by_s: Option<i64>,
    /// Worth nothing after so many seconds; else never, and signals by their type.
    #[serde(default)]
    pub expires_in_s: Option<i64>,
    /// Send it though no identity of that name is known yet: it waits for it.
    #[serde(default)]
    pub wait: bool,
    /// Encrypt the body: only its receivers and its sender can read it, with their keys.
    #[serde(default)]
    pub sensitive: bool,
    /// Makes a retry return the same message.
    #[serde(default)]
    pub request_id: Option<String>,
}

impl Default for MailSendInput {
    fn default() -> Self {
        Self {
            project: Default::default(),
            identity: Default::default(),
            to: Default::default(),
            to_project: Default::default(),
            kind: letter(),
            subject: Default::default(),
            body: Default::default(),
            content: Default::default(),
            importance: Default::default(),
            reply_to: Default::default(),
            ack_required: Default::default(),
            ack_by_s: Default::default(),
            expires_in_s: Default::default(),
            wait: Default::default(),
            sensitive: Default::default(),
            request_id: Default::default(),
        }
    }
}

fn letter() -> String {
    LETTER.into()
}

/// A message that was checked as far as can be without the ledger.
struct Draft {
    from_project: String,
    to_project: String,
    /// What the sender knows that project by, where it is not to learn into which one it was merged.
    to_former_project: Option<String>,
    from: String,
    to: Address,
    kind: &'static str,
    subject: String,
    body: String,
    importance: Urgency,
    reply: Option<(String, String)>,
    /// Whether it is a reply to the other side of the message that it answers.
    goes_back: bool,
    readers: Option<Vec<String>>,
    warnings: Vec<Warning>,
}

impl Operation for MailSend {
    const META: Meta = Meta::write(
        "mail_send",
        "Write to an identity or a role, with an importance, as a reply, or as a typed hand-off message",
    );
    type Input = MailSendInput;
    type Output = SendOutput;

    fn run(input: MailSendInput, cx: &mut Cx<'_>) -> Result<SendOutput, Failure> {
        let (expires, ack) =
            (seconds(input.expires_in_s, "expire")?, seconds(input.ack_by_s, "be acknowledged")?);
        let draft = draft(&input, cx)?;
        let Cx { store, env } = cx;
        let now = env.now;
        let later = |span: Option<Millis>| span.map(|span| now.saturating_add(span));
        let (expires_at, ack_by) = (
            later(expires.or_else(|| usual_life(draft.kind))),
            later(ack.or(input.ack_required.then_some(USUAL_ACK))),
        );
        let mut taken = vec![draft.from_project.as_str()];
        taken.extend(Some(draft.to_project.as_str()).filter(|far| *far != draft.from_project));
        let (who, scope) = (Requester::of(env, &draft.from), (draft.from_project.as_str(), Self::NAME));
        let request = Request::of(env, &who, scope, input.request_id.as_deref(), &input)?;
        store.write(&taken, |tx| {
            resolve::require(tx, &draft.from_project)?;
            if let Some(answer) = request::earlier_answer_of::<SendOutput>(tx, request.as_ref())? {
                return Ok(sent_before(answer, input.sensitive));
            }
            resolve::admit_and_beat(tx, env, &draft.from_project, &draft.from, Self::NAME)?;
            require_target(tx, &draft.to_project)?;
            if let Address::Identity(name) = &draft.to {
                tx.prefetch(|tx| {
                    drop(project_root::of_project(tx, &draft.to_project));
                    drop(agent::first_name(tx, &draft.to_project, name));
                });
            }
            require_not_merged(tx, &draft.to_project)?;
            require_active(tx, &draft.from_project)?;
            let (to, mut warnings) = receiver(tx, &draft, input.wait)?;
            warnings.extend(draft.warnings.iter().cloned());
            let sent = post(tx, env, &outgoing(&draft, &to, expires_at, ack_by))?;
            if let Some((_, answered)) = draft.reply.as_ref().filter(|_| draft.goes_back) {
                reply::acknowledge(tx, now, (&draft.from_project, answered), &draft.from)?;
                reply::copy_to_successor(tx, env, (&draft.from_project, &draft.to_project), &sent)?;
            }
            let (project_id, identity) = (draft.from_project.clone(), draft.from.clone());
            let answer =
                SendOutput { project_id, identity, message: View::of(&sent), replayed: false, warnings };
            request::keep(tx, env, request.as_ref(), &answer)?;
            Ok(answer)
        })
    }
}

/// The answer of a retry. The text of an encrypted message is not compared: only its receivers and its sender can read it.
fn sent_before(answer: SendOutput, is_sensitive: bool) -> SendOutput {
    let mut answer = SendOutput { replayed: true, ..answer };
    if is_sensitive {
        let message = "this request id has sent a message before, whose text is encrypted and cannot be compared: the text of this \
            call was not stored. Another text needs another request id";
        let kind = WarningKind::TextNotCompared;
        answer.warnings.push(Warning { kind, message: message.to_owned(), near: None });
    }
    answer
}

fn outgoing<'a>(
    draft: &'a Draft,
    to: &'a Address,
    expires_at: Option<Millis>,
    ack_by: Option<Millis>,
) -> Outgoing<'a> {
    Outgoing {
        from_project: &draft.from_project,
        to_project: &draft.to_project,
        to_former_project: draft.to_former_project.as_deref(),
        from: &draft.from,
        to,
        kind: draft.kind,
        subject: &draft.subject,
        body: &draft.body,
        importance: draft.importance,
        expires_at,
        ack_by,
        reply: draft.reply.as_ref().map(|(thread, message)| (thread.as_str(), message.as_str())),
        readers: draft.readers.clone(),
    }
}

/// The span of a letter, in milliseconds.
pub(super) fn seconds(given: Option<i64>, what: &str) -> Result<Option<Millis>, Refusal> {
    match given {
        Some(seconds) => seconds_within(seconds, TEN_YEARS).map(Some).ok_or_else(|| {
            let what = format!("it cannot {what} within {seconds} seconds");
            Refusal::invalid("message_invalid", what, bounds_hint(TEN_YEARS))
        }),
        None => Ok(None),
    }
}

/// Everything that can be said about the message before the ledger is written.
fn draft(input: &MailSendInput, cx: &mut Cx<'_>) -> Result<Draft, Failure> {
    let kind = mail_type(&input.kind)?;
    let named = input.importance.as_deref().map(Urgency::parse).transpose()?;
    let from_project = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
    let from = resolve::identity(cx.env.caller, input.identity.as_deref())?;
    let reply = reply::find(cx, input, &from_project, &from)?;
    let to = match (&input.to, &reply) {
        (_, Some(reply)) if reply.goes_back => reply.to.clone(),
        (Some(text), _) => Address::parse(text)?,
        (None, Some(reply)) => reply.to.clone(),
        (None, None) => {
            let hint = "say --to NAME or --to role:R, or --reply-to MESSAGE";
            return Err(Refusal::invalid("message_invalid", "nobody is named to send it to", hint).into());
        }
    };
    let Destination { project: to_project, former: to_former_project } =
        reply::destination(cx, input, reply.as_ref(), &from_project)?;
    let to = match to {
        Address::Role(role) => {
            Address::Role(roles::of_project(cx.store, &cx.env, &to_project)?.check_known(&role)?)
        }
        name => name,
    };
    let envelope = Envelope { from: &from, to: &to.display_name(), at: &rfc3339(cx.env.now) };
    let (own_subject, body, urgency) = text(input, kind, &envelope)?;
    let of_reply = reply.as_ref().map(|reply| reply.subject.clone());
    let subject = input.subject.clone().or(own_subject).or(of_reply).unwrap_or_default();
    check_text(&subject, &body)?;
    let mut draft = Draft {
        from_project,
        to_project,
        to_former_project,
        from,
        to,
        kind,
        subject,
        body,
        importance: named.or(urgency).unwrap_or_default(),
        goes_back: reply.as_ref().is_some_and(|reply| reply.goes_back),
        reply: reply.map(|reply| (reply.thread_id, reply.message_id)),
        readers: None,
        warnings: Vec::new(),
    };
    if input.sensitive {
        let about = encryption::Mail {
            from_project: &draft.from_project,
            to_project: &draft.to_project,
            from: &draft.from,
            to: &draft.to,
        };
        let sealed = encryption::encrypt(cx, &about, &draft.body)?;
        (draft.body, draft.readers, draft.warnings) = (sealed.text, Some(sealed.readers), sealed.warnings);
    }
    Ok(draft)
}

type Text = (Option<String>, String, Option<Urgency>);

/// Subject, body and urgency of a message. A hand-off message is completed and validated.
fn text(input: &MailSendInput, kind: &'static str, envelope: &Envelope<'_>) -> Result<Text, Refusal> {
    let Some(handoff) = HandoffKind::from_word(kind) else {
        return match &input.content {
            Some(_) => {
                let what = format!("a {kind} has no content, only a body");
                Err(Refusal::invalid("message_invalid", what, "give the type of hand-off message that it is"))
            }
            None => Ok((None, input.body.clone(), None)),
        };
    };
    let content = match &input.content {
        Some(content) => content.clone(),
        None => lossless_json::read(input.body.as_bytes()).map_err(|error| {
            let what = format!("the {kind} is not a JSON object: {error}");
            let hint = format!("`baton mail schema {kind}` shows the fields");
            Refusal::invalid("content_invalid", what, hint).with("path", "")
        })?,
    };
    let content = Value::Object(handoff_message::complete(handoff, content, envelope));
    handoff_message::check(handoff, &content, envelope)?;
    let subject = content["subject"].as_str().map(str::to_owned);
    let urgency = content.get("urgency").and_then(Value::as_str).and_then(|word| Urgency::parse(word).ok());
    Ok((subject, content.to_string(), urgency))
}

/// Refuses a subject or a body that cannot be stored and shown.
pub(super) fn check_text(subject: &str, body: &str) -> Result<(), Refusal> {
    let (what, hint) = if subject.trim().is_empty() {
        ("the subject is missing", "say in one line what it is about: --subject TEXT".to_owned())
    } else if subject.len() > 500 {
        ("the subject has over 500 bytes", "shorten it; the rest belongs into the text".to_owned())
    } else if subject.chars().any(char::is_control) {
        ("the subject is not one line", "take line breaks and control characters out of it".to_owned())
    } else if body.len() > BODY {
        let hint = format!("it has {} bytes: shorten it, or name a file in it", body.len());
        ("the text has over 64 KiB", hint)
    } else {
        return Ok(());
    };
    Err(Refusal::invalid("message_invalid", what, hint))
}

/// The receiver's project has to be there: mail makes none.
fn require_target(tx: &mut Tx<'_>, project_id: &str) -> Result<(), Failure> {
    if tx.has_project(project_id) {
        return Ok(());
    }
    Err(resolve::no_project_refusal(project_id).into())
}

/// Resolves the receiver to its registered name, with a warning when it is unknown and the message will wait for it.
fn receiver(tx: &mut Tx<'_>, draft: &Draft, wait: bool) -> Result<(Address, Vec<Warning>), Failure> {
    let name = match &draft.to {
        Address::Role(_) => return Ok((draft.to.clone(), Vec::new())),
        Address::Identity(name) => name,
    };
    // A reply goes to the sender, registered or not.
    if !draft.goes_back && !is_shared_name(name) && is_closed(tx, draft)? {
        let message = format!(
            "project {} is isolated and does not say who works there: the message waits for {name}",
            draft.to_project
        );
        let warning = Warning { kind: WarningKind::RecipientWaitedFor, message, near: None };
        return Ok((draft.to.clone(), vec![warning]));
    }
    if let Some(known) = agent::first_name(tx, &draft.to_project, name)? {
        return Ok((Address::Identity(known), Vec::new()));
    }
    if is_shared_name(name) || draft.goes_back {
        return Ok((draft.to.clone(), Vec::new()));
    }
    if wait {
        let message = format!(
            "nobody called {name} has been in project {} yet: the message waits for them",
            draft.to_project
        );
        let warning = Warning { kind: WarningKind::RecipientWaitedFor, message, near: None };
        return Ok((draft.to.clone(), vec![warning]));
    }
    Err(unknown_receiver(tx, draft, name)?.into())
}

/// Whether the receiver's project is another one and isolated: who works there is not disclosed, neither by a refusal nor by its lack.
fn is_closed(tx: &mut Tx<'_>, draft: &Draft) -> Result<bool, Failure> {
    Ok(draft.to_project != draft.from_project
        && project::get(tx, &draft.to_project)?.is_some_and(|project| project.is_isolated))
}

fn unknown_receiver(tx: &mut Tx<'_>, draft: &Draft, name: &str) -> Result<Refusal, Failure> {
    let names = agent::known_names(tx, &draft.to_project)?;
    let similar = suggestions(name, names.iter().map(String::as_str));
    let hint = match similar.as_slice() {
        [] => "check the name with `baton agent list --all`, or send it with --wait: it then waits for them"
            .to_owned(),
        near => format!("did you mean {}? With --wait it waits for {name}", near.join(" or ")),
    };
    let what = format!("nobody called {name} has registered or worked in project {}", draft.to_project);
    Ok(Refusal::new(Kind::NotFound, "recipient_unknown", what, hint).with("near", json!(similar)))
}
