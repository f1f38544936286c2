//! Hand-offs that a project sent, as its card shows them.

use std::cmp::Reverse;

use baton_model::actor::ActorType;
use baton_model::handoff::{Handoff, LateWords, State};
use baton_model::id::short;
use baton_model::printable::quotable;
use baton_model::time::{Millis, Timestamp, parse_rfc3339};
use baton_store::{Failure, Tx, handoff, project};
use serde::{Deserialize, Serialize};

use super::subject;
use crate::handoff::details::HandoffDetails;
use crate::handoff::{Row, isolation};
use crate::op::Env;

/// The most hand-offs of a card.
const MAX_HANDOFFS: usize = 50;
/// For how long the card shows one that has ended.
const RECENT: Millis = 7 * 86_400_000;
/// The most characters of a reason or a result.
const WHY: usize = 160;
/// The option that the advice for an unknown repository names.
const OTHER_REPOSITORY: &str = "--repo OWNER/NAME";

/// A hand-off that the project sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentHandoff {
    /// Its id.
    pub handoff_id: String,
    /// Where it stands.
    pub state: State,
    /// What it is about, cleaned and shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The project that it went to.
    pub to_project_id: String,
    /// What that one is called since it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_project_name: Option<String>,
    /// The identity that accepted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Who ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<String>,
    /// What kind of actor that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by_type: Option<ActorType>,
    /// In whose place an operator ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_place_of: Option<String>,
    /// Why it failed or waits, or what the receiver said at the end: cleaned and shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The last answer that came when it was over, or from another than its acceptor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<LateAnswer>,
    /// The hand-off that was left anew in its place, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
    /// The command that helps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// When it was written down.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it came into its state; none in the answer of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_since: Option<Timestamp>,
}

/// An answer that is not the result of a hand-off: it came late, or from another than its acceptor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateAnswer {
    /// What it is.
    #[serde(default, skip_serializing_if = "LateWords::is_result")]
    pub kind: LateWords,
    /// Who gave it.
    pub by: String,
    /// What kind of actor that is.
    #[serde(default, skip_serializing_if = "ActorType::is_agent")]
    pub by_type: ActorType,
    /// What it says, cleaned and shortened; absent where this caller is not told subjects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

impl SentHandoff {
    /// The age that a row shows: that of its state.
    pub fn age_since(&self) -> Timestamp {
        self.state_since.unwrap_or(self.updated_at)
    }

    /// What people call the project that it went to.
    pub fn receiver(&self) -> &str {
        self.to_project_name.as_deref().unwrap_or(&self.to_project_id)
    }

    /// Who ended it, and in whose place, else who has it, in a sentence.
    pub fn actor(&self) -> Option<String> {
        let actor = match (&self.ended_by, self.ended_by_type) {
            // Of a project whose people have no name here, `ended_by` says so already.
            (Some(by), Some(ActorType::Project) | None) => by.clone(),
            (Some(by), Some(kind)) => kind.label(by),
            (None, _) => return self.holder.clone(),
        };
        let place = self.in_place_of.as_ref().map(|name| format!(" in {name}'s place"));
        Some(actor + &place.unwrap_or_default())
    }
}

/// The hand-offs that a project sent and that are not over, and those that ended lately or were answered late. One that was taken back
/// is left out where nothing came after that: its sender did that. `all`: the hand-offs of the project.
pub(crate) fn sent(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    mut all: Vec<Handoff>,
) -> Result<Vec<SentHandoff>, Failure> {
    all.retain(|one| one.from_project_id == project_id && rank(one, env.now).is_some());
    let settled = settled_returns(tx, project_id, &all)?;
    all.sort_by_key(|one| {
        let rank = if settled.contains(&one.handoff_id) { Some(SETTLED) } else { rank(one, env.now) };
        (rank, Reverse(one.updated_at))
    });
    all.truncate(MAX_HANDOFFS);
    let rows = all.iter().map(|one| row(tx, env, one)).collect::<Result<Vec<_>, _>>()?;
    Ok(rows.into_iter().flatten().collect())
}

/// The place of what has ended and asks nothing of its sender any more.
const SETTLED: u8 = 4;

/// Those that came back, and that their sender has opened or left anew.
fn settled_returns(tx: &mut Tx<'_>, project_id: &str, all: &[Handoff]) -> Result<Vec<String>, Failure> {
    let returned = || all.iter().filter(|one| one.state.is_returned());
    if returned().next().is_none() {
        return Ok(Vec::new());
    }
    let mut settled = handoff::seen_returns(tx, project_id)?;
    let is_left_anew = |one: &&Handoff| HandoffDetails::of(one).replaced_by.is_some();
    settled.extend(returned().filter(is_left_anew).map(|one| one.handoff_id.clone()));
    Ok(settled)
}

