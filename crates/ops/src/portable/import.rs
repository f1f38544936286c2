//! `baton_import`: a baton that arrives as a file waits here to be picked up.

use baton_model::baton::Baton;
use baton_model::baton_file::{FileLocation, PortableBaton, Receipt};
use baton_model::delta::Kind;
use baton_model::id::{short, visible};
use baton_model::packet::ValidatedPacket;
use baton_model::refusal::{self, Refusal};
use baton_model::repository::WorkingCopy;
use baton_model::session::{ProcessLocation, Release, ReleaseReason, Session};
use baton_store::{Failure, Tx, baton, delta, project, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::continued;
use super::import_check::{check, require_same_project};
use super::records::{ImportRecord, ReceiptRecord, export_of};
use crate::idempotency::request::Request;
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation, Retention};
use crate::project::{carried_as, merged_from, require_not_merged};
use crate::resolve;
use crate::session::{Address, FileFacts, leave};
use crate::token_rights;

/// Imports a baton.
pub struct BatonImport;

/// Input of `baton_import`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatonImportInput {
    /// Project id; else from the working directory. Named, the baton may be of another project.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that imports it.
    #[serde(default)]
    pub identity: Option<String>,
    /// The baton out of the file. The content of its changes was uploaded.
    pub baton: PortableBaton,
    /// Has it wait beside one that was imported of another file of the same baton.
    #[serde(default)]
    pub again: bool,
}

/// Answer of `baton_import`.
#[derive(Clone, Serialize, Deserialize)]
pub struct BatonImportOutput {
    /// The project.
    pub project_id: String,
    /// The baton here.
    pub baton_id: String,
    /// The identity that left it.
    pub identity: String,
    /// First line of its packet's summary.
    pub summary: String,
    /// Whether changes go with it.
    pub has_changes: bool,
    /// Whether a file with the same content was imported before: nothing was left anew.
    #[serde(default)]
    pub imported_before: bool,
    /// What became of it since, in a clause, where it was imported before and waits no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
    /// What became of batons that this ledger had exported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receipts: Vec<Receipt>,
}

impl Operation for BatonImport {
    const META: Meta = Meta::write("baton_import", "Have a baton that arrived as a file wait here")
        .retention(Retention::Nothing);
    type Input = BatonImportInput;
    type Output = BatonImportOutput;

    fn run(input: BatonImportInput, cx: &mut Cx<'_>) -> Result<BatonImportOutput, Failure> {
        check(&input.baton)?;
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        // What a project exported before it was merged into this one comes back here.
        let merged = store.read(|tx| merged_from(tx, &project_id))?;
        let homes: Vec<&str> = std::iter::once(&project_id).chain(&merged).map(String::as_str).collect();
        let origin = input.baton.project_id.as_str();
        let is_origin_elsewhere =
            !homes.contains(&origin) && store.read(|tx| Ok(project::get(tx, origin)?.is_some()))?;
        let mut taken = homes.clone();
        taken.extend(is_origin_elsewhere.then_some(origin));
        store.write(&taken, |tx| {
            resolve::require(tx, &project_id)?;
            require_not_merged(tx, &project_id)?;
            if input.project.is_none() && !merged.contains(&input.baton.project_id) {
                require_same_project(tx, &project_id, &input.baton)?;
            }
            let author = Author { project_id: &project_id, identity: &identity, session: None };
            let mut receipts = Vec::new();
            for home in &homes {
                let author = Author { project_id: home, ..author };
                receipts.extend(note_receipts(tx, env, &author, &input.baton)?);
            }
            for home in &merged {
                let Some(known) = baton::get(tx, home, &input.baton.baton_id)? else {
                    let to_projects = (home.as_str(), project_id.as_str());
                    match imported_before_merge(tx, env, to_projects, (&input.baton, input.again))? {
                        Some(output) => return Ok(BatonImportOutput { receipts, ..output }),
                        None => continue,
                    }
                };
                refuse_own_export(tx, env, &known)?;
                // It was reclaimed, or never left: what became of it here is that baton.
                let here = match carried_as(tx, (home, &known.baton_id), &project_id)? {
                    Some(id) => baton::get(tx, &project_id, &id)?,
                    None => None,
                };
                if let Some(here) = here {
                    return Ok(BatonImportOutput { receipts, ..known_here(tx, env, here)? });
                }
            }
            if is_origin_elsewhere {
                require_exported(tx, env, &input.baton)?;
            }
            let output = import(tx, env, &author, (&input.baton, input.again))?;
            Ok(BatonImportOutput { receipts, ..output })
        })
    }
}

/// Notes which of the batons that this ledger has exported were picked up elsewhere, each once.
fn note_receipts(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    of: &PortableBaton,
) -> Result<Vec<Receipt>, Failure> {
    let mut noted = Vec::new();
    for receipt in &of.receipts {
        let Some(left) = baton::get(tx, author.project_id, &receipt.baton_id)? else { continue };
        let once = Request::of_content(author.project_id, "baton_receipt", &receipt.baton_id);
        if export_of(tx, &left)?.is_none() || once.earlier_answer::<Receipt>(tx)?.is_some() {
            continue;
        }
        let summary = format!(
            "{} picked up baton {}, which was exported to a file",
            receipt.picked_up_by,
            short(&left.baton_id)
        );
        let record = ReceiptRecord { summary, export_receipt: receipt.clone() };
        append_json(tx, env, author, Kind::Other, &json!(record))?;
        once.keep(tx, env.now, receipt)?;
        noted.push(receipt.clone());
    }
    Ok(noted)
}

