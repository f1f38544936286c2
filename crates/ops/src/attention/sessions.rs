//! Sessions that need a look: those whose agent is not heard of, and those whose agent is at work and says nothing.

use std::collections::{BTreeMap, BTreeSet};

use baton_model::attention::{AttentionItem, QUIET_AFTER, Reason, SuggestedCommand};
use baton_model::handoff::Handoff;
use baton_model::id::short;
use baton_model::packet::one_line;
use baton_model::session::Session;
use baton_model::task::Task;
use baton_model::task::claim::ClaimLiveness;
use baton_model::time::{Millis, Timestamp, ago};
use baton_store::{Failure, Tx, delta, handoff, lease, task};

use crate::handoff::details::HandoffDetails;
use crate::op::Env;
use crate::ownership::has_other_process_ended;
use crate::session::accepted_of_session;

/// A session that is at work and has written nothing for long.
pub(super) struct QuietSession {
    pub(super) session: Session,
    /// When it last wrote something.
    since: Millis,
}

/// Of the sessions at work, those that have written nothing for long. One entry of each that began long ago is read.
pub(super) fn quiet(
    tx: &mut Tx<'_>,
    working: Vec<Session>,
    now: Millis,
) -> Result<Vec<QuietSession>, Failure> {
    let before = now - QUIET_AFTER;
    let mut found = Vec::new();
    for session in working.into_iter().filter(|of| of.started_at < before) {
        let last = delta::newest_of_session(tx, &session.project_id, &session.session_id, 1)?;
        let since = last.first().map_or(session.started_at, |last| last.created_at);
        if since < before {
            found.push(QuietSession { session, since });
        }
    }
    Ok(found)
}

impl QuietSession {
    pub(super) fn item(&self) -> AttentionItem {
        let detail = "at work, and nothing was written for over 2 hours".to_owned();
        item(Reason::SessionQuiet, &self.session, self.since, Some(detail))
    }
}

/// What a session has in hand.
pub(super) struct HeldWork {
    /// In words: `a baton, 1 task, 2 leases`.
    words: String,
    /// Whether other agents cannot take it meanwhile.
    is_exclusive: bool,
}

/// What each of these sessions has in hand, by session id.
pub(super) fn held_by(
    tx: &mut Tx<'_>,
    sessions: &[Session],
    now: Millis,
) -> Result<BTreeMap<String, HeldWork>, Failure> {
    let mut held = BTreeMap::new();
    let projects: BTreeSet<&str> = sessions.iter().map(|of| of.project_id.as_str()).collect();
    for project_id in projects {
        let (claimants, lapsed) = task::expiring_claims(tx, project_id, now)?;
        let claimants: BTreeSet<String> = claimants.into_iter().collect();
        let mut late = BTreeSet::new();
        for task_id in lapsed {
            let claim = task::get(tx, project_id, &task_id)?.and_then(|task| task.claim);
            late.extend(claim.and_then(|claim| claim.session_id));
        }
        let leases = lease::held_leases(tx, project_id, now)?;
        let accepted = handoff::accepted(tx, project_id)?;
        for of in sessions.iter().filter(|of| of.project_id == project_id) {
            let id = &of.session_id;
            let has_claims = claimants.contains(id) || late.contains(id);
            let claimed = if has_claims { task::claimed_in(tx, project_id, id)? } else { Vec::new() };
            let liveness = Some(ClaimLiveness { open: of.is_open(), heard_at: of.heartbeat_at });
            let is_live =
                |task: &&Task| task.claim.as_ref().is_some_and(|claim| claim.expires_at(liveness) > now);
            let tasks = claimed.iter().filter(is_live).count();
            let lapsed = claimed.len().saturating_sub(tasks);
            let leases = leases.iter().filter(|one| one.session_id.as_ref() == Some(id)).count();
            let handoffs = accepted_of_session(&accepted, id, &of.identity).count();
            let parts = [
                of.baton_id.is_some().then(|| "a baton".to_owned()),
                counted(tasks, "task"),
                counted(leases, "lease"),
                counted(handoffs, "hand-off"),
            ];
            let is_exclusive = parts.iter().any(Option::is_some);
            // Such a task can be taken by others, and is told after what cannot.
            let lapsed = counted(lapsed, "task").map(|tasks| format!("{tasks} whose claim has run out"));
            let parts: Vec<String> = parts.into_iter().chain([lapsed]).flatten().collect();
            if !parts.is_empty() {
                held.insert(id.clone(), HeldWork { words: parts.join(", "), is_exclusive });
            }
        }
    }
    Ok(held)
}

