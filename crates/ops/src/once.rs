//! One answer for one request: an operation that knows no request ids is run at most once for each key all the same.

use baton_model::refusal::{Kind, Refusal};
use baton_store::{Failure, FaultKind, request};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::handoff::{self, Advance};
use crate::op::{Access, Cx, Entry, Operation};
use crate::resolve;

/// Runs the operation, or returns what it answered to the same input under this key before. The answer is kept in the
/// transaction of the change itself, so neither is there without the other.
pub fn run(entry: &Entry, mut input: Value, key: &str, cx: &mut Cx<'_>) -> Result<Value, Failure> {
    baton_model::id::check_label("request id", key)?;
    if entry.access == Access::Read {
        return (entry.run)(input, cx);
    }
    if takes_request_id(entry) {
        if let Some(fields) = input.as_object_mut() {
            fields.entry("request_id").or_insert_with(|| key.into());
        }
        return (entry.run)(input, cx);
    }
    let project_id = kept_under(entry, &input, cx)?;
    let verb = format!("{}#{:016x}", entry.name, fingerprint(&input));
    if cx.store.in_batch() {
        return run_and_keep(entry, input, (&project_id, key, &verb), cx);
    }
    let mut tries = 0;
    loop {
        let answer = in_batch(cx, |cx| run_and_keep(entry, input.clone(), (&project_id, key, &verb), cx));
        match answer {
            // All of it is one transaction, and it did not happen.
            Err(Failure::Fault(fault)) if passes(fault.kind) && tries < TRIES => tries += 1,
            answer => return answer,
        }
    }
}

/// How often a request is run again after its transaction was lost.
const TRIES: u32 = 5;

fn passes(kind: FaultKind) -> bool {
    matches!(kind, FaultKind::Unreachable | FaultKind::Retry)
}

/// Everything or nothing.
fn in_batch(
    cx: &mut Cx<'_>,
    f: impl FnOnce(&mut Cx<'_>) -> Result<Value, Failure>,
) -> Result<Value, Failure> {
    cx.store.begin_batch()?;
    let answer = f(cx);
    match &answer {
        Ok(_) => cx.store.commit_batch()?,
        // Why it failed says more than that it could not be rolled back either.
        Err(_) => drop(cx.store.rollback_batch()),
    }
    answer
}

/// The project under which the answer is kept: the one that is named, that of the hand-off, or where the caller is.
fn kept_under(entry: &Entry, input: &Value, cx: &mut Cx<'_>) -> Result<String, Failure> {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    match (text("project"), text("id")) {
        // A hand-off has an id of its own; its caller need not stand in a project.
        (None, Some(id)) if entry.name == Advance::NAME => {
            let known = cx.store.read(|tx| handoff::by_id(tx, &cx.env.caller.grant, id))?;
            Ok(known.to_project_id)
        }
        (named, _) => resolve::project_id(cx.store, cx.env.caller, named),
    }
}

fn run_and_keep(
    entry: &Entry,
    input: Value,
    (project_id, key, verb): (&str, &str, &str),
    cx: &mut Cx<'_>,
) -> Result<Value, Failure> {
    if let Some(answer) = known(cx, project_id, key, verb)? {
        return Ok(answer);
    }
    let answer = (entry.run)(input, cx)?;
    let now = cx.env.now;
    let text = answer.to_string();
    cx.store.write(&[project_id], |tx| {
        // The operation refuses a project that is not there; one that writes elsewhere has nothing to be kept under.
        resolve::require(tx, project_id)?;
        Ok(request::put(tx, project_id, key, verb, &text, now)?)
    })?;
    Ok(answer)
}

/// What was answered before. It is looked for with the project's row in hand, so that the same request, come to another server
/// at the same time, has been answered there or waits for us.
fn known(cx: &mut Cx<'_>, project_id: &str, key: &str, verb: &str) -> Result<Option<Value>, Failure> {
    match cx.store.write(&[project_id], |tx| Ok(request::get(tx, project_id, key)?))? {
        None => Ok(None),
        Some((kept, answer)) if kept == verb => Ok(serde_json::from_str(&answer).ok()),
        Some(_) => Err(Refusal::new(
            Kind::Conflict,
            "request_reused",
            format!("the key `{key}` was used for another request"),
            "give every new request a key of its own",
        )
        .into()),
    }
}

fn takes_request_id(entry: &Entry) -> bool {
    (entry.input_schema)().get("properties").is_some_and(|known| known.get("request_id").is_some())
}

fn fingerprint(input: &Value) -> u64 {
    let digest = Sha256::digest(input.to_string().as_bytes());
    digest.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}
