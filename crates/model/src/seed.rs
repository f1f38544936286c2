//! Session states that are seeded, and which one a caller means when it wants to go on.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::id::identity_key;
use crate::time::{Millis, Timestamp};

/// What a seeded state says about the work.
#[derive(Debug, Clone, Copy)]
pub struct SeededWork<'a> {
    /// The hand-off.
    pub handoff_id: &'a str,
    /// Where it comes from.
    pub from_project_id: &'a str,
    /// Its one line.
    pub subject: &'a str,
    /// The task's id in its tracker, once there is one.
    pub task_id: Option<&'a str>,
    /// The task's page, if it has one.
    pub task_url: Option<&'a str>,
    /// Phase and stage that the caller wishes.
    pub phase: Option<&'a str>,
    /// See `phase`.
    pub stage: Option<&'a str>,
}

/// The state with the work as its next action. What else it holds stays.
pub fn with_work(state: Option<Value>, work: &SeededWork<'_>) -> Value {
    let mut fields = match state {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    if let Some(phase) = work.phase {
        fields.insert("current_phase".into(), json!(phase));
    }
    if let Some(stage) = work.stage {
        fields.insert("current_stage".into(), json!(stage));
    }
    let mut metadata = match fields.remove("metadata") {
        Some(Value::Object(metadata)) => metadata,
        _ => Map::new(),
    };
    if let Some(id) = work.task_id {
        metadata.insert("current_task_id".into(), json!(id));
    }
    metadata.remove("current_task_url");
    if let Some(url) = work.task_url {
        metadata.insert("current_task_url".into(), json!(url));
    }
    metadata.insert("handoff_from_project_id".into(), json!(work.from_project_id));
    metadata.insert("handoff_id".into(), json!(work.handoff_id));
    fields.insert("next_action".into(), action_of(work));
    fields.insert("metadata".into(), Value::Object(metadata));
    Value::Object(fields)
}

/// The next action of a state that has this work.
fn action_of(work: &SeededWork<'_>) -> Value {
    let id = work.task_id.unwrap_or("<task_id>");
    let mut action = json!({ "description": format!("Work on task {id}: {}", work.subject) });
    if let Some(id) = work.task_id {
        action["task_id"] = json!(id);
    }
    if let Some(url) = work.task_url {
        action["task_url"] = json!(url);
    }
    action
}

/// The state without this hand-off's work, which is over. What the work replaced is as in the state `before` it again, unless it was
/// changed since. What else the state holds stays.
pub fn without_work(state: Value, before: &Value, work: &SeededWork<'_>) -> Value {
    let is_of_it = state.pointer("/metadata/handoff_id").and_then(Value::as_str) == Some(work.handoff_id);
    let Value::Object(mut fields) = state else { return state };
    if !is_of_it {
        return Value::Object(fields);
    }
    // The tracker may call the task otherwise by now.
    let next_task = fields.get("next_action").and_then(|action| action.get("task_id")).cloned();
    let is_task = |task: &Option<Value>| task.as_ref().and_then(Value::as_str) == work.task_id;
    let is_next = fields.get("next_action").is_some_and(|action| {
        let text = |key: &str| action.get(key).and_then(Value::as_str);
        work.task_id.is_some() && is_task(&next_task)
            || *action
                == action_of(&SeededWork { task_id: text("task_id"), task_url: text("task_url"), ..*work })
    });
    if is_next {
        put_back(&mut fields, before, "next_action");
    }
    for (key, seeded) in [("current_phase", work.phase), ("current_stage", work.stage)] {
        if seeded.is_some() && fields.get(key).and_then(Value::as_str) == seeded {
            put_back(&mut fields, before, key);
        }
    }
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        let before = before.get("metadata").unwrap_or(&Value::Null);
        let task = metadata.get("current_task_id").cloned();
        if is_task(&task) || is_next && task == next_task {
            put_back(metadata, before, "current_task_id");
            put_back(metadata, before, "current_task_url");
        }
        put_back(metadata, before, "handoff_from_project_id");
        put_back(metadata, before, "handoff_id");
    }
    Value::Object(fields)
}

/// Gives a field the value that it had before, or removes it.
fn put_back(fields: &mut Map<String, Value>, before: &Value, key: &str) {
    match before.get(key) {
        Some(value) => fields.insert(key.to_owned(), value.clone()),
        None => fields.remove(key),
    };
}

/// A saved state that matches a request.
#[derive(Debug, Clone, PartialEq)]
pub struct SeedCandidate {
    /// Whose it is.
    pub identity: String,
    /// The task part of its key; empty for an identity's own state.
    pub task_id: String,
    /// The session that saved it last, or the seeded one that waits.
    pub session_id: String,
    /// Its version.
    pub version: i64,
    /// The state.
    pub state: Value,
    /// When it was saved.
    pub updated_at: Millis,
}

