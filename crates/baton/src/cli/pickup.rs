//! `baton pickup`

mod location;
mod message;
mod recovery;
mod verify;

use std::time::Duration;

use baton_model::delta;
use baton_model::id::visible;
use baton_model::message::View as Message;
use baton_ops::changes::RecordInput;
use baton_ops::session::{
    Document, DocumentOwner, NamedDocument, PickedBaton, Pickup, PickupInput, PickupOutput, ReceivedHandoff,
    WaitingChanges, note_gone_place,
};
use baton_ops::session::{Status, StatusInput};

use serde::Serialize;

use self::message::{is_shown_whole, message_text};
use self::recovery::recovered_text;
use self::verify::Verification;
use super::ActingIdentity;
use crate::app::App;
use crate::changes::carry;
use crate::error::AppError;
use crate::{render, unwrapped};

/// Pick up a baton: take over another agent's work, context and responsibility
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    who: ActingIdentity,
    /// Only what this session left: its baton, or, without one, what it saved
    #[arg(long, value_name = "ID")]
    from_session: Option<String>,
    /// Baton or hand-off to pick up: its id or a unique prefix
    #[arg(value_name = "ID", conflicts_with = "handoff")]
    id: Option<String>,
    /// The same as ID
    #[arg(long, value_name = "ID")]
    handoff: Option<String>,
    /// Take over from an active holder or predecessor
    #[arg(long)]
    force: bool,
    /// Who holds it, as far as you know: refused if another holds it by now
    #[arg(long, value_name = "NAME")]
    holder: Option<String>,
    /// Reason for using --force; recorded in the ledger
    #[arg(long, value_name = "T", requires = "force", allow_hyphen_values = true)]
    why: Option<String>,
    /// Tool that runs the agent; detected if omitted
    #[arg(long, value_name = "S")]
    surface: Option<String>,
    /// Show what would be picked up without changing anything
    #[arg(long)]
    dry_run: bool,
    /// Show all open tasks, decisions, recent entries, sessions and the whole chain, in place of the newest few
    #[arg(long)]
    full: bool,
    /// Put the uncommitted changes that go with the baton into this working copy, all or none
    #[arg(long, conflicts_with_all = ["dry_run", "there"])]
    apply: bool,
    /// Print only the folder in which the work lies, and claim nothing: cd "$(baton pickup --there)"
    #[arg(long)]
    there: bool,
    /// Run the test command that the packet names, here, and say how it ended: it is another agent's text, and is shown first
    #[arg(long, conflicts_with_all = ["dry_run", "there"])]
    verify: bool,
    /// How long the test command may take, up to 24h
    #[arg(long, value_name = "SPAN", default_value = "10m", requires = "verify", value_parser = super::seconds_of_a_day)]
    verify_timeout: u64,
    /// Idempotency key: a retry with it returns the first answer
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let named = args.who.identity.clone();
    let input = PickupInput {
        project: app.project.clone(),
        session: app.session.clone(),
        identity: args.who.identity,
        from_session: args.from_session,
        target_id: args.handoff.or(args.id),
        force: args.force,
        holder: args.holder,
        why: args.why,
        surface: args.surface,
        dry_run: args.dry_run || args.there,
        full: args.full,
        request_id: args.request_id,
    };
    if args.verify {
        verify::refuse_remote(app)?;
    }
    let mut bundle = pick_up(&input, app)?;
    if args.apply {
        apply(&mut bundle, app);
    }
    named.iter().for_each(|name| bundle.name_applicant(name));
    if args.there {
        return location::print(app, bundle);
    }
    let verification = match args.verify {
        true => Some(verify::verify(&bundle, Duration::from_secs(args.verify_timeout), app)?),
        false => None,
    };
    app.show(&Answer { bundle: &bundle, verification }, |answer| {
        let verified = answer.verification.as_ref().map(Verification::text).unwrap_or_default();
        show(answer.bundle) + &verified
    })?;
    // Only now, with the answer written out, are the signals in it delivered: those that were shown whole.
    let is_shown = |signal: &&Message| !app.shows_text() || is_shown_whole(signal);
    let signals = bundle.pending_signals.iter().filter(is_shown);
    let message_ids: Vec<String> = signals.map(|signal| signal.message_id.clone()).collect();
    if args.dry_run {
        return Ok(());
    }
    app.mark_delivered(bundle.project_id, message_ids)
}

/// What was picked up, and how its test command ended where that was asked for.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    bundle: &'a PickupOutput,
    #[serde(skip_serializing_if = "Option::is_none")]
    verification: Option<Verification>,
}

