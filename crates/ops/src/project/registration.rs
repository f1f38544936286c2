//! What a registration is made of: flags, the project's document, what was registered before, and guesses.

use baton_model::project::{Project, guess_vcs, without_credentials};
use baton_model::project_document::DocumentFields;
use baton_model::remote::is_github;
use baton_model::tracker::{is_same_repo, parse_issues_repo};

use super::init::{InitInput, Suggestion};

/// That the document does not open the project.
const STAYS_ISOLATED: &str = "docs/PROJECT.md says `is_isolated: false`, and the project stays isolated: a file alone does not open it. \
    `baton init --sync` opens it, `baton init --isolated` writes `is_isolated: true` there";

/// A registration that was written.
pub(super) struct RegistrationResult {
    /// Whether the project is new.
    pub created: bool,
    pub project: Project,
    /// Whether it was isolated before; none where it is new or nothing changed.
    pub was_isolated: Option<bool>,
    /// Isolated projects that were merged into it, where it is isolated no more.
    pub opened: Vec<String>,
}

impl RegistrationResult {
    /// What became of the document where it was to be taken over: nothing where that was not asked for, or the project is new.
    pub(super) fn sync_remark(&self, is_sync: bool) -> Option<String> {
        let text = match self.was_isolated {
            Some(_) => "the registration is now as docs/PROJECT.md says; `baton project show` has it",
            None => "docs/PROJECT.md says nothing else than the registration: nothing changed",
        };
        (is_sync && !self.created).then(|| text.to_owned())
    }
}

/// What a registration is made of, beside what is known.
pub(super) struct RegistrationInput<'a> {
    pub input: &'a InitInput,
    pub said: &'a DocumentFields,
    /// The remote has another address than the ledger knows, and it counts.
    pub takes_address: bool,
    /// The remote or the document has another address, and that of the ledger counts.
    pub keeps_address: bool,
    pub enterprise: Option<&'a str>,
    /// The tracker of the flag.
    pub flag: Option<&'a str>,
}

impl<'a> RegistrationInput<'a> {
    /// What a call and a document say, where the ledger knows no other address and no flag names a tracker.
    pub(super) fn of(
        input: &'a InitInput,
        document: &'a DocumentFields,
        enterprise: Option<&'a str>,
    ) -> Self {
        Self { input, said: document, takes_address: false, keeps_address: false, enterprise, flag: None }
    }

    /// Flags win over the document, that over what was guessed. What was decided before stands against the document, unless
    /// that is to be read back. Where a document that the user does not trust leads, nothing of the user's goes.
    pub(super) fn project(&self, known: &Project) -> Project {
        let Self { input, said: document, .. } = *self;
        let isolated = match input.sync {
            true => document.is_isolated.unwrap_or(known.is_isolated),
            false => known.is_isolated || document.is_isolated == Some(true),
        };
        let written = document.issues_github_repo.clone().filter(|repo| self.is_confirmed(repo));
        let known_repo = known.issues_github_repo.clone();
        let issues_repo = if input.sync { written.or(known_repo) } else { known_repo.or(written) };
        let repo = self.flag.map(str::to_owned).or(issues_repo);
        let undecided = match input.document {
            Some(_) => self.unconfirmed(),
            None => known.suggested_repo.clone(),
        };
        let remote = self.remote(known);
        Project {
            is_isolated: isolated || input.isolated,
            is_placeholder: false,
            vcs_provider: Some(self.provider(known, remote.as_deref())),
            vcs_remote_url: remote,
            suggested_repo: undecided.filter(|_| repo.is_none()),
            issues_github_repo: repo,
            default_owner: input.default_owner.clone().or_else(|| known.default_owner.clone()),
            ..known.clone()
        }
    }

    /// The repository that code is pushed to, where that is on GitHub.
    fn own_repo(&self) -> Option<String> {
        parse_issues_repo(self.input.remote.as_deref()?, self.enterprise).ok()
    }

    /// Whether a tracker of the document counts: the user confirmed it, or it is the repository that the user cloned.
    fn is_confirmed(&self, repo: &str) -> bool {
        self.input.document_trusted || self.is_own_repo(repo)
    }

    fn is_own_repo(&self, repo: &str) -> bool {
        self.own_repo().is_some_and(|own| is_same_repo(&own, repo))
    }

    /// The tracker that the document names, in its own field or by its remote, and that does not count.
    fn unconfirmed(&self) -> Option<String> {
        let by_remote = || parse_issues_repo(self.said.vcs_remote_url.as_deref()?, self.enterprise).ok();
        let remote = || by_remote().filter(|_| !self.is_remote_believed());
        self.said.issues_github_repo.clone().or_else(remote).filter(|repo| !self.is_confirmed(repo))
    }

