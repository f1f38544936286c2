//! `project_init`: register a repository.

use baton_model::access::Scope;
use baton_model::delta::Kind;
use baton_model::project::{Project, View, without_credentials};
use baton_model::project_document::{self, DocumentFields};
use baton_model::refusal::{self, Refusal};
use baton_model::repository::canonical_address;
use baton_model::tracker::parse_issues_repo;
use baton_store::{Failure, project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::address::ChangedAddress;
use super::choose::{Choice, choose, record, refuse_overtaken};
use super::isolation::{isolated_within, keep_isolation};
use super::merged::{merged_into, merged_refusal};
use super::registration::{RegistrationInput, RegistrationResult};
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
        let (project_id, root) = (chosen.root.project_id.clone(), chosen.root.path.clone());
        let is_harmless = RegistrationInput::of(&input, &fields, enterprise.as_deref()).is_remote_harmless();
        let address =
            cx.store.read(|tx| ChangedAddress::find(tx, &chosen, &input, (&fields, is_harmless)))?;
        let takes_address = address.as_ref().is_some_and(|address| address.is_taken);
        let is_fork = input.separate && chosen.is_new && names_other_remote(&fields, input.remote.as_deref());
        if takes_address || is_fork {
            // The document has the address of before, or that of the repository from which a fork that is kept apart came.
            (fields.vcs_remote_url, fields.vcs_provider) = (None, None);
        }
        let wanted = RegistrationInput {
            takes_address,
            keeps_address: address.is_some() && !takes_address,
            flag: repo.as_deref(),
            ..RegistrationInput::of(&input, &fields, enterprise.as_deref())
        };
        let registered = register(cx, &wanted, &chosen, &identity)?;
        let mut remarks = wanted.remarks(&registered);
        remarks.extend(address.as_ref().map(ChangedAddress::remark));
        remarks.extend(registered.sync_remark(input.sync));
        let RegistrationResult { created, project, .. } = registered;
        let (document, fault) =
            match project_document::write(input.document.as_deref(), &wanted.document_view(&project)) {
                Ok(text) => (Some(text), None),
                // The registration stands; the document is left as it is.
                Err(refusal) => (None, Some(refusal.message)),
            };
        let document = document.filter(|text| input.document.as_ref() != Some(text) && !input.sync);
        let document_fault = fault.filter(|_| !input.sync);
        let suggestion = wanted.suggestion(&project);
        let project = View::from(&project);
        let (repository_id, taken_from) = (chosen.root.repository_id, chosen.taken_from);
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

/// Writes the registration and its places.
fn register(
    cx: &mut Cx<'_>,
    wanted: &RegistrationInput<'_>,
    chosen: &Choice,
    identity: &str,
) -> Result<RegistrationResult, Failure> {
    let project_id = chosen.root.project_id.as_str();
    let Cx { store, env } = cx;
    store.write(&chosen.projects(), |tx| {
        if tx.merged_into(project_id).is_some()
            && let Some(into) = merged_into(tx, project_id)?
        {
            return Err(merged_folder_refusal(project_id, &into).into());
        }
        let created = project_name::register(tx, project_id, false, env.now)?;
        if !created {
            refuse_overtaken(tx, chosen)?;
        }
        record(tx, env, chosen, identity)?;
        let known = project::get(tx, project_id)?.ok_or_else(|| resolve::no_project_refusal(project_id))?;
        let mut registration = wanted.project(&known);
        if let Some(from) = &chosen.taken_from
            && !registration.is_isolated
        {
            registration.is_isolated = keep_isolation(tx, from, (project_id, created))?;
        }
        if !created && registration == known {
            return Ok(RegistrationResult {
                created,
                project: known,
                was_isolated: None,
                opened: Vec::new(),
            });
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
            body["path"] = json!(chosen.root.path);
            body["commit"] = json!(commit);
        }
        append_json(tx, env, &author, Kind::Other, &body)?;
        let opened = if known.is_isolated && !project.is_isolated {
            isolated_within(tx, project_id)?
        } else {
            Vec::new()
        };
        let was_isolated = (!created).then_some(known.is_isolated);
        Ok(RegistrationResult { created, project, was_isolated, opened })
    })
}

/// The refusal for a folder that is to be one of a project that was merged.
fn merged_folder_refusal(project_id: &str, into: &str) -> Refusal {
    let hint = format!(
        "`baton init --join {into}` makes this folder one of it; `baton project merge {project_id} --into {into} --undo` takes the merge back"
    );
    Refusal { hint, ..merged_refusal(project_id, into) }
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

/// Whether the document names another remote than the one that the folder has.
fn names_other_remote(document: &DocumentFields, remote: Option<&str>) -> bool {
    let address = |url: &str| canonical_address(&without_credentials(url));
    let (written, own) = (document.vcs_remote_url.as_deref(), remote);
    written.and_then(address).zip(own.and_then(address)).is_some_and(|(written, own)| written != own)
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
