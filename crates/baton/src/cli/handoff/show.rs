//! `baton handoff show`: everything that a person asks of a hand-off, and of a baton.

use baton_model::handoff::State;
use baton_model::id::visible;
use baton_model::issue::plain;
use baton_model::time::rfc3339;
use baton_ops::baton::Spending;
use baton_ops::handoff::{BatonRow, HandoffOrBaton, Row, ShowOutput};
use serde_json::Value;

use super::progress::document_row;
use super::{ending, row};
use crate::render;

pub(in crate::cli) fn text(shown: &ShowOutput) -> String {
    let packet = shown.packet.as_deref().filter(|text| !text.is_empty());
    let packet = packet.map(|text| format!("packet\n{}\n", render::packet(text))).unwrap_or_default();
    match &shown.handoff {
        HandoffOrBaton::Baton(baton) => format!("{}{packet}", render::table(&[baton_row(baton)])),
        HandoffOrBaton::Handoff(one) => {
            let conversation = shown.conversation.as_ref().map(render::conversation).unwrap_or_default();
            format!("{}{}{conversation}{packet}", head(one, shown), sender_text(shown))
        }
    }
}

fn head(one: &Row, shown: &ShowOutput) -> String {
    let handoff = &one.handoff;
    let mut facts = vec![vec!["id".to_owned(), visible(&handoff.handoff_id)]];
    let mut fact = |name: &str, value: Option<String>| {
        facts.extend(value.map(|value| vec![name.to_owned(), value]));
    };
    fact(
        "from",
        Some(format!("{} of {}", visible(&handoff.from_identity), visible(handoff.sender_project()))),
    );
    fact("for", handoff.to_identity.as_deref().or(handoff.to_role.as_deref()).map(visible));
    fact("task", handoff.task.as_ref().map(|task| visible(&task.id)));
    fact("address", handoff.task.as_ref().and_then(|task| task.url.as_deref()).map(visible));
    fact("memory", one.memory.as_ref().map(|memory| visible(&memory.memory_id)));
    fact("session", one.seeded_session.as_ref().map(|seeded| visible(&seeded.session_id)));
    // Once it was taken, its deadline says nothing any more.
    let is_taken =
        matches!(handoff.state, State::Accepted | State::Completed | State::Declined | State::Cancelled);
    fact("expires", handoff.expires_at.filter(|_| !is_taken).map(|at| rfc3339(at.0)));
    fact("left anew as", handoff.replaced_by.as_deref().map(visible));
    fact("repository", handoff.issues_github_repo.as_deref().map(visible));
    // What failed before a hand-off ended is history, and no reason.
    let title = if handoff.state.is_over() { "had failed" } else { "why" };
    fact(title, handoff.last_error.as_deref().map(visible));
    fact(
        "next",
        shown.receiver_missing.as_deref().map(register).or_else(|| {
            match handoff.repository_missing && !handoff.state.is_over() {
                true => Some(without_repository(&handoff.handoff_id)),
                false => next(handoff.state, &handoff.handoff_id).filter(|_| handoff.replaced_by.is_none()),
            }
        }),
    );
    let links: Vec<Vec<String>> = shown
        .links
        .iter()
        .flat_map(|(name, value)| link_texts(value).into_iter().map(|one| vec![visible(name), visible(&one)]))
        .collect();
    let documents: Vec<Vec<String>> = shown.documents.iter().map(document_row).collect();
    let links = [links, documents].concat();
    let steps: Vec<Vec<String>> = {
        let reason = handoff.last_error.as_deref();
        one.steps.iter().map(|step| ending::step_row(step, reason)).collect()
    };
    format!(
        "{}{}{}{}{}",
        render::table(&[row(handoff)]),
        render::table(&facts).lines().map(|line| format!("  {line}\n")).collect::<String>(),
        ending::lines(handoff),
        render::section("links", &links),
        render::section("steps", &steps)
    )
}

/// What makes an offer one that can be taken.
fn register(why: &str) -> String {
    format!("{}: `baton init` in its repository does so", visible(why))
}

/// What helps where the repository of an issue is not to be found.
pub(super) fn without_repository(id: &str) -> String {
    let id = render::short_id(id);
    format!(
        "give the token access, then `baton handoff retry {id}` asks again; or take it back, and leave it anew: `baton handoff cancel {id}`"
    )
}

/// The command that helps in this state.
fn next(state: State, id: &str) -> Option<String> {
    let id = render::short_id(id);
    match state {
        State::Failed => Some(format!(
            "mend what it names, then `baton handoff retry {id}`; or `baton handoff cancel {id}`"
        )),
        State::Planned | State::Pending => Some(format!(
            "`baton handoff retry {id}` tries it now; a copy of a store waits for `baton store take-over`"
        )),
        State::Offered => Some(format!("`baton pickup --handoff {id}` in the receiving project")),
        State::Declined | State::Expired => {
            Some(format!("`baton handoff create --replaces {id}` leaves it anew with what it says"))
        }
        _ => None,
    }
}

/// The texts of a link: several of one name are a list.
fn link_texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().map(plain).collect(),
        one => vec![plain(one)],
    }
}

/// The words that came with it: each in a block that shows where it ends.
fn sender_text(shown: &ShowOutput) -> String {
    let note = shown.note.as_ref().map(|note| note.text.as_str());
    [("description", shown.description.as_deref()), ("note", note)]
        .into_iter()
        .filter_map(|(title, text)| Some(format!("{title}\n{}", render::quoted(text?))))
        .collect()
}

fn baton_row(baton: &BatonRow) -> Vec<String> {
    vec![
        render::short_id(&baton.handoff_id),
        baton.spent.as_ref().map_or(baton.state.as_str(), Spending::word).to_owned(),
        format!("{} → {}", visible(&baton.from_project_id), visible(&baton.to_project_id)),
        visible(&baton.subject),
        render::time_ago(baton.created_at),
    ]
}
