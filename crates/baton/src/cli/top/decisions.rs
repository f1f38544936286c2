//! What was decided, of all projects or of one: a row of the list, and a decision in full.

use baton_model::delta::{Kind, Row as Entry};
use baton_model::id::visible;
use baton_model::row_action::Viewer;
use baton_model::time::{Millis, Timestamp};
use baton_ops::ledger::{LedgerList, LedgerListInput};

use super::state::{Noun, Row, Target};
use crate::app::App;
use crate::error::AppError;
use crate::{clock, render, time_zone};

const DAY: Millis = 86_400_000;

/// A decision in one line: how long ago it was made, and on which day where that is more than one day.
pub(super) fn row(of: &Entry, viewer: &str) -> Row {
    let fields = of.fields();
    let what = visible(&fields.what.unwrap_or_default());
    let words = match fields.why.filter(|why| !why.trim().is_empty()) {
        Some(why) => format!("{what} ({})", visible(&why)),
        None => what,
    };
    let project = visible(&of.project_id);
    let log = format!("baton log --kind decision --project {project}");
    Row {
        key: of.delta_id.clone(),
        cells: vec![day_or_ago(of.created_at), project, visible(&of.identity), words.clone()],
        about: [words, log],
        target: Target {
            noun: Noun::Decision,
            project_id: of.project_id.clone(),
            id: of.seq.to_string(),
            actions: Viewer(viewer).write_to(&[Some(&of.identity)]).into_iter().collect(),
        },
    }
}

/// A decision in full: its reason, what was rejected, who decided it and when.
pub(super) fn shown(app: &mut App, project: Option<String>, seq: &str) -> Result<String, AppError> {
    let seq: i64 = seq.parse().unwrap_or_default();
    let input = LedgerListInput {
        project,
        newest: true,
        before: Some(seq.saturating_add(1)),
        limit: Some(1),
        kind: Some(Kind::Decision.as_str().to_owned()),
        ..LedgerListInput::default()
    };
    let found = app.run::<LedgerList>(&input)?;
    Ok(found.items.first().map(text).unwrap_or_default())
}

fn text(of: &Entry) -> String {
    let fields = of.fields();
    let head = [
        format!("project   {}", of.project_id),
        format!(
            "decided   by {}, {} ({})",
            of.identity,
            local(of.created_at),
            render::time_ago(of.created_at)
        ),
        String::new(),
        fields.what.unwrap_or_default(),
        String::new(),
    ];
    let why = fields.why.filter(|why| !why.trim().is_empty()).map(|why| format!("why       {why}"));
    let rejected = fields.rejected.into_iter().map(|option| format!("rejected  {option}"));
    head.into_iter().chain(why).chain(rejected).collect::<Vec<_>>().join("\n")
}

/// How long ago it was; of what is older than a day the day, which a reader would have to work out.
fn day_or_ago(at: Timestamp) -> String {
    match clock::now() - at.0 >= DAY {
        true => local(at).chars().take("2026-11-28".len()).collect(),
        false => render::time_ago(at),
    }
}

/// A time in the zone of this machine, to the minute: `2026-11-28 14:02`.
fn local(at: Timestamp) -> String {
    let text = time_zone::find(None).and_then(|zone| zone.rfc3339(at.0));
    let text = text.unwrap_or_else(|| baton_model::time::rfc3339(at.0));
    text.chars().take("2026-11-28T14:02".len()).collect::<String>().replace('T', " ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(at: i64) -> Entry {
        let body = json!({ "what": "Round half up", "why": "the law", "rejected": ["cut"] });
        serde_json::from_value(json!({
            "seq": 7, "delta_id": "d7", "kind": "decision", "project_id": "shop", "session_id": null,
            "identity": "Lola", "created_at": baton_model::time::rfc3339(at), "body": body,
        }))
        .expect("an entry")
    }

    #[test]
    fn a_decision_says_its_day_once_it_is_older_than_one() {
        let now = clock::now();
        let fresh = row(&entry(now - 2 * 60 * 60 * 1_000), "Ann");
        assert_eq!(fresh.cells[1..], ["shop", "Lola", "Round half up (the law)"]);
        assert!(fresh.cells[0].contains('h'), "{:?}", fresh.cells);
        let old = row(&entry(now - 3 * DAY), "Ann");
        assert!(old.cells[0].starts_with("20") && old.cells[0].len() == 10, "{:?}", old.cells);
        assert_eq!(old.target.actions[0].receivers, ["Lola"]);
        assert_eq!(row(&entry(now), "lola").target.actions, []);
        assert!(text(&entry(now)).ends_with("Round half up\n\nwhy       the law\nrejected  cut"));
    }
}
