//! Several issues at once, from a Markdown file or a plan in JSON. Everything is read and checked before anything is written.

use std::collections::{BTreeMap, BTreeSet};

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::task::view::View;
use baton_model::task::word::priority;
use baton_ops::task::{self as tasks, CreateInput, DependInput, UpdateInput};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use super::annotate::shown;
use super::{Out, shape};
use crate::error::AppError;

/// The issues of a Markdown file: a heading `## Title` for each, then sections `### Priority`, `### Type`, `### Labels`,
/// `### Assignee`, `### Dependencies`, `### Description`, `### Design`, `### Acceptance Criteria`.
pub(super) fn from_markdown(text: &str, dry_run: bool, out: &mut Out<'_>) -> Result<(), AppError> {
    let issues = sections(text)?;
    if issues.is_empty() {
        let hint = "write `## Title` for each issue, and sections such as `### Priority` below";
        return Err(Refusal::invalid("plan_empty", "the file has no heading of an issue", hint).into());
    }
    for issue in &issues {
        super::change::check_type(Some(&issue.issue_type), out)?;
    }
    if dry_run {
        return print_plan(issues.iter().map(|issue| issue.title.clone()).collect(), out);
    }
    let mut made = Vec::new();
    for issue in issues {
        let input = CreateInput { project: out.project(), identity: out.identity(), ..issue };
        made.push(shape::issue(out.app.run::<tasks::Create>(&input)?.task.view));
    }
    print_made(&made, out)
}

fn print_plan(titles: Vec<String>, out: &Out<'_>) -> Result<(), AppError> {
    out.print(&titles, |all| all.iter().map(|title| format!("would create: {}\n", visible(title))).collect())
}

fn print_made(made: &[View], out: &Out<'_>) -> Result<(), AppError> {
    out.print(made, |all| {
        all.iter().map(|issue| format!("✓ Created issue: {}\n", shape::line(issue).trim_end())).collect()
    })
}

fn sections(text: &str) -> Result<Vec<CreateInput>, Refusal> {
    let mut issues: Vec<CreateInput> = Vec::new();
    let mut section = String::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            issues.push(CreateInput { title: title.trim().to_owned(), ..CreateInput::default() });
            section = "description".to_owned();
        } else if let Some(name) = line.strip_prefix("### ") {
            section = name.trim().to_lowercase();
        } else if let Some(issue) = issues.last_mut() {
            add_line(issue, &section, line)?;
        }
    }
    for issue in &mut issues {
        issue.description = issue.description.trim().to_owned();
        for text in [&mut issue.design, &mut issue.acceptance_criteria].into_iter().flatten() {
            *text = text.trim().to_owned();
        }
    }
    Ok(issues)
}

fn add_line(issue: &mut CreateInput, section: &str, line: &str) -> Result<(), Refusal> {
    let words = || {
        line.trim_start_matches(['-', '*', ' ']).split([',', ' ']).map(str::trim).filter(|w| !w.is_empty())
    };
    let one = line.trim();
    let append = |text: &mut Option<String>| {
        let text = text.get_or_insert_default();
        text.push_str(line);
        text.push('\n');
    };
    match section {
        "description" => {
            issue.description.push_str(line);
            issue.description.push('\n');
        }
        "design" => append(&mut issue.design),
        "acceptance criteria" | "acceptance" => append(&mut issue.acceptance_criteria),
        _ if one.is_empty() => {}
        "priority" => issue.priority = priority(one)?,
        "type" => issue.issue_type = one.to_owned(),
        "assignee" => issue.assignee = Some(one.to_owned()),
        "labels" => issue.labels.extend(words().map(str::to_owned)),
        "dependencies" | "deps" => issue.deps.extend(words().map(str::to_owned)),
        other => {
            issue.description.push_str(&format!("### {other}\n{line}\n"));
        }
    }
    Ok(())
}

/// A plan of linked issues.
#[derive(Deserialize)]
struct Plan {
    nodes: Vec<Node>,
    #[serde(default)]
    edges: Vec<PlanEdge>,
}

#[derive(Deserialize)]
struct Node {
    key: String,
    title: String,
    #[serde(rename = "type")]
    issue_type: Option<String>,
    #[serde(default)]
    description: String,
    assignee: Option<String>,
    priority: Option<i64>,
    #[serde(default)]
    labels: Vec<String>,
    #[serde(default)]
    metadata: Map<String, serde_json::Value>,
    /// Keys of the metadata whose values become the ids of other nodes.
    #[serde(default)]
    metadata_refs: BTreeMap<String, String>,
    #[serde(alias = "parent")]
    parent_key: Option<String>,
    parent_id: Option<String>,
}

#[derive(Deserialize)]
struct PlanEdge {
    from_key: Option<String>,
    from_id: Option<String>,
    to_key: Option<String>,
    to_id: Option<String>,
    #[serde(rename = "type", default = "super::link::blocks")]
    kind: String,
}

/// The ids that the nodes of a plan got.
#[derive(Serialize)]
struct Planned {
    ids: BTreeMap<String, String>,
}