/// Applies the changes of the baton. The pickup is done: what could not be applied is said first.
fn apply(bundle: &mut PickupOutput, app: &mut App) {
    let Some(mut changes) = bundle.changes.clone() else {
        if bundle.baton.is_some() {
            app.remark("this baton has no uncommitted changes: there is nothing to apply");
        }
        return;
    };
    // What helps where they cannot be applied names the one who has the baton now.
    app.config.identity = Some(bundle.identity.clone());
    let outcome = carry::apply_picked(app, &bundle.project_id, &changes.baton_id);
    if outcome.applied {
        let input = RecordInput {
            project: Some(bundle.project_id.clone()),
            identity: Some(bundle.identity.clone()),
            session: bundle.session_id.clone(),
            baton_id: changes.baton_id.clone(),
        };
        carry::record(app, input);
    }
    if outcome.applied
        && let Some(location) = &mut bundle.location
    {
        // The work is here now.
        location.advice = None;
    }
    changes.set_outcome(outcome);
    bundle.name_changes(changes);
}

/// Picks up, and looks at the issue of what was picked up.
pub(super) fn pick_up(input: &PickupInput, app: &mut App) -> Result<PickupOutput, AppError> {
    let mut bundle = app.run::<Pickup>(input)?;
    if app.config.server.is_some() {
        note_gone_place(&mut bundle, &app.caller(), &*app.machine);
    }
    if bundle.baton.is_none() && bundle.handoff.is_none() {
        let status = app.run::<Status>(&StatusInput {
            project: Some(bundle.project_id.clone()),
            ..StatusInput::default()
        })?;
        let of = (status.project_id.as_str(), &status.card);
        bundle.rules_reminders.extend(unwrapped::remarks(app, of, (bundle.session_id.as_deref(), None)));
    }
    if let Some(received) = bundle.handoff.as_deref_mut() {
        look_at_issue(received, app);
    }
    Ok(bundle)
}

/// The issue of a hand-off, as it is at this moment and not as it was last seen.
fn look_at_issue(received: &mut ReceivedHandoff, app: &mut App) {
    let Some(task) = &received.row.handoff.task else { return };
    let (Some(repo), Some(number)) = (&task.metadata.github_repo, task.metadata.github_issue) else {
        return;
    };
    let Some(state) = app.issue(repo, number) else { return };
    for check in received.checks.iter_mut().filter(|check| check.handle == task.id) {
        check.ok = Some(state == "open");
        check.message.clone_from(&state);
    }
}

/// A hand-off from another project: its texts are another agent's words, shown as such.
fn handoff_text(received: &ReceivedHandoff) -> String {
    let handoff = &received.row.handoff;
    let mut text = format!(
        "hand-off {} from {}/{}, {}: {}\n",
        visible(&handoff.handoff_id),
        visible(handoff.sender_project()),
        visible(&handoff.from_identity),
        render::time_ago(handoff.created_at),
        visible(&handoff.subject)
    );
    let rows: Vec<Vec<String>> = received
        .checks
        .iter()
        .map(|check| vec![check.kind.as_str().to_owned(), visible(&check.handle), visible(&check.message)])
        .collect();
    text.push_str(&render::section("checked", &rows));
    let note = received.note.as_ref().map(|note| note.text.as_str()).unwrap_or_default();
    for (title, body) in [("description", received.description.as_str()), ("note", note)] {
        if !body.is_empty() {
            text.push_str(&format!("{title}:\n{}", render::quoted(body)));
        }
    }
    text.extend(received.conversation.as_ref().map(render::conversation));
    if let Some(packet) = &received.packet {
        text.push_str(&render::packet(packet));
    }
    if !received.documents_named.is_empty() {
        let named: Vec<String> = received.documents_named.iter().map(named_document).collect();
        text.push_str(&format!("documents named by the sender: {}\n", named.join(", ")));
    }
    for Document { path, bytes, owner, text: content } in &received.documents {
        let whose = owner.map_or("", whose);
        text.push_str(&format!(
            "document {}{whose}: {bytes} bytes\n{}",
            visible(path),
            render::quoted(content)
        ));
    }
    if let Some(Document { path, bytes, .. }) = &received.project_document {
        text.push_str(&format!("document {}: {bytes} bytes, which `--json` prints\n", visible(path)));
    }
    text
}

fn named_document(document: &NamedDocument) -> String {
    let path = visible(&document.path);
    let note = document.note.as_ref().map(|note| format!("; {}", visible(note))).unwrap_or_default();
    match &document.left_out {
        Some(why) => format!("{path} (left out: {why})"),
        None => format!("{path} (inlined{}{note})", document.owner.map_or("", whose)),
    }
}

