//! `baton status --watch`: the card, drawn again every second; on a pipe, a line for every change.

use baton_ops::op::Operation;
use std::collections::BTreeMap;
use std::io::{ErrorKind, IsTerminal, Write};
use std::time::Duration;

use baton_model::time::rfc3339;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::signal::ctrl_c;

use crate::app::{App, Format};
use crate::error::Ended;
use crate::{host, render};

/// Pause between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// Another screen, without a cursor; and back.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l";
const LEAVE: &str = "\u{1b}[?25h\u{1b}[?1049l";

/// Watches until it is interrupted, or nobody reads any more.
pub fn run(app: &mut App) -> Result<(), Ended> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let drawn = app.format == Format::Text && std::io::stdout().is_terminal();
    if !drawn {
        return lines(app, &runtime);
    }
    put(ENTER)?;
    let ended = screen(app, &runtime);
    put(LEAVE)?;
    ended
}

/// Looks until it ends, and hands over what was there before and what is there now.
fn each(
    app: &mut App,
    runtime: &Runtime,
    mut show: impl FnMut(&App, Option<&Value>, &Value) -> std::io::Result<()>,
) -> Result<(), Ended> {
    // The handler is kept from the first wait on, so an interrupt between two waits is not lost.
    let mut interrupted = Box::pin(ctrl_c());
    let mut before: Option<Value> = None;
    loop {
        let now = app.call(baton_ops::session::Status::NAME, json!({ "project": app.project }))?;
        match show(app, before.as_ref(), &now) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
            shown => shown?,
        }
        before = Some(now);
        let stop = runtime.block_on(async {
            tokio::select! { _ = &mut interrupted => true, () = tokio::time::sleep(EVERY) => false }
        });
        if stop {
            return Err(Ended::Interrupted);
        }
    }
}

fn screen(app: &mut App, runtime: &Runtime) -> Result<(), Ended> {
    each(app, runtime, |app, _, card| {
        let text = format!("{}\n{} · Ctrl-C ends\n", render::card(card), rfc3339(host::now()));
        put(&frame(&render::for_terminal(&text, app.color)))
    })
}

/// A picture over the one before: every line is cleared behind its end, and what is below goes.
fn frame(text: &str) -> String {
    let lines: String = text.lines().map(|line| format!("{line}\u{1b}[K\n")).collect();
    format!("\u{1b}[H{lines}\u{1b}[J")
}

fn lines(app: &mut App, runtime: &Runtime) -> Result<(), Ended> {
    let is_text = app.format == Format::Text;
    each(app, runtime, |_, before, now| {
        let changes = match before {
            None => vec![first(now)],
            Some(before) => changes(before, now),
        };
        match (is_text, changes.is_empty()) {
            (_, true) => Ok(()),
            (true, _) => {
                let at = rfc3339(host::now());
                let lines: String = changes.iter().map(|change| format!("{at}  {change}\n")).collect();
                put(&render::for_terminal(&lines, false))
            }
            (false, _) => put(&format!("{now}\n")),
        }
    })
}

