//! Issues are written down and changed.

use std::borrow::Borrow;

use baton_model::id::visible;
use baton_model::moment::{Direction, parse_moment};
use baton_model::refusal::Refusal;
use baton_model::task::view::View;
use baton_model::task::word::{TYPES, full_type};
use baton_model::time::Timestamp;
use baton_ops::task as tasks;
use serde::Serialize;
use serde_json::{Map, Value};

use super::annotate::show_task;
use super::args::{Create, Increment, KeptFields, TextFiles, Update};
use super::{EachIssue, Out, graph_plan, plan, report, select, settings, shape, write};
use crate::cli::read_input;
use crate::cli::task::object;
use crate::error::AppError;

/// A claim of an issue, or of the first that can be worked on.
pub(super) fn claim(id: Option<String>, out: &Out<'_>) -> tasks::ClaimTaskInput {
    let (project, identity) = (out.project(), out.identity());
    tasks::ClaimTaskInput { project, identity, id, ..tasks::ClaimTaskInput::default() }
}

/// A change of an issue that changes nothing yet.
pub(super) fn unchanged(id: &str, out: &Out<'_>) -> tasks::UpdateInput {
    let (project, identity) = (out.project(), out.identity());
    tasks::UpdateInput { project, identity, id: id.to_owned(), ..tasks::UpdateInput::default() }
}

/// Texts from files and standard input.
struct LongTexts {
    description: Option<String>,
    design: Option<String>,
}

impl TextFiles {
    /// The texts, where `described` is what --description says: options that mean the same may say the same.
    fn read(&self, described: Option<&str>) -> Result<LongTexts, AppError> {
        let options = [
            ("--description", described),
            ("--body", self.body.as_deref()),
            ("--message", self.message.as_deref()),
        ];
        let text = one_of(&options)?;
        // What --description says is read with the other fields.
        let is_stdin = self.stdin || (described.is_none() && text == Some("-"));
        let files = [
            ("--body-file", self.body_file.as_deref()),
            ("--description-file", self.description_file.as_deref()),
        ];
        let file = one_of(&files)?.or(is_stdin.then_some("-"));
        let description = match file {
            Some(file) => Some(read_input(file)?),
            None => text.filter(|_| described.is_none()).map(str::to_owned),
        };
        let design = self.design_file.as_deref().map(read_input).transpose()?;
        Ok(LongTexts { description, design })
    }
}

/// What options with one meaning say; they are refused where they contradict each other.
fn one_of<'a>(options: &[(&str, Option<&'a str>)]) -> Result<Option<&'a str>, Refusal> {
    let mut given = options.iter().filter_map(|(name, value)| Some((*name, (*value)?)));
    let Some((first, value)) = given.next() else { return Ok(None) };
    match given.find(|(_, other)| *other != value) {
        None => Ok(Some(value)),
        Some((other, _)) => {
            let what = format!("{first} and {other} say different things");
            Err(Refusal::invalid("usage", what, "they mean the same: give one of them"))
        }
    }
}

impl KeptFields {
    fn extra(self) -> Result<Map<String, Value>, Refusal> {
        let timer = match (self.await_type.as_deref(), self.await_id.as_deref()) {
            (Some("timer"), Some(span)) => super::gate::timer(span)?,
            _ => Map::new(),
        };
        let texts = [
            ("spec_id", self.spec_id),
            ("mol_type", self.mol_type),
            ("wisp_type", self.wisp_type),
            ("await_type", self.await_type),
            ("await_id", self.await_id),
        ];
        let flags = [("ephemeral", self.ephemeral), ("no_history", self.no_history)];
        let texts = texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text?.into())));
        let flags = flags.into_iter().filter(|(_, is)| *is).map(|(key, is)| (key.to_owned(), is.into()));
        Ok(texts.chain(flags).chain(timer).collect())
    }
}

