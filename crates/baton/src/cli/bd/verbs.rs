//! The commands of `bd`, each as operations of ours and an answer in Beads' shape.

use baton_ops::op::Operation;
use baton_ops::task as tasks;
use std::collections::BTreeMap;

use baton_model::refusal::Refusal;
use baton_ops::project::{Init, InitInput};
use serde_json::{Map, Value, json};

use super::annotate::{comment, comments, label};
use super::args::{Close, Command, Create, Dep, Filters, Update};
use super::{Out, shape, write};
use crate::cli::{beads, task};
use crate::error::CliError;
use crate::render::{list, text};

pub fn run(command: Command, out: &mut Out<'_>) -> Result<(), CliError> {
    match command {
        Command::Init { prefix, .. } => init(prefix, out),
        Command::Create(args) => create(*args, out),
        Command::Increment { title, after, silent } => increment(&title, after, silent, out),
        Command::Show { ids, full } => show(&ids, full, out),
        Command::Update(args) => update(*args, out),
        Command::List { filters, status, no_assignee, all } => {
            let mut input = filtered(filters);
            input["status"] = json!(status);
            input["unassigned"] = json!(no_assignee);
            input["all"] = json!(all);
            listed(tasks::List::NAME, input, out)
        }
        Command::Ready { filters, unassigned, for_agent, claim, metadata_field, sort: _ } => {
            let mut input = filtered(filters);
            input["for_agent"] = json!(for_agent);
            if claim {
                let wish = json!({
                    "agent_role": input["agent_role"], "tags": input["tags"], "for_agent": input["for_agent"],
                });
                return claim_first(wish, out);
            }
            input["unassigned"] = json!(unassigned);
            input["metadata"] = json!(metadata_field);
            listed(tasks::Ready::NAME, input, out)
        }
        Command::Blocked { limit } => listed(tasks::Blocked::NAME, json!({ "limit": limit }), out),
        Command::Close(args) => close(args, out),
        Command::Reopen { ids, reason } => {
            let mut reopened = Vec::new();
            for id in ids {
                reopened.push(shape::issue(
                    &out.call(tasks::Reopen::NAME, json!({ "id": id, "reason": reason }))?,
                ));
            }
            out.print(json!(reopened), lines)
        }
        other => run_other(other, out),
    }
}

/// The commands round the tasks.
fn run_other(command: Command, out: &mut Out<'_>) -> Result<(), CliError> {
    match command {
        Command::Dep { verb, id, blocks } => dep(verb, id, blocks, out),
        Command::Comment { id, text } => comment(&id, &text.join(" "), out),
        Command::Comments { words } => comments(&words, out),
        Command::Label { verb, id, labels } => label(&verb, &id, labels, out),
        Command::Search { words, limit, status } => {
            let all = status.is_none();
            let input = json!({
                "query": words.join(" "), "limit": limit, "status": status, "all": all, "edges": true,
            });
            listed(tasks::List::NAME, input, out)
        }
        Command::Stats => {
            let answer = out.call(tasks::Stats::NAME, json!({}))?;
            out.print(json!({ "summary": answer["summary"] }), |stats| {
                let rows = stats["summary"].as_object().into_iter().flatten();
                rows.map(|(key, value)| format!("{}: {value}\n", key.replace('_', " "))).collect()
            })
        }
        Command::Count { status, by_status, by_type, by_priority, by_assignee, by_label } => {
            let by = [
                (by_status, "status"),
                (by_type, "issue_type"),
                (by_priority, "priority"),
                (by_assignee, "assignee"),
                (by_label, "labels"),
            ];
            count(status, by.iter().find(|(wanted, _)| *wanted).map(|(_, key)| *key), out)
        }
        Command::Export { output } => export(output, out),
        Command::Import { input, path, dry_run } => import(input.or(path), dry_run, out),
        // The others were taken before.
        _ => Ok(()),
    }
}

fn export(output: Option<String>, out: &mut Out<'_>) -> Result<(), CliError> {
    if let Some(path) = output {
        return beads::export(out.app, &path).map(drop);
    }
    let answer = out.call(tasks::BeadsExport::NAME, json!({}))?;
    let line = |item: &Value| format!("{}\n", item["line"].as_str().unwrap_or_default());
    write(&list(&answer, "items").iter().map(line).collect::<String>())
}

fn lines(issues: &Value) -> String {
    match issues.as_array() {
        Some(all) if !all.is_empty() => all.iter().map(shape::line).collect(),
        _ => "No issues found\n".to_owned(),
    }
}

fn filtered(filters: Filters) -> Value {
    json!({
        "assignee": filters.assignee, "priority": filters.priority, "issue_type": filters.issue_type,
        "labels": filters.labels, "any_label": filters.label_any, "agent_role": filters.agent_role,
        "tags": filters.tags, "parent": filters.parent, "limit": filters.limit, "edges": true,
    })
}