fn import(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    (of, again): (&PortableBaton, bool),
) -> Result<BatonImportOutput, Failure> {
    if let Some(known) = baton::get(tx, author.project_id, &of.baton_id)? {
        return known_here(tx, env, known);
    }
    let packet = of.sealed_packet()?;
    let (once, before) = earlier_import(tx, author.project_id, of, (&packet, again))?;
    if let Some(before) = before {
        let progress = match baton::get(tx, author.project_id, &before.baton_id)? {
            Some(here) => progress(tx, env, &here)?,
            None => None,
        };
        return Ok(BatonImportOutput { imported_before: true, progress, ..before });
    }
    // A token writes under its own names only: whose the words are is in the entry.
    let identity = match &env.caller.grant.bearer {
        Some(_) => author.identity.to_owned(),
        None => of.identity.clone(),
    };
    let own = over_session(env, author.project_id, &identity, of);
    session::insert(tx, &own)?;
    let from = format!("{}, of project {}", of.identity, of.project_id);
    let what = format!("imported from a file: baton {} of {from}", short(&of.baton_id));
    let start = json!({ "summary": what, "surface": own.surface, "baton_file": FileFacts::of(of) });
    append_json(tx, env, &Author::session(&own), Kind::Start, &start)?;
    let to = Address { identity: of.to_identity.as_deref(), role: of.to_role.as_deref() };
    let left = leave(tx, env, &own, &packet, &to)?;
    // Registering writes no release: the session is over from here on.
    session::put(tx, &own)?;
    if let Some(manifest) = &of.changes {
        crate::changes::attach(tx, env, (author.project_id, &identity), &left.delta_id, manifest)?;
    }
    let record = ImportRecord {
        summary: what,
        imported_baton: of.baton_id.clone(),
        imported_from: of.project_id.clone(),
        baton_id: left.delta_id.clone(),
    };
    append_json(tx, env, author, Kind::Other, &json!(record))?;
    let output = BatonImportOutput {
        project_id: author.project_id.to_owned(),
        baton_id: left.delta_id,
        identity,
        summary: left.summary,
        has_changes: of.changes.is_some(),
        imported_before: false,
        progress: None,
        receipts: Vec::new(),
    };
    once.keep(tx, env.now, &output)?;
    Ok(output)
}

/// What a file left that was imported into a project before that was merged into this one: the baton was carried along, or is over there.
fn imported_before_merge(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (home, project_id): (&str, &str),
    (of, again): (&PortableBaton, bool),
) -> Result<Option<BatonImportOutput>, Failure> {
    let packet = of.sealed_packet()?;
    let Some(before) = earlier_import(tx, home, of, (&packet, again))?.1 else { return Ok(None) };
    let here = match carried_as(tx, (home, &before.baton_id), project_id)? {
        Some(id) => baton::get(tx, project_id, &id)?,
        None => baton::get(tx, home, &before.baton_id)?,
    };
    match here {
        Some(here) => known_here(tx, env, here).map(Some),
        None => Ok(Some(BatonImportOutput { imported_before: true, ..before })),
    }
}

/// What an import of the same content left, and the request under which this one is kept. Another content of the baton is refused, but
/// where it is to wait beside the first.
fn earlier_import(
    tx: &mut Tx<'_>,
    project_id: &str,
    of: &PortableBaton,
    (packet, again): (&ValidatedPacket, bool),
) -> Result<(Request, Option<BatonImportOutput>), Failure> {
    let once = Request::of_content(project_id, BatonImport::NAME, &of.baton_id);
    let before = once.earlier_answer::<BatonImportOutput>(tx)?;
    let Some(other) = &before else { return Ok((once, None)) };
    if !differs(tx, other, of, packet)? {
        return Ok((once, before));
    }
    if !again {
        return Err(other_content_refusal(of, other).into());
    }
    let content = format!("{} {}", of.baton_id, packet.text());
    let once = Request::of_content(project_id, BatonImport::NAME, &content);
    let before = once.earlier_answer(tx)?;
    Ok((once, before))
}

/// Whether the baton that was imported of another file says something else than this one: it was worked on in between, or one of the two was
/// edited.
fn differs(
    tx: &mut Tx<'_>,
    before: &BatonImportOutput,
    of: &PortableBaton,
    packet: &ValidatedPacket,
) -> Result<bool, Failure> {
    let (project_id, id) = (before.project_id.as_str(), before.baton_id.as_str());
    let is_other = delta::get(tx, project_id, id)?.is_some_and(|wrap| wrap.body != packet.text());
    // Changes that were dropped since say nothing.
    let hash = crate::changes::of_baton(tx, project_id, id)?.map(|one| one.manifest.content_hash);
    let theirs = of.changes.as_ref().map(|manifest| &manifest.content_hash);
    Ok(is_other || (before.has_changes && hash.is_some() && hash.as_ref() != theirs))
}

