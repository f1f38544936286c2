//! `bd create --graph`: linked issues from a plan in JSON. All of them are written, or none.

use std::collections::{BTreeMap, BTreeSet};

use baton_model::id::visible;
use baton_model::lossless_json;
use baton_model::refusal::Refusal;
use baton_ops::task::{BatchStep, CreateInput};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::batch::{carry_out, depend};
use super::{Out, link};
use crate::error::AppError;

/// A plan of linked issues.
#[derive(Deserialize)]
struct Plan {
    nodes: Vec<Node>,
    #[serde(default)]
    edges: Vec<PlanEdge>,
    /// What the commit of Beads' database would say.
    #[serde(rename = "commit_message")]
    _commit_message: Option<String>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// An issue of a plan, with the fields that Beads has for it.
#[derive(Deserialize)]
struct Node {
    key: String,
    title: String,
    id: Option<String>,
    #[serde(rename = "type")]
    issue_type: Option<String>,
    status: Option<String>,
    #[serde(default)]
    description: String,
    design: Option<String>,
    acceptance_criteria: Option<String>,
    notes: Option<String>,
    external_ref: Option<String>,
    assignee: Option<String>,
    /// An assignee is set with the issue in any case.
    #[serde(rename = "assign_after_create")]
    _assign_after_create: Option<bool>,
    priority: Option<i64>,
    estimate: Option<i64>,
    estimated_minutes: Option<i64>,
    due_at: Option<String>,
    defer_until: Option<String>,
    #[serde(default)]
    labels: Vec<String>,
    #[serde(default)]
    metadata: Map<String, Value>,
    /// Keys of the metadata whose values become the ids of other nodes.
    #[serde(default)]
    metadata_refs: BTreeMap<String, String>,
    parent_key: Option<String>,
    /// Another name of `parent_key`.
    parent: Option<String>,
    parent_id: Option<String>,
    #[serde(default)]
    deps: Vec<NodeDependency>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Fields of a node that are kept as they are.
const KEPT_FIELDS: [&str; 11] = [
    "spec_id",
    "owner",
    "ephemeral",
    "no_history",
    "wisp_type",
    "mol_type",
    "pinned",
    "event_kind",
    "actor",
    "target",
    "payload",
];

/// What a node depends on: the key of another, or the id of an issue.
#[derive(Deserialize)]
struct NodeDependency {
    target: String,
    #[serde(rename = "type", default = "link::blocks")]
    kind: String,
}

#[derive(Deserialize)]
struct PlanEdge {
    from_key: Option<String>,
    from_id: Option<String>,
    to_key: Option<String>,
    to_id: Option<String>,
    #[serde(rename = "type", default = "link::blocks")]
    kind: String,
    /// Of `waits-for`: `all-children` or `any-children`.
    gate: Option<String>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

impl Node {
    fn parent_key(&self) -> Option<&str> {
        self.parent_key.as_deref().or(self.parent.as_deref()).filter(|key| !key.is_empty())
    }

    /// Keys of other nodes that this one names.
    fn references(&self) -> impl Iterator<Item = &str> {
        self.parent_key().into_iter().chain(self.metadata_refs.values().map(String::as_str))
    }

    fn unknown(&self) -> impl Iterator<Item = &String> {
        self.rest.keys().filter(|field| !KEPT_FIELDS.contains(&field.as_str()))
    }