impl SeedCandidate {
    /// As answers show it.
    pub fn view(&self) -> View {
        let part = |key: &str| self.state.get(key).cloned().unwrap_or_default();
        View {
            identity: self.identity.clone(),
            task_id: self.task_id.clone(),
            session_id: self.session_id.clone(),
            version: self.version,
            next_action: part("next_action"),
            current_phase: part("current_phase"),
            updated_at: Timestamp(self.updated_at),
        }
    }
}

/// A saved state in a list: everything but most of its content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Whose it is.
    pub identity: String,
    /// The task part of its key; empty for an identity's own state.
    pub task_id: String,
    /// The session that saved it last, or the seeded one that waits.
    pub session_id: String,
    /// Its version.
    pub version: i64,
    /// What the state calls its next action, in whatever form; `null` where it names none.
    pub next_action: Value,
    /// The phase that the state names; `null` where it names none.
    pub current_phase: Value,
    /// When it was saved.
    pub updated_at: Timestamp,
}

impl View {
    /// The description of its next action; empty where there is none.
    pub fn next_action(&self) -> &str {
        self.next_action.get("description").and_then(Value::as_str).unwrap_or_default()
    }
}

/// The description of a state's next action; empty where there is none.
pub fn next_action(state: &Value) -> &str {
    state.pointer("/next_action/description").and_then(Value::as_str).unwrap_or_default()
}

/// What the caller said.
#[derive(Debug, Clone, Copy, Default)]
pub struct StateRequest<'a> {
    /// Who asks.
    pub identity: &'a str,
    /// The task that it names.
    pub task_id: Option<&'a str>,
    /// What the user said, in words.
    pub said: Option<&'a str>,
    /// An explicit request to go on, whatever the words are.
    pub resume: bool,
}

/// Which state it is.
#[derive(Debug, Clone, PartialEq)]
pub enum StateChoice {
    /// The very tuple that was named, or the only one that can be meant.
    Continue(SeedCandidate),
    /// Several could be meant, best first.
    Required(Vec<SeedCandidate>),
    /// None: begin anew.
    New,
}

/// Chooses: the exact tuple; else, with a request to go on, the one candidate or a choice between several; else new.
pub fn choose(request: &StateRequest<'_>, mut candidates: Vec<SeedCandidate>) -> StateChoice {
    let mine = |c: &SeedCandidate| identity_key(&c.identity) == identity_key(request.identity);
    let exact = request.task_id.and_then(|task| candidates.iter().position(|c| mine(c) && c.task_id == task));
    if let Some(at) = exact {
        return StateChoice::Continue(candidates.swap_remove(at));
    }
    if !request.resume && !request.said.is_some_and(wants_to_go_on) {
        return StateChoice::New;
    }
    let words = crate::memory::query_words(request.said.unwrap_or_default());
    candidates.sort_by_key(|c| {
        (!mine(c), std::cmp::Reverse(matching(c, &words)), -c.updated_at, c.session_id.clone())
    });
    match candidates.len() {
        0 => StateChoice::New,
        1 => StateChoice::Continue(candidates.remove(0)),
        _ => StateChoice::Required(candidates),
    }
}

/// Whether a sentence asks to go on with something that was begun.
fn wants_to_go_on(text: &str) -> bool {
    const WORDS: [&str; 7] = ["continue", "resume", "carry", "proceed", "unfinished", "pickup", "resuming"];
    const PHRASES: [&str; 7] =
        ["pick up", "go on", "where we left", "where i left", "where you left", "keep going", "left off"];
    let lower = text.to_lowercase();
    crate::memory::query_words(text).iter().any(|word| WORDS.contains(&word.as_str()))
        || PHRASES.iter().any(|phrase| lower.contains(phrase))
}

