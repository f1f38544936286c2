//! `project_init`: register a repository.

use baton_model::access::Scope;
use baton_model::delta::Kind;
use baton_model::project::{Project, View, guess_vcs, without_credentials};
use baton_model::project_document::{self, DocumentFields};
use baton_model::refusal::{self, Refusal};
use baton_model::remote::is_github;
use baton_model::tracker::{is_same_repo, parse_issues_repo};
use baton_store::{Failure, project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::address::ChangedAddress;
use super::choose::{Choice, choose, record, refuse_overtaken};
use super::merged::{merged, merged_into};
use crate::ledger::{Author, append_json};
use crate::op::{BeginsStore, Cx, Meta, Operation, Reach};
use crate::{project_name, resolve};

/// Registers a repository.
pub struct Init;

/// Input of `project_init`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InitInput {
    /// Project id; else made from the folder's name.
    #[serde(default)]
    pub id: Option<String>,
    /// Takes part in nothing implicit.
    #[serde(default)]
    pub isolated: bool,
    /// `github`, `gitlab`, `pantheon` or `none`; else guessed from the remote.
    #[serde(default)]
    pub vcs: Option<String>,
    /// `owner/repo` of the issue tracker.
    #[serde(default)]
    pub issues_repo: Option<String>,
    /// Owner of issue repositories that are named like their project: the last resort of a hand-off.
    #[serde(default)]
    pub default_owner: Option<String>,
    /// The text of `docs/PROJECT.md` as it stands, if there is one; faces read it.
    #[serde(default)]
    pub document: Option<String>,
    /// The user trusts this text: the tracker that it names counts. Else it counts only where it is the repository that code is
    /// pushed to.
    #[serde(default)]
    pub document_trusted: bool,
    /// Take what `docs/PROJECT.md` says, in place of writing into it.
    #[serde(default)]
    pub sync: bool,
    /// The remote that code is pushed to; faces read it from git.
    #[serde(default)]
    pub remote: Option<String>,
    /// Project id that the repository's own settings name: taken for a project that is not there yet, and for no other.
    #[serde(default)]
    pub claimed: Option<String>,
    /// The project that this folder becomes a place of. It has to be there.
    #[serde(default)]
    pub join: Option<String>,
    /// A clone of a known project is one of its own.
    #[serde(default)]
    pub separate: bool,
    /// Take the folder away from the project that it belongs to.
    #[serde(default)]
    pub move_folder: bool,
    /// Identity that registers it.
    #[serde(default)]
    pub identity: Option<String>,
}

/// Answer of `project_init`.
#[derive(Serialize, Deserialize)]
pub struct InitOutput {
    /// The project.
    pub project_id: String,
    /// Whether it is new.
    pub created: bool,
    /// Whether the folder became a place of the project by this call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub joined: bool,
    /// Its folder.
    pub root: String,
    /// The id of the repository, which git's settings of it are to hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository_id: Option<String>,
    /// The project that the folder was taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_from: Option<String>,
    /// The project.
    pub project: View,
    /// What `docs/PROJECT.md` should hold, where that differs from what it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// Why it cannot be brought to that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_fault: Option<String>,
    /// The tracker that the document names and that does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<Suggestion>,
    /// What a person should know of the registration, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// A tracker that a repository's file names without the user's word.
#[derive(Serialize, Deserialize)]
pub struct Suggestion {
    /// `owner/repo` of the file.
    pub issues_repo: String,
    /// What counts in its place, if anything does.
    pub registered: Option<String>,
    /// How the user confirms it.
    pub command: String,
}

/// That the document does not open the project.
const STAYS_ISOLATED: &str = "docs/PROJECT.md says `is_isolated: false`, and the project stays isolated: a file alone does not open it. \
    `baton init --sync` opens it, `baton init --isolated` writes `is_isolated: true` there";

const PROVIDERS: [&str; 4] = ["github", "gitlab", "pantheon", "none"];

impl Operation for Init {
    const META: Meta = Meta::write("project_init", "Register this repository as a project")
        .scope(Scope::Operator)
        .reach(Reach::Everything)
        .begins_store(BeginsStore::Anywhere);
    type Input = InitInput;
    type Output = InitOutput;

