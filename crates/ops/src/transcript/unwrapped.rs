//! Conversations that left no baton, because their agent was killed or no hook ran: they are named, and never taken by themselves.

use baton_model::accounting::{Remark, RemarkKind};
use baton_model::id::visible;
use baton_model::time::{Millis, ago};
use baton_tools::has_surface;

use super::idle::is_idle_row;
use super::{ConversationExtent, ListInput, Row, UnwrappedInput, UnwrappedOutput};
use crate::card::Card;

/// How far back it is looked.
const LOOK_BACK: Millis = 7 * 86_400_000;
/// For so long after its last entry, the newest conversation of the caller's tool may be the caller's own.
const OWN: Millis = 120_000;
/// The most conversations that are looked at.
const MAX_SCANNED: i64 = 20;
/// The most that are named.
const MAX_NAMED: usize = 3;

/// Who asks for the conversations that left no baton.
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
    pub fn listing(&self, project_id: &str) -> ListInput {
        ListInput {
            project: Some(project_id.to_owned()),
            since_ms: Some(self.now.saturating_sub(LOOK_BACK)),
            limit: Some(MAX_SCANNED),
            ..ListInput::default()
        }
    }

    /// The listed conversations of others, with the question which of them left no baton; nothing where there are none.
    pub fn question(&self, project_id: &str, rows: &[Row]) -> Option<UnwrappedInput> {
        let own = self.own(rows);
        let others = rows.iter().enumerate().filter(|(at, _)| Some(*at) != own);
        let conversations: Vec<_> = others.filter_map(|(_, row)| ConversationExtent::of(row)).collect();
        (!conversations.is_empty())
            .then(|| UnwrappedInput { project: Some(project_id.to_owned()), conversations })
    }

    /// The conversations that are open and have no session of Baton, and those that left no baton and that no agent is known to work
    /// in, with the call that takes one over.
    pub fn remarks(&self, rows: &[Row], unwrapped: &UnwrappedOutput, card: &Card) -> Vec<Remark> {
        let is_asked = |row: &&Row| {
            let is_it = |one: &ConversationExtent| one.id == row.id && one.agent == row.agent;
            unwrapped.items.iter().any(is_it) && !self.has_session(row, card)
        };
        let (open, left): (Vec<&Row>, Vec<&Row>) = rows.iter().filter(is_asked).partition(|row| row.is_open);
        let left: Vec<&Row> = left.into_iter().filter(|row| !is_idle_row(row)).take(MAX_NAMED).collect();
        let mut remarks = Vec::new();
        if !open.is_empty() {
            let named: Vec<String> = open.iter().take(MAX_NAMED).map(|row| self.describe(row)).collect();
            let message = format!(
                "open in this project without a session of Baton: {}; what is done there is kept when it ends",
                named.join("; ")
            );
            remarks.push(Remark { kind: RemarkKind::OpenConversation, message });
        }
        if let Some(message) = self.left_message(&left) {
            remarks.push(Remark { kind: RemarkKind::UnwrappedTranscript, message });
        }
        remarks
    }

    fn left_message(&self, left: &[&Row]) -> Option<String> {
        match left {
            [] => None,
            [row] => {
                let (agent, id) = (visible(&row.agent), visible(&row.id));
                let what = self.describe(row);
                Some(format!(
                    "{what}, left no baton: if nobody works in it any more, `baton import-transcript {id} --agent {agent}` \
                     (over MCP: handoff {{action: import, id: {id}, agent: {agent}}}) makes one to pick up"
                ))
            }
            rows => {
                let named: Vec<String> = rows.iter().map(|row| self.describe(row)).collect();
                Some(format!(
                    "{} conversations left no baton: {}; if nobody works in one any more, `baton import-transcript ID --agent TOOL` \
                     (over MCP: handoff {{action: import, id: ID, agent: TOOL}}) makes a baton of it",
                    rows.len(),
                    named.join("; ")
                ))
            }
        }
    }

    /// A conversation in a few words: the tool, its id, its age.
    fn describe(&self, row: &Row) -> String {
        let (agent, id) = (visible(&row.agent), visible(&row.id));
        let title = baton_tools::by_name(&row.agent).map_or(agent.as_str(), |tool| tool.title);
        let last = row.updated_at.map(|at| format!(", last entry {}", ago(self.now, at.0)));
        format!("{title} session {id}{}", last.unwrap_or_default())
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

    /// Whether another agent of the conversation's tool is at work in a session of Baton: it may be that one's.
    fn has_session(&self, row: &Row, card: &Card) -> bool {
        card.sessions.iter().any(|session| {
            let is_own = Some(session.session_id.as_str()) == self.session_id;
            !is_own && session.fresh && has_surface(&row.agent, &session.surface)
        })
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

    fn card(at_work: Option<&str>) -> Card {
        let sessions: Vec<_> = at_work
            .iter()
            .map(|surface| {
                json!({ "session_id": "s1", "identity": "D", "surface": surface, "machine": "m", "live": true, "fresh": true,
                    "last_verb": "session_start", "last_heartbeat": Timestamp(NOW), "started_at": Timestamp(NOW), "thread_id": "t" })
            })
            .collect();
        let project = json!({ "project_id": "p", "is_isolated": false, "is_placeholder": false, "focus": [],
            "created_at": Timestamp(0), "updated_at": Timestamp(0) });
        let card = json!({ "project": project, "sessions": sessions, "handoffs": [], "tasks": [], "last_wrap": null,
            "reminders": [] });
        serde_json::from_value(card).expect("a card")
    }

    /// The remarks where every conversation of others left no baton.
    fn remarks(query: &UnwrappedQuery<'_>, rows: &[Row], card: &Card) -> Vec<Remark> {
        let query = UnwrappedQuery { now: NOW, ..*query };
        let items = query.question("p", rows).map(|question| question.conversations).unwrap_or_default();
        query.remarks(rows, &UnwrappedOutput { project_id: "p".into(), items }, card)
    }

    #[track_caller]
    fn check(query: &UnwrappedQuery<'_>, rows: &[Row], card: &Card, expected: &[&str]) {
        let remarks = remarks(query, rows, card);
        let message = remarks.iter().map(|remark| remark.message.as_str()).collect::<String>();
        for row in rows {
            let is_named = message.contains(&format!("session {}, ", row.id));
            assert_eq!(is_named, expected.contains(&row.id.as_str()), "{} in {message:?}", row.id);
        }
    }

    #[test]
    fn the_callers_own_conversation_and_that_of_one_at_work_are_not_named() {
        let rows =
            [row("claude", "own", 60, 1), row("claude", "dead", 900, 30), row("codex", "old", 900, 600)];
        let claude = UnwrappedQuery { surface: "claude_code", ..UnwrappedQuery::default() };
        check(&claude, &rows, &card(None), &["dead", "old"]);
        let codex = UnwrappedQuery { surface: "codex", ..UnwrappedQuery::default() };
        check(&codex, &rows, &card(None), &["own", "dead", "old"]);
        check(&codex, &rows, &card(Some("claude_code")), &["old"]);
        // A hook knows its own, which may not be written yet.
        let hook =
            UnwrappedQuery { surface: "claude_code", conversation: Some("new"), ..UnwrappedQuery::default() };
        check(&hook, &rows[1..], &card(None), &["dead", "old"]);
        // The caller's own session is no other's work.
        let started = UnwrappedQuery { session_id: Some("s1"), ..claude };
        check(&started, &rows, &card(Some("claude_code")), &["dead", "old"]);
    }

    #[test]
    fn an_open_conversation_is_no_work_to_take_over() {
        let mut rows = [row("claude", "open", 900, 300), row("codex", "dead", 900, 600)];
        rows[0].is_open = true;
        let messages = |remarks: Vec<Remark>| -> Vec<(RemarkKind, bool)> {
            remarks.iter().map(|remark| (remark.kind, remark.message.contains("import"))).collect()
        };
        let human = UnwrappedQuery { surface: "human", ..UnwrappedQuery::default() };
        let both = [(RemarkKind::OpenConversation, false), (RemarkKind::UnwrappedTranscript, true)];
        assert_eq!(messages(remarks(&human, &rows, &card(None))), both);
        assert_eq!(messages(remarks(&human, &rows[..1], &card(None))), both[..1]);
    }

    #[test]
    fn at_most_three_are_named() {
        let rows: Vec<Row> = (0..5_i64).map(|n| row("codex", &format!("id{n}"), 900, 600 + n)).collect();
        let human = UnwrappedQuery { surface: "human", ..UnwrappedQuery::default() };
        check(&human, &rows, &card(None), &["id0", "id1", "id2"]);
    }
}
