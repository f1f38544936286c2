//! Conditions from options.

use baton_model::moment::{Direction, parse_moment};
use baton_model::refusal::Refusal;
use baton_model::task::word::full_type;

use super::{Condition, Field, Relation, Test};
use crate::cli::bd::args::{Filters, MoreFilters};
use crate::cli::bd::identity;

/// The instant that an option means; a span goes back.
pub(in crate::cli::bd) fn instant(text: &str) -> Result<i64, Refusal> {
    parse_moment(text, crate::clock::now(), Direction::Back).ok_or_else(|| {
        Refusal::invalid(
            "time_invalid",
            format!("`{}` is not a time", baton_model::id::visible(text)),
            "write 2026-11-20, 2026-11-20T10:00:00Z, 7d for seven days ago, +7d for in seven days, or yesterday",
        )
    })
}

/// What a name is filtered by: as it was written, and as Baton keeps the names of actors.
pub(in crate::cli::bd) fn assigned_to(name: &str) -> Condition {
    let is = |name: String| Condition::Field(Field::Assignee, Test::Is(name));
    Condition::Any(vec![is(name.to_owned()), is(identity(name))])
}

/// The conditions of the common filters that the ledger's own list does not know.
pub(in crate::cli::bd) fn filtered(filters: &Filters) -> Result<Vec<Condition>, Refusal> {
    let mut found = Vec::new();
    let none_of = |field, words: &[String]| {
        let is = |word: &String| Condition::Field(field, Test::Is(full_type(word).to_owned()));
        Condition::Not(Box::new(Condition::Any(words.iter().map(is).collect())))
    };
    if !filters.exclude_label.is_empty() {
        found.push(none_of(Field::Label, &filters.exclude_label));
    }
    if !filters.exclude_type.is_empty() {
        found.push(none_of(Field::Type, &filters.exclude_type));
    }
    if filters.priority.len() > 1 {
        let is = |wanted: &i64| Condition::Field(Field::Priority, Test::Is(wanted.to_string()));
        found.push(Condition::Any(filters.priority.iter().map(is).collect()));
    }
    if let Some(name) = filters.assignee.as_deref().filter(|name| identity(name) != **name) {
        found.push(assigned_to(name));
    }
    let is = |field, text: &Option<String>| text.clone().map(|text| Condition::Field(field, Test::Is(text)));
    found.extend(is(Field::MolType, &filters.mol_type));
    found.extend(is(Field::WispType, &filters.wisp_type));
    let pattern = filters.label_pattern.clone();
    found.extend(pattern.map(|pattern| Condition::Field(Field::Label, Test::Glob(pattern))));
    for pair in &filters.metadata_field {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(key_value_refusal("--metadata-field", pair));
        };
        found.push(Condition::Metadata(key.to_owned(), Some(value.to_owned())));
    }
    found.extend(filters.has_metadata_key.iter().map(|key| Condition::Metadata(key.clone(), None)));
    Ok(found)
}

/// The refusal of what is not `KEY=VALUE`.
pub(in crate::cli::bd) fn key_value_refusal(option: &str, given: &str) -> Refusal {
    let what = format!("`{}` is not KEY=VALUE", baton_model::id::visible(given));
    Refusal::invalid("usage", what, format!("{option} team=platform"))
}

/// The conditions of the further filters.
pub(in crate::cli::bd) fn filter_conditions(filters: &MoreFilters) -> Result<Vec<Condition>, Refusal> {
    let mut found = texts(filters);
    found.extend(times(filters)?);
    let at = |relation, bound: Option<i64>| {
        bound.map(|bound| Condition::Field(Field::Priority, Test::Number(relation, bound)))
    };
    found.extend(at(Relation::AtLeast, filters.priority_min));
    found.extend(at(Relation::AtMost, filters.priority_max));
    let has_no = [
        (filters.empty_description, Field::Description),
        (filters.no_assignee, Field::Assignee),
        (filters.no_labels, Field::Label),
        (filters.no_parent, Field::Parent),
    ];
    found.extend(
        has_no.iter().filter(|(wanted, _)| *wanted).map(|(_, field)| Condition::Field(*field, Test::Empty)),
    );
    if filters.pinned || filters.no_pinned {
        found.push(Condition::Field(Field::Pinned, Test::Flag(filters.pinned)));
    }
    if filters.deferred {
        let has_time = Condition::Not(Box::new(Condition::Field(Field::Deferred, Test::Empty)));
        let without = Condition::Field(Field::Status, Test::Is("deferred".to_owned()));
        found.push(Condition::Any(vec![has_time, without]));
    }
    if filters.overdue {
        let now = crate::clock::now();
        found.push(Condition::Field(Field::Due, Test::Time(Relation::Less, now)));
        let closed = Condition::Field(Field::Status, Test::Is("closed".to_owned()));
        found.push(Condition::Not(Box::new(closed)));
    }
    if !filters.id.is_empty() {
        let is = |id: &String| Condition::Field(Field::Id, Test::Is(id.clone()));
        found.push(Condition::Any(filters.id.iter().map(is).collect()));
    }
    Ok(found)
}

fn texts(filters: &MoreFilters) -> Vec<Condition> {
    let contains =
        |field, text: &Option<String>| text.clone().map(|text| Condition::Field(field, Test::Contains(text)));
    let external = filters.external_ref.clone();
    let spec = filters.spec.as_ref().map(|spec| format!("{spec}*"));
    [
        contains(Field::Title, &filters.title),
        contains(Field::Title, &filters.title_contains),
        contains(Field::Description, &filters.desc_contains),
        contains(Field::Notes, &filters.notes_contains),
        contains(Field::External, &filters.external_contains),
        external.map(|name| Condition::Field(Field::External, Test::Is(name))),
        spec.map(|pattern| Condition::Field(Field::Spec, Test::Glob(pattern))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn times(filters: &MoreFilters) -> Result<Vec<Condition>, Refusal> {
    let times = &filters.times;
    let bounds = [
        (Field::Created, Relation::More, &times.created_after),
        (Field::Created, Relation::Less, &times.created_before),
        (Field::Updated, Relation::More, &times.updated_after),
        (Field::Updated, Relation::Less, &times.updated_before),
        (Field::Closed, Relation::More, &times.closed_after),
        (Field::Closed, Relation::Less, &times.closed_before),
        (Field::Deferred, Relation::More, &times.defer_after),
        (Field::Deferred, Relation::Less, &times.defer_before),
        (Field::Due, Relation::More, &times.due_after),
        (Field::Due, Relation::Less, &times.due_before),
    ];
    let mut found = Vec::new();
    for (field, relation, text) in bounds {
        if let Some(text) = text {
            found.push(Condition::Field(field, Test::Time(relation, instant(text)?)));
        }
    }
    Ok(found)
}
