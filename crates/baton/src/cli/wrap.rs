//! `baton wrap`

use std::io::IsTerminal;
use std::path::Path;

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_ops::changes::{ChangesPlace, EarlierChanges};
use baton_ops::session::{Wrap, WrapInput, WrapOutput};
use serde_json::{Map, Value};

use super::{ActingIdentity, read_input};
use crate::app::App;
use crate::changes::carry::{self, CapturedCopy};
use crate::changes::{given_files_advice, require_own_files};
use crate::error::AppError;
use crate::{git, render};

/// End a session and leave a baton for the next agent
///
/// The packet is a JSON object; only `summary` is required. Other fields: work_completed, next_steps, open_loops,
/// pending_tasks, decisions, failed_attempts, constraints, files_modified, commands, test_command, test_status,
/// known_issues, focus, next_agent, next_role, refs, remarks, recent_messages, git, environment, metadata. Baton stores
/// the packet and returns it byte for byte.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("what").args(["packet", "summary"]).required(true).multiple(true)))]
pub(super) struct Args {
    #[command(flatten)]
    who: ActingIdentity,
    /// Hand-off packet: a JSON file, or - for standard input
    #[arg(long, value_name = "FILE|-")]
    packet: Option<String>,
    /// Summary of what happened and where things stand, instead of a packet
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    summary: Option<String>,
    /// Next step, with --summary; may be repeated
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    next: Vec<String>,
    /// Tag for what the work is about, with --summary; may be repeated
    #[arg(long, value_name = "TAG")]
    focus: Vec<String>,
    /// Declare that nothing is left to do, with --summary; the baton is offered to no agent
    #[arg(long)]
    done: bool,
    /// Offer the baton to this identity only
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
    /// Offer the baton to this role only
    #[arg(long, value_name = "R")]
    role: Option<String>,
    /// Take along what is not committed, for `baton pickup --apply`; without it [wrap] changes decides
    #[arg(long, conflicts_with = "force")]
    with_changes: bool,
    /// Leave what is not committed here, whatever [wrap] changes says, and say nothing of it
    #[arg(long, conflicts_with = "with_changes")]
    without_changes: bool,
    /// Take them along as a reference in this git remote, by name or address; `ledger`: in the ledger, whatever is set
    #[arg(long, value_name = "REMOTE", conflicts_with_all = ["force", "without_changes"])]
    changes_remote: Option<String>,
    /// Leave a baton even if one made from this session's transcript was already taken
    #[arg(long)]
    again: bool,
    /// Wrap another agent's session
    #[arg(long, requires = "why")]
    force: bool,
    /// Reason for using --force; recorded in the ledger
    #[arg(long, value_name = "T", requires = "force", allow_hyphen_values = true)]
    why: Option<String>,
    /// Idempotency key: a retry with it returns the first answer
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

impl Args {
    /// Whether the call takes along what is not committed: who says where to keep it means it to go along.
    fn takes_changes(&self) -> bool {
        self.with_changes || self.changes_remote.is_some()
    }
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let packet = args.packet.as_deref().map(read_input).transpose()?;
    let (copy, without_changes) = (changes(&args, app)?, args.without_changes);
    let is_clean = args.takes_changes() && copy.is_none();
    let wrapped = app.run::<Wrap>(&WrapInput {
        project: app.project.clone(),
        session: app.session.clone(),
        identity: args.who.identity,
        packet: packet.map(Value::String),
        packet_text: None,
        fields: Map::new(),
        summary: args.summary,
        next: args.next,
        focus: args.focus,
        done: args.done,
        to: args.to,
        role: args.role,
        again: args.again,
        changes: copy.as_ref().map(|copy| copy.manifest.clone()),
        force: args.force,
        why: args.why,
        request_id: args.request_id,
    });
    if let Some(CapturedCopy { manifest, .. }) = &copy {
        let named = wrapped.as_ref().ok().and_then(|wrapped| wrapped.changes.as_ref());
        match named.is_some_and(|named| named.remote == manifest.remote) {
            true => carry::confirm(&app.config.data_dir, Some(manifest)),
            // A baton may name the reference: `baton doctor` asks the ledger, once it is heard of again.
            false if wrapped.as_ref().is_err_and(AppError::may_be_written) => {}
            // No baton names the reference. Where it stays, `baton doctor` names it.
            false => _ = carry::discard(app, manifest),
        }
    }
    let mut wrapped = wrapped?;
    app.remark_repository();
    app.remark_other_project(&wrapped.project_id);
    if is_clean {
        app.remark(match wrapped.earlier_changes.iter().any(is_passed_on) {
            true => "everything is committed here: only what came with the earlier baton goes along",
            false => "everything is committed here: no changes go with the baton",
        });
    }
    carry::remark_interrupted(app);
    let root = app.config.cwd.as_deref().and_then(git::root);
    if copy.is_none() && !without_changes && app.project.is_none() {
        let mode = app.config.wrap_changes;
        wrapped.uncommitted = root.as_deref().and_then(|root| carry::left_uncommitted(mode, root, &wrapped));
    }
    match copy {
        Some(_) if wrapped.changes.is_none() && !wrapped.replay.replayed => {
            app.remark("what is not committed stays here: no baton was left that it could go with");
        }
        Some(_) => {}
        None => hint_at_changes(&wrapped, root.as_deref(), app),
    }
    let cwd = app.config.cwd.clone();
    app.show(&wrapped, |wrapped| answer_text(wrapped, root.as_deref(), cwd.as_deref()))
}

fn is_passed_on(one: &EarlierChanges) -> bool {
    one.place == ChangesPlace::NextBaton
}

/// What a person reads of the answer. `root`: the working copy in which the command was given, in the folder `cwd`.
fn answer_text(wrapped: &WrapOutput, root: Option<&Path>, cwd: Option<&Path>) -> String {
    let summary = visible(&wrapped.summary);
    let warnings = render::warnings(wrapped.warnings.iter().map(|warning| &warning.message));
    if wrapped.warnings.iter().any(|warning| warning.existing_baton.is_some()) {
        return format!("wrapped: {summary}\n{warnings}");
    }
    let baton = visible(&wrapped.baton_id);
    if wrapped.finished {
        let before = if wrapped.replay.replayed { " by this request before" } else { "" };
        return format!(
            "wrapped{before}: baton {baton} is done, and offered to nobody\n  {summary}\n{warnings}  `baton pickup --handoff {baton}` goes on with it all the same\n"
        );
    }
    if wrapped.replay.replayed {
        return format!(
            "wrapped by this request before: baton {baton}
  {summary}
{warnings}  nothing was written now; `baton status` shows what became of it
"
        );
    }
    let (mut changes, mut apply) = match &wrapped.changes {
        Some(manifest) if manifest.files.is_empty() => (super::changes::summary(manifest), ""),
        Some(manifest) => (super::changes::summary(manifest), " --apply"),
        None => (String::new(), ""),
    };
    if !apply.is_empty() {
        // Neither git nor a pickup writes over it where it was made.
        let given = wrapped.changes.as_ref().map(|manifest| manifest.files.as_slice()).unwrap_or_default();
        let advice = root.map(|root| given_files_advice(root, cwd, given));
        changes.push_str(&advice.map(|advice| format!("  {advice}\n")).unwrap_or_default());
    }
    changes.push_str(&super::changes::earlier_list(&wrapped.earlier_changes));
    if wrapped.earlier_changes.iter().any(is_passed_on) {
        apply = " --apply";
    }
    let next = match wrapped.to.as_deref().map(|to| to.strip_prefix("role:").ok_or(to)) {
        None => "the next agent continues".to_owned(),
        Some(Ok(role)) => format!("an agent of the role {} continues", visible(role)),
        Some(Err(name)) => format!("{} continues", visible(name)),
    };
    format!(
        "wrapped: baton {baton} waits\n  {summary}\n{warnings}{changes}  {next} with `baton pickup{apply}`\n"
    )
}

/// What is not committed here, uploaded: where it was asked for or is always taken along.
fn changes(args: &Args, app: &mut App) -> Result<Option<CapturedCopy>, AppError> {
    let project = app.project.clone();
    if args.without_changes {
        return Ok(None);
    }
    if !args.takes_changes() {
        // The work of another agent or project has its changes elsewhere.
        let is_elsewhere = args.force || project.is_some();
        return if is_elsewhere { Ok(None) } else { carry::always(app, None).map_err(with_way_on) };
    }
    let is_in_git = app.config.cwd.as_deref().and_then(git::root).is_some();
    let root = carry::root(app).map_err(|refusal| match is_in_git {
        true => refusal,
        false => Refusal { hint: "leave `--with-changes` out: what lies here stays".to_owned(), ..refusal },
    })?;
    require_own_files(app, project.as_deref())?;
    let Some(mut copy) = carry::capture_copy(app, &root)? else { return Ok(None) };
    carry::keep(app, project.as_deref(), &mut copy, args.changes_remote.as_deref())?;
    Ok(Some(copy))
}

/// The settings have changes go along, and they cannot: the refusal says how to wrap all the same.
fn with_way_on(error: AppError) -> AppError {
    match error {
        AppError::Refused(mut refusal) => {
            refusal.hint.push_str("; `--without-changes` wraps without them, this once");
            AppError::Refused(refusal)
        }
        other => other,
    }
}

/// How many files that stay behind are named.
const MAX_NAMED: usize = 5;

/// The files that stay behind, as the end of a sentence.
fn names_left(root: &Path) -> String {
    let files = git::uncommitted(root).unwrap_or_default();
    let mut names: Vec<String> = files.iter().take(MAX_NAMED).map(|file| visible(file)).collect();
    match files.len().checked_sub(MAX_NAMED) {
        None | Some(0) => {}
        Some(more) => names.push(format!("and {more} more")),
    }
    if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) }
}

/// Names what stays behind: agents call the command without a terminal, too. In JSON the answer has it.
fn hint_at_changes(wrapped: &WrapOutput, root: Option<&Path>, app: &App) {
    let has_reader = app.shows_text() || std::io::stderr().is_terminal();
    let Some(left) = wrapped.uncommitted.as_ref().filter(|_| has_reader) else { return };
    let command = visible(&left.command);
    let (stays, them) = match left.count {
        1 => ("1 file is not committed and stays".to_owned(), "it"),
        count => (format!("{count} files are not committed and stay"), "them"),
    };
    app.remark(&format!(
        "{stays} here; `{command}` gives {them} to the baton, `--without-changes` leaves this out{}",
        root.map(names_left).unwrap_or_default()
    ));
}
