//! `memory_add`: store what should not have to be learnt twice.

use baton_model::delta::Kind;
use baton_model::memory::{Memory, View, thousandths};
use baton_store::{Failure, memory};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::idempotency::request::{self, Request, Requester};
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Meta, Operation};
use crate::project::require_active;
use crate::resolve;

/// Stores a memory.
pub struct Add;

/// Input of `memory_add`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that remembers.
    #[serde(default)]
    pub identity: Option<String>,
    /// What is to be remembered.
    pub text: String,
    /// `note`, `decision`, `issue`, …: any label.
    #[serde(default = "note")]
    pub kind: String,
    /// Tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// 0 to 1; 0.4 is usual.
    #[serde(default = "default_importance")]
    pub importance: f64,
    /// Makes a retry return the same memory.
    #[serde(default)]
    pub request_id: Option<String>,
}

impl Default for AddInput {
    fn default() -> Self {
        Self {
            project: Default::default(),
            identity: Default::default(),
            text: Default::default(),
            kind: note(),
            tags: Default::default(),
            importance: default_importance(),
            request_id: Default::default(),
        }
    }
}

fn note() -> String {
    "note".into()
}

fn default_importance() -> f64 {
    0.4
}

/// Answer of `memory_add`: the memory.
#[derive(Serialize, Deserialize)]
pub struct AddOutput {
    /// The memory.
    #[serde(flatten)]
    pub memory: View,
}

impl Operation for Add {
    const META: Meta = Meta::write("memory_add", "Store a memory");
    type Input = AddInput;
    type Output = AddOutput;

    fn run(input: AddInput, cx: &mut Cx<'_>) -> Result<AddOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let wanted = Memory {
            project_id: project_id.clone(),
            kind: input.kind.clone(),
            text: input.text.clone(),
            tags: input.tags.clone(),
            importance: thousandths(input.importance)?,
            identity: identity.clone(),
            created_at: cx.env.now,
            ..Memory::default()
        };
        wanted.check()?;
        let Cx { store, env } = cx;
        let (who, scope) = (Requester::of(env, &identity), (project_id.as_str(), Self::NAME));
        let request = Request::of(env, &who, scope, input.request_id.as_deref(), &input)?;
        let memory = store.write(&[&project_id], |tx| {
            if let Some(known) = request::earlier_answer_of(tx, request.as_ref())? {
                return Ok(known);
            }
            require_active(tx, &project_id)?;
            resolve::admit_and_beat(tx, env, &project_id, &identity, Self::NAME)?;
            let stored = Memory { memory_id: env.id(), ..wanted.clone() };
            memory::insert(tx, &stored)?;
            let own = resolve::default_session(tx, env, &project_id, &identity)?;
            let author = Author { project_id: &project_id, identity: &identity, session: own.as_ref() };
            let body = json!({ "summary": headline(&stored.text), "memory_id": stored.memory_id });
            let delta = append_json(tx, env, &author, Kind::Remember, &body)?;
            super::enqueue_index(tx, env, &stored, delta.seq)?;
            let answer = View::from(&stored);
            request::keep(tx, env, request.as_ref(), &answer)?;
            Ok(answer)
        })?;
        Ok(AddOutput { memory })
    }
}

/// The first line, at most 200 characters.
pub(super) fn headline(text: &str) -> String {
    baton_model::packet::one_line(text)
}
