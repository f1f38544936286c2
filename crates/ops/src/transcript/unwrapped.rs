//! A conversation that left no baton, because its agent was killed or no hook ran: it is named, and never taken by itself.

use baton_model::accounting::{Remark, RemarkKind};
use baton_model::id::visible;
use baton_model::time::{Millis, ago};
use baton_tools::has_surface;

use super::idle::is_idle_row;
use super::{ListInput, Row};
use crate::card::Card;

/// How far back it is looked where no session has wrapped.
const LONGEST: Millis = 7 * 86_400_000;
/// For so long after its last entry, the newest conversation of the caller's tool may be the caller's own.
const OWN: Millis = 120_000;
/// An agent that wraps says a last word after it.
const LAST_WORDS: Millis = 60_000;
/// The most conversations that are looked at.
const NEWEST: i64 = 20;

/// Who asks for the conversation that left no baton.
#[derive(Debug, Default)]
pub struct UnwrappedQuery<'a> {
    /// The surface of the caller.
    pub surface: &'a str,
    /// The caller's own session.
    pub session_id: Option<&'a str>,
    /// The caller's own conversation, if its tool said which it is.
    pub conversation: Option<&'a str>,
    /// The time of the call.
    pub now: Millis,
}

impl UnwrappedQuery<'_> {
    /// What is to be listed for it.
    pub fn listing(&self, project_id: &str, card: &Card) -> ListInput {
        let wrapped = card.last_wrap.as_ref().map_or(i64::MIN, |last| last.last_wrapped_at.0);
        ListInput {
            project: Some(project_id.to_owned()),
            since_ms: Some(wrapped.saturating_add(1).max(self.now.saturating_sub(LONGEST))),
            limit: Some(NEWEST),
            ..ListInput::default()
        }
    }

    /// The newest of the listed conversations that left no baton and that nobody is known to work in, with the call that takes it
    /// over.
    pub fn remark(&self, rows: &[Row], card: &Card) -> Option<Remark> {
        let own = self.own(rows);
        let is_left = |(at, row): &(usize, &Row)| Some(*at) != own && self.is_left(row, card);
        let row = rows.iter().enumerate().filter(is_left).find(|(_, row)| !is_idle_row(row))?.1;
        let (agent, id) = (visible(&row.agent), visible(&row.id));
        let title = baton_tools::by_name(&row.agent).map_or(agent.as_str(), |tool| tool.title);
        let last = ago(self.now, row.updated_at?.0);
        let message = format!(
            "{title} session {id} of this project, last entry {last}, left no baton: if nobody works in it any more, \
             `baton import-transcript {id} --agent {agent}` (over MCP: handoff {{action: import, id: {id}, agent: {agent}}}) makes one to pick up"
        );
        Some(Remark { kind: RemarkKind::UnwrappedTranscript, message })
    }

    /// Where the caller's own conversation stands, as far as that can be told.
    fn own(&self, rows: &[Row]) -> Option<usize> {
        if let Some(id) = self.conversation {
            return rows.iter().position(|row| row.id == id);
        }
        rows.iter().position(|row| {
            let is_new = row.updated_at.is_some_and(|at| self.now.saturating_sub(at.0) < OWN);
            is_new && has_surface(&row.agent, self.surface)
        })
    }

    fn is_left(&self, row: &Row, card: &Card) -> bool {
        let Some(updated) = row.updated_at else { return false };
        let wrapped = card.last_wrap.as_ref().map(|last| last.last_wrapped_at.0);
        let is_wrapped = wrapped.is_some_and(|wrapped| {
            let has_begun = row.created_at.is_none_or(|at| at.0 <= wrapped);
            updated.0 <= wrapped || (has_begun && updated.0 <= wrapped.saturating_add(LAST_WORDS))
        });
        let is_at_work = card.sessions.iter().any(|session| {
            let is_own = Some(session.session_id.as_str()) == self.session_id;
            !is_own && session.fresh && has_surface(&row.agent, &session.surface)
        });
        !is_wrapped && !is_at_work
    }
}

