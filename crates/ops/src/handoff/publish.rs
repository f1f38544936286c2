//! `handoff_publish`: bring a task of the embedded tracker into GitHub; its id stays.

use baton_model::handoff::{Handoff, State};
use baton_model::refusal::{self, Refusal};
use baton_model::saga::{self, Kind, Step};
use baton_model::tracker::{Tracker, TrackerQuery, resolve as resolve_tracker};
use baton_store::{Failure, Tx, handoff, handoff_step, project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::acceptor::require_publisher;
use super::named_repo::require_registered;
use super::steps::draft_of_task;
use super::{Progress, Row, by_id, isolation, require_reach, with_id};
use crate::op::{Cx, Env, Meta, Operation};
use crate::resolve;

/// Publishes a hand-off's task.
pub struct Publish;

/// Input of `handoff_publish`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishInput {
    /// Hand-off id or a unique prefix of one.
    pub id: String,
    /// Identity that publishes it.
    #[serde(default)]
    pub identity: Option<String>,
    /// `owner/repo`, in place of what the registry says.
    #[serde(default)]
    pub issues_github_repo: Option<String>,
    /// Show the issue that would be made; write nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// Answer of `handoff_publish`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum PublishOutput {
    /// What would be made.
    Preview(PublishPreview),
    /// The hand-off whose issue is being made.
    Made(Box<Progress>),
}

/// What `handoff_publish` would make.
#[derive(Serialize, Deserialize)]
pub struct PublishPreview {
    /// Nothing was written.
    pub dry_run: bool,
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The issue.
    pub would_create_issue: IssuePreview,
}

/// An issue as it would be made.
#[derive(Serialize, Deserialize)]
pub struct IssuePreview {
    /// `owner/repo`.
    pub repo: String,
    /// Its title.
    pub title: String,
    /// Its labels.
    pub labels: Vec<String>,
}

impl Operation for Publish {
    const META: Meta =
        Meta::write("handoff_publish", "Publish a hand-off's local task to GitHub, under the same id")
            .changes_tasks()
            .begins_handoff();
    type Input = PublishInput;
    type Output = PublishOutput;

    fn run(input: PublishInput, cx: &mut Cx<'_>) -> Result<PublishOutput, Failure> {
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let known = cx.store.read(|tx| by_id(tx, &cx.env.caller.grant, &input.id))?;
        // The task is the receiver's, wherever it is published.
        require_reach(&cx.env.caller.grant, &known.to_project_id)?;
        let here = resolve::project_id(cx.store, &cx.env, None).ok();
        let Cx { store, env } = cx;
        store.read(|tx| require_publisher(tx, env, &known, &identity))?;
        if input.dry_run {
            return store.read(|tx| {
                let mut wanted = known.clone();
                wanted.issues_repo = Some(repo(tx, env, &input, &wanted)?);
                let draft = draft_of_task(tx, &wanted)?;
                let issue = IssuePreview { repo: draft.repo, title: draft.title, labels: draft.labels };
                let (project_id, identity) = (wanted.to_project_id, identity.clone());
                let preview =
                    PublishPreview { dry_run: true, project_id, identity, would_create_issue: issue };
                Ok(PublishOutput::Preview(preview))
            });
        }
        store.write(&[&known.from_project_id, &known.to_project_id], |tx| {
            let mut after = by_id(tx, &env.caller.grant, &known.handoff_id)?;
            require_publisher(tx, env, &after, &identity)?;
            after.issues_repo = Some(repo(tx, env, &input, &after)?);
            draft_of_task(tx, &after)?;
            resolve::admit_and_beat(tx, env, &after.from_project_id, &identity, Self::NAME)?;
            let before = handoff_step::of(tx, &after.handoff_id)?;
            let mut steps = before.clone();
            saga::push(&mut steps, &[Kind::Publish], env.now);
            handoff_step::put(tx, &after.handoff_id, &before, &steps)?;
            handoff::put(tx, &after)?;
            let viewer = isolation::Viewer { project: here.as_deref(), grant: Some(&env.caller.grant) };
            let row = isolation::shown_to(tx, viewer, &after, Row::of(&after, &steps))?;
            let identity = identity.clone();
            let project_id = after.to_project_id;
            let made = Progress { row, project_id, identity, replayed: false, warnings: None };
            Ok(PublishOutput::Made(Box::new(made)))
        })
    }
}

/// The repository that the task is published to: the registry's, unless an operator names one.
fn repo(tx: &mut Tx<'_>, env: &Env<'_>, input: &PublishInput, handoff: &Handoff) -> Result<String, Failure> {
    let pending = |step: &Step| step.kind == Kind::Publish && step.stage != saga::StepStage::Failed;
    if handoff.tracker == "github" || handoff_step::of(tx, &handoff.handoff_id)?.iter().any(pending) {
        let what = "its task is in GitHub, or on its way there";
        let hint = "`baton handoff show ID` shows the issue";
        let refusal = Refusal::new(refusal::Kind::Conflict, "already_published", what, hint);
        return Err(with_id(refusal, &handoff.handoff_id).into());
    }
    if !matches!(handoff.state, State::Offered | State::Accepted) {
        let what = format!("a hand-off that is {} is not published", handoff.state.as_str());
        return Err(Refusal::new(refusal::Kind::Conflict, "handoff_state", what, "make a new one").into());
    }
    let target = project::get(tx, &handoff.to_project_id)?;
    let owner = target.as_ref().and_then(|p| p.default_owner.clone());
    let query = TrackerQuery {
        explicit: input.issues_github_repo.as_deref(),
        target_id: &handoff.to_project_id,
        target: target.as_ref(),
        default_owner: owner.as_deref(),
        access: env.host.github_access(),
        enterprise: env.host.github_enterprise(),
        ..TrackerQuery::default()
    };
    require_registered(&env.caller.grant, &query, env.caller.grant.reaches(&handoff.to_project_id))?;
    match resolve_tracker(&query)?.tracker {
        Tracker::GitHub(repo) => Ok(repo),
        Tracker::Local => {
            let what = format!("no issues repository is known for {}", handoff.to_project_id);
            Err(Refusal::new(
                refusal::Kind::Refused,
                "tracker_unresolved",
                what,
                "name it with --repo OWNER/REPO",
            )
            .into())
        }
    }
}
