//! A project: a body of work, usually one repository.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::remote::{Remote, is_github_host};
use crate::time::{Millis, Timestamp};

/// A registered project.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Project {
    /// Slug: see [`check_project`](crate::id::check_project).
    pub project_id: String,
    /// What it is called since it was renamed; else it is called by its id.
    pub name: Option<String>,
    /// The project into which it was merged: nothing is begun in it any more.
    pub merged_into: Option<String>,
    /// `github`, `local`, `none`; unset means that it is resolved.
    pub issues_provider: Option<String>,
    /// `owner/repo` of the issue tracker.
    pub issues_github_repo: Option<String>,
    /// `github`, `pantheon`, `gitlab`, `none`.
    pub vcs_provider: Option<String>,
    /// Where the code is pushed to, without credentials.
    pub vcs_remote_url: Option<String>,
    /// Owner of issue repositories that are named like their project: the last resort of a hand-off.
    pub default_owner: Option<String>,
    /// `owner/repo` that the repository's own file names as its tracker, and that the user has not confirmed.
    pub suggested_repo: Option<String>,
    /// Takes part in nothing implicit.
    pub is_isolated: bool,
    /// Known only as the receiver of a hand-off.
    pub is_placeholder: bool,
    /// Current phase of the work.
    pub phase: Option<String>,
    /// What the work is about, as tags.
    pub focus: Vec<String>,
    /// Where every delta is posted to, if anywhere.
    pub webhook_url: Option<String>,
    /// Sessions of coding agents may be pushed to its ledger.
    pub takes_transcripts: bool,
    /// The newest wrap: only a wrap moves these.
    pub last_wrap: Option<LastWrap>,
    /// When it was registered.
    pub created_at: Millis,
    /// When its registration last changed.
    pub updated_at: Millis,
}

/// Summary of the newest wrap.
#[derive(Debug, Clone, PartialEq)]
pub struct LastWrap {
    /// When.
    pub at: Millis,
    /// By which identity.
    pub by: String,
    /// In which session.
    pub session_id: String,
    /// Which delta, which is also the baton.
    pub delta_id: String,
    /// First line of its summary.
    pub summary: String,
}

impl LastWrap {
    /// As answers show it.
    pub fn to_json(&self) -> Value {
        json!(LastWrapView::from(self))
    }
}

impl Project {
    /// As answers show it.
    pub fn to_json(&self) -> Value {
        json!(View::from(self))
    }

    /// The same; a project into which it was merged is named only to a reader who reaches that one.
    #[must_use]
    pub fn named_for(self, reaches: impl Fn(&str) -> bool) -> Self {
        Self { merged_into: self.merged_into.filter(|into| reaches(into)), ..self }
    }

    /// The same without what was said in it and where that is posted to.
    #[must_use]
    pub fn outline(self) -> Self {
        Self { phase: None, focus: Vec::new(), last_wrap: None, webhook_url: None, ..self }
    }
}

/// A project as answers show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Its id.
    pub project_id: String,
    /// What it is called since it was renamed; absent where that is its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The project into which it was merged; absent unless it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_into: Option<String>,
    /// `github`, `local`, `none`; unset means that it is resolved.
    pub issues_provider: Option<String>,
    /// `owner/repo` of the issue tracker.
    pub issues_github_repo: Option<String>,
    /// `github`, `pantheon`, `gitlab`, `none`.
    pub vcs_provider: Option<String>,
    /// Where the code is pushed to, without credentials.
    pub vcs_remote_url: Option<String>,
    /// Owner of issue repositories that are named like their project.
    pub default_owner: Option<String>,
    /// Takes part in nothing implicit.
    pub is_isolated: bool,
    /// Known only as the receiver of a hand-off.
    pub is_placeholder: bool,
    /// Current phase of the work.
    pub phase: Option<String>,
    /// What the work is about, as tags.
    pub focus: Vec<String>,
    /// The host to which every delta is posted, if anywhere. The rest of the address is a secret of many receivers.
    pub webhook_url: Option<String>,
    /// Whether sessions of coding agents may be pushed to its ledger: `baton transcripts push`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_transcripts: bool,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When its registration last changed.
    pub updated_at: Timestamp,
    /// `owner/repo` that the repository's own file names as its tracker, and that the user has not confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_issues_repo: Option<String>,
    /// The newest wrap, if there was one.
    #[serde(flatten)]
    pub last_wrap: Option<LastWrapView>,
}

/// The newest wrap of a project as answers show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastWrapView {
    /// When.
    pub last_wrapped_at: Timestamp,
    /// By which identity.
    pub last_wrapped_by: String,
    /// In which session.
    pub last_wrapped_session_id: String,
    /// Which delta, which is also the baton.
    pub last_wrapped_delta_id: String,
    /// First line of its summary.
    pub last_wrapped_summary: String,
}

impl View {
    /// What people read: its name and its id, which differ after a rename.
    pub fn title(&self) -> String {
        title(&self.project_id, self.name.as_deref())
    }
}

/// What people call a project: since it was renamed by its name, beside its id.
pub fn title(project_id: &str, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{name} (id {project_id})"),
        None => project_id.to_owned(),
    }
}