#[cfg(test)]
mod tests {
    use baton_model::time::Timestamp;
    use serde_json::json;

    use super::*;

    const NOW: Millis = 1_800_000_000_000;

    fn row(agent: &str, id: &str, created: Millis, updated: Millis) -> Row {
        serde_json::from_value(json!({
            "id": id, "agent": agent, "path": "/x", "created_at": Timestamp(NOW - created * 1_000),
            "updated_at": Timestamp(NOW - updated * 1_000), "bytes": 1, "complaints": [],
        }))
        .expect("a row")
    }

    fn card(wrapped: Option<Millis>, at_work: Option<&str>) -> Card {
        let last = wrapped.map(|ago| {
            json!({ "last_wrapped_by": "D", "last_wrapped_at": Timestamp(NOW - ago * 1_000), "last_wrapped_summary": "s",
                "last_wrapped_session_id": "s", "last_wrapped_delta_id": "d" })
        });
        let sessions: Vec<_> = at_work
            .iter()
            .map(|surface| {
                json!({ "session_id": "s1", "identity": "D", "surface": surface, "machine": "m", "live": true, "fresh": true,
                    "last_verb": "session_start", "last_heartbeat": Timestamp(NOW), "started_at": Timestamp(NOW), "thread_id": "t" })
            })
            .collect();
        let project = json!({ "project_id": "p", "is_isolated": false, "is_placeholder": false, "focus": [],
            "created_at": Timestamp(0), "updated_at": Timestamp(0) });
        let card = json!({ "project": project, "sessions": sessions, "handoffs": [], "tasks": [], "last_wrap": last,
            "reminders": [] });
        serde_json::from_value(card).expect("a card")
    }

    #[track_caller]
    fn check(query: &UnwrappedQuery<'_>, rows: &[Row], card: &Card, expected: Option<&str>) {
        let query = UnwrappedQuery { now: NOW, ..*query };
        let message = query.remark(rows, card).map(|remark| remark.message);
        let named =
            |id: &str| message.as_ref().is_some_and(|text| text.contains(&format!("transcript {id} ")));
        assert_eq!(expected.is_some(), message.is_some(), "{message:?}");
        assert!(expected.is_none_or(named), "{message:?}");
    }

    #[test]
    fn a_conversation_that_left_no_baton_is_named_and_one_that_did_is_not() {
        let human = UnwrappedQuery { surface: "human", ..UnwrappedQuery::default() };
        let rows = [row("claude", "aaa", 900, 600)];
        check(&human, &rows, &card(None, None), Some("aaa"));
        check(&human, &rows, &card(Some(700), None), Some("aaa"));
        check(&human, &rows, &card(Some(500), None), None);
        // The last words of the agent that wrapped, and the words of one that began since.
        check(&human, &rows, &card(Some(620), None), None);
        check(&human, &[row("claude", "bbb", 610, 600)], &card(Some(620), None), Some("bbb"));
    }

    #[test]
    fn the_callers_own_conversation_and_that_of_one_at_work_are_not_named() {
        let rows =
            [row("claude", "own", 60, 1), row("claude", "dead", 900, 30), row("codex", "old", 900, 600)];
        let claude = UnwrappedQuery { surface: "claude_code", ..UnwrappedQuery::default() };
        check(&claude, &rows, &card(None, None), Some("dead"));
        let codex = UnwrappedQuery { surface: "codex", ..UnwrappedQuery::default() };
        check(&codex, &rows, &card(None, None), Some("own"));
        check(&codex, &rows, &card(None, Some("claude_code")), Some("old"));
        // A hook knows its own, which may not be written yet.
        let hook =
            UnwrappedQuery { surface: "claude_code", conversation: Some("new"), ..UnwrappedQuery::default() };
        check(&hook, &rows[1..], &card(None, None), Some("dead"));
        // The caller's own session is no other's work.
        let started = UnwrappedQuery { session_id: Some("s1"), ..claude };
        check(&started, &rows, &card(None, Some("claude_code")), Some("dead"));
    }
}