/// The place of a state on the card: what needs the sender is first.
fn rank(one: &Handoff, now: Millis) -> Option<u8> {
    let is_lately = |at: Millis| now.saturating_sub(at) <= RECENT;
    let is_answered_late = || late_at(one).is_some_and(is_lately);
    let is_recent = is_lately(one.updated_at) || is_answered_late();
    // One within a project is listed with what waits there.
    let is_elsewhere = one.from_project_id != one.to_project_id;
    match one.state {
        State::Failed => Some(0),
        State::Planned | State::Pending => Some(1),
        State::Declined | State::Expired if is_recent => Some(2),
        State::Cancelled if is_answered_late() => Some(2),
        State::Offered | State::Accepted if is_elsewhere => Some(3),
        State::Completed if is_recent => Some(SETTLED),
        _ => None,
    }
}

/// When a result came last that is not the hand-off's own.
fn late_at(one: &Handoff) -> Option<Millis> {
    // Most plans hold none, and are not read for it.
    let may_hold = one.plan.contains("late_results");
    let late = may_hold.then(|| HandoffDetails::of(one).late_results)?;
    late.last().and_then(|late| parse_rfc3339(&late.at))
}

/// What of a long error fits, up to the end of a clause; the whole of it is in `handoff show`.
fn first_clauses(error: String) -> String {
    let Some((at, _)) = error.char_indices().nth(WHY) else { return error };
    let (head, _) = error.split_at(at);
    let end = ["; ", ": ", ". ", ", "].iter().filter_map(|mark| head.rfind(mark)).max();
    end.map_or(head, |end| head.split_at(end).0).to_owned()
}

/// The row of a hand-off as its sender sees it; none of one that was taken back and whose late results are kept apart from the sender.
fn row(tx: &mut Tx<'_>, env: &Env<'_>, one: &Handoff) -> Result<Option<SentHandoff>, Failure> {
    let sender = isolation::Viewer { project: Some(&one.from_project_id), grant: None };
    let view = isolation::shown_to(tx, sender, one, Row::of(one, &[]))?.handoff;
    let id = short(&view.handoff_id);
    let state_since = Some(view.state_since());
    let late = view.late_results.last();
    if view.state == State::Cancelled && late.is_none() {
        return Ok(None);
    }
    let shown =
        |text: &str| Some(quotable(text, WHY)).filter(|text| !env.hides_subjects() && !text.is_empty());
    let late = late.map(|late| LateAnswer {
        kind: late.kind,
        by: late.by.clone(),
        by_type: late.by_type,
        result: shown(&late.result),
    });
    let in_place_of = view.in_place_of().map(str::to_owned);
    let (why, help) = match view.state {
        State::Failed | State::Planned | State::Pending => {
            let names_repository =
                view.last_error.as_ref().is_some_and(|error| error.contains(OTHER_REPOSITORY));
            let option = if names_repository { format!(" {OTHER_REPOSITORY}") } else { String::new() };
            (view.last_error.map(first_clauses), Some(format!("baton handoff retry {id}{option}")))
        }
        State::Declined | State::Expired | State::Completed | State::Cancelled => {
            // Who took it back knows why.
            let words = view.closing_words().map(str::to_owned);
            let words = words.filter(|_| view.state != State::Cancelled && !env.hides_subjects());
            (words, Some(format!("baton handoff show {id}")))
        }
        // What helps depends on the repository: it is said there.
        State::Offered | State::Accepted if view.repository_missing => {
            (view.last_error, Some(format!("baton handoff show {id}")))
        }
        State::Accepted if late.is_some() => (None, Some(format!("baton handoff show {id}"))),
        State::Offered => (nobody_there(tx, one)?, None),
        State::Accepted => (None, None),
    };
    Ok(Some(SentHandoff {
        state: view.state,
        in_place_of,
        subject: subject(env, &view.subject),
        to_project_name: project::get(tx, &view.to_project_id)?.and_then(|project| project.name),
        to_project_id: view.to_project_id,
        holder: view.accepted_by,
        ended_by_type: view.ended.as_ref().map(|ended| ended.by_type),
        ended_by: view.ended.map(|ended| ended.by),
        why: why.map(|text| quotable(&text, WHY)).filter(|text| !text.is_empty()),
        late,
        replaced_by: view.replaced_by,
        help,
        created_at: view.created_at,
        updated_at: view.updated_at,
        state_since,
        handoff_id: view.handoff_id,
    }))
}

/// Why an offer waits whose receiver does not exist yet: no repository is registered as its project.
pub(crate) fn nobody_there(tx: &mut Tx<'_>, one: &Handoff) -> Result<Option<String>, Failure> {
    let target = project::get(tx, &one.to_project_id)?;
    let is_empty = target.is_none_or(|target| target.is_placeholder);
    Ok(is_empty.then(|| {
        format!("nobody works in project {} yet: no repository is registered as it", one.to_project_id)
    }))
}
