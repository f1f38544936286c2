//! `handoff_create`: leave work for another project.

use baton_model::delta::Kind;
use baton_model::handoff::{Event, Handoff, State};
use baton_model::id::{check_identity, check_label, check_project};
use baton_model::packet::Sealed;
use baton_model::refusal::Refusal;
use baton_model::task::Task;
use baton_store::{Failure, handoff, project};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::ledger::{Author, append_json};
use crate::op::{Access, Cx, Env, Operation};
use crate::resolve;
use crate::session::{keep, replay};
use crate::task::add as add_task;

/// Leaves work for another project.
pub(crate) struct Create;

/// Input of `handoff_create`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The sender's project; else from the working directory.
    #[serde(default)]
    from_project_id: Option<String>,
    /// The receiver's project.
    to_project_id: String,
    /// Identity that sends it.
    #[serde(default)]
    identity: Option<String>,
    /// One line: the title of the task.
    subject: String,
    /// What is to be done.
    #[serde(default)]
    description: String,
    /// Labels of the task.
    #[serde(default)]
    tags: Vec<String>,
    /// `critical`, `high`, `normal`, `low`, or 0 to 4.
    #[serde(default)]
    priority: Option<Value>,
    /// Where it comes from: repository, ref, documents.
    #[serde(default)]
    links: Map<String, Value>,
    /// A hand-off packet: an object, or its exact text.
    #[serde(default)]
    packet: Option<Value>,
    /// The identity it is addressed to.
    #[serde(default)]
    to_identity: Option<String>,
    /// The role it is addressed to.
    #[serde(default)]
    to_role: Option<String>,
    /// Check and show what would be written; write nothing.
    #[serde(default)]
    dry_run: bool,
    /// Makes a retry return the same hand-off.
    #[serde(default)]
    request_id: Option<String>,
}

