//! `handoff_create`: leave work for another project.

use baton_model::access::Grant;
use baton_model::handoff::{Event, Handoff, State};
use baton_model::id::{BOT, check_identity, check_label, check_project};
use baton_model::issue::{MAX_LABEL, MAX_TITLE};
use baton_model::project::Project;
use baton_model::refusal::{Kind, Refusal};
use baton_model::saga;
use baton_model::time::parse_span;
use baton_model::tracker::{self, Tracker, TrackerQuery, Warning, WarningKind};
use baton_store::{Failure, Tx, handoff, handoff_step, project};
use serde::{Deserialize, Serialize};

use super::create_input::{CreateInput, SeedSession};
use super::details::HandoffDetails;
use super::linked_documents::{self, LinkedDocument};
use super::mistyped::{placeholder_warning, refuse_mistyped};
use super::named_repo::require_registered;
use super::preview::{Preview, preview};
use super::remarks::{sender_warnings, without_access};
use super::replacement::{
    FilledInput, default_key, fill, mark_replaced, require_replaceable, settle_replaced,
};
use super::steps::{draft, note_tags, task_of};
use super::{Progress, Row, by_id, record};
use crate::idempotency::request::{self, Request, Requester};
use crate::op::{Cx, Env, Meta, Operation};
use crate::project::{merged_into, refuse_merged, require_not_merged};
use crate::saga::advance;
use crate::{packet_input, priority, project_name, resolve};

/// Leaves work for another project.
pub struct Create;

/// Answer of `handoff_create`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum CreateOutput {
    /// What would be written.
    Preview(Box<Preview>),
    /// The hand-off that is being carried out.
    Made(Box<Progress>),
}

impl Operation for Create {
    const META: Meta = Meta::write(
        "handoff_create",
        "Leave work for another project: a task, a note and a seeded session, offered to it",
    )
    .changes_tasks()
    .begins_handoff();
    type Input = CreateInput;
    type Output = CreateOutput;

    fn run(input: CreateInput, cx: &mut Cx<'_>) -> Result<CreateOutput, Failure> {
        let from = sender(cx, &input)?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        let (who, scope) = (Requester::of(env, &identity), (from.as_str(), Self::NAME));
        let request = Request::of(env, &who, scope, input.request_id.as_deref(), &input)?;
        // A repeated request is known by what was said; the work goes to the project that is called so.
        let to_project_id = env.caller.id_of(&input.to_project_id).to_owned();
        let input = CreateInput { to_project_id, ..input };
        let FilledInput { input, documents } = store.read(|tx| fill(tx, env, &from, input))?;
        let packet = check(&input)?;
        let documents = linked_documents::read(store, env, (&from, &input.links), &documents)?;
        let mut planned = plan(&input, (&from, &identity), (&packet, documents), env.now)?;
        if input.dry_run {
            return store.read(|tx| {
                let warnings = resolve_tracker(tx, env, &input, &mut planned)?;
                require_not_merged(tx, &from)?;
                require_replaceable(tx, env, input.replaces.as_deref(), &from)?;
                Ok(CreateOutput::Preview(Box::new(preview(&planned, identity, warnings))))
            });
        }
        settle_replaced(store, env, input.replaces.as_deref())?;
        store.write(&[&from, &input.to_project_id], |tx| {
            if let Some(earlier) = request::earlier_answer_of(tx, request.as_ref())? {
                return Ok(CreateOutput::Made(Box::new(replayed(tx, earlier)?)));
            }
            let mut handoff = planned.clone();
            let warnings = resolve_tracker(tx, env, &input, &mut handoff)?;
            refuse_merged(tx, &from)?;
            resolve::admit_and_beat(tx, env, &from, &identity, Self::NAME)?;
            let made = write(tx, env, handoff, warnings)?;
            mark_replaced(tx, env, input.replaces.as_deref(), &made.row.handoff)?;
            request::keep(tx, env, request.as_ref(), &made)?;
            Ok(CreateOutput::Made(Box::new(made)))
        })
    }
}

/// The project that sends: of a hand-off that came back, the one into which its sender was merged.
fn sender(cx: &mut Cx<'_>, input: &CreateInput) -> Result<String, Failure> {
    let from = resolve::project_id(cx.store, &cx.env, input.from_project_id.as_deref())?;
    if input.replaces.is_none() {
        return Ok(from);
    }
    let now = cx.store.read(|tx| merged_into(tx, &from))?;
    Ok(now.unwrap_or(from))
}

