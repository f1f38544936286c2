//! One answer for one request: an operation that knows no request ids is run at most once for each key all the same.

use baton_model::refusal::{Kind, Refusal};
use baton_model::time::Millis;
use baton_store::{Failure, Fault, FaultKind, Store, project};
use serde_json::Value;

use crate::handoff::{self, Advance};
use crate::idempotency::request::{Request, Requester};
use crate::op::{Cx, Operation, OperationEntry, Retention, TxMode, authorize};
use crate::{project_name, resolve};

/// For how long an answer is kept for a retry, in milliseconds: a day.
const KEPT_FOR: Millis = 86_400_000;

/// Runs the operation, or returns what it answered to the same input under this key before. The answer is kept in the
/// transaction of the change itself, so neither is there without the other.
pub fn run(entry: &OperationEntry, mut input: Value, key: &str, cx: &mut Cx<'_>) -> Result<Value, Failure> {
    baton_model::id::check_label("request id", key)?;
    // A retried read needs no stored answer, and a reader has no store to keep one in.
    if entry.retention == Retention::Nothing || entry.tx_mode == TxMode::Read {
        return (entry.run)(input, cx);
    }
    if takes_request_id(entry) {
        if let Some(fields) = input.as_object_mut()
            && fields.get("request_id").is_none_or(Value::is_null)
        {
            fields.insert("request_id".to_owned(), key.into());
        }
        return (entry.run)(input, cx);
    }
    // Authorize before a stored answer is returned.
    authorize(&entry.meta, &cx.env, &input)?;
    let pending = KeyedRequest::of(entry, &input, key, cx)?;
    if cx.store.is_batch_open() {
        return pending.answer(input, cx);
    }
    let mut tries = 0;
    loop {
        match in_batch(cx, |cx| pending.answer(input.clone(), cx)) {
            // The whole batch was rolled back.
            Err(Failure::Fault(fault)) if passes(fault.kind) && tries < MAX_ATTEMPTS => tries += 1,
            answer => return answer,
        }
    }
}

/// How often a request is run again after its transaction was lost.
const MAX_ATTEMPTS: u32 = 5;

fn passes(kind: FaultKind) -> bool {
    matches!(kind, FaultKind::Unreachable | FaultKind::Retry)
}

/// Everything or nothing, but for what a refusal left behind on purpose, such as the note of a call that came too late.
fn in_batch(
    cx: &mut Cx<'_>,
    f: impl FnOnce(&mut Cx<'_>) -> Result<Value, Failure>,
) -> Result<Value, Failure> {
    cx.store.begin_batch()?;
    let answer = f(cx);
    match &answer {
        Ok(_) | Err(Failure::Refused(_)) => cx.store.commit_batch()?,
        // Keep the original error; a failed rollback says less.
        Err(_) => drop(cx.store.rollback_batch()),
    }
    answer
}

/// Deletes kept answers that have expired. Answers to request ids that callers chose themselves are kept.
pub fn forget(store: &mut Store, now: Millis) -> Result<u64, Failure> {
    store.write_relaxed(|tx| Ok(baton_store::request::forget(tx, now)?))
}

/// A request under a key, of an operation that knows no request ids.
struct KeyedRequest<'a> {
    entry: &'a OperationEntry,
    /// The project that it belongs to, if it belongs to any.
    project_id: Option<String>,
    request: Request,
}

impl<'a> KeyedRequest<'a> {
    fn of(entry: &'a OperationEntry, input: &Value, key: &str, cx: &mut Cx<'_>) -> Result<Self, Failure> {
        let text = |field: &str| input.get(field).and_then(Value::as_str);
        let project_id = kept_under(entry, input, cx)?;
        let identity = resolve::identity(cx.env.caller, text("identity"))?;
        let session = text("session").or(cx.env.caller.session.as_deref());
        let who = Requester { identity: &identity, session };
        let scope = (project_id.as_deref().unwrap_or_default(), entry.name);
        // Without a key there would be no request.
        let request =
            Request::of(&cx.env, &who, scope, Some(key), input)?.map(|request| request.kept_for(KEPT_FOR));
        let request =
            request.ok_or_else(|| Refusal::invalid("label_invalid", "the key is empty", "give one"))?;
        Ok(Self { entry, project_id, request })
    }

    fn answer(&self, input: Value, cx: &mut Cx<'_>) -> Result<Value, Failure> {
        if let Some(answer) = self.earlier_answer(cx)? {
            return self.replay(answer, input, cx);
        }
        let answer = (self.entry.run)(input, cx)?;
        // The caller was admitted, also where the operation made the first token: its answer belongs to the same transaction.
        cx.store.refuse_writes_once_token_exists(false);
        let noted = self.keep(cx, &answer);
        cx.store.refuse_writes_once_token_exists(cx.env.caller.grant.until_first_token);
        noted?;
        Ok(answer)
    }

    /// The kept answer of a repeated request. It is looked up under the lock on the project's row, so that the same
    /// request at another server has either been answered there or waits for this one.
    fn earlier_answer(&self, cx: &mut Cx<'_>) -> Result<Option<Value>, Failure> {
        let projects: Vec<&str> = self.project_id.as_deref().into_iter().collect();
        cx.store.write(&projects, |tx| {
            let own = match &self.project_id {
                Some(_) => self.request.earlier_answer(tx)?,
                None => None,
            };
            // One that made its project was kept before there was any.
            match own {
                Some(own) => Ok(Some(own)),
                None => self.request.outside().earlier_answer(tx),
            }
        })
    }