/// `bd create`.
pub(super) fn create(mut args: Create, out: &mut Out<'_>) -> Result<(), AppError> {
    if let Some(path) = args.file.take() {
        return plan::from_markdown(&read_input(&path)?, args.dry_run, out);
    }
    if let Some(path) = args.graph.take() {
        return graph_plan::create(&read_input(&path)?, args.dry_run, out);
    }
    let (silent, status, dry_run) = (args.silent, args.status.take(), args.dry_run);
    if let Some(status) = &status {
        settings::check_status(status)?;
    }
    if !args.force {
        check_type(args.fields.issue_type(), out)?;
    }
    let validate = args.validate;
    let inherits = !args.no_inherit_labels;
    let mut input = created(args, out)?;
    if let Some(parent) = input.parent.clone().filter(|id| inherits && !id.is_empty()) {
        inherit_labels(&mut input, &parent, out)?;
    }
    if validate || dry_run {
        let missing = report::missing_sections(&input.issue_type, &preview(&input));
        if validate && !missing.is_empty() {
            let what = format!("a {} should have: {}", visible(&input.issue_type), missing.join(", "));
            return Err(Refusal::invalid(
                "section_missing",
                what,
                "add `## NAME` with a text to the description",
            )
            .into());
        }
        if dry_run {
            return out.print(&preview(&input), |issue| format!("would create: {}\n", visible(&issue.title)));
        }
    }
    let mut made = out.app.run::<tasks::Create>(&input)?.task.view;
    if let Some(status) = status.filter(|status| *status != made.status) {
        let change = tasks::UpdateInput { status: Some(status), ..unchanged(&made.id, out) };
        made = out.app.run::<tasks::Update>(&change)?.task.view;
    }
    if silent && !out.json {
        return write(&format!("{}\n", visible(&made.id)));
    }
    print_created(made, out)
}

pub(super) fn print_created(made: View, out: &mut Out<'_>) -> Result<(), AppError> {
    out.print(&shape::issue(made), |made| {
        let [id, title, status] = [&made.id, &made.title, &made.status].map(|text| visible(text));
        format!(
            "✓ Created issue: {id}\n  Title: {title}\n  Priority: P{}\n  Status: {status}\n",
            made.priority
        )
    })
}

/// The issue as it would be, without what the ledger adds.
fn preview(input: &tasks::CreateInput) -> View {
    let mut rest = input.extra.clone();
    rest.extend(
        input.acceptance_criteria.iter().map(|text| ("acceptance_criteria".to_owned(), text.as_str().into())),
    );
    View {
        title: input.title.clone(),
        description: input.description.clone(),
        status: "open".to_owned(),
        priority: input.priority,
        issue_type: input.issue_type.clone(),
        labels: input.labels.clone(),
        assignee: input.assignee.clone(),
        parent: input.parent.clone(),
        created_at: Timestamp(crate::clock::now()),
        updated_at: Timestamp(crate::clock::now()),
        rest,
        ..View::default()
    }
}

fn created(mut args: Create, out: &Out<'_>) -> Result<tasks::CreateInput, AppError> {
    let titles = [("the title", args.title.as_deref()), ("--title", args.named.as_deref())];
    let Some(title) = one_of(&titles)?.map(str::to_owned) else {
        return Err(Refusal::invalid("usage", "a title is needed", "bd create \"Title\"").into());
    };
    let long = args.texts.read(args.fields.description())?;
    let context = args.fields.take_prose_context();
    let mut input = tasks::CreateInput {
        project: out.project(),
        identity: out.identity(),
        title,
        id: args.id,
        deps: args.deps,
        ..args.fields.into_create()?
    };
    input.description = long.description.unwrap_or(input.description);
    input.design = long.design.or(input.design);
    for (heading, text) in [("Required Skills", args.skills), ("Context", context)] {
        let Some(text) = text else { continue };
        let before =
            if input.description.is_empty() { String::new() } else { format!("{}\n\n", input.description) };
        input.description = format!("{before}## {heading}\n{text}");
    }
    if let Some(line) = args.append_notes {
        input.notes = Some(input.notes.map_or(line.clone(), |notes| format!("{notes}\n{line}")));
    }
    if let Some(spawner) = args.waits_for {
        input.deps.push(format!("waits-for:{spawner}"));
    }
    input.extra.extend(args.kept.extra()?);
    Ok(input)
}

