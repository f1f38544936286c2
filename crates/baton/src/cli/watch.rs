//! `baton status --watch`: the card, drawn again every second; on a pipe, a line for every change.

use std::collections::BTreeMap;
use std::io::{ErrorKind, IsTerminal, Write};
use std::time::Duration;

use baton_model::id::visible;
use baton_model::session::View;
use baton_model::time::rfc3339;
use baton_ops::card::{Card, OpenTask, Waiting, WaitingKind};
use baton_ops::session::{Status, StatusInput, StatusOutput};
use tokio::runtime::Runtime;
use tokio::signal::ctrl_c;

use crate::app::{App, Format};
use crate::error::AppError;
use crate::{clock, render};

/// Pause between two looks.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Another screen, without a cursor; and back.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l";
const LEAVE: &str = "\u{1b}[?25h\u{1b}[?1049l";

/// Follows the project until it is interrupted or standard output is closed.
pub(super) fn run(app: &mut App) -> Result<(), AppError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let drawn = app.format == Format::Text && std::io::stdout().is_terminal();
    if !drawn {
        return lines(app, &runtime);
    }
    put(ENTER)?;
    let result = screen(app, &runtime);
    put(LEAVE)?;
    result
}

/// Looks until it ends, and hands over what was there before and what is there now.
fn poll(
    app: &mut App,
    runtime: &Runtime,
    mut show: impl FnMut(&App, Option<&StatusOutput>, &StatusOutput) -> std::io::Result<()>,
) -> Result<(), AppError> {
    // The handler is kept from the first wait on, so an interrupt between two waits is not lost.
    let mut interrupted = Box::pin(ctrl_c());
    let mut before: Option<StatusOutput> = None;
    loop {
        let now =
            app.run::<Status>(&StatusInput { project: app.project.clone(), ..StatusInput::default() })?;
        match show(app, before.as_ref(), &now) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
            shown => shown?,
        }
        before = Some(now);
        let stop = runtime.block_on(async {
            tokio::select! { _ = &mut interrupted => true, () = tokio::time::sleep(POLL_INTERVAL) => false }
        });
        if stop {
            return Err(AppError::Interrupted);
        }
    }
}

fn screen(app: &mut App, runtime: &Runtime) -> Result<(), AppError> {
    poll(app, runtime, |app, _, now| {
        let text = format!("{}\n{} · Ctrl-C ends\n", render::card(&now.card), rfc3339(clock::now()));
        put(&frame(&render::for_terminal(&text, app.color)))
    })
}

/// A picture over the one before: every line is cleared behind its end, and what is below goes.
fn frame(text: &str) -> String {
    let lines: String = text.lines().map(|line| format!("{line}\u{1b}[K\n")).collect();
    format!("\u{1b}[H{lines}\u{1b}[J")
}

fn lines(app: &mut App, runtime: &Runtime) -> Result<(), AppError> {
    let is_text = app.format == Format::Text;
    poll(app, runtime, |_, before, now| {
        let changes = match before {
            None => vec![first(now)],
            Some(before) => changes(&before.card, &now.card),
        };
        match (is_text, changes.is_empty()) {
            (_, true) => Ok(()),
            (true, _) => {
                let at = rfc3339(clock::now());
                let lines: String = changes.iter().map(|change| format!("{at}  {change}\n")).collect();
                put(&render::for_terminal(&lines, false))
            }
            (false, _) => put(&format!("{}\n", serde_json::to_string(now)?)),
        }
    })
}