/// How many words of a question stand in the next action or the task.
fn matching(candidate: &SeedCandidate, words: &[String]) -> usize {
    let action = candidate.state.get("next_action").map(Value::to_string).unwrap_or_default();
    let known = crate::memory::query_words(&format!("{action} {}", candidate.task_id));
    words.iter().filter(|word| known.contains(word)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work() -> SeededWork<'static> {
        SeededWork {
            handoff_id: "h1",
            from_project_id: "x",
            subject: "Add it",
            task_id: Some("gh-o/r-1"),
            task_url: Some("https://github.com/o/r/issues/1"),
            phase: Some("Handoff"),
            stage: None,
        }
    }

    #[test]
    fn a_seed_names_the_task_and_keeps_the_rest() {
        let state = with_work(None, &work());
        assert_eq!(
            state,
            json!({
                "current_phase": "Handoff",
                "next_action": {
                    "description": "Work on task gh-o/r-1: Add it", "task_id": "gh-o/r-1",
                    "task_url": "https://github.com/o/r/issues/1",
                },
                "metadata": {
                    "current_task_id": "gh-o/r-1", "current_task_url": "https://github.com/o/r/issues/1",
                    "handoff_from_project_id": "x", "handoff_id": "h1",
                },
            })
        );
        let before = json!({ "last_checkpoint": "c", "next_action": { "description": "old" }, "metadata": { "mine": 1 } });
        let after = with_work(Some(before), &SeededWork { task_url: None, ..work() });
        assert_eq!(
            (after["last_checkpoint"].clone(), after["metadata"]["mine"].clone()),
            (json!("c"), json!(1))
        );
        assert_eq!(after["next_action"]["description"], "Work on task gh-o/r-1: Add it");
    }

    #[test]
    fn work_that_is_over_leaves_the_rest_of_a_state() {
        let before = json!({ "last_checkpoint": "c", "current_stage": "own", "metadata": { "mine": 1, "current_task_id": "t1" },
            "next_action": { "description": "round the cents" }, "current_phase": "Own" });
        let work = SeededWork { stage: Some("First"), ..work() };
        let seeded = with_work(Some(before.clone()), &work);
        assert_eq!(without_work(seeded.clone(), &before, &work), before);
        let nothing = Value::Null;
        assert_eq!(without_work(with_work(None, &work), &nothing, &work), json!({ "metadata": {} }));
        let another = SeededWork { handoff_id: "h2", ..work };
        assert_eq!(without_work(seeded.clone(), &before, &another), seeded, "another hand-off's");
        let mut later = seeded;
        later["next_action"] = json!({ "description": "my own", "task_id": "t9" });
        later["current_phase"] = json!("Later");
        let left = without_work(later, &before, &work);
        assert_eq!(
            (&left["next_action"]["task_id"], &left["current_phase"]),
            (&json!("t9"), &json!("Later"))
        );
        assert_eq!(left["current_stage"], "own");
        // A task that a session has put there since stays, in both places.
        let mut later = with_work(Some(before.clone()), &work);
        later["next_action"] = json!({ "description": "my own", "task_id": "t9" });
        later["metadata"]["current_task_id"] = json!("t9");
        let left = without_work(later, &before, &work);
        assert_eq!(
            (&left["next_action"]["task_id"], &left["metadata"]["current_task_id"]),
            (&json!("t9"), &json!("t9"))
        );
        assert_eq!(left["metadata"].get("handoff_id"), None);
        // The tracker calls the task otherwise by now: it is the same one.
        let renamed = SeededWork { task_id: Some("gh-o/library-1"), ..work };
        assert_eq!(without_work(with_work(Some(before.clone()), &work), &before, &renamed), before);
        // Without a task, an action that names none is not the hand-off's by that.
        let work = SeededWork { task_id: None, ..work };
        let mut later = with_work(None, &work);
        assert_eq!(without_work(later.clone(), &nothing, &work).get("next_action"), None);
        later["next_action"] = json!({ "description": "my own" });
        assert_eq!(without_work(later, &nothing, &work)["next_action"]["description"], "my own");
    }

    fn candidate(identity: &str, task: &str, action: &str, at: Millis) -> SeedCandidate {
        SeedCandidate {
            identity: identity.into(),
            task_id: task.into(),
            session_id: format!("{identity}-{task}"),
            version: 1,
            state: json!({ "next_action": { "description": action } }),
            updated_at: at,
        }
    }

    fn check(request: StateRequest<'_>, candidates: &[SeedCandidate]) -> String {
        match choose(&StateRequest { identity: "Donna", ..request }, candidates.to_vec()) {
            StateChoice::New => "new".into(),
            StateChoice::Continue(c) => c.session_id,
            StateChoice::Required(all) => {
                all.iter().map(|c| c.session_id.as_str()).collect::<Vec<_>>().join(" ")
            }
        }
    }

    #[test]
    fn what_the_user_said_chooses_the_session() {
        let one = [candidate("donna", "t1", "fix the cart", 1)];
        let three = [
            candidate("Lola", "t2", "fix the login", 9),
            candidate("Donna", "t1", "fix the cart", 1),
            candidate("Donna", "t3", "write docs", 5),
        ];
        let request = |text| StateRequest { said: Some(text), ..StateRequest::default() };
        let task = |task| StateRequest { task_id: Some(task), ..StateRequest::default() };
        assert_eq!(check(task("t1"), &three), "Donna-t1", "an exact tuple goes on without a word");
        assert_eq!(
            check(task("t2"), &three),
            "new",
            "the task of somebody else is not taken without a request"
        );
        assert_eq!(check(request("begin the release"), &three), "new");
        assert_eq!(check(StateRequest::default(), &one), "new");
        assert_eq!(check(request("please continue"), &one), "donna-t1");
        assert_eq!(check(StateRequest { resume: true, ..StateRequest::default() }, &one), "donna-t1");
        assert_eq!(check(request("continue"), &[]), "new");
        assert_eq!(check(request("continue with the cart"), &three), "Donna-t1 Donna-t3 Lola-t2");
        assert_eq!(check(request("go on with the docs"), &three), "Donna-t3 Donna-t1 Lola-t2");
        assert_eq!(
            check(request("where we left off"), &three),
            "Donna-t3 Donna-t1 Lola-t2",
            "else the newest first"
        );
    }
}
