//! `lease_take`: announce paths that are being worked on; all of them or none.

use baton_model::holder::Holder;
use baton_model::id::{check_label, visible};
use baton_model::lease::{FileLease, MAX_DURATION, Mode, Row, USUAL, WorktreeLocation, admit, pattern};
use baton_model::refusal::Refusal;
use baton_model::session::Session;
use baton_model::time::Millis;
use baton_store::{Failure, Tx, lease, project_root};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{held_elsewhere, taken_over, with_takeover};
use crate::idempotency::replay::{Replay, mark_replayed};
use crate::op::{Cx, Env, Meta, Operation, PathKind};
use crate::project::require_active;
use crate::session::refresh_working_copy;
use crate::token_rights;
use crate::{ownership, resolve};

/// Takes leases.
pub struct Take;

/// Input of `lease_take`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TakeInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that works on them.
    #[serde(default)]
    pub identity: Option<String>,
    /// Paths or globs from the root of the repository: `src/cart.py`, `src/**`, `docs/*.md`.
    pub patterns: Vec<String>,
    /// Others may have shared leases on the same paths.
    #[serde(default)]
    pub shared: bool,
    /// For so many seconds, at most a week; else an hour. A session that ends gives its leases back.
    #[serde(default)]
    pub for_s: Option<i64>,
    /// What for, in one line.
    #[serde(default)]
    pub why: Option<String>,
    /// Announce it even where it conflicts: others are told, no caller is refused.
    #[serde(default)]
    pub advisory: bool,
}

/// What a warning is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// Another lease is on the same paths.
    LeaseOverlaps,
    /// Another lease is on the same paths, in another working copy and on another branch.
    LeaseApart,
    /// The caller's lease on these paths was taken over while the clock was ahead.
    LeaseTakenOver,
    /// The pattern is a folder.
    LeaseFolder,
    /// The pattern matches nothing that is there.
    LeaseMatchesNothing,
}

/// What the caller should know of a lease that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// What it is about.
    pub kind: WarningKind,
    /// The same in a sentence.
    pub message: String,
    /// The lease that overlaps, or was taken over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<Row>,
    /// The pattern that a folder or nothing answers to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// Answer of `lease_take`.
#[derive(Serialize, Deserialize)]
pub struct TakeOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The session.
    pub session_id: Option<String>,
    /// The rows of this page.
    pub items: Vec<Row>,
    /// What the caller should know; nothing was refused because of it.
    pub warnings: Vec<Warning>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
    /// Marks the answer of a repeated request.
    #[serde(flatten)]
    pub replay: Replay,
}

impl Operation for Take {
    const META: Meta = Meta::write(
        "lease_take",
        "Announce paths or globs that are being worked on; a conflict is refused with its holder",
    );
    type Input = TakeInput;
    type Output = TakeOutput;

    fn replay(answer: Value, cx: &mut Cx<'_>) -> Result<Value, Failure> {
        replay(answer, cx)
    }

    fn run(input: TakeInput, cx: &mut Cx<'_>) -> Result<TakeOutput, Failure> {
        let (patterns, span) = check(&input)?;
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        store.write(&[&project_id], |tx| {
            require_active(tx, &project_id)?;
            resolve::admit_and_beat(tx, env, &project_id, &identity, Self::NAME)?;
            let mut session = resolve::default_session(tx, env, &project_id, &identity)?;
            // The one session of the name may be that of another live process.
            let is_foreign = |own: &Session| ownership::is_held_elsewhere(env, own, &own.location);
            if let Some(own) = session.as_mut().filter(|own| !is_foreign(own)) {
                refresh_working_copy(tx, env, own)?;
            }
            let request = LeaseRequest {
                project_id: &project_id,
                identity: &identity,
                session_id: session.as_ref().filter(|own| !is_foreign(own)).map(|own| own.session_id.clone()),
                session: session.as_ref(),
                span,
                input: &input,
            };
            let (items, mut warnings) = take(tx, env, &request, &patterns)?;
            warnings.extend(path_remark(tx, env, &project_id, &patterns)?);
            Ok(TakeOutput {
                project_id: project_id.clone(),
                identity: identity.clone(),
                session_id: request.session_id,
                items,
                warnings,
                next: None,
                replay: Replay::default(),
            })
        })
    }
}

