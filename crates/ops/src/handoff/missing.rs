//! A repository that is gone, or that the token may not read any more: polls of the issues in it are answered so.

use baton_model::handoff::Handoff;
use baton_store::{Failure, Store, handoff};

use super::details::HandoffDetails;
use super::moved::by_sender;
use super::news;
use super::outdated_news::follow_repository;
use crate::op::Env;

/// Notes how a poll of a repository was answered. `why`: how the tracker says that there is none; nothing once it is there. Each sender
/// that waits for a hand-off in it hears of that once; once it is there again, the hand-offs say nothing of it any more.
pub fn note_repository(
    store: &mut Store,
    env: &mut Env<'_>,
    repo: &str,
    why: Option<&str>,
) -> Result<(), Failure> {
    let is_news = |one: &Handoff| HandoffDetails::of(one).repository_missing != why.is_some();
    let mut concerned = store.read(|tx| Ok(handoff::open_in_repo(tx, repo)?))?;
    concerned.retain(is_news);
    let mut projects: Vec<&str> =
        concerned.iter().flat_map(|one| [&*one.from_project_id, &*one.to_project_id]).collect();
    projects.sort_unstable();
    projects.dedup();
    if projects.is_empty() {
        return Ok(());
    }
    store.write(&projects, |tx| {
        let mut waiting = Vec::new();
        for known in handoff::open_in_repo(tx, repo)?.into_iter().filter(is_news) {
            // One that was left meanwhile is seen by the next poll.
            if !tx.has_project(&known.from_project_id) || !tx.has_project(&known.to_project_id) {
                continue;
            }
            let details = HandoffDetails { repository_missing: why.is_some(), ..HandoffDetails::of(&known) };
            let last_error = why.map(str::to_owned);
            let noted = Handoff { plan: details.to_text(), last_error, updated_at: env.now, ..known };
            handoff::put(tx, &noted)?;
            if why.is_none() {
                follow_repository(tx, env, &noted, repo)?;
            }
            waiting.push(noted);
        }
        for handoffs in by_sender(waiting).iter().filter(|_| why.is_some()) {
            news::signal_missing(tx, env, handoffs, repo)?;
        }
        Ok(())
    })
}
