//! The verbs about what belongs to issues.

use super::args::{Relation, TodoVerb};
use super::list::Selection;
use super::{Out, annotate, close, gate, link, memory, molecule, part, swarm};
use crate::error::AppError;

pub(super) fn run(verb: Relation, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb {
        Relation::Dep { verb, id, blocks, .. } => link::dep(verb, id, blocks, out),
        Relation::Link { id, on, kind } => link::link(&id, &on, &kind, out),
        Relation::Relate { id, other } => link::relate(&id, &other, out),
        Relation::Unrelate { id, other } => link::unrelate(&id, &other, out),
        Relation::Comment { id, text } => annotate::comment(&id, &text.read("comment")?, out),
        Relation::Comments { words, file, author, .. } => annotate::comments(&words, file, author, out),
        Relation::Label { verb } => annotate::label(verb, out),
        Relation::State { words } => annotate::state(&words, out),
        Relation::SetState { id, state, reason } => annotate::set_state(&id, &state, reason.as_deref(), out),
        Relation::Epic { verb } => part::epic(verb, out),
        Relation::Swarm { verb } => swarm::swarm(verb, out),
        Relation::Mol { verb } => molecule::molecule(verb, out),
        Relation::Wisp { verb } => molecule::wisp(verb, out),
        Relation::Gate { verb } => gate::run(verb, out),
        Relation::Todo { verb } => todo(verb.unwrap_or(TodoVerb::List { all: false }), out),
        Relation::Remember { text, key } => memory::remember(&text.join(" "), key, out),
        Relation::Recall { words } => memory::recall(&words, out),
        Relation::Memories { words } => memory::memories(&words, out),
        Relation::Forget { id } => memory::forget(&id, out),
        Relation::Kv { verb } => memory::kv(verb, out),
    }
}

/// A list of small tasks: issues of type task.
fn todo(verb: TodoVerb, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb {
        TodoVerb::Add { title, priority, description } => {
            let usual = baton_ops::task::CreateInput::default();
            let input = baton_ops::task::CreateInput {
                project: out.project(),
                identity: out.identity(),
                title: title.join(" "),
                assignee: Some(out.acting_name()?),
                priority: priority.unwrap_or(usual.priority),
                description: description.unwrap_or_default(),
                ..baton_ops::task::CreateInput::default()
            };
            let made = out.app.run::<baton_ops::task::Create>(&input)?.task.view;
            super::change::print_created(made, out)
        }
        TodoVerb::List { all } => {
            let mut selection = Selection::all(out);
            selection.ledger.issue_type = Some("task".to_owned());
            selection.ledger.all = all;
            selection.ledger.status = (!all).then(|| "open".to_owned());
            selection.print(out)
        }
        TodoVerb::Done { ids, reason } => close::close_todos(&ids, reason, out),
    }
}
