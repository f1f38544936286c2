//! `project_set`: change a project's registration, phase or focus.

use baton_model::access::Scope;
use baton_model::delta::Kind;
use baton_model::id::check_label;
use baton_model::project::{Project, View, is_redacted_address};
use baton_model::refusal::Refusal;
use baton_model::tracker::parse_issues_repo;
use baton_store::{Failure, project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::require_active;
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Changes a project.
pub struct Set;

/// Input of `project_set`; what is left out stays, an empty text removes.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that changes it.
    #[serde(default)]
    pub identity: Option<String>,
    /// Current phase of the work.
    #[serde(default)]
    pub phase: Option<String>,
    /// What the work is about, as tags.
    #[serde(default)]
    pub focus: Option<Vec<String>>,
    /// `github`, `local` or `none`.
    #[serde(default)]
    pub issues_provider: Option<String>,
    /// `owner/repo` of the issue tracker.
    #[serde(default)]
    pub issues_repo: Option<String>,
    /// Owner of issue repositories that are named like their project: the last resort of a hand-off.
    #[serde(default)]
    pub default_owner: Option<String>,
    /// Where every delta is posted to: an http or https URL.
    #[serde(default)]
    pub webhook: Option<String>,
    /// Whether sessions of coding agents may be pushed to its ledger.
    #[serde(default)]
    pub takes_transcripts: Option<bool>,
}

/// Answer of `project_set`.
#[derive(Serialize, Deserialize)]
pub struct SetOutput {
    /// The project.
    #[serde(flatten)]
    pub project: View,
}

impl Operation for Set {
    const META: Meta = Meta::write("project_set", "Change a project's phase, focus, tracker or webhook")
        .scope(Scope::Operator);
    type Input = SetInput;
    type Output = SetOutput;

    fn run(input: SetInput, cx: &mut Cx<'_>) -> Result<SetOutput, Failure> {
        check(&input)?;
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        let project = store.write(&[&project_id], |tx| {
            require_active(tx, &project_id)?;
            let known =
                project::get(tx, &project_id)?.ok_or_else(|| resolve::no_project_refusal(&project_id))?;
            resolve::admit_and_beat(tx, env, &project_id, &identity, Self::NAME)?;
            let wanted = change(known.clone(), &input, env.host.github_enterprise())?;
            if wanted != known {
                let project = Project { updated_at: env.now, ..wanted };
                project::put(tx, &project)?;
                let author = Author { project_id: &project_id, identity: &identity, session: None };
                let body = json!({ "summary": "registration changed", "project": project.to_json() });
                append_json(tx, env, &author, Kind::Other, &body)?;
                return Ok(project);
            }
            Ok(known)
        })?;
        Ok(SetOutput { project: View::from(&project) })
    }
}

fn check(input: &SetInput) -> Result<(), Refusal> {
    for label in input.focus.iter().flatten().chain(input.phase.iter().filter(|p| !p.is_empty())) {
        check_label("tag", label)?;
    }
    if let Some(word) = &input.issues_provider
        && !["", "github", "local", "none"].contains(&word.as_str())
    {
        return Err(Refusal::invalid(
            "provider_unknown",
            format!("`{word}` is not a tracker"),
            "use github, local or none",
        ));
    }
    match input.webhook.as_deref() {
        Some(url) if !url.is_empty() && !url.starts_with("http://") && !url.starts_with("https://") => {
            Err(Refusal::invalid(
                "webhook_invalid",
                "the webhook is not an http or https URL",
                "for instance http://127.0.0.1:9000/hook",
            ))
        }
        Some(url) if is_redacted_address(url) => Err(Refusal::invalid(
            "webhook_invalid",
            "this is the webhook as answers show it, without the secret part of its address",
            "give the whole address, or leave the webhook out to keep it",
        )),
        _ => Ok(()),
    }
}

fn change(mut project: Project, input: &SetInput, enterprise: Option<&str>) -> Result<Project, Refusal> {
    let text = |new: &Option<String>, old: Option<String>| match new {
        None => old,
        Some(text) if text.is_empty() => None,
        Some(text) => Some(text.clone()),
    };
    project.phase = text(&input.phase, project.phase);
    project.issues_provider = text(&input.issues_provider, project.issues_provider);
    project.webhook_url = text(&input.webhook, project.webhook_url);
    project.issues_github_repo = match input.issues_repo.as_deref() {
        None => project.issues_github_repo,
        Some("") => None,
        Some(repo) => Some(parse_issues_repo(repo, enterprise)?),
    };
    // The user has spoken: what the repository's file suggests is settled.
    if input.issues_repo.is_some() {
        project.suggested_repo = None;
    }
    project.default_owner = match input.default_owner.as_deref() {
        None => project.default_owner,
        Some("") => None,
        Some(owner) => parse_issues_repo(&format!("{owner}/x"), None).map(|_| Some(owner.to_owned()))?,
    };
    if let Some(takes) = input.takes_transcripts {
        project.takes_transcripts = takes;
    }
    if let Some(focus) = &input.focus {
        project.focus.clone_from(focus);
    }
    Ok(project)
}
