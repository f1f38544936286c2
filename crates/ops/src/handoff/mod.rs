//! Hand-offs between projects: planned, carried out step by step, offered, accepted, completed, taken back.

pub(crate) mod acceptor;
mod advance;
mod advance_input;
pub(crate) mod claimant;
mod closing_words;
pub(crate) mod conversation;
mod create;
mod create_input;
pub(crate) mod details;
pub(crate) mod edit;
pub(crate) mod expected_acceptor;
pub(crate) mod expiry;
pub(crate) mod isolation;
mod issue_text;
pub(crate) mod late_close;
mod late_words;
pub(crate) mod linked_documents;
mod list;
mod mark_seen;
mod missing;
mod mistyped;
pub(crate) mod moved;
mod named_repo;
mod news;
mod outdated_news;
mod preview;
mod publish;
mod remarks;
mod replacement;
pub(crate) mod retry;
mod row;
pub(crate) mod seeding;
mod sender;
mod show;
pub(crate) mod steps;
pub(crate) mod task_end;
pub(crate) mod tracker;
mod tracker_comments;
mod tracker_input;

use baton_model::access::Grant;
use baton_model::delta::Kind;
use baton_model::handoff::{Handoff, State};
use baton_model::id::{BOT, short};
use baton_model::refusal::{self, Refusal};
use baton_model::task::Task;
use baton_store::{Failure, Tx, handoff};
use serde_json::json;

use crate::ledger::{Author, append_json};
use crate::op::Env;
use crate::{project_name, resolve};
pub(crate) use advance::begin_task;
pub use advance::{Advance, AdvanceOutput};
pub use advance_input::{Action, AdvanceInput};
pub use closing_words::awaits_closing_words;
pub use conversation::{IssueComment, IssueConversation, IssueEdits};
pub use create::{Create, CreateOutput};
pub use create_input::{CreateInput, SeedSession};
pub use late_close::EndedHandoff;
pub use linked_documents::{LinkedDocument, LinkedDocumentSummary, paths as linked_paths};
pub use list::{List, ListInput, ListOutput};
pub use mark_seen::{MarkSeen, MarkSeenInput, MarkSeenOutput};
pub use missing::note_repository;
use news::News;
pub use preview::{Preview, PreviewedMemory, PreviewedSession, PreviewedTask};
pub use publish::{IssuePreview, Publish, PublishInput, PublishOutput, PublishPreview};
pub use retry::{Retry, RetryInput};
pub use row::{MemoryRef, Progress, Row, SeededSession};
pub use show::{BatonRow, HandoffOrBaton, Show, ShowInput, ShowOutput};
pub use tracker::{TrackerEvent, TrackerEventInput, TrackerEventOutput};
pub use tracker_comments::{TrackerComment, TrackerComments, TrackerCommentsInput, TrackerCommentsOutput};

/// The hand-off named by an id or a unique prefix of one, if this caller has to do with either of its projects.
pub(crate) fn by_id(tx: &mut Tx<'_>, grant: &Grant, id: &str) -> Result<Handoff, Failure> {
    let unknown = || unknown_refusal(id);
    let of_caller = |h: &Handoff| grant.reaches(&h.from_project_id) || grant.reaches(&h.to_project_id);
    if let Some(handoff) = handoff::get(tx, id)? {
        return if of_caller(&handoff) { Ok(handoff) } else { Err(unknown().into()) };
    }
    let ids = if id.len() >= 4 && id.is_ascii() { handoff::by_prefix(tx, id)? } else { Vec::new() };
    match ids.as_slice() {
        [one] => handoff::get(tx, one)?.filter(of_caller).ok_or_else(|| unknown().into()),
        [] => Err(unknown().into()),
        _ if grant.projects.is_some() => Err(unknown().into()),
        many => Err(resolve::ambiguous_id_refusal("hand-off", id, many).into()),
    }
}

fn unknown_refusal(id: &str) -> Refusal {
    Refusal::new(
        refusal::Kind::NotFound,
        "handoff_unknown",
        format!("there is no hand-off `{}` here", baton_model::id::visible(id)),
        "`baton handoff list` names them; one between isolated projects is shown in their folders alone",
    )
}