fn other_content_refusal(of: &PortableBaton, before: &BatonImportOutput) -> Refusal {
    let (id, here) = (short(&of.baton_id), short(&before.baton_id));
    let what = format!(
        "another file of baton {id} was imported here before, as baton {here} (\u{201c}{}\u{201d}), and this one says something else",
        visible(&before.summary)
    );
    let hint = format!(
        "`baton handoff show {here}` shows that one; `baton handoff import FILE --again` has this one wait beside it"
    );
    Refusal::new(refusal::Kind::Conflict, "baton_file_differs", what, hint)
        .with("baton_id", before.baton_id.as_str())
}

/// Refuses a file whose baton its own project, which is in this store, has taken back or never let go: the work would wait twice. A
/// token hears only of projects that it reaches.
fn require_exported(tx: &mut Tx<'_>, env: &Env<'_>, of: &PortableBaton) -> Result<(), Failure> {
    let Some(left) = baton::get(tx, &of.project_id, &of.baton_id)? else { return Ok(()) };
    if export_of(tx, &left)?.is_some() {
        return Ok(());
    }
    let (id, home) = (&left.baton_id, &left.project_id);
    let (what, hint) = if env.caller.grant.reaches(home) {
        let state = continued::state(tx, env, &left)?;
        let what = format!("project {home} has baton {} itself, which {state}", short(id));
        (what, format!("`baton --project {home} pickup --handoff {id}` continues it there"))
    } else {
        let what = format!("who exported baton {} has taken it back", short(id));
        (what, "ask them to export it once more".to_owned())
    };
    Err(Refusal::new(refusal::Kind::Conflict, "baton_reclaimed", what, hint)
        .with("baton_id", id.as_str())
        .into())
}

/// The ledger that wrote the file has the baton: it is not left a second time.
fn known_here(tx: &mut Tx<'_>, env: &Env<'_>, known: Baton) -> Result<BatonImportOutput, Failure> {
    refuse_own_export(tx, env, &known)?;
    let progress = progress(tx, env, &known)?;
    let has_changes = crate::changes::of_baton(tx, &known.project_id, &known.baton_id)?.is_some();
    Ok(BatonImportOutput {
        has_changes,
        project_id: known.project_id,
        baton_id: known.baton_id,
        identity: known.identity,
        summary: known.summary,
        imported_before: true,
        progress,
        receipts: Vec::new(),
    })
}

/// What became of a baton, in a clause; nothing where it waits.
fn progress(tx: &mut Tx<'_>, env: &Env<'_>, of: &Baton) -> Result<Option<String>, Failure> {
    let holder = match &of.holder_session_id {
        Some(id) => session::get(tx, &of.project_id, id)?,
        None => None,
    };
    // Who is released holds nothing.
    let is_taken = of.spent_by.is_some() || holder.is_some_and(|holder| holder.is_open());
    if is_taken { continued::state(tx, env, of).map(Some) } else { Ok(None) }
}

/// Refuses to import a baton where it was exported: it may be picked up where its file is, and where it came back it goes on from there.
fn refuse_own_export(tx: &mut Tx<'_>, env: &Env<'_>, known: &Baton) -> Result<(), Failure> {
    if export_of(tx, known)?.is_none() {
        return Ok(());
    }
    if let Some(refusal) = continued::refusal(tx, env, known)? {
        return Err(refusal.into());
    }
    let what = format!("this ledger exported baton {} itself", short(&known.baton_id));
    let hint = format!(
        "import the file where the work is to go on; to go on here: `baton handoff reclaim {}`",
        known.baton_id
    );
    Err(Refusal::new(refusal::Kind::Conflict, "baton_exported", what, hint).into())
}

/// A session that is over as soon as it is registered: it stands for the one that left the baton.
fn over_session(env: &mut Env<'_>, project_id: &str, identity: &str, of: &PortableBaton) -> Session {
    let copy = |location: &FileLocation| WorkingCopy {
        root: visible(&location.root),
        branch: location.branch.clone(),
        commit: location.commit.clone(),
        is_worktree: location.is_worktree,
        host: None,
    };
    Session {
        project_id: project_id.to_owned(),
        session_id: env.id(),
        thread_id: of.thread_id.clone(),
        identity: identity.to_owned(),
        surface: of.surface.clone(),
        location: ProcessLocation { machine: of.machine.clone(), ..ProcessLocation::default() },
        started_at: env.now,
        heartbeat_at: env.now,
        last_verb: BatonImport::NAME.to_owned(),
        release: Some(Release {
            at: env.now,
            reason: ReleaseReason::Wrapped,
            by: identity.to_owned(),
            successor: None,
        }),
        inherited_from: None,
        picked_up_session_id: None,
        opened_by: token_rights::token_id(env),
        stale_after: env.limits.stale_after,
        baton_id: None,
        working_copy: of.location.as_ref().map(copy),
    }
}
