//! A repository that was renamed or moved: its issues' pages name it as it is called now.

use baton_model::handoff::Handoff;
use baton_model::remote::Remote;
use baton_model::tracker::parse_issues_repo;
use baton_store::{Failure, Tx, handoff, project};

use super::news;
use super::steps::Plan;
use crate::op::Env;

/// Takes the new name from the page of an issue: for this hand-off, the others of its receiver, and the receiver's
/// registration. Returns whether it is another one. The sender hears of it once.
pub(super) fn follow(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    known: &mut Handoff,
    url: &str,
) -> Result<bool, Failure> {
    let Some(before) = known.issues_repo.clone() else { return Ok(false) };
    // The tracker itself says the address: its host is the one of the settings, or what stands in for it.
    let page = url.split_once("/issues/").and_then(|(page, _)| Remote::parse(page));
    let now = page.and_then(|page| parse_issues_repo(&page.path, None).ok());
    let Some(now) = now.filter(|now| !now.eq_ignore_ascii_case(&before)) else { return Ok(false) };
    known.issues_repo = Some(now.clone());
    known.plan = Plan { url: Some(url.to_owned()), ..Plan::of(known) }.to_text();
    known.updated_at = env.now;
    handoff::rename_repo(tx, &known.to_project_id, (&before, &now))?;
    let target = project::get(tx, &known.to_project_id)?;
    let registered = target.filter(|target| target.issues_github_repo.as_deref() == Some(before.as_str()));
    let follows = registered.is_some();
    if let Some(mut target) = registered {
        target.issues_github_repo = Some(now.clone());
        target.updated_at = env.now;
        project::put(tx, &target)?;
    }
    news::signal_move(tx, env, known, (&before, &now), follows)?;
    Ok(true)
}