fn check(input: &CreateInput) -> Result<String, Refusal> {
    check_project(&input.to_project_id)?;
    let seed = input.seed_session.as_ref();
    for name in input.to_identity.iter() {
        check_identity(name)?;
    }
    for label in input.tags.iter().chain(&input.to_role) {
        check_label("tag", label)?;
    }
    for label in seed
        .into_iter()
        .flat_map(|s| [&s.agent_id, &s.task_id, &s.current_phase, &s.current_stage].into_iter().flatten())
    {
        check_label("seed", label)?;
    }
    let packet = packet_input::read(input.packet.as_ref(), input.packet_text.as_deref())?;
    Ok(packet.map(|packet| packet.text().to_owned()).unwrap_or_default())
}

/// The hand-off as it is asked for. Its ids and its tracker come later.
fn plan(
    input: &CreateInput,
    (from, identity): (&str, &str),
    (packet, documents): (&str, Vec<LinkedDocument>),
    now: i64,
) -> Result<Handoff, Refusal> {
    let expires = input.expires_in.as_deref().map(|text| {
        parse_span(text).filter(|span| *span > 0).ok_or_else(|| {
            Refusal::invalid(
                "span_invalid",
                format!("`{text}` is not a span of time"),
                "write it as 30m, 24h or 7d",
            )
        })
    });
    let seed = input.seed_session.as_ref();
    let of = |field: fn(&SeedSession) -> &Option<String>| seed.and_then(|seed| field(seed).clone());
    let mut details = HandoffDetails {
        description: input.description.clone(),
        tags: input.tags.clone(),
        priority: priority::urgency(input.priority.as_ref())?,
        links: input.links.clone(),
        documents,
        phase: of(|seed| &seed.current_phase),
        stage: of(|seed| &seed.current_stage),
        follows_registry: Some(input.issues_github_repo.is_none()),
        ..HandoffDetails::default()
    };
    details.tags = note_tags(&details);
    let agent = of(|seed| &seed.agent_id).or(input.to_identity.clone()).or(input.to_role.clone());
    let handoff = Handoff {
        handoff_id: String::new(),
        state: State::Planned,
        subject: input.subject.clone(),
        from_project_id: from.to_owned(),
        to_project_id: input.to_project_id.clone(),
        from_identity: identity.to_owned(),
        to_identity: input.to_identity.clone(),
        to_role: input.to_role.clone(),
        packet: packet.to_owned(),
        task_id: None,
        tracker: "local".into(),
        issues_repo: None,
        issue_number: None,
        memory_id: None,
        session_id: None,
        agent_id: Some(agent.unwrap_or_else(|| BOT.to_owned())),
        seed_task_id: of(|seed| &seed.task_id),
        plan: details.to_text(),
        expires_at: expires.transpose()?.map(|span| now.saturating_add(span)),
        result: None,
        last_error: None,
        created_at: now,
        updated_at: now,
    };
    task_of(&handoff).check(None)?;
    Ok(handoff)
}

/// Resolves the tracker. Returns the warnings. What is registered for a project that the caller does not reach is not
/// disclosed by a preview, nor by a refusal: neither its tracker nor whether there is such a project. Only the hand-off itself
/// is refused where that project was merged: its ledger is not read any more.
fn resolve_tracker(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    input: &CreateInput,
    handoff: &mut Handoff,
) -> Result<Vec<Warning>, Failure> {
    let is_reached = env.caller.grant.reaches(&input.to_project_id);
    if is_reached || !input.dry_run {
        require_not_merged(tx, &input.to_project_id)?;
    }
    if is_reached || input.local || input.issues_github_repo.is_some() {
        return disclosed(tx, env, input, handoff);
    }
    if input.dry_run {
        handoff.tracker = "undisclosed".into();
        let message = format!(
            "this token does not reach project {}: the hand-off finds its tracker, a preview does not tell it",
            input.to_project_id
        );
        return Ok(vec![Warning { kind: WarningKind::TrackerUndisclosed, message }]);
    }
    disclosed(tx, env, input, handoff).map_err(|failure| match failure {
        Failure::Refused(refusal) if !["issue_invalid", resolve::UNKNOWN].contains(&refusal.code) => {
            let what = format!("the tracker of project {} cannot take the task", input.to_project_id);
            let hint = "ask who keeps that project, or keep the task in Baton's own ledger: `local`";
            Refusal::new(Kind::Refused, "tracker_unresolved", what, hint)
                .with("project_id", input.to_project_id.as_str())
                .into()
        }
        failure => failure,
    })
}