fn put(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn first(now: &StatusOutput) -> String {
    let count = |n: usize, word: &str| format!("{n} {}", baton_model::accounting::plural(n, word));
    let StatusOutput { project_id, card } = now;
    let of_kind = |kind| card.handoffs.iter().filter(|waiting| waiting.kind == kind).count();
    let counts = [
        count(card.sessions.len(), "session"),
        count(of_kind(WaitingKind::Baton), "baton"),
        count(of_kind(WaitingKind::Handoff), "hand-off"),
        count(card.tasks.len(), "open task"),
    ];
    format!("project {}: {}", visible(project_id), counts.join(", "))
}

/// What is worth a line: who came, went, fell silent or came back, what waits, what is done. A heartbeat is not.
fn changes(before: &Card, now: &Card) -> Vec<String> {
    let mut lines = Vec::new();
    compare(&before.sessions, &now.sessions, "is no longer at work", &mut lines);
    compare(&before.handoffs, &now.handoffs, "is spent or closed", &mut lines);
    compare(&before.tasks, &now.tasks, "is not open any more", &mut lines);
    let last = |card: &Card| card.last_wrap.as_ref().map(|last| last.last_wrapped_delta_id.clone());
    if last(before) != last(now)
        && let Some(wrap) = &now.last_wrap
    {
        let (by, summary) = (visible(&wrap.last_wrapped_by), visible(&wrap.last_wrapped_summary));
        lines.push(format!("{by} wrapped: {summary}"));
    }
    lines
}

/// A row of a card that is watched.
trait Watched {
    fn id(&self) -> &str;
    /// What it is called in a line.
    fn name(&self) -> String;
    /// What is worth a line when it changes.
    fn state(&self) -> String;
}

impl Watched for View {
    fn id(&self) -> &str {
        &self.session_id
    }

    fn name(&self) -> String {
        format!("{} ({})", visible(&self.identity), render::short_id(&self.session_id))
    }

    fn state(&self) -> String {
        if self.fresh { "is at work" } else { "went silent" }.to_owned()
    }
}

impl Watched for Waiting {
    fn id(&self) -> &str {
        &self.id
    }

    fn name(&self) -> String {
        format!("{} {} from {}", self.kind.as_str(), render::short_id(&self.id), visible(&self.sender()))
    }

    fn state(&self) -> String {
        render::waiting_state(self)
    }
}

impl Watched for OpenTask {
    fn id(&self) -> &str {
        &self.id
    }

    fn name(&self) -> String {
        format!("task {} \"{}\"", visible(&self.id), visible(&self.title))
    }

    fn state(&self) -> String {
        render::open_task_state(self)
    }
}

/// The rows of one list of two cards: what is new, what is in another state, what is gone.
fn compare<T: Watched>(before: &[T], now: &[T], gone: &str, lines: &mut Vec<String>) {
    let by_id = |rows: &'_ [T]| -> BTreeMap<String, usize> {
        rows.iter().enumerate().map(|(at, row)| (row.id().to_owned(), at)).collect()
    };
    let (old, new) = (by_id(before), by_id(now));
    let state = |rows: &[T], at: usize| rows.get(at).map(T::state);
    for (id, at) in &new {
        let earlier = old.get(id).and_then(|at| state(before, *at));
        if let Some(row) = now.get(*at).filter(|row| earlier.as_deref() != Some(&row.state())) {
            lines.push(format!("{}: {}", row.name(), row.state()));
        }
    }
    for (_, at) in old.iter().filter(|(id, _)| !new.contains_key(*id)) {
        lines.extend(before.get(*at).map(|row| format!("{}: {gone}", row.name())));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn status(sessions: Value, handoffs: Value, last_wrap: Value) -> StatusOutput {
        let mut project = json!(baton_model::project::View::from(&Default::default()));
        project["project_id"] = json!("p");
        let card = json!({ "project_id": "p", "project": project, "sessions": sessions, "handoffs": handoffs,
            "tasks": [], "last_wrap": last_wrap, "reminders": [] });
        serde_json::from_value(card).expect("a card")
    }

    fn card(sessions: Value, handoffs: Value) -> Card {
        status(sessions, handoffs, Value::Null).card
    }

    fn session(fresh: bool, heartbeat: &str) -> Value {
        json!([{ "session_id": "s1", "identity": "Donna", "surface": "codex", "machine": "m", "live": fresh,
            "fresh": fresh, "last_verb": "note", "last_heartbeat": heartbeat, "started_at": NOON,
            "thread_id": "s1" }])
    }

    const NOON: &str = "2026-11-22T12:00:00.000Z";
    const LATER: &str = "2026-11-22T12:01:00.000Z";

    #[test]
    fn a_heartbeat_is_no_change() {
        let before = card(session(true, NOON), json!([]));
        let after = card(session(true, LATER), json!([]));
        assert_eq!(changes(&before, &after), [""; 0]);
    }

    #[test]
    fn who_comes_falls_silent_and_goes_is_told() {
        let nobody = card(json!([]), json!([]));
        let here = status(session(true, NOON), json!([]), Value::Null);
        let silent = card(session(false, NOON), json!([]));
        assert_eq!(changes(&nobody, &here.card), ["Donna (s1): is at work"]);
        assert_eq!(changes(&here.card, &silent), ["Donna (s1): went silent"]);
        assert_eq!(changes(&silent, &nobody), ["Donna (s1): is no longer at work"]);
        assert_eq!(first(&here), "project p: 1 session, 0 batons, 0 hand-offs, 0 open tasks");
    }

    #[test]
    fn a_baton_s_way_is_told() {
        let baton = |state: &str, holder: Value| {
            let row = json!([{ "id": "b1", "kind": "baton", "from": "Lola", "state": state, "to": null,
                "holder": holder, "created_at": NOON }]);
            card(json!([]), row)
        };
        let (open, held) = (baton("open", Value::Null), baton("held", json!("Donna")));
        assert_eq!(changes(&open, &held), ["baton b1 from Lola: held by Donna"]);
        let last = json!({ "last_wrapped_at": NOON, "last_wrapped_by": "Donna", "last_wrapped_session_id": "s1",
            "last_wrapped_delta_id": "d", "last_wrapped_summary": "ok" });
        let done = status(json!([]), json!([]), last).card;
        assert_eq!(changes(&held, &done), ["baton b1 from Lola: is spent or closed", "Donna wrapped: ok"]);
    }

    #[test]
    fn a_picture_leaves_nothing_of_the_one_before() {
        assert_eq!(frame("a\nb\n"), "\u{1b}[Ha\u{1b}[K\nb\u{1b}[K\n\u{1b}[J");
    }
}