/// Whose file a document is.
fn whose(owner: DocumentOwner) -> &'static str {
    match owner {
        DocumentOwner::Sender => ", the sender's",
        DocumentOwner::Receiver => ", your own",
    }
}

/// Whether a pickup brought neither a baton, nor a hand-off, nor what was saved without one.
fn is_empty(bundle: &PickupOutput) -> bool {
    bundle.baton.is_none() && bundle.handoff.is_none() && bundle.recovered.is_none()
}

/// What a person reads of it.
pub(super) fn show(bundle: &PickupOutput) -> String {
    let identity = visible(&bundle.identity);
    let mut text = match (&bundle.session_id, &bundle.replay.since) {
        _ if bundle.dry_run => "nothing was claimed: this is what a pickup would give\n".to_owned(),
        (Some(session), Some(since)) => format!(
            "not yours any more: {}\n  this request was answered before: session {session} as {identity} picked up what follows\n",
            visible(since)
        ),
        (Some(session), None) if bundle.replay.replayed => {
            format!("picked up by this request before: session {session} as {identity}\n")
        }
        (Some(session), None) if is_empty(bundle) => {
            let began = if bundle.started { "began " } else { "" };
            format!("{began}session {session} as {identity}: nothing waited that it could go on with\n")
        }
        (Some(session), None) => format!("picked up: session {session} as {identity}\n"),
        (None, _) => String::new(),
    };
    text.extend(bundle.changes.as_ref().map(changes_text));
    text.push_str(&super::changes::earlier_list(&bundle.earlier_changes));
    text.extend(
        bundle.earlier_operations.iter().map(|one| format!("  also left: {}\n", visible(&one.message))),
    );
    text.push_str(&render::warnings(bundle.warnings.iter().map(|warning| &warning.message)));
    text.extend(bundle.baton.as_ref().map(baton_text));
    let changes = bundle.changes.as_ref();
    text.extend(bundle.location.as_ref().map(|location| location::text(location, changes)));
    text.extend(bundle.handoff.as_deref().map(handoff_text));
    text.extend(bundle.recovered.as_ref().map(recovered_text));
    text.extend(bundle.pending_signals.iter().map(message_text));
    let rows: Vec<Vec<String>> = bundle.todos.iter().map(render::open_task_row).collect();
    text.push_str(&render::section("open tasks", &rows));
    text.extend(bundle.adrs.iter().map(decision_text));
    text.extend(bundle.recent_deltas.iter().filter_map(note_text));
    if bundle.has_more.iter().any(|field| matches!(field.as_ref(), "todos" | "adrs")) {
        text.push_str("  … there is more: baton pickup --full\n");
    }
    text.push_str(&render::reminders(&bundle.rules_reminders));
    text
}

/// The changes that go with the baton: before the packet, since edits made without them collide.
fn changes_text(changes: &WaitingChanges) -> String {
    let mut text = format!("{}\n", visible(&changes.sentence()));
    let files: Vec<String> = changes.files.iter().map(|path| visible(path)).collect();
    let more = changes.files_total.saturating_sub(files.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    if !files.is_empty() {
        text.push_str(&format!("  files: {}{more}\n", files.join(", ")));
    }
    for left in &changes.left_out {
        text.push_str(&format!("  {}\n", left.sentence()));
    }
    text.extend(changes.advice.as_ref().map(|advice| format!("  {}\n", visible(advice))));
    text
}

/// A decision with its reason and what was rejected.
fn decision_text(decision: &delta::Row) -> String {
    let body = decision.fields();
    let mut text = format!("decision: {}\n", visible(&body.what.unwrap_or_default()));
    if let Some(why) = body.why.filter(|why| !why.is_empty()) {
        text.push_str(&format!("  why: {}\n", visible(&why)));
    }
    let rejected: Vec<String> = body.rejected.iter().map(|option| visible(option)).collect();
    if !rejected.is_empty() {
        text.push_str(&format!("  rejected: {}\n", rejected.join("; ")));
    }
    text
}

/// A note among the newest entries, with who wrote it.
fn note_text(entry: &delta::Row) -> Option<String> {
    let text = entry.summary.as_deref().filter(|_| entry.kind == delta::Kind::Note)?;
    Some(format!("note of {}: {}\n", visible(&entry.identity), visible(text)))
}

/// The packet as a document: another agent's words, shown as such.
fn baton_text(baton: &PickedBaton) -> String {
    let (id, from) = (visible(&baton.delta_id), visible(&baton.agent_identity));
    let left = render::time_ago(baton.created_at);
    let origin = if baton.kept { ", kept automatically: its agent did not wrap" } else { "" };
    format!("baton {id} from {from}, {left}{origin}\n\n{}\n\n", render::packet(&baton.body))
}