fn disclosed(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    input: &CreateInput,
    handoff: &mut Handoff,
) -> Result<Vec<Warning>, Failure> {
    let is_reached = env.caller.grant.reaches(&input.to_project_id);
    let sender = project::get(tx, &handoff.from_project_id)?
        .ok_or_else(|| resolve::no_project_refusal(&handoff.from_project_id))?;
    let target = project::get(tx, &handoff.to_project_id)?;
    if target.is_none() {
        project_name::refuse(tx, &handoff.to_project_id)?;
    }
    let owner = target.as_ref().and_then(|p: &Project| p.default_owner.clone()).or(sender.default_owner);
    let query = TrackerQuery {
        explicit: input.issues_github_repo.as_deref(),
        local: input.local,
        target_id: &handoff.to_project_id,
        target: target.as_ref(),
        default_owner: owner.as_deref(),
        access: env.host.github_access(),
        enterprise: env.host.github_enterprise(),
    };
    require_registered(&env.caller.grant, &query, is_reached)?;
    let found = match tracker::resolve(&query) {
        Err(refusal) if input.dry_run && refusal.code == "github_unconfigured" => {
            without_access(&query, &refusal)?
        }
        found => found?,
    };
    let mut warnings = found.warnings;
    let shown_target = target.as_ref().filter(|_| input.dry_run && is_reached);
    warnings.extend(sender_warnings(tx, env, handoff, shown_target)?);
    warnings.extend(linked_documents::warnings(handoff));
    if target.is_none() && is_reached && !input.create {
        refuse_mistyped(tx, env, &input.to_project_id)?;
    }
    let known = (target.is_some(), is_reached);
    warnings.extend(placeholder_warning(&handoff.to_project_id, known, input.dry_run));
    if let Tracker::GitHub(repo) = found.tracker {
        handoff.tracker = "github".into();
        handoff.issues_repo = Some(repo);
        let draft = draft(handoff)?;
        check_issue(&draft.title, &draft.labels)?;
    }
    Ok(warnings)
}

/// Refuses what GitHub would refuse, before anything is written.
pub(super) fn check_issue(title: &str, labels: &[String]) -> Result<(), Refusal> {
    let refuse = |what: String, hint| Err(Refusal::invalid("issue_invalid", what, hint));
    if title.chars().count() > MAX_TITLE {
        return refuse(
            format!("GitHub takes titles of at most {MAX_TITLE} characters"),
            "shorten the subject",
        );
    }
    match labels.iter().find(|label| label.chars().count() > MAX_LABEL) {
        Some(label) => refuse(
            format!("GitHub takes labels of at most {MAX_LABEL} characters: `{label}`"),
            "shorten the tag",
        ),
        None => Ok(()),
    }
}

fn write(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    planned: Handoff,
    warnings: Vec<Warning>,
) -> Result<Progress, Failure> {
    project_name::register(tx, &planned.to_project_id, true, env.now)?;
    let mut handoff =
        Handoff { handoff_id: env.id(), memory_id: Some(env.id()), session_id: Some(env.id()), ..planned };
    let key = handoff.seed_task_id.take().unwrap_or_else(|| default_key(&handoff.handoff_id));
    handoff.seed_task_id = Some(key);
    handoff::insert(tx, &handoff)?;
    let mut steps = saga::plan(env.now);
    advance(tx, env, &mut handoff, &mut steps)?;
    if handoff.state == State::Planned {
        if handoff.tracker == "local" {
            handoff.state = handoff.state.advance(Event::Begin)?;
        }
        record(tx, env, &handoff, &handoff.from_identity.clone())?;
    }
    handoff_step::put(tx, &handoff.handoff_id, &[], &steps)?;
    handoff::put(tx, &handoff)?;
    Ok(progress(&handoff, &steps, warnings))
}

fn progress(handoff: &Handoff, steps: &[saga::Step], warnings: Vec<Warning>) -> Progress {
    Progress {
        row: Row::of(handoff, steps),
        project_id: handoff.from_project_id.clone(),
        identity: handoff.from_identity.clone(),
        replayed: false,
        warnings: Some(warnings),
    }
}

/// What is kept for a retry; how it stands is read anew.
#[derive(Deserialize)]
struct EarlierHandoff {
    handoff_id: String,
    #[serde(default)]
    warnings: Vec<Warning>,
}

/// The same request again: the same hand-off, as it stands now.
fn replayed(tx: &mut Tx<'_>, earlier: EarlierHandoff) -> Result<Progress, Failure> {
    let handoff = by_id(tx, &Grant::default(), &earlier.handoff_id)?;
    let steps = handoff_step::of(tx, &handoff.handoff_id)?;
    Ok(Progress { replayed: true, ..progress(&handoff, &steps, earlier.warnings) })
}
