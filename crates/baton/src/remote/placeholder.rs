//! Sensitive text does not leave this machine in plain text: the server gets a placeholder of the same length. It asks
//! for that to be encrypted, for the keys that it names, and the client encrypts what it stands for.

use baton_model::handoff_message::Kind as HandoffKind;
use baton_model::refusal::Refusal;
use baton_model::task::sealed::{PLACEHOLDER as SEALED, merge_plain_fields};
use baton_model::task::{check_context, patch};
use baton_ops::message::{MailAck, MailSend};
use baton_ops::op::Operation;
use baton_ops::task::Create;
use serde_json::{Map, Value, json};

use crate::clock;

/// Where the stand-in of an object stands; how the stand-in of a text begins.
const MARKER: &str = "baton:kept";

/// The object that takes the place of a decrypted one: who can decrypt it puts that into the answer.
pub(super) fn in_place_of(sealed: &str) -> String {
    json!({ SEALED: sealed }).to_string()
}

/// What was kept back of a call.
#[derive(Debug, Default)]
pub(super) struct WithheldText {
    all: Vec<(String, Value)>,
}

impl WithheldText {
    /// Takes out of the input of an operation what is sensitive in it. `is_sensitive`: the task that it is about is.
    pub(super) fn of(operation: &str, input: &mut Map<String, Value>, is_sensitive: bool) -> Self {
        let mut withheld = Self::default();
        if !is_sensitive && !says_sensitive(input) {
            return withheld;
        }
        let fields = match operation {
            MailSend::NAME if !is_structured(input) => &["body"][..],
            MailAck::NAME => &["body"][..],
            name => contexts(name),
        };
        for field in fields {
            if let Some(value) = input.get_mut(*field) {
                withheld.swap(value);
            }
        }
        withheld
    }

    fn swap(&mut self, value: &mut Value) {
        let mut bytes = [0; 16];
        clock::random(&mut bytes);
        let name: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        match value {
            Value::String(text) if !text.trim().is_empty() => {
                let placeholder = padded(format!("{MARKER} {name}"), text.len());
                self.all.push((placeholder.clone(), std::mem::replace(value, placeholder.into())));
            }
            Value::Object(fields) if !fields.is_empty() => {
                let frame = json!({ MARKER: "" }).to_string().len();
                let placeholder = padded(name, value.to_string().len().saturating_sub(frame));
                let object = json!({ MARKER: placeholder });
                self.all.push((placeholder, std::mem::replace(value, object)));
            }
            // There is nothing in it.
            _ => {}
        }
    }

    fn get(&self, placeholder: &str) -> Option<&Value> {
        self.all.iter().find(|(known, _)| known == placeholder).map(|(_, value)| value)
    }

    /// The text to encrypt, with all placeholders resolved. `texts` are those decrypted for this call. `None` if a
    /// placeholder is unknown here.
    pub(super) fn restore_placeholders(&self, text: &str, texts: &[(String, String)]) -> Option<String> {
        if text.starts_with(MARKER) {
            return self.get(text)?.as_str().map(str::to_owned);
        }
        let Ok(Value::Object(mut fields)) = serde_json::from_str(text) else { return Some(text.to_owned()) };
        let (sealed, withheld) = (fields.shift_remove(SEALED), fields.shift_remove(MARKER));
        if sealed.is_none() && withheld.is_none() {
            return Some(text.to_owned());
        }
        let mut whole = match sealed.as_ref().and_then(Value::as_str) {
            Some(sealed) => opened(sealed, texts)?,
            None => Map::new(),
        };
        merge_plain_fields(&mut whole, fields);
        match withheld.as_ref().and_then(Value::as_str).map(|name| self.get(name)) {
            Some(Some(Value::Object(change))) if whole.is_empty() => whole = change.clone(),
            Some(Some(Value::Object(change))) => patch::merge(&mut whole, change),
            Some(_) => return None,
            None => {}
        }
        Some(Value::Object(whole).to_string())
    }
}

/// Puts a decrypted text where the sealed one stands in an answer.
pub(super) fn reveal(answer: &mut Value, sealed: &str, text: &str) {
    match answer {
        Value::String(found) if found == sealed => text.clone_into(found),
        Value::Array(items) => items.iter_mut().for_each(|item| reveal(item, sealed, text)),
        Value::Object(fields) if fields.get(SEALED).and_then(Value::as_str) == Some(sealed) => {
            if let Some(mut whole) = opened(sealed, &[(sealed.to_owned(), text.to_owned())]) {
                fields.shift_remove(SEALED);
                merge_plain_fields(&mut whole, std::mem::take(fields));
                *fields = whole;
            }
        }
        Value::Object(fields) => fields.values_mut().for_each(|field| reveal(field, sealed, text)),
        _ => {}
    }
}

/// Whether a message is one that the server puts together and checks, so that it has to see it.
pub(super) fn is_exposed(operation: &str, input: &Map<String, Value>) -> bool {
    operation == MailSend::NAME && says_sensitive(input) && is_structured(input)
}

/// Whether a call writes contexts of a task of which the server alone knows whether it is sensitive.
pub(super) fn may_be_sensitive(operation: &str, input: &Map<String, Value>) -> bool {
    let is_given =
        |field: &&str| input.get(*field).and_then(Value::as_object).is_some_and(|all| !all.is_empty());
    // A new task may be given its id, and says itself whether it is sensitive.
    let names_task = operation != Create::NAME && input.get("id").is_some_and(Value::is_string);
    names_task && contexts(operation).iter().any(is_given) && !says_sensitive(input)
}