    fn run(input: InitInput, cx: &mut Cx<'_>) -> Result<InitOutput, Failure> {
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let enterprise = cx.env.host.github_enterprise().map(str::to_owned);
        let mut fields = document_fields(&input, enterprise.as_deref())?;
        let repo = input
            .issues_repo
            .as_deref()
            .map(|text| parse_issues_repo(text, enterprise.as_deref()))
            .transpose()?;
        check_provider(input.vcs.as_deref())?;
        if let Some(owner) = &input.default_owner {
            parse_issues_repo(&format!("{owner}/x"), None)?;
        }
        let chosen = choose(cx, &input)?;
        let (project_id, root) = (chosen.place.project_id.clone(), chosen.place.path.clone());
        let address = cx.store.read(|tx| ChangedAddress::find(tx, &chosen, &input, &fields))?;
        let takes_address = address.as_ref().is_some_and(|address| address.is_taken);
        if takes_address {
            // The document is as Baton wrote it, with the address of before.
            (fields.vcs_remote_url, fields.vcs_provider) = (None, None);
        }
        let wanted = RegistrationInput {
            input: &input,
            said: &fields,
            takes_address,
            keeps_address: address.is_some() && !takes_address,
            enterprise: enterprise.as_deref(),
            flag: repo.as_deref(),
        };
        let (created, project) = register(cx, &wanted, &chosen, &identity)?;
        let (document, fault) =
            match project_document::write(input.document.as_deref(), &wanted.document_view(&project)) {
                Ok(text) => (Some(text), None),
                // The registration stands; the document is left as it is.
                Err(refusal) => (None, Some(refusal.message)),
            };
        let document = document.filter(|text| input.document.as_ref() != Some(text) && !input.sync);
        let document_fault = fault.filter(|_| !input.sync);
        let suggestion = wanted.suggestion(&project);
        let isolated = wanted.stays_isolated(&project).then(|| STAYS_ISOLATED.to_owned());
        let remarks = isolated.into_iter().chain(address.as_ref().map(ChangedAddress::remark)).collect();
        let project = View::from(&project);
        let (repository_id, taken_from) = (chosen.place.repository_id, chosen.taken_from);
        Ok(InitOutput {
            project_id,
            created,
            joined: chosen.is_new && !created,
            root,
            repository_id,
            taken_from,
            project,
            document,
            document_fault,
            suggestion,
            remarks,
        })
    }
}

/// Writes the registration and its places; says whether the project is new.
fn register(
    cx: &mut Cx<'_>,
    wanted: &RegistrationInput<'_>,
    chosen: &Choice,
    identity: &str,
) -> Result<(bool, Project), Failure> {
    let project_id = chosen.place.project_id.as_str();
    let Cx { store, env } = cx;
    store.write(&chosen.projects(), |tx| {
        if tx.merged_into(project_id).is_some()
            && let Some(into) = merged_into(tx, project_id)?
        {
            return Err(merged_folder(project_id, &into).into());
        }
        let created = project_name::register(tx, project_id, false, env.now)?;
        if !created {
            refuse_overtaken(tx, chosen)?;
        }
        record(tx, env, chosen, identity)?;
        let known = project::get(tx, project_id)?.ok_or_else(|| resolve::unknown_project(project_id))?;
        let registration = wanted.project(&known);
        if !created && registration == known {
            return Ok((created, known));
        }
        let project = Project { updated_at: env.now, ..registration };
        project::put(tx, &project)?;
        if project.is_isolated && !known.is_isolated {
            project::unrelate_all(tx, project_id)?;
        }
        let author = Author { project_id, identity, session: None };
        let what = if created { "project registered" } else { "registration changed" };
        let mut body = json!({ "summary": what, "project": project.to_json() });
        if created && let Some(commit) = env.caller.repository.as_ref().and_then(|own| own.commit.as_ref()) {
            // By it the repository is known again before an agent has worked there.
            body["path"] = json!(chosen.place.path);
            body["commit"] = json!(commit);
        }
        append_json(tx, env, &author, Kind::Other, &body)?;
        Ok((created, project))
    })
}

/// The refusal for a folder that is to be one of a project that was merged.
fn merged_folder(project_id: &str, into: &str) -> Refusal {
    let hint = format!(
        "`baton init --join {into}` makes this folder one of it; `baton project merge {project_id} --into {into} --undo` takes the merge back"
    );
    Refusal { hint, ..merged(project_id, into) }
}

/// What the document says, checked.
fn document_fields(input: &InitInput, enterprise: Option<&str>) -> Result<DocumentFields, Refusal> {
    let Some(text) = &input.document else {
        if input.sync {
            return Err(Refusal::new(
                refusal::Kind::NotFound,
                "project_document_missing",
                "there is no docs/PROJECT.md to read",
                "`baton init` writes one",
            ));
        }
        return Ok(DocumentFields::default());
    };
    let mut document = project_document::read(text)?;
    check_provider(document.vcs_provider.as_deref())?;
    document.issues_github_repo =
        document.issues_github_repo.as_deref().map(|text| parse_issues_repo(text, enterprise)).transpose()?;
    document.vcs_remote_url = document.vcs_remote_url.as_deref().map(without_credentials);
    Ok(document)
}

fn check_provider(vcs: Option<&str>) -> Result<(), Refusal> {
    match vcs {
        Some(word) if !PROVIDERS.contains(&word) => Err(Refusal::invalid(
            "vcs_unknown",
            format!("`{}` is not a known provider", baton_model::id::visible(word)),
            format!("use one of {}", PROVIDERS.join(", ")),
        )),
        _ => Ok(()),
    }
}

/// What a registration is made of, beside what is known.
struct RegistrationInput<'a> {
    input: &'a InitInput,
    said: &'a DocumentFields,
    /// The remote has another address than the ledger knows, and it counts.
    takes_address: bool,
    /// The remote has another address, and that of the ledger counts.
    keeps_address: bool,
    enterprise: Option<&'a str>,
    /// The tracker of the flag.
    flag: Option<&'a str>,
}