    /// Whether the document's remote counts: issues go where it leads, unless it leads away from GitHub.
    fn is_remote_believed(&self) -> bool {
        self.said.vcs_remote_url.is_some() && (self.input.document_trusted || self.is_remote_harmless())
    }

    /// Whether the document's remote counts without the user's word: it takes no issues, or is the user's own repository.
    pub(super) fn is_remote_harmless(&self) -> bool {
        let Some(remote) = self.said.vcs_remote_url.as_deref() else { return false };
        let repo = parse_issues_repo(remote, self.enterprise).ok();
        let takes_issues = is_github(remote, self.enterprise)
            || is_github(remote, None)
            || self.said.vcs_provider.as_deref() == Some("github");
        !takes_issues || repo.is_some_and(|repo| self.is_own_repo(&repo))
    }

    fn provider(&self, known: &Project, remote: Option<&str>) -> String {
        let guess = |remote| guess_vcs(remote, self.enterprise).to_owned();
        let guessed = guess(known.vcs_remote_url.as_deref());
        let decided = known.vcs_provider.clone().filter(|known| !self.input.sync && *known != guessed);
        // Whose remote does not count is not asked for its host either.
        let provider = self.said.vcs_provider.clone().filter(|_| !self.keeps_address);
        let before = known.vcs_provider.clone().filter(|_| !self.takes_address);
        self.input.vcs.clone().or(decided).or(provider).or(before).unwrap_or_else(|| guess(remote))
    }

    fn remote(&self, known: &Project) -> Option<String> {
        let found = || self.input.remote.as_deref().map(without_credentials);
        let remote = self.said.vcs_remote_url.clone().filter(|_| self.is_remote_believed());
        // A fork that joins does not become the repository to which the project's issues go.
        let is_fork = self.input.join.is_some() && !self.input.sync || self.keeps_address;
        let before = known.vcs_remote_url.clone().filter(|_| is_fork);
        before.or(remote).or_else(found).or_else(|| known.vcs_remote_url.clone())
    }

    /// Whether the document would open a project that is isolated, which only the user's own word does.
    fn stays_isolated(&self, project: &Project) -> bool {
        project.is_isolated && self.said.is_isolated == Some(false) && !self.input.isolated
    }

    /// What a person should know of the isolation that the registration decided.
    pub(super) fn remarks(&self, registered: &RegistrationResult) -> Vec<String> {
        let RegistrationResult { project, was_isolated, opened, .. } = registered;
        let mut remarks = Vec::new();
        if self.stays_isolated(project) {
            remarks.push(STAYS_ISOLATED.to_owned());
        }
        if *was_isolated == Some(false) && project.is_isolated && !self.input.isolated {
            remarks.push(format!(
                "docs/PROJECT.md says `is_isolated: true`: project {} is isolated from now on, in all of its folders. `is_isolated: false` \
                 there and `baton init --sync` opens it again",
                project.project_id
            ));
        }
        if *was_isolated == Some(true) && !project.is_isolated {
            remarks.push(format!(
                "project {} is open from now on: docs/PROJECT.md says `is_isolated: false`",
                project.project_id
            ));
        }
        if !opened.is_empty() {
            remarks.push(format!("open is with it what was merged into it from {}", opened.join(", ")));
        }
        remarks
    }

    /// The registration as the document is to show it: what it says and what does not count stays there.
    pub(super) fn document_view(&self, project: &Project) -> Project {
        let is_apart = self.keeps_address || !self.is_remote_believed();
        let remote = self.said.vcs_remote_url.clone().filter(|_| is_apart);
        let provider = self.said.vcs_provider.clone().filter(|_| self.keeps_address);
        Project {
            vcs_provider: provider.or_else(|| project.vcs_provider.clone()),
            issues_github_repo: project
                .issues_github_repo
                .clone()
                .or_else(|| self.said.issues_github_repo.clone()),
            vcs_remote_url: remote.or_else(|| project.vcs_remote_url.clone()),
            is_isolated: project.is_isolated && !self.stays_isolated(project),
            ..project.clone()
        }
    }

    /// What the document names and what counts in its place.
    pub(super) fn suggestion(&self, project: &Project) -> Option<Suggestion> {
        let registered = project.issues_github_repo.clone();
        let other = |repo: &String| registered.as_ref().is_none_or(|known| !is_same_repo(known, repo));
        let issues_repo = self.unconfirmed().filter(other)?;
        let command = format!("baton project set {} --issues-repo {issues_repo}", project.project_id);
        Some(Suggestion { issues_repo, registered, command })
    }
}
