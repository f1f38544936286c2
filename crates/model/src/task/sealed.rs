//! Contexts of a sensitive task as they are stored: encrypted, beside the names of their readers.

use serde_json::{Map, Value, json};

use super::Task;
use super::record::OWN;
use crate::refusal::{Kind, Refusal};

/// The key under which the encrypted text stands.
const TEXT: &str = "sealed";
/// The key under which its readers stand.
const READERS: &str = "readers";
/// The key under which a caller who cannot decrypt it is shown its readers.
const READABLE_BY: &str = "sealed_for";
/// The key under which the encrypted text stands in the place of a plain context, where only a client can decrypt it.
pub const PLACEHOLDER: &str = "baton:sealed";
/// What follows the name of a plain field that the encrypted text has, too.
const BESIDE: &str = " (not encrypted)";
/// How an encrypted text begins.
const HEAD: &str = "-----BEGIN AGE ENCRYPTED FILE-----";
/// How it ends.
const TAIL: &str = "-----END AGE ENCRYPTED FILE-----";
/// The fewest characters of an encrypted text for one reader: its header alone has more.
const LEAST: usize = 200;

/// The object that stands in place of a context.
pub fn object(text: &str, readers: &[String]) -> Map<String, Value> {
    [(TEXT.to_owned(), json!(text)), (READERS.to_owned(), json!(readers))].into_iter().collect()
}

/// The encrypted text of a context, if it is encrypted.
pub fn text(context: &Map<String, Value>) -> Option<&str> {
    context.get(TEXT).and_then(Value::as_str).filter(|text| is_encrypted(text))
}

/// Whether a text is an encrypted one.
pub fn is_encrypted(text: &str) -> bool {
    text.starts_with(HEAD)
}

/// Whether an encrypted text has an end and something between: what was cut or made up cannot be decrypted.
pub fn is_whole(text: &str) -> bool {
    let inside = text.trim_end().strip_prefix(HEAD).and_then(|rest| rest.strip_suffix(TAIL));
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '\n' | '\r');
    inside.is_some_and(|inside| inside.trim().len() >= LEAST && inside.chars().all(is_base64))
}

/// Whether an encrypted text stands in the place of the plain context.
pub fn is_encrypted_context(context: &Map<String, Value>) -> bool {
    context.get(PLACEHOLDER).and_then(Value::as_str).is_some_and(|text| text.starts_with(HEAD))
}

/// Whether a task is sensitive.
pub fn is_sensitive(task: &Task) -> bool {
    [&task.agent_context, &task.handoff_instructions].into_iter().any(|context| text(context).is_some())
}

/// The readers of a sensitive task: those that can decrypt every encrypted context; none where nothing is encrypted.
pub fn readers(task: &Task) -> Option<Vec<&str>> {
    let sealed = [&task.agent_context, &task.handoff_instructions].into_iter().filter(|c| text(c).is_some());
    let named = |context: &'_ Map<String, Value>| -> Vec<String> {
        let list = context.get(READERS).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(|name| name.as_str().map(str::to_owned)).collect()
    };
    let lists: Vec<Vec<String>> = sealed.clone().map(named).collect();
    let first = sealed.into_iter().next()?.get(READERS).and_then(Value::as_array)?;
    let all =
        |name: &&str| lists.iter().all(|list| list.iter().any(|other| other.eq_ignore_ascii_case(name)));
    Some(first.iter().filter_map(Value::as_str).filter(all).collect())
}

/// Refuses who is not among the readers of a sensitive task.
pub fn check_reader(task: &Task, identity: &str) -> Result<(), Refusal> {
    let Some(readers) = readers(task) else { return Ok(()) };
    if readers.iter().any(|name| name.eq_ignore_ascii_case(identity)) {
        return Ok(());
    }
    Err(Refusal::new(
        Kind::Refused,
        "not_a_reader",
        format!("task {} is sensitive, and {identity} is not among those who can read it", task.task_id),
        format!(
            "`baton key create --as {identity}` lists a key; then {} writes it anew with `baton task update {} --sensitive`",
            readers.first().unwrap_or(&"a reader"),
            task.task_id
        ),
    )
    .with("readers", json!(readers)))
}

/// The remembered line of a sensitive task without the plain contexts that it had before.
pub fn without_plain(line: &str) -> String {
    let Ok(mut row) = serde_json::from_str::<Value>(line) else { return line.to_owned() };
    let Some(Value::Object(own)) = row.pointer_mut(&format!("/metadata/{OWN}")) else {
        return line.to_owned();
    };
    let is_plain = |context: &Value| context.as_object().is_none_or(|context| text(context).is_none());
    for name in ["agent_context", "handoff_instructions"] {
        if own.get(name).is_some_and(is_plain) {
            own.shift_remove(name);
        }
    }
    row.to_string()
}