/// What became of leases that were taken before: those that hold still, and which do not.
fn replay(mut answer: Value, cx: &mut Cx<'_>) -> Result<Value, Failure> {
    let project_id = answer["project_id"].as_str().unwrap_or_default().to_owned();
    let now = cx.env.now;
    let held = cx.store.read(|tx| Ok(lease::held_leases(tx, &project_id, now)?))?;
    let taken = answer["items"].as_array().cloned().unwrap_or_default();
    let still = |item: &Value| held.iter().find(|lease| item["lease_id"] == lease.lease_id.as_str());
    let items: Vec<Row> = taken.iter().filter_map(still).map(FileLease::row).collect();
    let over: Vec<&str> = taken
        .iter()
        .filter(|item| still(item).is_none())
        .filter_map(|item| item["pattern"].as_str())
        .collect();
    let since = (!over.is_empty()).then(|| format!("not leased any more: {}", over.join(", ")));
    mark_replayed(&mut answer, since, &[("items", json!(items))]);
    Ok(answer)
}

struct LeaseRequest<'a> {
    project_id: &'a str,
    identity: &'a str,
    session_id: Option<String>,
    /// The session of the name, whichever process it belongs to.
    session: Option<&'a Session>,
    span: Millis,
    input: &'a TakeInput,
}

fn check(input: &TakeInput) -> Result<(Vec<String>, Millis), Refusal> {
    if let Some(why) = &input.why {
        check_label("reason", why)?;
    }
    let mut patterns = Vec::new();
    for text in &input.patterns {
        let pattern = pattern::check(text)?;
        if !patterns.contains(&pattern) {
            patterns.push(pattern);
        }
    }
    if patterns.is_empty() || patterns.len() > 100 {
        let what = format!("{} paths are named", patterns.len());
        return Err(Refusal::invalid("pattern_invalid", what, "name 1 to 100, or a glob for many"));
    }
    let span = input.for_s.map_or(Some(USUAL), |seconds| seconds.checked_mul(1000));
    match span.filter(|span| (1..=MAX_DURATION).contains(span)) {
        Some(span) => Ok((patterns, span)),
        None => {
            let what = "a lease lasts from a second to a week";
            Err(Refusal::invalid(
                "span_invalid",
                what,
                "take it again before it expires: that makes it longer",
            ))
        }
    }
}

fn take(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    request: &LeaseRequest<'_>,
    patterns: &[String],
) -> Result<(Vec<Row>, Vec<Warning>), Failure> {
    let held = lease::held_leases(tx, request.project_id, env.now)?;
    let expired = lease::expired(tx, request.project_id, env.now)?;
    let (place, token) = (env.caller.location.clone(), token_rights::token_id(env));
    let caller = Holder {
        identity: request.identity,
        session_id: request.session_id.as_deref(),
        location: Some(&place),
        access_token_id: token.as_deref(),
    };
    let lost = taken_over(tx, env, request.project_id, &caller)?;
    let elsewhere = held_elsewhere(env, request.session, &held);
    let is_elsewhere = |lease: &FileLease| elsewhere.contains(&lease.lease_id);
    let (mut items, mut warnings) = (Vec::new(), Vec::new());
    for pattern in patterns {
        let wanted = renewed_or_new(env, request, pattern, held.iter().filter(|lease| !is_elsewhere(lease)));
        let lost = lost.iter().find(|lease| pattern::touches(&lease.pattern, pattern));
        let overlapping =
            admit(&wanted, &held, is_elsewhere, env.now).map_err(|refusal| with_takeover(refusal, lost))?;
        for other in overlapping {
            let (kind, apart) = match other.worktree.as_ref().filter(|_| wanted.is_apart(&other)) {
                None => (WarningKind::LeaseOverlaps, String::new()),
                Some(WorktreeLocation { root, branch }) => {
                    let branch = branch.as_deref().map(visible).unwrap_or_default();
                    let apart =
                        format!("; in {}, on branch {branch}: the two meet in a merge", visible(root));
                    (WarningKind::LeaseApart, apart)
                }
            };
            let message = format!("{} overlaps: {}{apart}", wanted.pattern, other.describe(env.now));
            warnings.push(Warning { kind, message, lease: Some(other.row()), pattern: None });
        }
        // Who renews holds it already.
        if let Some(lost) = lost.filter(|_| !held.iter().any(|lease| lease.lease_id == wanted.lease_id)) {
            let (kind, lease) = (WarningKind::LeaseTakenOver, Some(lost.row()));
            warnings.push(Warning { kind, message: lost.takeover(), lease, pattern: None });
        }
        for ended in expired.iter().filter_map(|lease| lease.ended_by(&wanted, env.now)) {
            lease::put(tx, &ended)?;
        }
        lease::put(tx, &wanted)?;
        items.push(wanted.row());
    }
    Ok((items, warnings))
}

