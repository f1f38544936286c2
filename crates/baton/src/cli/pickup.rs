//! `baton pickup`

use baton_ops::op::Operation;
use serde_json::{Value, json};

use super::ActingIdentity;
use crate::app::App;
use crate::error::Ended;
use crate::render;

/// Pick up a baton: continue another agent's work with its context and duty
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    who: ActingIdentity,
    /// Only a baton that this session left
    #[arg(long, value_name = "ID")]
    from_session: Option<String>,
    /// Exactly this baton, by its id or a unique prefix
    #[arg(long, value_name = "ID")]
    handoff: Option<String>,
    /// Take over from an active holder or predecessor
    #[arg(long)]
    force: bool,
    /// Why force is used; written into the ledger
    #[arg(long, value_name = "T", requires = "force")]
    why: Option<String>,
    /// Tool that works; else found out
    #[arg(long, value_name = "S")]
    surface: Option<String>,
    /// Show what would be picked up; change nothing
    #[arg(long)]
    dry_run: bool,
    /// Makes a retry return the same ids and baton
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let input = json!({
        "project": app.project, "session": app.session, "identity": args.who.identity,
        "from_session": args.from_session, "handoff_id": args.handoff, "force": args.force, "why": args.why,
        "surface": args.surface, "dry_run": args.dry_run, "request_id": args.request_id,
    });
    let answer = taken(input, app)?;
    app.answer(&answer, show)?;
    // Only now, with the answer written out, are the signals in it delivered: those that were shown whole.
    let shown = |signal: &&Value| !app.shows_text() || is_shown_whole(signal);
    let signals = render::list(&answer, "pending_signals").iter().filter(shown);
    let message_ids: Vec<String> =
        signals.filter_map(|signal| signal["message_id"].as_str().map(str::to_owned)).collect();
    if args.dry_run {
        return Ok(());
    }
    app.mark_delivered(answer["project_id"].as_str().unwrap_or_default().to_owned(), message_ids)
}

/// Picks up, and looks at the issue of what was picked up.
pub(super) fn taken(input: Value, app: &mut App) -> Result<Value, Ended> {
    let mut answer = app.call(baton_ops::session::Pickup::NAME, input)?;
    look_at_issue(&mut answer, app);
    Ok(answer)
}

/// The issue of a hand-off, as it is at this moment and not as it was last seen.
fn look_at_issue(answer: &mut Value, app: &mut App) {
    let meta = &answer["handoff"]["task"]["metadata"];
    let (Some(repo), Some(number)) = (meta["github_repo"].as_str(), meta["github_issue"].as_i64()) else {
        return;
    };
    let (repo, id) = (repo.to_owned(), answer["handoff"]["task"]["id"].clone());
    let Some(state) = app.issue(&repo, number) else { return };
    for check in
        answer["handoff"]["checks"].as_array_mut().into_iter().flatten().filter(|c| c["handle"] == id)
    {
        check["ok"] = json!(state == "open");
        check["message"] = json!(state);
    }
}

/// A hand-off from another project: its texts are another agent's words, shown as such.
fn handoff_text(handoff: &Value) -> String {
    let mut text = format!(
        "hand-off {} from {}/{}, {}: {}\n",
        render::text(handoff, "handoff_id"),
        render::text(handoff, "from_project_id"),
        render::text(handoff, "from_identity"),
        render::age(handoff, "created_at"),
        render::text(handoff, "subject")
    );
    let rows: Vec<Vec<String>> = render::list(handoff, "checks")
        .iter()
        .map(|c| vec![render::text(c, "kind"), render::text(c, "handle"), render::text(c, "message")])
        .collect();
    text.push_str(&render::section("checked", &rows));
    for (title, body) in [("description", &handoff["description"]), ("note", &handoff["note"]["text"])] {
        if let Some(body) = body.as_str().filter(|body| !body.is_empty()) {
            text.push_str(&format!("{title}:\n{}", render::quoted(body)));
        }
    }
    if let Some(packet) = handoff["packet"].as_str() {
        text.push_str(&document(packet));
    }
    let named = render::list(handoff, "documents_named");
    if !named.is_empty() {
        let said = |row: &Value| match row["left_out"].as_str() {
            Some(why) => format!("{} (left out: {why})", render::text(row, "path")),
            None => format!("{} (inlined)", render::text(row, "path")),
        };
        let named: Vec<String> = named.iter().map(said).collect();
        text.push_str(&format!("documents named by the sender: {}\n", named.join(", ")));
    }
    let documents = render::list(handoff, "documents").iter().chain(Some(&handoff["project_document"]));
    for shown in documents.filter(|d| !d.is_null()) {
        text.push_str(&format!("document {}: {} bytes\n", render::text(shown, "path"), shown["bytes"]));
    }
    text
}