impl Operation for Create {
    const NAME: &'static str = "handoff_create";
    const DOC: &'static str =
        "Leave work for another project: a task with its packet, offered to whoever picks it up";
    const ACCESS: Access = Access::Write;
    type Input = Input;
    type Output = Value;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Value, Failure> {
        let packet = check(&input)?;
        let from = resolve::project_id(cx.store, cx.env.caller, input.from_project_id.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let (handoff, task) = plan(&input, &from, &identity, &packet, cx.env.now)?;
        let known =
            cx.store.read(|tx| Ok((project::get(tx, &from)?, project::get(tx, &input.to_project_id)?)))?;
        if known.0.is_none() {
            return Err(resolve::unknown_project(&from).into());
        }
        let warnings = match known.1 {
            Some(_) => Vec::new(),
            None => vec![
                json!({ "kind": "placeholder_project", "message": format!("project {} was not known and is registered as a placeholder", input.to_project_id) }),
            ],
        };
        if input.dry_run {
            return Ok(json!({
                "dry_run": true, "project_id": from, "identity": identity, "warnings": warnings,
                "would_create_task": task.to_json(), "would_create_handoff": handoff.to_json(),
            }));
        }
        let Cx { store, env } = cx;
        let mut answer = store.write(&[&from, &input.to_project_id], |tx| {
            if let Some(answer) = replay(tx, &from, input.request_id.as_deref(), Self::NAME)? {
                return Ok(answer);
            }
            project::create(tx, &input.to_project_id, true, env.now)?;
            resolve::beat(tx, env, &from, &identity, Self::NAME)?;
            let answer = write(tx, env, &handoff, &task)?;
            keep(tx, env, &from, input.request_id.as_deref(), Self::NAME, &answer)?;
            Ok(answer)
        })?;
        answer["warnings"] = json!(warnings);
        Ok(answer)
    }
}

fn check(input: &Input) -> Result<String, Refusal> {
    check_project(&input.to_project_id)?;
    if let Some(name) = &input.to_identity {
        check_identity(name)?;
    }
    for label in input.tags.iter().chain(&input.to_role) {
        check_label("tag", label)?;
    }
    match &input.packet {
        None => Ok(String::new()),
        Some(Value::String(text)) => Sealed::parse(text.clone()).map(|sealed| sealed.text().to_owned()),
        Some(value) => Sealed::parse(value.to_string()).map(|sealed| sealed.text().to_owned()),
    }
}

fn priority(value: Option<&Value>) -> Result<i64, Refusal> {
    let number = match value {
        None => Some(2),
        Some(Value::Number(n)) => n.as_i64(),
        Some(Value::String(word)) => match word.to_ascii_lowercase().as_str() {
            "critical" | "urgent" | "p0" | "0" => Some(0),
            "high" | "p1" | "1" => Some(1),
            "normal" | "medium" | "p2" | "2" => Some(2),
            "low" | "p3" | "3" => Some(3),
            "p4" | "4" => Some(4),
            _ => None,
        },
        Some(_) => None,
    };
    number.filter(|n| (0..=4).contains(n)).ok_or_else(|| {
        Refusal::invalid(
            "priority_invalid",
            "the priority is not known",
            "use critical, high, normal, low, or 0 to 4",
        )
    })
}

fn plan(
    input: &Input,
    from: &str,
    identity: &str,
    packet: &str,
    now: i64,
) -> Result<(Handoff, Task), Refusal> {
    let mut labels = input.tags.clone();
    if !labels.iter().any(|label| label == "handoff") {
        labels.push("handoff".into());
    }
    let mut task = Task {
        project_id: input.to_project_id.clone(),
        title: input.subject.clone(),
        description: input.description.clone(),
        status: "open".into(),
        priority: priority(input.priority.as_ref())?,
        issue_type: "task".into(),
        agent_role: input.to_role.clone(),
        assignee: input.to_identity.clone(),
        labels,
        ..Task::default()
    };
    if !input.links.is_empty() {
        task.extra.insert("links".into(), json!(input.links));
    }
    task.check(None)?;
    let handoff = Handoff {
        handoff_id: String::new(),
        state: State::Planned.advance(Event::Offer)?,
        subject: input.subject.clone(),
        from_project_id: from.to_owned(),
        to_project_id: input.to_project_id.clone(),
        from_identity: identity.to_owned(),
        to_identity: input.to_identity.clone(),
        to_role: input.to_role.clone(),
        packet: packet.to_owned(),
        task_id: None,
        result: None,
        last_error: None,
        created_at: now,
        updated_at: now,
    };
    Ok((handoff, task))
}

fn write(
    tx: &mut baton_store::Tx<'_>,
    env: &mut Env<'_>,
    handoff: &Handoff,
    task: &Task,
) -> Result<Value, Failure> {
    let receiver =
        Author { project_id: &handoff.to_project_id, identity: &handoff.from_identity, session: None };
    let mut handoff = Handoff { handoff_id: env.id(), ..handoff.clone() };
    let mut task = task.clone();
    task.extra.insert("handoff_id".into(), json!(handoff.handoff_id));
    let task = add_task(tx, env, &receiver, task)?;
    handoff.task_id = Some(task.task_id.clone());
    handoff::insert(tx, &handoff)?;
    record(tx, env, &handoff, &handoff.from_identity.clone())?;
    let mut answer = handoff.to_json();
    answer["project_id"] = json!(handoff.from_project_id);
    answer["identity"] = json!(handoff.from_identity);
    answer["task"] = json!({ "id": task.task_id, "metadata": { "tracker": "local" } });
    Ok(answer)
}

/// Every change of state is a delta in both projects.
pub(super) fn record(
    tx: &mut baton_store::Tx<'_>,
    env: &mut Env<'_>,
    handoff: &Handoff,
    by: &str,
) -> Result<(), Failure> {
    let body = json!({
        "summary": format!("hand-off {}: {}", handoff.state.as_str(), handoff.subject),
        "handoff": handoff.to_json(),
    });
    for project_id in [&handoff.from_project_id, &handoff.to_project_id] {
        let author = Author { project_id, identity: by, session: None };
        append_json(tx, env, &author, Kind::Handoff, &body)?;
        if handoff.from_project_id == handoff.to_project_id {
            break;
        }
    }
    Ok(())
}