    fn input(&self) -> CreateInput {
        let rest = self.rest.iter().filter(|(field, value)| {
            KEPT_FIELDS.contains(&field.as_str()) && !value.is_null() && **value != json!(false)
        });
        let mut extra: Map<String, Value> =
            rest.map(|(field, value)| (field.clone(), value.clone())).collect();
        if !self.metadata.is_empty() {
            extra.insert("metadata".to_owned(), json!(self.metadata));
        }
        let usual = CreateInput::default();
        CreateInput {
            title: self.title.clone(),
            id: self.id.clone(),
            description: self.description.clone(),
            design: self.design.clone(),
            acceptance_criteria: self.acceptance_criteria.clone(),
            notes: self.notes.clone(),
            external_ref: self.external_ref.clone(),
            issue_type: self.issue_type.clone().unwrap_or(usual.issue_type),
            assignee: self.assignee.clone(),
            priority: self.priority.unwrap_or(usual.priority),
            estimated_duration: self.estimated_minutes.or(self.estimate),
            due: self.due_at.clone(),
            defer: self.defer_until.clone(),
            labels: self.labels.clone(),
            parent: self.parent_key().map(|key| format!("@{key}")).or_else(|| self.parent_id.clone()),
            extra,
            ..CreateInput::default()
        }
    }
}

/// The ids that the nodes of a plan got.
#[derive(Serialize)]
struct PlanOutput {
    ids: BTreeMap<String, String>,
}

/// Creates the issues of a plan: `{"nodes": [{"key", "title", …}], "edges": [{"from_key", "to_key", "type"}]}`.
pub(super) fn create(text: &str, dry_run: bool, out: &mut Out<'_>) -> Result<(), AppError> {
    let plan: Plan = lossless_json::read(text.as_bytes())
        .map_err(|error| invalid_refusal(&format!("it cannot be read: {error}")))?;
    remark_unknown(&plan, out);
    let order = check(&plan, out)?;
    if dry_run {
        let titles: Vec<&str> = order.iter().map(|node| node.title.as_str()).collect();
        return out.print(&titles, |all| {
            all.iter().map(|title| format!("would create: {}\n", visible(title))).collect()
        });
    }
    let (steps, places) = steps(&plan, &order)?;
    let done = carry_out(steps, |at| places.get(at).cloned().unwrap_or_default(), out)?;
    let ids = order.iter().zip(done).map(|(node, done)| (node.key.clone(), done.id)).collect();
    out.print(&PlanOutput { ids }, |planned| {
        planned.ids.iter().map(|(key, id)| format!("{}: {}\n", visible(key), visible(id))).collect()
    })
}

/// Names what no field of an issue or an edge is: it is not written.
fn remark_unknown(plan: &Plan, out: &Out<'_>) {
    let nodes = plan.nodes.iter().flat_map(|node| {
        node.unknown().map(move |field| format!("`{}` of node `{}`", visible(field), visible(&node.key)))
    });
    let edges = plan.edges.iter().zip(1..).flat_map(|(edge, number)| {
        edge.unknown.keys().map(move |field| format!("`{}` of edge {number}", visible(field)))
    });
    let own = plan.unknown.keys().map(|field| format!("`{}` of the plan", visible(field)));
    let unknown: Vec<String> = own.chain(nodes).chain(edges).collect();
    if !unknown.is_empty() {
        out.remark(&format!("warning: not understood, and left out: {}", unknown.join(", ")));
    }
}

/// What is to be done, nodes first, and the place of each step in the plan.
fn steps(plan: &Plan, order: &[&Node]) -> Result<(Vec<BatchStep>, Vec<String>), Refusal> {
    let keys: BTreeSet<&str> = order.iter().map(|node| node.key.as_str()).collect();
    let (mut steps, mut places) = (Vec::new(), Vec::new());
    let mut put = |step, place: String| {
        steps.push(step);
        places.push(place);
    };
    let node_place = |node: &Node| format!("node `{}`", visible(&node.key));
    for node in order {
        let write = BatchStep::Write { name: Some(node.key.clone()), task: Box::new(node.input()) };
        put(write, node_place(node));
    }
    for (edge, number) in plan.edges.iter().zip(1..) {
        put(edge.step()?, format!("edge {number}"));
    }
    for node in order {
        for dependency in &node.deps {
            let target = &dependency.target;
            let on = if keys.contains(target.as_str()) { format!("@{target}") } else { target.clone() };
            put(depend(&format!("@{}", node.key), &on, &dependency.kind, false), node_place(node));
        }
        if node.status.is_some() || !node.metadata_refs.is_empty() {
            let named = |(field, key): (&String, &String)| (field.clone(), format!("@{key}"));
            let update = BatchStep::Update {
                id: format!("@{}", node.key),
                status: node.status.clone(),
                priority: None,
                title: None,
                assignee: None,
                metadata_refs: node.metadata_refs.iter().map(named).collect(),
            };
            put(update, node_place(node));
        }
    }
    Ok((steps, places))
}

impl PlanEdge {
    /// An id goes before a key, as in Beads.
    fn step(&self) -> Result<BatchStep, Refusal> {
        let end = |id: &Option<String>, key: &Option<String>| {
            id.clone().or_else(|| key.as_ref().map(|key| format!("@{key}"))).unwrap_or_default()
        };
        let metadata = match self.gate.as_deref() {
            None => Map::new(),
            Some("all-children" | "any-children") if self.kind == "waits-for" => {
                Map::from_iter([("gate".to_owned(), json!(self.gate))])
            }
            Some(_) => {
                return Err(invalid_refusal(
                    "`gate` is all-children or any-children, of an edge of type waits-for",
                ));
            }
        };
        Ok(BatchStep::Depend {
            id: end(&self.from_id, &self.from_key),
            on: end(&self.to_id, &self.to_key),
            kind: self.kind.clone(),
            remove: false,
            metadata,
        })
    }
}

/// The nodes, each behind the one that it is a part of; refused where a key is missing, used twice or in a circle.
fn check<'a>(plan: &'a Plan, out: &mut Out<'_>) -> Result<Vec<&'a Node>, AppError> {
    let mut keys = BTreeSet::new();
    if plan.nodes.is_empty() {
        return Err(invalid_refusal("it has no nodes").into());
    }
    if let Some(twice) = plan.nodes.iter().find(|node| !keys.insert(node.key.as_str())) {
        return Err(invalid_refusal(&format!("two nodes have the key `{}`", visible(&twice.key))).into());
    }
    let references = plan.nodes.iter().flat_map(Node::references);
    let ends = plan.edges.iter().flat_map(|edge| [&edge.from_key, &edge.to_key]).flatten();
    if let Some(unknown) = references.chain(ends.map(String::as_str)).find(|key| !keys.contains(key)) {
        return Err(invalid_refusal(&format!("no node has the key `{}`", visible(unknown))).into());
    }
    for node in &plan.nodes {
        super::change::check_type(node.issue_type.as_deref(), out)?;
    }
    for edge in &plan.edges {
        let ends = [(&edge.from_key, &edge.from_id), (&edge.to_key, &edge.to_id)];
        if ends.iter().any(|(key, id)| key.is_none() && id.is_none()) {
            return Err(invalid_refusal("an edge needs from_key or from_id, and to_key or to_id").into());
        }
    }
    let (mut order, mut placed): (Vec<&Node>, BTreeSet<&str>) = (Vec::new(), BTreeSet::new());
    while order.len() < plan.nodes.len() {
        let free = |node: &&Node| {
            !placed.contains(node.key.as_str()) && node.parent_key().is_none_or(|key| placed.contains(key))
        };
        let Some(next) = plan.nodes.iter().find(free) else {
            return Err(invalid_refusal("nodes are parts of each other in a circle").into());
        };
        placed.insert(&next.key);
        order.push(next);
    }
    Ok(order)
}

fn invalid_refusal(what: &str) -> Refusal {
    Refusal::invalid(
        "plan_invalid",
        format!("this plan cannot be used: {what}"),
        "{\"nodes\": [{\"key\": \"a\", \"title\": \"…\"}], \"edges\": [{\"from_key\": \"b\", \"to_key\": \"a\"}]}",
    )
}
