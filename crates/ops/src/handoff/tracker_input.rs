//! What every operation that takes input of a tracker checks and removes first.

use baton_model::access::Scope;
use baton_model::tracker::parse_issues_repo;
use baton_store::Failure;

use crate::op::Cx;

/// The repository that the input is about, where the caller may speak for the tracker: what it says reaches every project, and ends
/// hand-offs that others have accepted.
pub(super) fn repo_of(cx: &Cx<'_>, repo: &str) -> Result<String, Failure> {
    let grant = &cx.env.caller.grant;
    grant.require_all_projects()?;
    grant.require(Scope::Operator)?;
    Ok(parse_issues_repo(repo, cx.env.host.github_enterprise())?)
}

/// A text of the tracker's as it may be kept.
pub(super) fn without_secrets(text: &str) -> String {
    baton_transcripts::redact::shared().redact(text).text.into_owned()
}
