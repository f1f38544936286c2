//! `lease_release`: give leases back; another's only by force, which the ledger keeps.

use baton_model::delta::Kind;
use baton_model::holder::Holder;
use baton_model::id::{check_label, visible};
use baton_model::lease::{FileLease, Row, pattern};
use baton_model::refusal::{self, Refusal};
use baton_store::{Failure, Tx, lease};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{held_elsewhere, taken_over, with_takeover};
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation};
use crate::resolve;
use crate::token_rights;

/// Releases leases.
pub struct Release;

/// Input of `lease_release`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReleaseInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that holds them.
    #[serde(default)]
    pub identity: Option<String>,
    /// Leases by id, by a unique prefix of one, or by their very pattern; none: all of one's own.
    #[serde(default)]
    pub leases: Vec<String>,
    /// Also those of others, which have to be named.
    #[serde(default)]
    pub force: bool,
    /// Why force is used; written into the ledger.
    #[serde(default)]
    pub why: Option<String>,
}

/// Answer of `lease_release`: what was given back.
#[derive(Serialize, Deserialize)]
pub struct ReleaseOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The rows of this page.
    pub items: Vec<Row>,
    /// One's own that are not there any more, because another took them over while the clock was ahead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken_over: Vec<Row>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
}

impl Operation for Release {
    const META: Meta = Meta::write("lease_release", "Give leases back");
    type Input = ReleaseInput;
    type Output = ReleaseOutput;

    fn run(input: ReleaseInput, cx: &mut Cx<'_>) -> Result<ReleaseOutput, Failure> {
        match (&input.why, input.force) {
            (Some(why), true) => check_label("reason", why)?,
            (None, true) => {
                let what = "a lease of somebody else is released only with a reason";
                return Err(Refusal::invalid("why_missing", what, "say --why REASON").into());
            }
            _ => {}
        }
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            resolve::admit_and_beat(tx, env, &project_id, &identity, Self::NAME)?;
            let (items, taken_over) = release(tx, env, &input, &project_id, &identity)?;
            Ok(ReleaseOutput {
                project_id: project_id.clone(),
                identity: identity.clone(),
                items,
                taken_over,
                next: None,
            })
        })
    }
}

fn release(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    input: &ReleaseInput,
    project_id: &str,
    identity: &str,
) -> Result<(Vec<Row>, Vec<Row>), Failure> {
    let held = lease::held_leases(tx, project_id, env.now)?;
    let session = resolve::default_session(tx, env, project_id, identity)?;
    let (place, token) = (env.caller.location.clone(), token_rights::token_id(env));
    let caller = Holder {
        identity,
        session_id: session.as_ref().map(|session| session.session_id.as_str()),
        location: Some(&place),
        access_token_id: token.as_deref(),
    };
    // What another live process of the name took in its session is that process's.
    let elsewhere = held_elsewhere(env, session.as_ref(), &held);
    let is_elsewhere = |lease: &FileLease| elsewhere.contains(&lease.lease_id);
    let is_own = |lease: &FileLease| lease.holder().is_same(&caller) && !is_elsewhere(lease);
    let lost = taken_over(tx, env, project_id, &caller)?;
    let mut chosen: Vec<FileLease> = Vec::new();
    if input.leases.is_empty() {
        chosen.extend(held.iter().filter(|lease| is_own(lease)).cloned());
    }
    for name in &input.leases {
        let chosen_by_name = select_leases(&held, name, (&is_own, &is_elsewhere), input.force);
        for found in chosen_by_name.map_err(|refusal| with_takeover(refusal, lease_by_name(&lost, name)))? {
            if !chosen.contains(&found) {
                chosen.push(found);
            }
        }
    }
    for lease in &mut chosen {
        lease.released_at = Some(env.now);
        lease::put(tx, lease)?;
        if !is_own(lease) {
            let body = json!({
                "text": format!("{identity} released the lease of {} on {}", lease.holder().describe(), lease.pattern),
                "forced": true, "why": input.why, "lease": lease.row(),
            });
            append_json(tx, env, &Author { project_id, identity, session: None }, Kind::Note, &body)?;
        }
    }
    let lost = lost.iter().filter(|_| input.leases.is_empty());
    Ok((chosen.iter().map(FileLease::row).collect(), lost.map(FileLease::row).collect()))
}

/// The lease that is meant by an id, a prefix of one, or a pattern.
fn lease_by_name<'a>(leases: &'a [FileLease], name: &str) -> Option<&'a FileLease> {
    let pattern = pattern::check(name).unwrap_or_default();
    let is_prefix = |lease: &FileLease| name.len() >= 4 && lease.lease_id.starts_with(name);
    leases.iter().find(|lease| lease.pattern == pattern || is_prefix(lease))
}

/// The leases that match an id, a prefix of one, or a pattern. A pattern may be held by several; without force only the
/// caller's own are selected.
fn select_leases(
    held: &[FileLease],
    name: &str,
    (is_own, is_elsewhere): (&impl Fn(&FileLease) -> bool, &impl Fn(&FileLease) -> bool),
    force: bool,
) -> Result<Vec<FileLease>, Refusal> {
    let pattern = pattern::check(name).unwrap_or_default();
    let mut found: Vec<&FileLease> =
        held.iter().filter(|lease| lease.lease_id == name || lease.pattern == pattern).collect();
    if found.is_empty() && name.len() >= 4 {
        found = held.iter().filter(|lease| lease.lease_id.starts_with(name)).collect();
        if found.len() > 1 {
            let ids: Vec<String> = found.iter().map(|lease| lease.lease_id.clone()).collect();
            return Err(resolve::ambiguous_id_refusal("lease", name, &ids));
        }
    }
    let Some(first) = found.first() else {
        let what = format!("nobody holds a lease `{}`", visible(name));
        let hint = "`baton lease list` shows those that hold; what expired needs no release";
        return Err(Refusal::new(refusal::Kind::NotFound, "lease_unknown", what, hint));
    };
    let mine: Vec<FileLease> =
        found.iter().filter(|lease| force || is_own(lease)).map(|lease| (*lease).clone()).collect();
    if mine.is_empty() {
        let holder = match first.location.as_ref().filter(|_| is_elsewhere(first)) {
            Some(place) => format!("the other process of {}: {}", first.identity, place.describe()),
            None => first.holder().describe(),
        };
        let what = format!("{} is leased by {holder}", first.pattern);
        let hint = format!("ask {} for it, or release it with --force --why REASON", first.identity);
        return Err(Refusal::new(refusal::Kind::Conflict, "lease_not_yours", what, hint)
            .with("lease", json!(first.row())));
    }
    Ok(mine)
}