/// Creates the issues of a plan: `{"nodes": [{"key", "title", …}], "edges": [{"from_key", "to_key", "type"}]}`.
pub(super) fn from_graph(text: &str, dry_run: bool, out: &mut Out<'_>) -> Result<(), AppError> {
    let plan: Plan =
        serde_json::from_str(text).map_err(|error| invalid(&format!("it cannot be read: {error}")))?;
    let order = check(&plan, out)?;
    if dry_run {
        return print_plan(order.iter().map(|node| node.title.clone()).collect(), out);
    }
    let mut ids: BTreeMap<String, String> = BTreeMap::new();
    for node in &order {
        let parent = node.parent_key.as_ref().and_then(|key| ids.get(key).cloned());
        let mut extra = Map::new();
        if !node.metadata.is_empty() {
            extra.insert("metadata".to_owned(), json!(node.metadata));
        }
        let usual = CreateInput::default();
        let input = CreateInput {
            project: out.project(),
            identity: out.identity(),
            title: node.title.clone(),
            description: node.description.clone(),
            issue_type: node.issue_type.clone().unwrap_or(usual.issue_type),
            assignee: node.assignee.clone(),
            priority: node.priority.unwrap_or(usual.priority),
            labels: node.labels.clone(),
            parent: parent.or_else(|| node.parent_id.clone()),
            extra,
            ..CreateInput::default()
        };
        let made = out.app.run::<tasks::Create>(&input)?.task.view;
        ids.insert(node.key.clone(), made.id);
    }
    connect(&plan, &ids, out)?;
    out.print(&Planned { ids }, |planned| {
        planned.ids.iter().map(|(key, id)| format!("{}: {}\n", visible(key), visible(id))).collect()
    })
}

/// The nodes, each behind the one that it is a part of; refused where a key is missing, used twice or in a circle.
fn check<'a>(plan: &'a Plan, out: &mut Out<'_>) -> Result<Vec<&'a Node>, AppError> {
    let mut keys = BTreeSet::new();
    if let Some(twice) = plan.nodes.iter().find(|node| !keys.insert(node.key.as_str())) {
        return Err(invalid(&format!("two nodes have the key `{}`", visible(&twice.key))).into());
    }
    let references =
        plan.nodes.iter().flat_map(|node| node.parent_key.iter().chain(node.metadata_refs.values()));
    let ends = plan.edges.iter().flat_map(|edge| [&edge.from_key, &edge.to_key]).flatten();
    if let Some(unknown) = references.chain(ends).find(|key| !keys.contains(key.as_str())) {
        return Err(invalid(&format!("no node has the key `{}`", visible(unknown))).into());
    }
    for node in &plan.nodes {
        super::change::check_type(node.issue_type.as_deref(), out)?;
    }
    for edge in &plan.edges {
        let ends = [(&edge.from_key, &edge.from_id), (&edge.to_key, &edge.to_id)];
        if ends.iter().any(|(key, id)| key.is_none() && id.is_none()) {
            return Err(invalid("an edge needs from_key or from_id, and to_key or to_id").into());
        }
        for id in [&edge.from_id, &edge.to_id].into_iter().flatten() {
            shown(id, out)?;
        }
    }
    let (mut order, mut placed): (Vec<&Node>, BTreeSet<&str>) = (Vec::new(), BTreeSet::new());
    while order.len() < plan.nodes.len() {
        let free = |node: &&Node| {
            !placed.contains(node.key.as_str())
                && node.parent_key.as_deref().is_none_or(|parent| placed.contains(parent))
        };
        let Some(next) = plan.nodes.iter().find(free) else {
            return Err(invalid("nodes are parts of each other in a circle").into());
        };
        placed.insert(&next.key);
        order.push(next);
    }
    Ok(order)
}

/// Adds the edges, and the ids that metadata refers to.
fn connect(plan: &Plan, ids: &BTreeMap<String, String>, out: &mut Out<'_>) -> Result<(), AppError> {
    let id = |key: &Option<String>, id: &Option<String>| {
        key.as_ref().and_then(|key| ids.get(key)).or(id.as_ref()).cloned().unwrap_or_default()
    };
    for edge in &plan.edges {
        let input = DependInput {
            project: out.project(),
            identity: out.identity(),
            id: id(&edge.from_key, &edge.from_id),
            on: id(&edge.to_key, &edge.to_id),
            kind: edge.kind.clone(),
            ..DependInput::default()
        };
        out.app.run::<tasks::Depend>(&input)?;
    }
    for node in plan.nodes.iter().filter(|node| !node.metadata_refs.is_empty()) {
        let refs: Map<String, serde_json::Value> =
            node.metadata_refs.iter().map(|(name, key)| (name.clone(), json!(ids.get(key)))).collect();
        let mut input = UpdateInput {
            merge: true,
            ..super::change::unchanged(ids.get(&node.key).map_or("", |id| id), out)
        };
        input.extra.insert("metadata".to_owned(), json!(refs));
        out.app.run::<tasks::Update>(&input)?;
    }
    Ok(())
}

fn invalid(what: &str) -> Refusal {
    Refusal::invalid(
        "plan_invalid",
        format!("this plan cannot be used: {what}"),
        "{\"nodes\": [{\"key\": \"a\", \"title\": \"…\"}], \"edges\": [{\"from_key\": \"b\", \"to_key\": \"a\"}]}",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_markdown_file_becomes_issues() {
        let text = "# Plan\n\n## First\nWhat to do.\n\n### Priority\nP1\n### Type\nbug\n### Labels\na, b\n\
                    ## Second\n### Description\nMore.\n### Acceptance Criteria\n- it works\n### Risks\nnone\n";
        let issues = sections(text).expect("read");
        let [first, second] = issues.as_slice() else { panic!("two issues") };
        assert_eq!((first.title.as_str(), first.priority, first.issue_type.as_str()), ("First", 1, "bug"));
        assert_eq!(
            (first.description.as_str(), &first.labels),
            ("What to do.", &vec!["a".to_owned(), "b".to_owned()])
        );
        assert_eq!(second.acceptance_criteria.as_deref(), Some("- it works"));
        assert!(second.description.contains("More.") && second.description.contains("### risks\nnone"));
        assert!(sections("## A\n### Priority\nhigh\n").is_err());
    }
}
