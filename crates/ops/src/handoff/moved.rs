//! A repository that was renamed or moved: its issues' pages name it as it is called now.

use baton_model::handoff::{Handoff, Rename, State};
use baton_model::id::identity_key;
use baton_model::remote::Remote;
use baton_model::time::{Millis, Timestamp};
use baton_model::tracker::{is_same_repo, parse_issues_repo};
use baton_store::{Failure, Tx, handoff, project};

use super::details::HandoffDetails;
use super::news::{self, RepositoryMove};
use super::steps::rewrite_note;
use crate::op::Env;

/// Another name of the repository of a hand-off.
struct NewName {
    before: String,
    now: String,
    /// The repository's page under that name.
    page: String,
}

impl NewName {
    /// As the page of an issue has it. The tracker itself says the address: its host is the one of the settings, or what stands in
    /// for it.
    fn of(known: &Handoff, url: &str) -> Option<Self> {
        let before = known.issues_repo.clone()?;
        let (page, _) = url.split_once("/issues/")?;
        let now = parse_issues_repo(&Remote::parse(page)?.path, None).ok()?;
        let is_other = !now.eq_ignore_ascii_case(&before);
        is_other.then(|| Self { before, now, page: page.to_owned() })
    }
}

/// The projects that a write takes which follows the page of an issue: the two of the hand-off, and those from which the other
/// hand-offs in the same repository were sent.
pub(crate) fn projects(tx: &mut Tx<'_>, known: &Handoff, url: Option<&str>) -> Result<Vec<String>, Failure> {
    let mut all = vec![known.from_project_id.clone(), known.to_project_id.clone()];
    if let Some(name) = url.and_then(|url| NewName::of(known, url)) {
        let others = handoff::in_repo(tx, &known.to_project_id, &name.before)?;
        all.extend(others.into_iter().map(|other| other.from_project_id));
    }
    all.sort();
    all.dedup();
    Ok(all)
}

/// Takes the new name from the page of an issue: for this hand-off, the others of its receiver, and the receiver's
/// registration. Returns whether this one has changed. Each sender that waits for one hears of it once.
pub(super) fn follow(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    known: &mut Handoff,
    url: &str,
) -> Result<bool, Failure> {
    let Some(name) = NewName::of(known, url) else { return Ok(take_page(known, url)) };
    let others = handoff::in_repo(tx, &known.to_project_id, &name.before)?;
    take_name(known, &name, env.now);
    take_page(known, url);
    known.updated_at = env.now;
    let mut awaited = Vec::new();
    if is_under_way(known.state) {
        awaited.push(known.clone());
    }
    for other in others {
        // One from a project that this write has not taken follows once its own issue is read.
        if other.handoff_id == known.handoff_id || !tx.has_project(&other.from_project_id) {
            continue;
        }
        let mut other = other;
        take_name(&mut other, &name, env.now);
        if let Some(number) = other.issue_number {
            take_page(&mut other, &format!("{}/issues/{number}", name.page));
        }
        handoff::put(tx, &other)?;
        rewrite_note(tx, env, &other)?;
        if is_under_way(other.state) {
            awaited.push(other);
        }
    }
    let target = project::get(tx, &known.to_project_id)?;
    let registered = target.filter(|target| {
        target.issues_github_repo.as_deref().is_some_and(|own| is_same_repo(own, &name.before))
    });
    let is_registered = registered.is_some();
    if let Some(mut target) = registered {
        target.issues_github_repo = Some(name.now.clone());
        target.updated_at = env.now;
        project::put(tx, &target)?;
    }
    let moved = RepositoryMove { before: &name.before, now: &name.now, is_registered };
    for handoffs in by_sender(awaited) {
        news::signal_move(tx, env, &handoffs, &moved)?;
    }
    Ok(true)
}

/// Names the repository of a hand-off's issue as it is called now, and keeps how it was called.
fn take_name(one: &mut Handoff, name: &NewName, now: Millis) {
    let mut details = HandoffDetails::of(one);
    let rename = Rename { before: name.before.clone(), now: name.now.clone(), at: Timestamp(now) };
    details.renames.push(rename);
    one.plan = details.to_text();
    one.issues_repo = Some(name.now.clone());
}

/// Names this page as that of the hand-off's issue. Returns whether it was another one.
fn take_page(known: &mut Handoff, url: &str) -> bool {
    let details = HandoffDetails::of(known);
    if known.issue_number.is_none() || details.url.as_deref() == Some(url) {
        return false;
    }
    known.plan = HandoffDetails { url: Some(url.to_owned()), ..details }.to_text();
    true
}

/// Whether a sender still waits for a hand-off.
fn is_under_way(state: State) -> bool {
    match state {
        State::Planned | State::Pending | State::Offered | State::Accepted | State::Failed => true,
        State::Completed | State::Declined | State::Cancelled | State::Expired => false,
    }
}

/// The hand-offs of each sender, in their order.
pub(super) fn by_sender(handoffs: Vec<Handoff>) -> Vec<Vec<Handoff>> {
    let sender = |one: &Handoff| (one.from_project_id.clone(), identity_key(&one.from_identity));
    let mut groups: Vec<Vec<Handoff>> = Vec::new();
    for one in handoffs {
        match groups.iter_mut().find(|group| group.first().is_some_and(|first| sender(first) == sender(&one)))
        {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}