/// Prints a list as a bare array; a remark on standard error says when there are more.
fn listed(name: &str, input: Value, out: &mut Out<'_>) -> Result<(), CliError> {
    let answer = out.call(name, input)?;
    out.print(shape::issues(&answer["items"]), lines)?;
    if !answer["next"].is_null() {
        let shown = list(&answer, "items").len();
        out.remark(&format!("{shown} are shown and there are more: -n 0 shows all"));
    }
    Ok(())
}

fn claim_first(input: Value, out: &mut Out<'_>) -> Result<(), CliError> {
    let answer = out.call(tasks::ClaimTask::NAME, input)?;
    let claimed: Vec<Value> =
        answer["task"].is_object().then(|| shape::issue(&answer["task"])).into_iter().collect();
    out.print(json!(claimed), lines)
}

fn init(prefix: Option<String>, out: &mut Out<'_>) -> Result<(), CliError> {
    let made = out.app.run::<Init>(&InitInput { id: prefix, ..InitInput::default() })?;
    out.print(json!({ "project_id": made.project_id, "prefix": made.project_id }), |made| {
        format!("✓ Project {} is registered\n", text(made, "project_id"))
    })
}

fn create(args: Create, out: &mut Out<'_>) -> Result<(), CliError> {
    let Some(title) = args.title.or(args.named) else {
        return Err(Refusal::invalid("usage", "a title is needed", "bd create \"Title\"").into());
    };
    let mut input = args.fields.into_input()?;
    if args.ephemeral {
        let extra = input.entry("extra").or_insert_with(|| json!({}));
        extra["ephemeral"] = json!(true);
    }
    input.insert("title".into(), json!(title));
    input.insert("id".into(), json!(args.id));
    input.insert("deps".into(), json!(args.deps));
    let made = out.call(tasks::Create::NAME, Value::Object(input))?;
    if args.silent && !out.json {
        return write(&format!("{}\n", text(&made, "id")));
    }
    out.print(shape::issue(&made), |made| {
        format!(
            "✓ Created issue: {}\n  Title: {}\n  Priority: P{}\n  Status: {}\n",
            text(made, "id"),
            text(made, "title"),
            text(made, "priority"),
            text(made, "status")
        )
    })
}

fn increment(title: &str, after: Option<String>, silent: bool, out: &mut Out<'_>) -> Result<(), CliError> {
    let made = out.call(tasks::Increment::NAME, json!({ "title": title, "after": after }))?;
    if silent && !out.json {
        return write(&format!("{}\n", text(&made, "verify_id")));
    }
    out.print(shape::issues(&made["items"]), lines)
}

fn show(ids: &[String], full: bool, out: &mut Out<'_>) -> Result<(), CliError> {
    let mut shown = Vec::new();
    for id in ids {
        let whole = full || out.json;
        shown.push(shape::details(&out.call(tasks::Show::NAME, json!({ "id": id, "full": whole }))?));
    }
    out.print(json!(shown), |all| list_of(all).iter().map(task::details).collect())
}

