//! The tracker that a `docs/PROJECT.md` names, which counts once it is trusted.

use std::path::{Path, PathBuf};

use baton_model::access::Scope;
use baton_model::id::visible;
use baton_model::project_document;
use baton_model::remote::enterprise_of;
use baton_model::tracker::{is_same_repo, parse_issues_repo};
use baton_ops::project::{Show, ShowInput};

use super::Setting;
use crate::app::App;
use crate::cli::init::DOCUMENT;
use crate::config::trust::{TrustStore, sha256};
use crate::git;
use crate::repo_file::{MAX_SMALL_FILE_BYTES, RepoFile};

/// A `docs/PROJECT.md` that names a tracker which is not the repository that was cloned.
pub(super) struct Document {
    pub(super) root: PathBuf,
    pub(super) digest: String,
    repo: String,
    pub(super) is_trusted: bool,
}

impl Document {
    /// The document of the working copy; one that cannot be read names nothing.
    pub(super) fn of(folder: &Path, app: &App) -> Option<Self> {
        let root = git::root(folder).unwrap_or_else(|| folder.to_owned());
        let text = RepoFile::new(&root, DOCUMENT).text(MAX_SMALL_FILE_BYTES).ok().flatten()?;
        let enterprise = enterprise_of(&app.config.github.api);
        let parse = |text: &str| parse_issues_repo(text, enterprise.as_deref()).ok();
        let document = project_document::read(&text).ok()?;
        let repo = document.issues_github_repo.or(document.vcs_remote_url).and_then(|text| parse(&text))?;
        let own = git::remote(&root).and_then(|remote| parse(&remote));
        if own.is_some_and(|own| is_same_repo(&own, &repo)) {
            return None;
        }
        let digest = sha256(text.as_bytes());
        let is_trusted = TrustStore::read(&app.config.config_dir).holds_document(&root, &digest);
        Some(Self { root, digest, repo, is_trusted })
    }

    pub(super) fn setting(&self) -> Setting {
        let value = visible(&self.repo);
        Setting { key: "issues.github_repo", value, counts: self.is_trusted, file: Some(DOCUMENT) }
    }

    /// What is left to do about its tracker once it is trusted. A server says with any answer what the caller's token may. `project_id`:
    /// the project that the settings beside it name.
    pub(super) fn next_step(&self, project_id: Option<String>, app: &mut App) -> &'static str {
        let shown = match app.config.server {
            Some(_) => app.run::<Show>(&ShowInput { project: project_id }).ok(),
            None => None,
        };
        let registered = shown.and_then(|shown| shown.project.issues_github_repo);
        if registered.is_some_and(|repo| is_same_repo(&repo, &self.repo)) {
            return "";
        }
        match app.scope() {
            Scope::Operator => "`baton init` registers the tracker that docs/PROJECT.md names\n",
            Scope::Write | Scope::Read => {
                "an operator registers the tracker that docs/PROJECT.md names: this token may not\n"
            }
        }
    }
}