impl RegistrationInput<'_> {
    /// Flags win over the document, that over what was guessed. What was decided before stands against the document, unless
    /// that is to be read back. Where a document that the user does not trust leads, nothing of the user's goes.
    fn project(&self, known: &Project) -> Project {
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
        self.input.document_trusted || self.own_repo().is_some_and(|own| is_same_repo(&own, repo))
    }

    /// The tracker that the document names, in its own field or by its remote, and that does not count.
    fn unconfirmed(&self) -> Option<String> {
        let by_remote = || parse_issues_repo(self.said.vcs_remote_url.as_deref()?, self.enterprise).ok();
        let remote = || by_remote().filter(|_| !self.is_remote_believed());
        self.said.issues_github_repo.clone().or_else(remote).filter(|repo| !self.is_confirmed(repo))
    }

    /// Whether the document's remote counts: issues go where it leads, unless it leads away from GitHub.
    fn is_remote_believed(&self) -> bool {
        let Some(remote) = self.said.vcs_remote_url.as_deref() else { return false };
        let repo = parse_issues_repo(remote, self.enterprise).ok();
        let takes_issues = is_github(remote, self.enterprise)
            || is_github(remote, None)
            || self.said.vcs_provider.as_deref() == Some("github");
        !takes_issues || self.input.document_trusted || repo.is_some_and(|repo| self.is_confirmed(&repo))
    }

    fn provider(&self, known: &Project, remote: Option<&str>) -> String {
        let guess = |remote| guess_vcs(remote, self.enterprise).to_owned();
        let guessed = guess(known.vcs_remote_url.as_deref());
        let decided = known.vcs_provider.clone().filter(|known| !self.input.sync && *known != guessed);
        let provider = self.said.vcs_provider.clone();
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

    /// The registration as the document is to show it: what it says and what does not count stays there.
    fn document_view(&self, project: &Project) -> Project {
        let remote = self.said.vcs_remote_url.clone().filter(|_| !self.is_remote_believed());
        Project {
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
    fn suggestion(&self, project: &Project) -> Option<Suggestion> {
        let registered = project.issues_github_repo.clone();
        let other = |repo: &String| registered.as_ref().is_none_or(|known| !is_same_repo(known, repo));
        let issues_repo = self.unconfirmed().filter(other)?;
        let command = format!("baton project set {} --issues-repo {issues_repo}", project.project_id);
        Some(Suggestion { issues_repo, registered, command })
    }
}