pub(super) fn list_of(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn update(args: Update, out: &mut Out<'_>) -> Result<(), CliError> {
    let mut input = args.fields.into_input()?;
    let more = json!({
        "title": args.title, "status": args.status, "append_notes": args.append_notes, "add_labels": args.add_label,
        "remove_labels": args.remove_label, "merge": args.merge,
    });
    input.extend(
        more.as_object().cloned().unwrap_or_default().into_iter().filter(|(_, value)| !value.is_null()),
    );
    if let Some(labels) = args.set_labels {
        input.insert("labels".into(), json!(labels));
    }
    let only_claims = args.claim && says_nothing(&input);
    let mut updated = Vec::new();
    for id in args.ids {
        let mut changed = Value::Null;
        if args.claim {
            changed = out.call(tasks::ClaimTask::NAME, json!({ "id": id, "force": false }))?["task"].take();
        }
        if !only_claims {
            let mut input = input.clone();
            input.insert("id".into(), json!(id));
            changed = out.call(tasks::Update::NAME, Value::Object(input))?;
        }
        updated.push(shape::issue(&changed));
    }
    if args.silent && !out.json {
        return Ok(());
    }
    out.print(json!(updated), |all| {
        list_of(all).iter().map(|issue| format!("✓ Updated issue: {}\n", text(issue, "id"))).collect()
    })
}

fn says_nothing(input: &Map<String, Value>) -> bool {
    input.iter().all(|(_, value)| *value == json!([]) || *value == json!(false))
}

fn close(args: Close, out: &mut Out<'_>) -> Result<(), CliError> {
    let context = task::object("--context", args.context.as_deref())?.unwrap_or_default();
    let (mut closed, mut unblocked, mut failed) = (Vec::new(), Vec::new(), None);
    for id in &args.ids {
        let input = json!({
            "id": id, "reason": args.reason, "force": args.force, "result": args.result, "context": context,
        });
        match out.call(tasks::Close::NAME, input) {
            Ok(answer) => {
                unblocked.extend(list(&answer, "unblocked").to_vec());
                closed.push(shape::issue(&answer));
            }
            // One that cannot be closed does not keep the others from it.
            Err(ended @ CliError::Refused(_)) if args.ids.len() > 1 => {
                out.remark(&ended.text());
                failed = Some(ended);
            }
            Err(ended) => return Err(ended),
        }
    }
    if let (Some(ended), true) = (failed, closed.is_empty()) {
        return Err(ended);
    }
    let payload = if args.claim_next {
        let next = out.call(tasks::ClaimTask::NAME, json!({}))?;
        let claimed = if next["task"].is_object() { shape::issue(&next["task"]) } else { Value::Null };
        json!({ "closed": closed, "claimed": claimed })
    } else if args.suggest_next && !unblocked.is_empty() {
        let mut next = Vec::new();
        for id in &unblocked {
            next.push(shape::issue(&out.call(tasks::Show::NAME, json!({ "id": id, "full": true }))?));
        }
        json!({ "closed": closed, "unblocked": next })
    } else {
        json!(closed)
    };
    out.print(payload, |answer| {
        let all = answer.get("closed").unwrap_or(answer);
        let mut said: String = list_of(all)
            .iter()
            .map(|issue| format!("✓ Closed {}: {}\n", text(issue, "id"), text(issue, "close_reason")))
            .collect();
        said.extend(
            list(answer, "unblocked").iter().map(|issue| format!("  ready now: {}", shape::line(issue))),
        );
        said
    })
}

fn dep(
    verb: Option<Dep>,
    id: Option<String>,
    blocks: Option<String>,
    out: &mut Out<'_>,
) -> Result<(), CliError> {
    let (id, on, kind, remove) = match (verb, id, blocks) {
        (Some(Dep::Add { id, on, blocked_by, depends_on, kind }), ..) => {
            (id, on.or(blocked_by).or(depends_on).unwrap_or_default(), kind, false)
        }
        (Some(Dep::Remove { id, on }), ..) => (id, on, "blocks".into(), true),
        (Some(Dep::Tree { id, direction }), ..) => {
            let tree = out.call(tasks::Tree::NAME, json!({ "id": id, "up": direction == "up" }))?;
            return out.print(tree["items"].clone(), |_| task::tree(&tree));
        }
        (Some(Dep::List { id }), ..) => {
            let found = out.call(tasks::Show::NAME, json!({ "id": id, "full": true }))?;
            return out.print(shape::issues(&json!(list(&found, "dependencies"))), lines);
        }
        (Some(Dep::Cycles), ..) => {
            let found = out.call(tasks::Cycles::NAME, json!({}))?;
            return out.print(found["items"].clone(), |_| task::cycles(&found));
        }
        (None, Some(id), Some(blocks)) => (blocks, id, "blocks".into(), false),
        _ => {
            return Err(Refusal::invalid(
                "usage",
                "what is to be done?",
                "bd dep add ID ON, or bd dep ID --blocks ID",
            )
            .into());
        }
    };
    let answer =
        out.call(tasks::Depend::NAME, json!({ "id": id, "on": on, "type": kind, "remove": remove }))?;
    let payload = json!({
        "status": answer["status"], "issue_id": answer["issue_id"], "depends_on_id": answer["depends_on_id"],
        "type": answer["type"],
    });
    out.print(payload, |done| {
        let word = if remove { "Removed" } else { "Added" };
        format!("✓ {word} dependency: {} → {}\n", text(done, "issue_id"), text(done, "depends_on_id"))
    })
}

fn count(status: Option<String>, by: Option<&str>, out: &mut Out<'_>) -> Result<(), CliError> {
    let all = status.is_none();
    let answer = out.call(tasks::List::NAME, json!({ "status": status, "all": all, "limit": 0 }))?;
    let items = list(&answer, "items");
    let Some(key) = by else {
        return out.print(json!({ "count": items.len() }), |count| format!("{}\n", count["count"]));
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for item in items {
        let groups = match &item[key] {
            Value::Array(labels) => labels.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Value::Null => vec!["(none)".to_owned()],
            one => vec![one.as_str().map_or_else(|| one.to_string(), str::to_owned)],
        };
        groups.into_iter().for_each(|group| *counts.entry(group).or_default() += 1);
    }
    out.print(shape::groups(counts, items.len()), |counted| {
        let line = |g: &Value| format!("{}: {}\n", text(g, "group"), g["count"]);
        format!("total: {}\n", counted["total"])
            + &list(counted, "groups").iter().map(line).collect::<String>()
    })
}

fn import(path: Option<String>, dry_run: bool, out: &mut Out<'_>) -> Result<(), CliError> {
    let path = path.unwrap_or_else(|| ".beads/issues.jsonl".to_owned());
    let actor = out.actor.clone();
    let done = beads::import(out.app, &path, actor.as_deref(), dry_run)?;
    let payload = json!({
        "source": path, "created": done.created, "updated": done.updated, "skipped": done.unchanged,
        "dedup_skipped": 0, "memories": done.memories, "ids": done.ids, "dry_run": dry_run,
    });
    out.print(payload, |done| {
        format!("✓ Imported: {} created, {} updated\n", done["created"], done["updated"])
    })
}
