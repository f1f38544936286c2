//! Where the task of a hand-off is created: one function from what is known to one tracker, or to a refusal that says what to set.

use serde::{Deserialize, Serialize};

use crate::project::{Project, parse_repo};
use crate::refusal::{Kind, Refusal};
use crate::remote::{Remote, is_github, is_github_host};

/// A resolved tracker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tracker {
    /// Issues of this `owner/repo`.
    GitHub(String),
    /// The product's own task ledger.
    Local,
}

/// What resolution looks at.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrackerQuery<'a> {
    /// The repository that the call names.
    pub explicit: Option<&'a str>,
    /// The call insists on the embedded tracker.
    pub local: bool,
    /// The receiving project's id.
    pub target_id: &'a str,
    /// Its registration, if it has one.
    pub target: Option<&'a Project>,
    /// Owner of repositories that are named like their project.
    pub default_owner: Option<&'a str>,
    /// Whether GitHub can be reached: a token or an app is configured.
    pub access: bool,
    /// The GitHub Enterprise host of the settings, which then takes the place of github.com.
    pub enterprise: Option<&'a str>,
}

/// A tracker, and what the caller should know about how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedTracker {
    /// The tracker.
    pub tracker: Tracker,
    /// What was guessed, or may surprise.
    pub warnings: Vec<Warning>,
}

/// What the sender of a hand-off should know of its tracker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// What it is about.
    pub kind: WarningKind,
    /// One sentence.
    pub message: String,
}

/// What a [`Warning`] is about: a stable word for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// The issues repository is taken by convention.
    TrackerGuessed,
    /// No issues repository is known: the task is kept in Baton's own ledger.
    TrackerLocal,
    /// The caller does not reach the project, so a preview does not tell its tracker.
    TrackerUndisclosed,
    /// The receiving project was not known and is registered as a placeholder.
    PlaceholderProject,
    /// The preview needs no access to GitHub; the hand-off itself does, and none is configured.
    GithubUnconfigured,
    /// The sender's project has handed the same work over within a day.
    SameHandoff,
    /// Of a preview: no agent of the receiver's project has the name that it is for.
    ReceiverUnknown,
    /// A document that the hand-off links does not go along.
    DocumentLeftOut,
    /// A link has nearly the name of the one that takes documents along.
    LinkMistyped,
}

/// Finds the tracker. Nothing is guessed without a warning.
pub fn resolve(query: &TrackerQuery<'_>) -> Result<ResolvedTracker, Refusal> {
    let explicit = query.explicit.map(|text| parse_issues_repo(text, query.enterprise)).transpose()?;
    if query.local {
        if explicit.is_some() {
            return Err(Refusal::invalid(
                "tracker_conflict",
                "the call names an issues repository and asks for Baton's own ledger",
                "leave out one of the two",
            ));
        }
        return Ok(plain(Tracker::Local));
    }
    match explicit {
        Some(repo) => github(repo, query.access, Vec::new()),
        None => registered(query),
    }
}