    fn replay(&self, answer: Value, input: Value, cx: &mut Cx<'_>) -> Result<Value, Failure> {
        let field = match self.entry.retention {
            Retention::Without(field) => field,
            Retention::Only(_) => return self.done_again(&answer, input, cx),
            Retention::Full | Retention::Reference(_) | Retention::Nothing => {
                return (self.entry.replay)(answer, cx);
            }
        };
        let mut refusal = Refusal::new(
            Kind::Conflict,
            "secret_shown_once",
            format!("this was done under the same key before, and its `{field}` is shown only once"),
            "take back what was made, and make another under another key",
        );
        refusal.details.extend(answer.as_object().cloned().unwrap_or_default());
        Err(refusal.into())
    }

    /// The answer of an operation that is run again, with what was kept of the first answer.
    fn done_again(&self, stored: &Value, input: Value, cx: &mut Cx<'_>) -> Result<Value, Failure> {
        let mut answer = (self.entry.run)(input, cx)?;
        if let (Some(fields), Some(stored)) = (answer.as_object_mut(), stored.as_object()) {
            fields.extend(stored.clone());
        }
        Ok(answer)
    }

    /// Keeps the answer beside what it belongs to.
    fn keep(&self, cx: &mut Cx<'_>, answer: &Value) -> Result<(), Failure> {
        let mut stored = answer.clone();
        hide(&mut stored);
        match (self.entry.retention, stored.as_object_mut()) {
            (Retention::Without(field), Some(fields)) => drop(fields.remove(field)),
            (Retention::Only(names) | Retention::Reference(names), Some(fields)) => {
                fields.retain(|name, _| names.contains(&name.as_str()))
            }
            _ => {}
        }
        let now = cx.env.now;
        if let Some(project_id) = &self.project_id {
            // No number of the ledger is taken: a client that sends keys leaves the same ledger as one that does not.
            let there = cx.store.write_shared(|tx| {
                let there = project::get(tx, project_id)?.is_some();
                if there {
                    self.request.keep(tx, now, &stored)?;
                }
                Ok(there)
            })?;
            if there {
                return Ok(());
            }
        }
        let first = cx.store.write_shared(|tx| self.request.outside().keep_first(tx, now, &stored))?;
        if first {
            return Ok(());
        }
        // The transaction is rolled back: the other request's answer counts.
        Err(Fault::new(FaultKind::Retry, "the same request was answered meanwhile").into())
    }
}

/// Removes the decrypted contexts of sensitive tasks before an answer is kept. A repeated request reads them from the
/// task, which is decrypted anew.
fn hide(answer: &mut Value) {
    match answer {
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Object(fields) => {
            if fields.get("sensitive").is_some_and(|value| *value == true) {
                fields.retain(|name, _| !matches!(name.as_str(), "agent_context" | "handoff_instructions"));
                // An answer has its packet in any case: it is as if there was none.
                fields.entry("packet").and_modify(|packet| *packet = Value::Null);
            }
            fields.values_mut().for_each(hide);
        }
        _ => {}
    }
}

/// The project under which the answer is kept: the one that is named, that of the hand-off, or where the caller is.
fn kept_under(entry: &OperationEntry, input: &Value, cx: &mut Cx<'_>) -> Result<Option<String>, Failure> {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    let found = match (text("project"), text("id")) {
        // A hand-off has an id of its own; its caller need not stand in a project.
        (None, Some(id)) if entry.name == Advance::NAME => {
            let known = cx.store.read(|tx| handoff::by_id(tx, &cx.env.caller.grant, id))?;
            Ok(known.to_project_id)
        }
        (named, _) => resolve::project_id(cx.store, &cx.env, named),
    };
    match found {
        Ok(project_id) => Ok(Some(id_of_name(project_id, cx)?)),
        // A name that a project was given leads to it; what the token does not reach stays unknown.
        Err(failure) if let Some(renamed) = project_name::look_up(&failure, cx.store, cx.env.caller) => {
            match cx.env.caller.grant.reaches(&renamed.project_id) {
                true => Ok(Some(renamed.project_id)),
                false => Err(failure),
            }
        }
        // Whether it needs one is for the operation to say.
        Err(Failure::Refused(refusal)) if NOWHERE.contains(&refusal.code) => Ok(None),
        Err(other) => Err(other),
    }
}

/// The id of the project that is called so, where no project has this id: a repeated request may name its project anew.
fn id_of_name(named: String, cx: &mut Cx<'_>) -> Result<String, Failure> {
    let grant = &cx.env.caller.grant;
    let renamed = cx.store.read(|tx| {
        let is_id = project::get(tx, &named)?.is_some();
        Ok(if is_id { None } else { project::of_name(tx, &named)? })
    })?;
    Ok(renamed.filter(|id| grant.reaches(id)).unwrap_or(named))
}

/// How a call is refused that is in no project, or in none that is clearly meant.
const NOWHERE: [&str; 3] = ["project_unresolved", "project_ambiguous", "project_is_clone"];

fn takes_request_id(entry: &OperationEntry) -> bool {
    (entry.input_schema)().get("properties").is_some_and(|known| known.get("request_id").is_some())
}