/// So many of them in words; nothing for none.
fn counted(count: usize, noun: &str) -> Option<String> {
    (count > 0).then(|| format!("{count} {}", if count == 1 { noun.to_owned() } else { format!("{noun}s") }))
}

/// A session whose agent is not heard of, with what it holds, and why that is said: its process has ended, or it gave no sign of life
/// for long.
pub(super) fn silent_item(env: &Env<'_>, of: &Session, held: Option<&HeldWork>) -> AttentionItem {
    let why = match of.is_fresh(env.now, env.limits) {
        true => format!("its process has ended; last heard of {}", ago(env.now, of.heartbeat_at)),
        false if has_other_process_ended(env, of) => "its process has ended".to_owned(),
        false => format!("last sign of life {}", ago(env.now, of.heartbeat_at)),
    };
    let words = held.map(|held| format!("holds {}", held.words));
    let detail = words.into_iter().chain([why]).collect::<Vec<_>>().join("; ");
    let item = item(Reason::SessionSilent, of, of.heartbeat_at, Some(detail));
    AttentionItem { holds_work: held.is_some_and(|held| held.is_exclusive), ..item }
}

/// Agents that are at work in one working copy, in processes of their own: for each copy one item, from when the second came on.
pub(super) fn shared_copies(working: &[Session]) -> Vec<AttentionItem> {
    let mut by_copy: BTreeMap<(&str, &str), Vec<&Session>> = BTreeMap::new();
    for of in working {
        if let Some(copy) = &of.working_copy {
            by_copy.entry((&of.location.machine, &copy.root)).or_default().push(of);
        }
    }
    by_copy.into_iter().filter_map(|((_, root), agents)| shared_copy(root, agents)).collect()
}

fn shared_copy(root: &str, mut agents: Vec<&Session>) -> Option<AttentionItem> {
    agents.sort_by_key(|of| (of.started_at, of.session_id.clone()));
    let [first, second, ..] = agents.as_slice() else { return None };
    let detail = "a worktree of one's own (`git worktree add`) keeps the changes apart".to_owned();
    let of = item(Reason::WorkingCopyShared, second, second.started_at, Some(detail));
    let mut names: Vec<String> = Vec::new();
    for of in &agents {
        if !names.contains(&of.identity) {
            names.push(of.identity.clone());
        }
    }
    let (from, to) = (Some(second.identity.clone()), Some(first.identity.clone()));
    Some(AttentionItem { from, to, agents: names, subject: root.to_owned(), ..of })
}

/// Names the hand-off that a silent session had accepted, or its agent by its name alone: who takes that over gets the session's work with it, and can answer.
pub(super) fn name_handoffs(tx: &mut Tx<'_>, items: &mut [AttentionItem]) -> Result<(), Failure> {
    let mut accepted: BTreeMap<String, Vec<Handoff>> = BTreeMap::new();
    for item in items.iter_mut().filter(|item| item.reason == Reason::SessionSilent) {
        if !accepted.contains_key(&item.project_id) {
            accepted.insert(item.project_id.clone(), handoff::accepted(tx, &item.project_id)?);
        }
        let of_project = accepted.get(&item.project_id).map(Vec::as_slice).unwrap_or_default();
        let name = item.from.as_deref().unwrap_or_default();
        let own = accepted_of_session(of_project, &item.id, name).map(|one| (HandoffDetails::of(one), one));
        // Of several the most urgent one.
        if let Some((details, one)) = own.min_by_key(|(details, _)| details.priority) {
            let (id, urgent) = (short(&one.handoff_id), if details.priority == 0 { "critical " } else { "" });
            item.help = format!("baton pickup --handoff {id} --project {}", item.project_id);
            let accepted = format!("had accepted {urgent}hand-off {id} “{}”", one_line(&one.subject));
            item.detail = Some(
                [Some(accepted), item.detail.take()].into_iter().flatten().collect::<Vec<_>>().join(", "),
            );
        }
    }
    Ok(())
}

fn item(reason: Reason, of: &Session, since: Millis, detail: Option<String>) -> AttentionItem {
    let suggestion =
        SuggestedCommand { reason, project_id: &of.project_id, id: &of.session_id, subject: "", to: None };
    AttentionItem {
        reason,
        help: suggestion.command(),
        project_id: of.project_id.clone(),
        id: of.session_id.clone(),
        subject: String::new(),
        from: Some(of.identity.clone()),
        to: None,
        since: Timestamp(since),
        detail,
        blocked: false,
        agents: Vec::new(),
        blocker: None,
        made_by: None,
        holds_work: false,
        actions: Vec::new(),
    }
}