/// What the paths name, where that is worth a word: a folder, or nothing that is there.
fn path_remark(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    patterns: &[String],
) -> Result<Vec<Warning>, Failure> {
    let roots = project_root::roots(tx, project_id, &env.caller.location.machine)?;
    // Of a project in which the caller does not stand, nothing is looked up.
    let Some(root) = env.caller.folders.iter().find(|folder| roots.contains(folder)) else {
        return Ok(Vec::new());
    };
    let remark = |pattern: &String| {
        let named = env.host.path_kind(root, pattern)?;
        let (kind, message) = match (named, pattern::is_glob(pattern)) {
            (PathKind::Folder, _) => {
                (WarningKind::LeaseFolder, format!("{pattern} is a folder: everything below it is leased"))
            }
            (PathKind::Nothing, true) => {
                (WarningKind::LeaseMatchesNothing, format!("{pattern} matches no file that is there"))
            }
            (PathKind::Nothing, false) => (
                WarningKind::LeaseMatchesNothing,
                format!("there is no {pattern}: only a file or folder of exactly that name would be leased"),
            ),
            (PathKind::File, _) => return None,
        };
        Some(Warning { kind, message, lease: None, pattern: Some(pattern.clone()) })
    };
    Ok(patterns.iter().filter_map(remark).collect())
}

/// Where a session works.
fn location(session: &Session) -> Option<WorktreeLocation> {
    session
        .working_copy
        .as_ref()
        .map(|copy| WorktreeLocation { root: copy.root.clone(), branch: copy.branch.clone() })
}

/// The lease to write: the caller's own on the same pattern, extended, or a new one.
fn renewed_or_new<'a>(
    env: &mut Env<'_>,
    request: &LeaseRequest<'_>,
    pattern: &str,
    mut held: impl Iterator<Item = &'a FileLease>,
) -> FileLease {
    let new = FileLease {
        project_id: request.project_id.to_owned(),
        lease_id: env.id(),
        pattern: pattern.to_owned(),
        mode: if request.input.shared { Mode::Shared } else { Mode::Exclusive },
        advisory: request.input.advisory,
        identity: request.identity.to_owned(),
        session_id: request.session_id.clone(),
        location: Some(env.caller.location.clone()),
        why: request.input.why.clone(),
        taken_at: env.now,
        expires_at: env.now.saturating_add(request.span),
        released_at: None,
        access_token_id: token_rights::token_id(env),
        worktree: request.session.filter(|_| request.session_id.is_some()).and_then(location),
    };
    match held.find(|own| own.pattern == new.pattern && own.same_holder(&new)) {
        Some(own) => {
            let why = new.why.clone().or_else(|| own.why.clone());
            FileLease { lease_id: own.lease_id.clone(), taken_at: own.taken_at, why, ..new }
        }
        None => new,
    }
}