/// The contexts of a task in a kept answer, wherever they stand in it, as a caller that cannot decrypt them sees them.
pub fn redact_answer(answer: &mut Value, task: &Task) {
    match answer {
        Value::Array(items) => items.iter_mut().for_each(|item| redact_answer(item, task)),
        Value::Object(fields) => {
            let is_it = ["id", "task_id"].iter().any(|key| fields.get(*key) == Some(&json!(task.task_id)));
            for (name, context) in
                [("agent_context", &task.agent_context), ("handoff_instructions", &task.handoff_instructions)]
            {
                if is_it && fields.get(name).is_some_and(Value::is_object) {
                    fields.insert(name.to_owned(), Value::Object(redacted_view(context)));
                }
            }
            fields.values_mut().for_each(|value| redact_answer(value, task));
        }
        _ => {}
    }
}

/// A context as shown to a caller that cannot decrypt it: its readers, and the plain fields beside the encrypted text.
pub fn redacted_view(context: &Map<String, Value>) -> Map<String, Value> {
    if text(context).is_none() {
        return context.clone();
    }
    let mut shown = context.clone();
    shown.shift_remove(TEXT);
    let readers = shown.shift_remove(READERS).unwrap_or_default();
    shown.shift_insert(0, READABLE_BY.into(), readers);
    shown
}

/// Whether a context is shown so: there is more in it than its reader can decrypt.
pub fn is_redacted(context: &Map<String, Value>) -> bool {
    context.contains_key(READABLE_BY)
}

/// The plain context: what was decrypted, with what stands beside the encrypted text. What is no JSON object is refused.
pub fn with_plain_text(context: &Map<String, Value>, plain: &str) -> Result<Map<String, Value>, Refusal> {
    let mut whole: Map<String, Value> = serde_json::from_str(plain).map_err(|error| {
        let what = format!("what was encrypted is no JSON object: {error}");
        Refusal::new(Kind::Refused, "sealed_damaged", what, "write the context anew")
    })?;
    let mut beside = context.clone();
    beside.shift_remove(TEXT);
    beside.shift_remove(READERS);
    merge_plain_fields(&mut whole, beside);
    Ok(whole)
}

/// Adds the plain fields that stand beside an encrypted text to what was decrypted. One that is in it, too, gets another name: anybody
/// who writes the file can have put it there.
pub fn merge_plain_fields(decrypted: &mut Map<String, Value>, beside: Map<String, Value>) {
    for (key, value) in beside {
        let key = if decrypted.contains_key(&key) { format!("{key}{BESIDE}") } else { key };
        decrypted.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(readers: &[&str]) -> Map<String, Value> {
        let readers: Vec<String> = readers.iter().map(|name| (*name).to_owned()).collect();
        object(&format!("{HEAD}\nabc\n"), &readers)
    }

    #[test]
    fn only_who_reads_both_contexts_reads_the_task() {
        let mut task = Task { agent_context: sealed(&["Ann", "Bob"]), ..Task::default() };
        assert_eq!(readers(&task), Some(vec!["Ann", "Bob"]));
        task.handoff_instructions = sealed(&["BOB", "Cleo"]);
        assert_eq!(readers(&task), Some(vec!["Bob"]));
        assert!(check_reader(&task, "bob").is_ok());
        assert_eq!(check_reader(&task, "Ann").map_err(|refusal| refusal.code), Err("not_a_reader"));
        let open = Task { agent_context: sealed_like(), ..Task::default() };
        assert_eq!((readers(&open), is_sensitive(&open)), (None, false));
    }

    /// A context of a user's own that has the same key.
    fn sealed_like() -> Map<String, Value> {
        [("sealed".to_owned(), json!("with wax"))].into_iter().collect()
    }

    #[test]
    fn what_stands_beside_is_shown_and_goes_along() {
        let mut context = sealed(&["Ann"]);
        context.insert("failure".into(), json!("boom"));
        assert_eq!(json!(redacted_view(&context)), json!({ "sealed_for": ["Ann"], "failure": "boom" }));
        let whole = with_plain_text(&context, r#"{"work_completed": "x"}"#).expect("an object");
        assert_eq!(json!(whole), json!({ "work_completed": "x", "failure": "boom" }));
        let shadowed = with_plain_text(&context, r#"{"failure": "none"}"#).expect("an object");
        assert_eq!(json!(shadowed), json!({ "failure": "none", "failure (not encrypted)": "boom" }));
        assert_eq!(with_plain_text(&context, "[1]").map_err(|refusal| refusal.code), Err("sealed_damaged"));
        assert_eq!(redacted_view(&sealed_like()), sealed_like());
    }
}