fn registered(query: &TrackerQuery<'_>) -> Result<ResolvedTracker, Refusal> {
    let target = query.target;
    let provider = target.and_then(|p| p.issues_provider.as_deref());
    match provider {
        Some("none") => return Err(unresolved_refusal(query, "takes no issues (issues provider `none`)")),
        Some("local") => return Ok(plain(Tracker::Local)),
        _ => {}
    }
    if let Some(repo) = target.and_then(|p| p.issues_github_repo.clone()) {
        return github(repo, query.access, Vec::new());
    }
    if let Some(repo) = target.and_then(|p| p.suggested_repo.as_deref()) {
        return Err(untrusted_refusal(query, repo));
    }
    let vcs = target.and_then(|p| p.vcs_provider.as_deref());
    if vcs == Some("pantheon") {
        return Err(unresolved_refusal(
            query,
            "lives on Pantheon, which has no issues, and names no issues repository",
        ));
    }
    let remote = target.and_then(|p| p.vcs_remote_url.as_deref());
    // The host is looked at again: an older version took any with "github." in it for GitHub.
    let remote = remote.filter(|url| vcs == Some("github") && is_github(url, query.enterprise));
    if let Some(repo) = remote.and_then(|url| parse_repo(url).ok()) {
        return github(repo, query.access, Vec::new());
    }
    if let Some(owner) = query.default_owner {
        let repo = parse_issues_repo(&format!("{owner}/{}", query.target_id), None)?;
        let message = format!(
            "no issues repository is registered for {}: {repo} is taken by convention",
            query.target_id
        );
        return github(repo, query.access, vec![Warning { kind: WarningKind::TrackerGuessed, message }]);
    }
    if provider == Some("github") {
        return Err(unresolved_refusal(query, "wants GitHub issues, but names no repository"));
    }
    let mut found = plain(Tracker::Local);
    if query.access {
        let message = format!(
            "no issues repository is known for {}: the task is kept in Baton's own ledger",
            query.target_id
        );
        found.warnings.push(Warning { kind: WarningKind::TrackerLocal, message });
    }
    Ok(found)
}

fn plain(tracker: Tracker) -> ResolvedTracker {
    ResolvedTracker { tracker, warnings: Vec::new() }
}

fn github(repo: String, access: bool, warnings: Vec<Warning>) -> Result<ResolvedTracker, Refusal> {
    if access {
        return Ok(ResolvedTracker { tracker: Tracker::GitHub(repo), warnings });
    }
    Err(Refusal::new(
        Kind::Refused,
        "github_unconfigured",
        format!("the task belongs into {repo}, but no access to GitHub is configured"),
        "set BATON_GITHUB_TOKEN (or GITHUB_TOKEN, or log in with `gh`) where the ledger is opened, with a server for `baton serve`; or keep the task in Baton's own ledger with --local",
    )
    .with("issues_github_repo", repo))
}

fn unresolved_refusal(query: &TrackerQuery<'_>, why: &str) -> Refusal {
    let id = query.target_id;
    Refusal::new(
        Kind::Refused,
        "tracker_unresolved",
        format!("project {id} {why}"),
        format!("set it with `baton project set {id} --issues-repo OWNER/REPO`, or name it with --repo"),
    )
    .with("project_id", id)
}

/// A file of the repository names a tracker, which the user has not confirmed: private text would go to the file's author.
fn untrusted_refusal(query: &TrackerQuery<'_>, repo: &str) -> Refusal {
    let id = query.target_id;
    Refusal::new(
        Kind::Refused,
        "tracker_untrusted",
        format!("docs/PROJECT.md of project {id} names {repo} as its tracker, which nobody here has confirmed"),
        format!(
            "`baton project set {id} --issues-repo {repo}` confirms it; --repo OWNER/REPO names another, --local keeps the \
             task in Baton's own ledger"
        ),
    )
    .with("project_id", id)
    .with("suggested_issues_repo", repo)
}