fn put(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn first(card: &Value) -> String {
    let count = |key: &str, word: &str| {
        let n = render::list(card, key).len();
        format!("{n} {}", baton_model::accounting::plural(n, word))
    };
    let project = render::text(card, "project_id");
    let counts = [count("sessions", "session"), count("handoffs", "hand-off"), count("tasks", "open task")];
    format!("project {project}: {}", counts.join(", "))
}

/// What is worth a line: who came, went, fell silent or came back, what waits, what is done. A heartbeat is not.
fn changes(before: &Value, now: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    let session = |row: &Value| if row["fresh"] == true { "is at work" } else { "went silent" }.to_owned();
    let who = |row: &Value| format!("{} ({})", render::text(row, "identity"), render::id(row, "session_id"));
    compare((before, now, "sessions", "session_id"), who, session, "is no longer at work", &mut lines);
    let state = |row: &Value| match render::text(row, "holder") {
        holder if holder.is_empty() => render::text(row, "state"),
        holder => format!("{} by {holder}", render::text(row, "state")),
    };
    let what = |row: &Value| {
        let (kind, id) = (render::text(row, "kind"), render::id(row, "id"));
        format!("{kind} {id} from {}", render::text(row, "from"))
    };
    compare((before, now, "handoffs", "id"), what, state, "is spent or closed", &mut lines);
    let task = |row: &Value| format!("task {} \"{}\"", render::text(row, "id"), render::text(row, "title"));
    compare(
        (before, now, "tasks", "id"),
        task,
        |row| render::text(row, "status"),
        "is not open any more",
        &mut lines,
    );
    let last = |card: &Value| card["last_wrap"]["last_wrapped_delta_id"].clone();
    if last(before) != last(now) {
        let wrap = &now["last_wrap"];
        let (by, summary) =
            (render::text(wrap, "last_wrapped_by"), render::text(wrap, "last_wrapped_summary"));
        lines.push(format!("{by} wrapped: {summary}"));
    }
    lines
}

/// The rows of one list of two cards: what is new, what is in another state, what is gone.
fn compare(
    (before, now, list, key): (&Value, &Value, &str, &str),
    name: impl Fn(&Value) -> String,
    state: impl Fn(&Value) -> String,
    gone: &str,
    lines: &mut Vec<String>,
) {
    let rows = |card| -> BTreeMap<String, &Value> {
        render::list(card, list).iter().map(|row| (render::text(row, key), row)).collect()
    };
    let (old, new) = (rows(before), rows(now));
    for (id, row) in &new {
        if old.get(id).is_none_or(|old| state(old) != state(row)) {
            lines.push(format!("{}: {}", name(row), state(row)));
        }
    }
    for (_, row) in old.iter().filter(|(id, _)| !new.contains_key(*id)) {
        lines.push(format!("{}: {gone}", name(row)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(sessions: Value, handoffs: Value, tasks: Value) -> Value {
        json!({ "project_id": "p", "sessions": sessions, "handoffs": handoffs, "tasks": tasks, "last_wrap": null })
    }

    fn session(fresh: bool, heartbeat: &str) -> Value {
        json!([{ "session_id": "s1", "identity": "Donna", "fresh": fresh, "last_heartbeat": heartbeat }])
    }

    #[test]
    fn a_heartbeat_is_no_change() {
        let before = card(session(true, "1"), json!([]), json!([]));
        let after = card(session(true, "2"), json!([]), json!([]));
        assert_eq!(changes(&before, &after), [""; 0]);
    }

    #[test]
    fn who_comes_falls_silent_and_goes_is_told() {
        let nobody = card(json!([]), json!([]), json!([]));
        let here = card(session(true, "1"), json!([]), json!([]));
        let silent = card(session(false, "1"), json!([]), json!([]));
        assert_eq!(changes(&nobody, &here), ["Donna (s1): is at work"]);
        assert_eq!(changes(&here, &silent), ["Donna (s1): went silent"]);
        assert_eq!(changes(&silent, &nobody), ["Donna (s1): is no longer at work"]);
        assert_eq!(first(&here), "project p: 1 session, 0 hand-offs, 0 open tasks");
    }

    #[test]
    fn a_baton_s_way_is_told() {
        let baton = |state: &str, holder: Value| {
            let row =
                json!([{ "id": "b1", "kind": "baton", "from": "Lola", "state": state, "holder": holder }]);
            card(json!([]), row, json!([]))
        };
        let (open, held) = (baton("open", Value::Null), baton("held", json!("Donna")));
        assert_eq!(changes(&open, &held), ["baton b1 from Lola: held by Donna"]);
        let mut done = card(json!([]), json!([]), json!([]));
        done["last_wrap"] =
            json!({ "last_wrapped_delta_id": "d", "last_wrapped_by": "Donna", "last_wrapped_summary": "ok" });
        assert_eq!(changes(&held, &done), ["baton b1 from Lola: is spent or closed", "Donna wrapped: ok"]);
    }

    #[test]
    fn a_picture_leaves_nothing_of_the_one_before() {
        assert_eq!(frame("a\nb\n"), "\u{1b}[Ha\u{1b}[K\nb\u{1b}[K\n\u{1b}[J");
    }
}