/// What there is to say of an issue that is to wait for one of several parts.
pub(super) fn refusal(args: &Create) -> Option<Refusal> {
    let hint = "create it without --waits-for-gate, or have it depend on one part: `bd dep add ID PART`";
    let what = "a new issue waits for all parts here";
    (args.waits_for_gate == "any-children").then(|| Refusal::invalid("not_supported", what, hint))
}

/// A part has the labels of the whole.
fn inherit_labels(input: &mut tasks::CreateInput, parent: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    for label in show_task(parent, out)?.task.labels {
        if !input.labels.contains(&label) {
            input.labels.push(label);
        }
    }
    Ok(())
}

pub(super) fn increment(args: Increment, out: &mut Out<'_>) -> Result<(), AppError> {
    let silent = args.silent;
    let usual = tasks::CreateIncrementInput::default();
    let description = match args.description.as_deref() {
        Some("-") => read_input("-")?,
        other => other.unwrap_or_default().to_owned(),
    };
    let instructions = object("--handoff-instructions", args.handoff_instructions.as_deref())?;
    let input = tasks::CreateIncrementInput {
        project: out.project(),
        identity: out.identity(),
        title: args.title,
        description,
        priority: args.priority.unwrap_or(usual.priority),
        parent: args.parent,
        after: args.after,
        estimated_duration: args.estimated_duration.unwrap_or(usual.estimated_duration),
        specialist_tags: args.tags,
        labels: args.labels,
        acceptance_criteria: args.acceptance,
        handoff_instructions: instructions.unwrap_or_default(),
        sensitive: false,
    };
    let made = out.app.run::<tasks::Increment>(&input)?;
    if silent && !out.json {
        return write(&format!("{}\n", visible(&made.verify_id)));
    }
    let issues: Vec<View> = made.items.into_iter().map(shape::issue).collect();
    out.print(&issues, |issues| super::list::lines(issues.iter().map(shape::line)))
}

/// `bd update`.
pub(super) fn update(args: Update, out: &mut Out<'_>) -> Result<(), AppError> {
    super::view::check_named(&args.ids, "update", out)?;
    if let Some(status) = args.status.as_deref().filter(|_| !args.force) {
        settings::check_status(status)?;
    }
    let (ids, claims, silent, forced) = (args.ids.clone(), args.claim, args.silent, args.force);
    if !args.force {
        check_type(args.fields.issue_type(), out)?;
    }
    let input = changed(args)?;
    let is_unchanged = input == tasks::UpdateInput::default();
    if is_unchanged && !claims {
        return out.print(&Vec::<Value>::new(), |_| "No updates specified\n".to_owned());
    }
    let only_claims = claims && is_unchanged;
    let closes_by_force = forced && input.status.as_deref() == Some("closed");
    let updated = EachIssue::try_all(&ids, out, |id, out| {
        let mut issue = None;
        if claims {
            let claimed = out.app.run::<tasks::ClaimTask>(&claim(Some(id.clone()), out))?;
            issue = claimed.task.map(shape::claimed);
        }
        if closes_by_force {
            let (project, identity, reason) = (out.project(), out.identity(), input.close_reason.clone());
            let close = tasks::CloseInput {
                project,
                identity,
                id: id.clone(),
                reason,
                force: true,
                ..Default::default()
            };
            out.app.run::<tasks::Close>(&close)?;
        }
        if !only_claims {
            let (project, identity) = (out.project(), out.identity());
            let input = tasks::UpdateInput { project, identity, id: id.clone(), ..input.clone() };
            issue = Some(shape::changed(out.app.run::<tasks::Update>(&input)?.task));
        }
        Ok(issue)
    })?;
    let is_silent = silent && !out.json;
    updated.print(out, |updated| {
        let updated: Vec<_> = updated.iter().flatten().collect();
        if is_silent { Ok(()) } else { print_updated(&updated, out) }
    })
}