/// Whether two spellings name the same repository: GitHub does not tell case apart.
pub fn is_same_repo(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// `owner/repo` out of any spelling of a GitHub repository; a host that is not GitHub's is refused.
pub fn parse_issues_repo(text: &str, enterprise: Option<&str>) -> Result<String, Refusal> {
    let repo = parse_repo(text)?;
    let host = Remote::parse(text).and_then(|remote| remote.host);
    let (owner, name) = repo.split_once('/').unwrap_or_default();
    let good_owner = owner.len() <= 39
        && owner.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        && !owner.starts_with('-');
    if host.as_deref().is_none_or(|host| is_github_host(host, enterprise)) && good_owner && !name.is_empty() {
        return Ok(repo);
    }
    let hint = match host.filter(|host| !is_github_host(host, enterprise)) {
        Some(host) => {
            format!("write it as owner/repo; if {host} is a GitHub Enterprise, set BATON_GITHUB_API")
        }
        None => "write it as owner/repo".to_owned(),
    };
    Err(Refusal::invalid(
        "repo_invalid",
        format!("`{}` does not name a GitHub repository", crate::id::visible(text)),
        hint,
    ))
}

/// The id of a task that lives in a GitHub issue: `gh-<owner>/<repo>-<number>`.
pub fn github_task_id(repo: &str, number: i64) -> String {
    format!("gh-{repo}-{number}")
}

/// Repository and number of a GitHub task id. The repository may hold dashes, so the last one counts.
pub fn parse_github_task(task_id: &str) -> Option<(&str, i64)> {
    let (repo, number) = task_id.strip_prefix("gh-")?.rsplit_once('-')?;
    let number = number.parse().ok().filter(|n| *n > 0)?;
    repo.split_once('/').filter(|(owner, name)| !owner.is_empty() && !name.is_empty())?;
    Some((repo, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(change: impl FnOnce(&mut Project)) -> Project {
        let mut project = Project { project_id: "t".into(), ..Project::default() };
        change(&mut project);
        project
    }

    /// `repo`, `local`, or the code of a refusal; then the kinds of the warnings.
    fn check(query: &TrackerQuery<'_>) -> String {
        match resolve(&TrackerQuery { target_id: "t", ..*query }) {
            Err(refusal) => refusal.code.to_owned(),
            Ok(found) => {
                let mut text = match found.tracker {
                    Tracker::GitHub(repo) => repo,
                    Tracker::Local => "local".into(),
                };
                for warning in found.warnings {
                    let kind = serde_json::json!(warning.kind);
                    text = format!("{text} +{}", kind.as_str().unwrap_or_default());
                }
                text
            }
        }
    }

    #[test]
    fn every_case_of_the_page() {
        let plain = target(|_| {});
        let registered = target(|p| p.issues_github_repo = Some("o/issues".into()));
        let remote = target(|p| {
            p.vcs_provider = Some("github".into());
            p.vcs_remote_url = Some("git@github.com:o/code.git".into());
        });
        let pantheon = target(|p| p.vcs_provider = Some("pantheon".into()));
        let upstream = target(|p| {
            p.vcs_provider = Some("pantheon".into());
            p.issues_github_repo = Some("o/upstream".into());
        });
        let none = target(|p| {
            p.issues_provider = Some("none".into());
            p.issues_github_repo = Some("o/issues".into());
        });
        let local = target(|p| {
            p.issues_provider = Some("local".into());
            p.issues_github_repo = Some("o/issues".into());
        });
        let wants = target(|p| p.issues_provider = Some("github".into()));
        let gitlab = target(|p| {
            p.vcs_provider = Some("gitlab".into());
            p.vcs_remote_url = Some("git@gitlab.com:o/code.git".into());
        });
        let old = |remote: &str| {
            target(|p| {
                p.vcs_provider = Some("github".into());
                p.vcs_remote_url = Some(remote.to_owned());
            })
        };
        let pages = old("https://gitlab.com/acme/acme.github.io");
        let corp = old("git@github.corp.example:o/code.git");
        let suggested = target(|p| {
            p.suggested_repo = Some("mallory/issues".into());
            p.vcs_provider = Some("github".into());
            p.vcs_remote_url = Some("git@github.com:o/code.git".into());
        });
        let decided = Project { issues_github_repo: Some("o/issues".into()), ..suggested.clone() };
        let project = Project { issues_provider: Some("local".into()), ..suggested.clone() };
        let (e, d) = (Some("https://github.com/o/r.git"), Some("acme"));
        let with = |target, explicit, default_owner, access| TrackerQuery {
            explicit,
            target: Some(target),
            default_owner,
            access,
            ..TrackerQuery::default()
        };
        for (query, expected) in [
            (with(&registered, e, d, true), "o/r"),
            (with(&none, e, None, true), "o/r"),
            (with(&pantheon, e, None, true), "o/r"),
            (with(&registered, e, None, false), "github_unconfigured"),
            (with(&registered, None, d, true), "o/issues"),
            (with(&registered, None, d, false), "github_unconfigured"),
            (with(&none, None, d, true), "tracker_unresolved"),
            (with(&none, None, None, false), "tracker_unresolved"),
            (with(&local, None, d, true), "local"),
            (with(&remote, None, None, true), "o/code"),
            (with(&remote, None, d, true), "o/code"),
            (with(&remote, None, None, false), "github_unconfigured"),
            (with(&pantheon, None, None, true), "tracker_unresolved"),
            (with(&pantheon, None, d, true), "tracker_unresolved"),
            (with(&upstream, None, None, true), "o/upstream"),
            (with(&plain, None, d, true), "acme/t +tracker_guessed"),
            (with(&plain, None, d, false), "github_unconfigured"),
            (with(&plain, None, Some("no owner"), true), "repo_invalid"),
            (with(&plain, None, None, true), "local +tracker_local"),
            (with(&plain, None, None, false), "local"),
            (with(&wants, None, None, true), "tracker_unresolved"),
            (with(&wants, None, d, true), "acme/t +tracker_guessed"),
            (with(&gitlab, None, None, true), "local +tracker_local"),
            (with(&gitlab, None, d, true), "acme/t +tracker_guessed"),
            (with(&pages, None, None, true), "local +tracker_local"),
            (with(&corp, None, None, true), "local +tracker_local"),
            (with(&suggested, None, d, true), "tracker_untrusted"),
            (with(&suggested, None, None, false), "tracker_untrusted"),
            (with(&suggested, e, None, true), "o/r"),
            (with(&decided, None, None, true), "o/issues"),
            (with(&project, None, None, true), "local"),
            (
                TrackerQuery { enterprise: Some("github.corp.example"), ..with(&corp, None, None, true) },
                "o/code",
            ),
            (
                TrackerQuery { enterprise: Some("github.corp.example"), ..with(&remote, None, None, true) },
                "local +tracker_local",
            ),
            (with(&plain, Some("https://github.corp.example/o/r"), None, true), "repo_invalid"),
            (with(&plain, Some("https://github.com@evil.example/o/r"), None, true), "repo_invalid"),
            (with(&plain, Some("no repo"), None, true), "repo_invalid"),
            (with(&plain, Some("https://gitlab.com/o/r"), None, true), "repo_invalid"),
            (TrackerQuery { access: true, ..TrackerQuery::default() }, "local +tracker_local"),
            (
                TrackerQuery { default_owner: d, access: true, ..TrackerQuery::default() },
                "acme/t +tracker_guessed",
            ),
            (TrackerQuery { local: true, access: true, ..with(&registered, None, d, true) }, "local"),
            (TrackerQuery { local: true, ..with(&registered, e, None, true) }, "tracker_conflict"),
        ] {
            assert_eq!(check(&query), expected, "{query:?}");
        }
    }

    #[test]
    fn one_issues_repository_has_many_spellings() {
        for text in
            ["o/r", "https://github.com/o/r", "github.com/o/r.git", "git@github.com:o/r.git", " o/r/ "]
        {
            assert_eq!(parse_issues_repo(text, None).as_deref(), Ok("o/r"), "{text}");
        }
        for text in ["", "o", "o/r/x", "https://gitlab.com/o/r", "../r", "o//r", "-o/r", "o/r\n--x"] {
            assert_eq!(parse_issues_repo(text, None).expect_err(text).code, "repo_invalid");
        }
    }

    #[test]
    fn a_task_id_is_parsed_from_its_last_dash() {
        assert_eq!(parse_github_task(&github_task_id("o-x/my-repo", 12)), Some(("o-x/my-repo", 12)));
        for text in ["gh-o/r", "gh-o/r-", "gh-o/r-0", "gh-or-1", "gh-/r-1", "shop-4f2a", "gh-o/r-1x"] {
            assert_eq!(parse_github_task(text), None, "{text}");
        }
    }
}