impl From<&Project> for View {
    fn from(project: &Project) -> Self {
        Self {
            project_id: project.project_id.clone(),
            name: project.name.clone(),
            merged_into: project.merged_into.clone(),
            issues_provider: project.issues_provider.clone(),
            issues_github_repo: project.issues_github_repo.clone(),
            vcs_provider: project.vcs_provider.clone(),
            vcs_remote_url: project.vcs_remote_url.clone(),
            default_owner: project.default_owner.clone(),
            is_isolated: project.is_isolated,
            is_placeholder: project.is_placeholder,
            phase: project.phase.clone(),
            focus: project.focus.clone(),
            webhook_url: project.webhook_url.as_deref().map(redacted_address),
            takes_transcripts: project.takes_transcripts,
            created_at: Timestamp(project.created_at),
            updated_at: Timestamp(project.updated_at),
            suggested_issues_repo: project.suggested_repo.clone(),
            last_wrap: project.last_wrap.as_ref().map(LastWrapView::from),
        }
    }
}

impl From<&LastWrap> for LastWrapView {
    fn from(last: &LastWrap) -> Self {
        Self {
            last_wrapped_at: Timestamp(last.at),
            last_wrapped_by: last.by.clone(),
            last_wrapped_session_id: last.session_id.clone(),
            last_wrapped_delta_id: last.delta_id.clone(),
            last_wrapped_summary: last.summary.clone(),
        }
    }
}

/// A remote URL without credentials, so that none is ever stored.
pub fn without_credentials(remote: &str) -> String {
    match remote.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            path.map_or_else(|| format!("{scheme}://{host}"), |path| format!("{scheme}://{host}/{path}"))
        }
        None => remote.to_owned(),
    }
}

/// What stands in a redacted address for what is left out.
const LEFT_OUT: &str = "/…";

/// The scheme and host of an address: path, query and user name are what many receivers know a sender by.
pub fn redacted_address(url: &str) -> String {
    let after_scheme = url.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = url.split_at(after_scheme);
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host == authority && matches!(path, "" | "/") {
        true => url.to_owned(),
        false => format!("{scheme}{host}{LEFT_OUT}"),
    }
}

/// Whether an address is one of which something was left out.
pub fn is_redacted_address(url: &str) -> bool {
    url.ends_with(LEFT_OUT)
}

/// The provider that a remote's host suggests.
pub fn guess_vcs(remote: Option<&str>, enterprise: Option<&str>) -> &'static str {
    let Some(host) = remote.and_then(Remote::parse).and_then(|remote| remote.host) else { return "none" };
    let is_below =
        |domain: &str| host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    match host.as_str() {
        name if is_github_host(name, enterprise) => "github",
        name if is_below("gitlab.com") || name.starts_with("gitlab.") => "gitlab",
        _ if is_below("drush.in") || is_below("pantheon.io") => "pantheon",
        _ => "none",
    }
}

/// `owner/repo` out of `https://github.com/o/r`, `git@github.com:o/r.git`, `github.com/o/r` or `o/r`.
pub fn parse_repo(text: &str) -> Result<String, Refusal> {
    let path = Remote::parse(text).map(|remote| remote.path).unwrap_or_default();
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let good = |part: &str| {
        !part.is_empty()
            && part.len() <= 100
            && part != "."
            && part != ".."
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    match path.split_once('/') {
        Some((owner, repo)) if good(owner) && good(repo) => Ok(format!("{owner}/{repo}")),
        _ => Err(Refusal::invalid(
            "repo_invalid",
            format!("`{}` does not name a repository", crate::id::visible(text)),
            "write it as owner/repo",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_repository_has_many_spellings() {
        for text in [
            "o/r",
            "https://github.com/o/r",
            "github.com/o/r.git",
            "git@github.com:o/r.git",
            "ssh://git@h/o/r/",
        ] {
            assert_eq!(parse_repo(text).as_deref(), Ok("o/r"), "{text}");
        }
        for text in ["", "o", "o/r/x/y", "o/ r", "https://github.com/o", "../r"] {
            assert_eq!(parse_repo(text).expect_err(text).code, "repo_invalid");
        }
    }

    #[test]
    fn credentials_never_stay_in_a_remote() {
        assert_eq!(without_credentials("https://user:pw@h.example/o/r"), "https://h.example/o/r");
        assert_eq!(without_credentials("git@github.com:o/r.git"), "git@github.com:o/r.git");
        assert_eq!(without_credentials("https://token@h"), "https://h");
    }

    #[test]
    fn the_provider_is_guessed_from_the_remote() {
        for (remote, provider) in [
            ("git@github.com:o/r.git", "github"),
            ("ssh://codeserver.dev.x@codeserver.dev.x.drush.in:2222/~/r", "pantheon"),
            ("git@gitlab.com:acme/acme.github.io.git", "gitlab"),
            ("https://gitlab.corp.example/o/r", "gitlab"),
            ("https://github.corp.example/o/r", "none"),
            ("https://notgitlab.com/o/r", "none"),
            ("/srv/git/r", "none"),
        ] {
            assert_eq!(guess_vcs(Some(remote), None), provider, "{remote}");
        }
        assert_eq!(guess_vcs(Some("https://github.corp.example/o/r"), Some("github.corp.example")), "github");
        assert_eq!(guess_vcs(None, None), "none");
    }
}