pub(super) fn print_updated<T: Borrow<tasks::ClaimedTask> + Serialize>(
    updated: &[T],
    out: &Out<'_>,
) -> Result<(), AppError> {
    let line = |issue: &T| format!("✓ Updated issue: {}\n", visible(shape::claimed_id(issue.borrow())));
    out.print(updated, |all| all.iter().map(line).collect())
}

fn changed(args: Update) -> Result<tasks::UpdateInput, AppError> {
    let long = args.texts.read(args.fields.description())?;
    if long.description.as_ref().is_some_and(|text| text.trim().is_empty()) && !args.allow_empty_description {
        return Err(Refusal::invalid(
            "description_empty",
            "the new description is empty",
            "--allow-empty-description says that it is meant",
        )
        .into());
    }
    let mut input = tasks::UpdateInput {
        title: args.title,
        status: args.status,
        append_notes: args.append_notes,
        add_labels: args.add_label,
        remove_labels: args.remove_label,
        merge: args.merge,
        ..args.fields.into_update()?
    };
    input.labels = args.set_labels.or(input.labels);
    input.description = long.description.or(input.description);
    input.design = long.design.or(input.design);
    input.extra.extend(args.kept.extra()?);
    let texts = [("closed_by_session", args.session)];
    input.extra.extend(texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text?.into()))));
    let cleared = [("ephemeral", args.persistent), ("no_history", args.history)];
    input.extra.extend(cleared.iter().filter(|(_, is)| *is).map(|(key, _)| ((*key).to_owned(), Value::Null)));
    let mut metadata = Map::new();
    for pair in &args.set_metadata {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(select::key_value_refusal("--set-metadata", pair).into());
        };
        metadata.insert(key.to_owned(), value.into());
    }
    metadata.extend(args.unset_metadata.into_iter().map(|key| (key, Value::Null)));
    if !metadata.is_empty() {
        input.extra.insert("metadata".to_owned(), Value::Object(metadata));
        input.merge = true;
    }
    Ok(input)
}

/// Refuses a type that neither Beads nor any issue of the project has: most likely it is a slip.
pub(super) fn check_type(word: Option<&str>, out: &mut Out<'_>) -> Result<(), AppError> {
    let Some(word) = word.map(full_type).filter(|word| !TYPES.contains(word)) else { return Ok(()) };
    let input = tasks::ListInput {
        project: out.project(),
        issue_type: Some(word.to_owned()),
        all: true,
        limit: Some(1),
        ..tasks::ListInput::default()
    };
    if !out.app.run::<tasks::List>(&input)?.items.is_empty() {
        return Ok(());
    }
    if settings::is_custom_type(word, out)? {
        return Ok(());
    }
    let near = baton_model::suggest::suggestions(word, TYPES);
    let near = near.first().map(|word| format!("did you mean {word}? ")).unwrap_or_default();
    let what = format!("no issue has the type `{}`", visible(word));
    let hint = format!(
        "{near}`bd types` lists them; a new one is made by `bd create TITLE --type {} --force`",
        visible(word)
    );
    Err(Refusal::invalid("type_unknown", what, hint).into())
}

/// A deadline; refused before anything is written.
pub(super) fn deadline(text: &str) -> Result<(), Refusal> {
    match parse_moment(text, crate::clock::now(), Direction::Ahead) {
        Some(_) => Ok(()),
        None => Err(Refusal::invalid(
            "time_invalid",
            format!("`{}` is not a time", visible(text)),
            "write 2026-11-20, +3d, tomorrow, or next monday",
        )),
    }
}