/// The same refusal, with the id of the hand-off in the commands that its hint names.
pub(crate) fn with_id(refusal: Refusal, handoff_id: &str) -> Refusal {
    let id = short(handoff_id);
    let hint = refusal.hint.replace(" ID`", &format!(" {id}`")).replace(" ID ", &format!(" {id} "));
    Refusal { hint, ..refusal }
}

/// Refuses a caller whose token does not reach the project for which it would act, as if that project were not there.
pub(super) fn require_reach(grant: &Grant, project_id: &str) -> Result<(), Refusal> {
    if grant.reaches(project_id) { Ok(()) } else { Err(resolve::no_project_refusal(project_id)) }
}

/// Registers a project of the hand-off that this store lacks, as an import of the other one leaves it.
pub(crate) fn register_both_projects(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    handoff: &Handoff,
) -> Result<(), Failure> {
    for project_id in [&handoff.from_project_id, &handoff.to_project_id] {
        if !tx.has_project(project_id) {
            project_name::register(tx, project_id, true, env.now)?;
        }
    }
    Ok(())
}

/// Every change of state is a delta in both projects; what the receiver, the time or the tracker did is a signal to the sender,
/// too.
pub(crate) fn record(tx: &mut Tx<'_>, env: &mut Env<'_>, handoff: &Handoff, by: &str) -> Result<(), Failure> {
    record_news(tx, env, handoff, (by, None), News::State)
}

/// The same of what is said of a state that is known, or by one who stands in a project that is known.
fn record_news(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    handoff: &Handoff,
    (by, place): (&str, Option<&str>),
    news: News,
) -> Result<(), Failure> {
    register_both_projects(tx, env, handoff)?;
    let separated = isolation::is_separated(tx, handoff)?;
    let acting = isolation::ending_project(handoff);
    for project_id in [&handoff.from_project_id, &handoff.to_project_id] {
        let row = Row::of(handoff, &[]);
        let viewer = isolation::Viewer { project: Some(project_id), grant: None };
        let shown = isolation::shown_to(tx, viewer, handoff, row)?.handoff;
        let what = match news {
            News::State => format!("hand-off {}", handoff.state.as_str()),
            News::Reason => format!("why a hand-off was {}", handoff.state.as_str()),
        };
        let body = json!({
            "summary": format!("{what}: {}", handoff.subject),
            "handoff": shown,
        });
        // The sender is named in the hand-off itself; no other agent of a project that is kept apart is.
        let is_named = !separated || acting == project_id || by == handoff.from_identity;
        let author = Author { project_id, identity: if is_named { by } else { BOT }, session: None };
        append_json(tx, env, &author, Kind::Handoff, &body)?;
        if handoff.from_project_id == handoff.to_project_id {
            break;
        }
    }
    let author = news::NewsAuthor { name: by, is_named: !separated, place };
    news::signal_sender(tx, env, handoff, author, news)
}

/// Removes the sender's text from tasks whose hand-off has not been accepted yet: until then it is announced by id,
/// subject, sender and age only. Those whose hand-off has expired are left out.
pub(crate) fn without_sender_text(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    tasks: &mut Vec<Task>,
) -> Result<(), Failure> {
    let mut expired = Vec::new();
    for task in tasks.iter_mut().filter(|task| task.extra.contains_key("handoff_id")) {
        let Some(known) = handoff::by_task(tx, project_id, &task.task_id)? else { continue };
        // It may not be written down yet that its time is over, and its task is closed with it.
        if known.state == State::Offered
            && claimant::as_of_now(tx, env, known.clone())?.state == State::Expired
        {
            expired.push(task.task_id.clone());
            continue;
        }
        if matches!(known.state, State::Planned | State::Pending | State::Offered) {
            let subject = crate::card::subject(env, &known.subject);
            let named = subject.map(|subject| format!(": \"{subject}\"")).unwrap_or_default();
            let sender = isolation::sender_for(&known, Some(&env.caller.grant));
            task.title = format!("a hand-off from {sender} that nobody has accepted yet{named}");
            task.description.clear();
            task.labels = vec!["handoff".into()];
            task.extra.retain(|key, _| key == "handoff_id");
        }
    }
    tasks.retain(|task| !expired.contains(&task.task_id));
    Ok(())
}