fn document(body: &str) -> String {
    match baton_model::packet::Sealed::parse(body.to_owned()) {
        Ok(packet) => {
            baton_model::markdown::render(packet.view(), &baton_model::markdown::Options::default()).text
        }
        Err(_) => render::quoted(body),
    }
}

/// What a person reads of it.
pub(super) fn show(answer: &Value) -> String {
    let mut text = match (answer["dry_run"] == true, answer["session_id"].as_str()) {
        (true, _) => "nothing was claimed: this is what a pickup would give\n".to_owned(),
        (_, Some(session)) if answer["since"].is_string() => format!(
            "not yours any more: {}\n  this request was answered before: session {session} as {} picked up what follows\n",
            render::text(answer, "since"),
            render::text(answer, "identity")
        ),
        (_, Some(session)) if answer["replayed"] == true => {
            format!(
                "picked up by this request before: session {session} as {}\n",
                render::text(answer, "identity")
            )
        }
        (_, Some(session)) => {
            format!("picked up: session {session} as {}\n", render::text(answer, "identity"))
        }
        _ => String::new(),
    };
    text.push_str(&render::warnings(answer));
    if let Some(baton) = answer.get("baton").filter(|b| !b.is_null()) {
        text.push_str(&baton_text(baton));
    }
    if let Some(handoff) = answer.get("handoff") {
        text.push_str(&handoff_text(handoff));
    }
    if let Some(recovered) = answer.get("recovered") {
        text.push_str(&recovered_text(recovered));
    }
    for signal in render::list(answer, "pending_signals") {
        text.push_str(&signal_text(signal));
    }
    let rows: Vec<Vec<String>> = render::list(answer, "todos").iter().map(render::task_row).collect();
    text.push_str(&render::section("open tasks", &rows));
    for decision in render::list(answer, "adrs") {
        text.push_str(&format!("decision: {}\n", render::text(&decision["body"], "what")));
    }
    text.push_str(&render::reminders(answer, "rules_reminders"));
    text
}

/// A signal or a piece of mail: another agent's words, shown as such. What is too long to be shown here goes on waiting.
fn signal_text(signal: &Value) -> String {
    let head = format!(
        "signal {} from {}: {}\n",
        render::text(signal, "type"),
        render::text(signal, "from"),
        render::text(signal, "subject")
    );
    let body = body(signal);
    if is_shown_whole(signal) {
        return head + &render::quoted(&body);
    }
    let part: String = body.lines().take(MOST_LINES).collect::<Vec<_>>().join("\n");
    let part: String = part.chars().take(MOST_CHARS).collect();
    let rest = body.len().saturating_sub(part.len());
    let id = render::text(signal, "message_id");
    format!(
        "{head}{}  … {rest} bytes more, so it goes on waiting: baton mail read {id}\n",
        render::quoted(&part)
    )
}

/// The most of one signal that a pickup shows as text.
const MOST_CHARS: usize = 4_000;
const MOST_LINES: usize = 60;

fn body(signal: &Value) -> String {
    match (signal.get("content"), signal["body"].as_str()) {
        (Some(content), _) => format!("{content:#}"),
        (None, Some(body)) => body.to_owned(),
        (None, None) => String::new(),
    }
}

/// Whether a pickup's text has all of it: then it counts as delivered.
fn is_shown_whole(signal: &Value) -> bool {
    let body = body(signal);
    body.chars().count() <= MOST_CHARS && body.lines().count() <= MOST_LINES
}

/// The packet as a document: another agent's words, shown as such.
fn baton_text(baton: &Value) -> String {
    let body = baton["body"].as_str().unwrap_or_default();
    let head = format!(
        "baton {} from {}, {}\n\n",
        render::text(baton, "delta_id"),
        render::text(baton, "agent_identity"),
        render::age(baton, "created_at")
    );
    let document = document(body);
    format!("{head}{document}\n\n")
}

fn recovered_text(recovered: &Value) -> String {
    let last = recovered["last_checkpoint"]["body"]["summary"].as_str();
    let note = match (last, recovered["last_checkpoint"].is_object()) {
        (Some(last), _) => render::quoted(last),
        (None, true) => "it saved its state, without a summary\n".to_owned(),
        (None, false) => "it saved no checkpoint\n".to_owned(),
    };
    format!("recovered from session {}, which never wrapped:\n{note}", render::text(recovered, "session"))
}