/// Whether the server may have something encrypted in the course of this operation.
pub(super) fn encrypts(operation: &str) -> bool {
    [MailSend::NAME, MailAck::NAME].contains(&operation) || !contexts(operation).is_empty()
}

/// Refuses a context of a task that is too large as a whole, which the server cannot tell: it has placeholders of its parts. `text`: in
/// which the server wants it encrypted.
pub(super) fn check_whole(
    operation: &str,
    (input, text): (&Map<String, Value>, &str),
    whole: &str,
) -> Result<(), Refusal> {
    let fields = contexts(operation);
    let (false, Ok(whole)) = (fields.is_empty(), serde_json::from_str(whole)) else { return Ok(()) };
    let text: Value = serde_json::from_str(text).unwrap_or_default();
    let is_from =
        |field: &&&str| input.get(**field).is_some_and(|given| given.get(MARKER) == text.get(MARKER));
    let name = match fields.iter().find(is_from) {
        Some(&"handoff_instructions") => "handoff_instructions",
        // That of a task that is closed has another name in the call.
        _ => "agent_context",
    };
    check_context(name, &whole)
}

/// The fields that are encrypted of a sensitive task.
fn contexts(operation: &str) -> &'static [&'static str] {
    baton_ops::all::meta(operation).map_or(&[], |meta| meta.sealed_fields)
}

fn says_sensitive(input: &Map<String, Value>) -> bool {
    input.get("sensitive") == Some(&Value::Bool(true))
}

fn is_structured(input: &Map<String, Value>) -> bool {
    let kind = input.get("type").and_then(Value::as_str).unwrap_or_default();
    HandoffKind::from_word(kind).is_some() || input.get("content").is_some_and(Value::is_object)
}

fn opened(sealed: &str, texts: &[(String, String)]) -> Option<Map<String, Value>> {
    let (_, text) = texts.iter().find(|(known, _)| known == sealed)?;
    serde_json::from_str(text).ok()
}

/// Of this length at least, so that limits hold for the stand-in as they do for what it stands for.
fn padded(mut text: String, length: usize) -> String {
    text.extend(std::iter::repeat_n('.', length.saturating_sub(text.len())));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn what_is_sensitive_is_kept_and_comes_back_whole() {
        let letter = json!({ "to": "Tess", "body": "canary ".repeat(20), "sensitive": true });
        let mut input = object(letter.clone());
        let withheld = WithheldText::of("mail_send", &mut input, false);
        assert!(!json!(input).to_string().contains("canary"), "{input:?}");
        let placeholder = input["body"].as_str().expect("a text");
        assert_eq!(placeholder.len(), 140, "limits hold for it");
        assert_eq!(withheld.restore_placeholders(placeholder, &[]).as_deref(), letter["body"].as_str());
        assert_eq!(withheld.restore_placeholders("baton:kept of another call", &[]), None);
        assert_eq!(withheld.restore_placeholders("as it is", &[]).as_deref(), Some("as it is"));
    }

    #[test]
    fn a_context_is_merged_here_into_what_was_encrypted_before() {
        let mut input = object(json!({ "id": "t", "context": { "a": null, "c": "canary" } }));
        assert!(may_be_sensitive("task_close", &input));
        let new = object(json!({ "id": null, "agent_context": { "k": 1 } }));
        assert!(!may_be_sensitive("task_create", &new), "there is no such task yet");
        let withheld = WithheldText::of("task_close", &mut input, true);
        assert!(!json!(input).to_string().contains("canary"), "{input:?}");
        // The server merges what it was given into what stands for the old one, and has that encrypted.
        let mut merged = object(serde_json::from_str(&in_place_of("age…")).expect("json"));
        merged.insert("beside".into(), json!(1));
        patch::merge(&mut merged, &object(input["context"].clone()));
        let texts = [("age…".to_owned(), json!({ "a": 1, "b": 2 }).to_string())];
        let whole = withheld.restore_placeholders(&json!(merged).to_string(), &texts).expect("known");
        assert_eq!(
            object(serde_json::from_str(&whole).expect("json")),
            object(json!({ "b": 2, "beside": 1, "c": "canary" }))
        );
        assert_eq!(
            withheld.restore_placeholders(&json!(merged).to_string(), &[]),
            None,
            "not decrypted for this call"
        );
    }

    #[test]
    fn what_the_server_puts_together_and_what_is_not_sensitive_goes_as_it_is() {
        let handoff = object(json!({ "type": "task_handoff", "content": { "x": 1 }, "sensitive": true }));
        for (operation, input) in [
            ("mail_send", handoff.clone()),
            ("mail_send", object(json!({ "body": "open" }))),
            ("task_create", object(json!({ "agent_context": { "k": 1 } }))),
            ("task_create", object(json!({ "agent_context": {}, "sensitive": true }))),
        ] {
            let mut after = input.clone();
            WithheldText::of(operation, &mut after, false);
            assert_eq!(after, input, "{operation}");
        }
        assert!(is_exposed("mail_send", &handoff) && !is_exposed("task_create", &handoff));
    }

    #[test]
    fn an_answer_shows_what_was_decrypted_in_its_place() {
        let mut answer = json!({ "body": "age…", "task": { "agent_context": { "baton:sealed": "age…", "failure": "x" } } });
        reveal(&mut answer, "age…", "{\"k\":1}");
        assert_eq!(
            answer,
            json!({ "body": "{\"k\":1}", "task": { "agent_context": { "k": 1, "failure": "x" } } })
        );
    }
}
