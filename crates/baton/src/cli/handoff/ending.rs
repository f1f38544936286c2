//! Who accepted and ended a hand-off, and what came of it, as `baton handoff show` prints it.

use baton_model::handoff::{State, View};
use baton_model::id::visible;
use baton_model::saga;
use baton_model::time::rfc3339;

use crate::render;

/// A line each for the acceptor, another name of the repository and the end, then the result or the reason in full, then results that came late.
pub(super) fn lines(handoff: &View) -> String {
    let mut text = String::new();
    if let Some(by) = &handoff.accepted_by {
        let at = handoff.accepted_at.as_deref().map(time_text).unwrap_or_default();
        text.push_str(&format!("accepted by {}{at}\n", visible(by)));
    }
    for rename in &handoff.renames {
        let (before, now) = (visible(&rename.before), visible(&rename.now));
        text.push_str(&format!("{before} is called {now} now, seen at {}\n", rfc3339(rename.at.0)));
    }
    if let Some(ended) = &handoff.ended {
        let forced = ended.forced.as_deref().zip(handoff.place_clause());
        let forced = forced.map(|(why, place)| format!(", {}: {}", visible(&place), visible(why)));
        let state = handoff.state.as_str();
        let (by, at) = (visible(&ended.actor()), time_text(&ended.at));
        text.push_str(&format!("{state} by {by}{at}{}\n", forced.unwrap_or_default()));
    }
    let why = handoff.ended.as_ref().and_then(|ended| ended.why.as_deref());
    let outcome = if handoff.state == State::Completed { "result" } else { "reason" };
    let why = why.filter(|why| handoff.result.as_deref() != Some(why));
    for (title, value) in [(outcome, handoff.result.as_deref()), ("reason", why)] {
        text.extend(value.map(|value| format!("{title}\n{}", render::quoted(value))));
    }
    for late in &handoff.late_results {
        let (what, by) = (late.kind.label(), visible(&late.by_type.label(&late.by)));
        text.push_str(&format!("{what} of {by}\n{}", render::quoted(&late.result)));
    }
    text
}

fn time_text(at: &str) -> String {
    if at.is_empty() { String::new() } else { format!(" at {}", visible(at)) }
}

/// A step of the saga: what, where it stands, since when, and why it failed last, unless that is the `reason` that the hand-off gives.
pub(super) fn step_row(step: &saga::View, reason: Option<&str>) -> Vec<String> {
    let error = match step.last_error.as_deref() {
        Some(error) if reason == Some(error) => "see why".to_owned(),
        error => error.map(visible).unwrap_or_default(),
    };
    let at = step.updated_at.filter(|_| step.attempts > 0).map(|at| rfc3339(at.0)).unwrap_or_default();
    vec![step.step.as_str().to_owned(), step.state.as_str().to_owned(), at, error]
}

#[cfg(test)]
mod tests {
    use baton_model::actor::ActorType;
    use baton_model::handoff::Ending;

    use super::*;

    #[test]
    fn what_came_of_a_hand_off_is_printed_in_full() {
        let ended = Ending {
            by: "Donna".into(),
            by_type: ActorType::Agent,
            at: String::new(),
            why: Some("it ships".into()),
            forced: None,
        };
        let view = View {
            accepted_by: Some("Donna".into()),
            result: Some("it ships\nsee v2".into()),
            ended: Some(ended),
            ..sample()
        };
        let state = view.state.as_str();
        assert_eq!(
            lines(&view),
            format!(
                "accepted by Donna\n{state} by Donna\nresult\n  │ it ships\n  │ see v2\nreason\n  │ it ships\n"
            )
        );
        assert_eq!(lines(&sample()), "");
    }

    fn sample() -> View {
        serde_json::from_value(serde_json::json!({
            "handoff_id": "h", "state": "completed", "subject": "s", "from_project_id": "a", "to_project_id": "b",
            "from_identity": "Ann", "to_identity": null, "to_role": null, "task": null, "memory_id": null,
            "session_id": null, "expires_at": null, "result": null, "last_error": null,
            "created_at": "2026-11-20T10:00:00.000Z", "updated_at": "2026-11-20T10:00:00.000Z",
        }))
        .expect("a hand-off")
    }
}
