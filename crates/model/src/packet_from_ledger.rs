//! A packet built from the ledger: what a session has left behind, when it is not wrapped with a packet of its own.

use serde_json::{Value, json};

use crate::delta::{Delta, Kind, full_text_of};
use crate::packet::{Decision, Packet, Party, Text, ValidatedPacket};
use crate::refusal::Refusal;
use crate::session::Session;
use crate::time::rfc3339;

/// Whether the agent of a session works on, which its summary says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentPresence {
    /// It is at work: there is no wrap to be missed.
    AtWork,
    /// It is over, silent, or gives its work away.
    Away,
}

/// The packet that a session's own deltas amount to: its checkpoints as work done, its decisions and notes, its saved state.
/// `inherited` is the packet of the baton that it holds: what the session left goes on top of that.
pub fn packet(
    (session, presence): (&Session, AgentPresence),
    deltas: &[Delta],
    state: Option<Value>,
    inherited: Option<&ValidatedPacket>,
) -> Result<ValidatedPacket, Refusal> {
    let mut packet = own_packet(session, deltas);
    let before = inherited.map(|packet| packet.view().summary.as_str());
    let (last, saved) = (packet.work_completed.last(), saved(deltas, state.is_some()));
    packet.summary = summary((&session.identity, presence), last, saved, before);
    if let Some(state) = state {
        if let Some(before) = inherited.and_then(|packet| packet.view().metadata.get("state")) {
            let mut earlier = inherited.map(earlier_states).unwrap_or_default();
            earlier.push(before.clone());
            packet.metadata.insert(EARLIER_STATES.into(), earlier.into());
        }
        packet.metadata.insert("state".into(), state);
    }
    if let (Some(_), Some(baton_id)) = (inherited, &session.baton_id) {
        packet.metadata.insert("previous_baton_id".into(), json!(baton_id));
    }
    packet.metadata.insert(GATHERED_FROM.into(), json!("ledger"));
    packet.mark_summary_of_ledger();
    packet.on_top_of(inherited)
}

/// Where a packet says that it was gathered from the ledger.
const GATHERED_FROM: &str = "gathered_from";

/// Whether a packet holds what sessions had saved in the ledger.
pub fn is_gathered(packet: &Packet) -> bool {
    packet.metadata.contains_key(GATHERED_FROM)
}

/// Where a packet has the states of those who held its baton before, oldest first.
const EARLIER_STATES: &str = "earlier_states";

fn earlier_states(packet: &ValidatedPacket) -> Vec<Value> {
    packet.view().metadata.get(EARLIER_STATES).and_then(Value::as_array).cloned().unwrap_or_default()
}

/// The newest state that a session's checkpoints hold, whatever task it belongs to.
pub fn last_state(deltas: &[Delta]) -> Option<Value> {
    deltas.iter().rev().filter(|delta| delta.kind == Kind::Checkpoint).find_map(|delta| {
        let mut body: Value = serde_json::from_str(&delta.body).ok()?;
        Some(body.get_mut("state")?.take()).filter(|state| !state.is_null())
    })
}

/// Whether a hook wrote it out of the agent's transcript.
pub fn is_capture(delta: &Delta) -> bool {
    let body = serde_json::from_str::<Value>(&delta.body).ok();
    delta.kind == Kind::Checkpoint && body.is_some_and(|body| body.get("transcript").is_some())
}

/// Whether a session saved or said anything.
pub fn is_saved(deltas: &[Delta]) -> bool {
    saved(deltas, false).is_some()
}

/// Whether a session saved or said what no baton carries: what came before its wrap, or before a merge that left it as a baton
/// elsewhere, goes on with that. Late notes of a session that is over are no work of its own.
pub fn is_left_unwrapped(deltas: &[Delta]) -> bool {
    match deltas.iter().rposition(|delta| delta.kind == Kind::Wrap || is_carried(delta)) {
        Some(at) => deltas[at..].iter().any(|delta| delta.kind == Kind::Checkpoint),
        None => is_saved(deltas),
    }
}

/// The field of an entry that says as which baton of another project the work of its session goes on.
pub const CARRIED_AS: &str = "carried_as";

fn is_carried(delta: &Delta) -> bool {
    delta.kind == Kind::Other
        && serde_json::from_str::<Value>(&delta.body).is_ok_and(|body| body.get(CARRIED_AS).is_some())
}

fn own_packet(session: &Session, deltas: &[Delta]) -> Packet {
    let of = |kind: Kind, text: fn(&Delta) -> Option<String>| {
        let text = move |delta: &Delta| text(delta).map(|text| Text { text, at: Some(source_label(delta)) });
        deltas.iter().filter(move |delta| delta.kind == kind).filter_map(text)
    };
    let captured = deltas.iter().rev().find_map(captured).unwrap_or_default();
    let decided = deltas.iter().filter(|d| d.kind == Kind::Decision).filter_map(decision);
    Packet {
        source: Some(Party {
            agent: Some(session.surface.clone()),
            id: Some(session.identity.clone()),
            path: None,
        }),
        session_id: Some(session.session_id.clone()),
        created_at: deltas.last().map(|last| rfc3339(last.created_at)),
        decisions: decided.chain(captured.decisions.clone()).collect(),
        open_loops: of(Kind::Note, question_of).chain(captured.open_loops.clone()).collect(),
        session_notes: of(Kind::Note, plain_words_of).chain(captured.session_notes.clone()).collect(),
        known_issues: of(Kind::Note, words_of_stop).chain(captured.known_issues.clone()).collect(),
        work_completed: of(Kind::Checkpoint, |delta| text_of(delta, "summary")).collect(),
        ..captured
    }
}

/// Tag of the note by which the supervisor of an agent says why it stopped: that is no question.
pub const STOP_TAG: &str = "stop";

/// Tag by which an agent says that its note is a question, whatever its words end in.
const QUESTION_TAG: &str = "question";

fn has_tag(delta: &Delta, name: &str) -> bool {
    let body: Value = serde_json::from_str(&delta.body).unwrap_or_default();
    body.get("tags").and_then(Value::as_array).is_some_and(|tags| tags.iter().any(|tag| tag == name))
}

/// A note that asks something: a sentence of it ends in a question mark, or it is tagged so.
fn question_of(delta: &Delta) -> Option<String> {
    words_of(delta).filter(|text| !has_tag(delta, STOP_TAG) && is_question(delta, text))
}

/// A note that asks nothing.
fn plain_words_of(delta: &Delta) -> Option<String> {
    words_of(delta).filter(|text| !has_tag(delta, STOP_TAG) && !is_question(delta, text))
}

fn words_of_stop(delta: &Delta) -> Option<String> {
    words_of(delta).filter(|_| has_tag(delta, STOP_TAG))
}

fn is_question(delta: &Delta, text: &str) -> bool {
    // A question mark within a word is part of an address: `/list?page=2`.
    let ends_in_mark = |word: &str| {
        let word = word.trim_end_matches(['"', '\'', '”', '’', '»', ')', ']', '*', '_', '!', '.']);
        word.ends_with(['?', '؟']) || word.contains('？')
    };
    has_tag(delta, QUESTION_TAG) || text.split_whitespace().any(ends_in_mark)
}

/// Everything that a note says.
fn words_of(delta: &Delta) -> Option<String> {
    full_text_of(&serde_json::from_str(&delta.body).ok()?)
}

/// What a hook captured out of the agent's transcript at a checkpoint: files, commands, failures, the user's words.
fn captured(delta: &Delta) -> Option<Packet> {
    if delta.kind != Kind::Checkpoint {
        return None;
    }
    let mut body: Value = serde_json::from_str(&delta.body).ok()?;
    serde_json::from_value(body.get_mut("packet")?.take()).ok()
}

/// What a session left besides a summary in words.
fn saved(deltas: &[Delta], has_state: bool) -> Option<String> {
    let count = |kind: Kind| deltas.iter().filter(|delta| delta.kind == kind).count();
    let some = |count: usize, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        several => Some(format!("{several} {many}")),
    };
    let parts = [
        some(count(Kind::Checkpoint), "checkpoint", "checkpoints"),
        has_state.then(|| "its state".to_owned()),
        some(count(Kind::Decision), "decision", "decisions"),
        some(count(Kind::Note), "note", "notes"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn summary(
    (who, presence): (&str, AgentPresence),
    last: Option<&Text>,
    saved: Option<String>,
    inherited: Option<&str>,
) -> String {
    let over = inherited.map(|summary| format!(" It had taken over: {summary}")).unwrap_or_default();
    let (begin, nothing) = match presence {
        AgentPresence::AtWork => ("is at work; saved", "is at work and has saved nothing yet"),
        AgentPresence::Away => ("did not wrap. Saved", "did not wrap and saved nothing"),
    };
    match (last, saved) {
        (Some(last), _) => format!("{who} {begin} last: {}{}{over}", last.text, stop(&last.text, &over)),
        (None, Some(saved)) => format!("{who} {begin} without a summary: {saved}.{over}"),
        (None, None) => format!("{who} {nothing}.{over}"),
    }
}

/// Whether a baton's summary is of a session that did not wrap.
pub fn is_unwrapped_summary(who: &str, summary: &str) -> bool {
    summary.strip_prefix(who).is_some_and(|rest| rest.starts_with(UNWRAPPED))
}

/// What the summary of a session that did not wrap says after the name.
const UNWRAPPED: &str = " did not wrap";

/// The full stop that parts a text from what follows it.
fn stop(text: &str, next: &str) -> &'static str {
    if next.is_empty() || text.ends_with(['.', '!', '?']) { "" } else { "." }
}

fn source_label(delta: &Delta) -> String {
    format!("ledger#{}", delta.seq)
}

fn text_of(delta: &Delta, key: &str) -> Option<String> {
    let body: Value = serde_json::from_str(&delta.body).ok()?;
    body[key].as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

fn decision(delta: &Delta) -> Option<Decision> {
    let body: Value = serde_json::from_str(&delta.body).ok()?;
    let rejected = body["rejected"].as_array().into_iter().flatten().filter_map(Value::as_str);
    Some(Decision {
        what: text_of(delta, "what")?,
        why: text_of(delta, "why"),
        rejected: rejected.map(str::to_owned).collect(),
        at: Some(source_label(delta)),
    })
}

#[cfg(test)]
mod tests {
    use super::packet as sealed;
    use super::*;
    use crate::session::ProcessLocation;

    fn session() -> Session {
        Session {
            project_id: "p".into(),
            session_id: "s".into(),
            identity: "Donna".into(),
            surface: "codex".into(),
            location: ProcessLocation::default(),
            started_at: 0,
            heartbeat_at: 0,
            last_verb: "start".into(),
            release: None,
            thread_id: "t".into(),
            inherited_from: None,
            picked_up_session_id: None,
            opened_by: None,
            stale_after: 0,
            working_copy: None,
            baton_id: None,
        }
    }

    fn packet(of: &Session, deltas: &[Delta], state: Option<Value>, inherited: Option<&Packet>) -> Packet {
        let inherited = inherited.map(|view| ValidatedPacket::from_view(view.clone()).expect("a packet"));
        sealed((of, AgentPresence::Away), deltas, state, inherited.as_ref()).expect("a packet").view().clone()
    }

    fn delta(seq: i64, kind: Kind, body: Value) -> Delta {
        Delta {
            project_id: "p".into(),
            seq,
            delta_id: format!("d{seq}"),
            kind,
            session_id: Some("s".into()),
            identity: "Donna".into(),
            created_at: seq,
            inherited_from: None,
            thread_id: None,
            body: body.to_string(),
        }
    }

    #[test]
    fn what_was_saved_and_decided_is_told_with_its_place() {
        let deltas = [
            delta(1, Kind::Start, json!({})),
            delta(2, Kind::Checkpoint, json!({ "summary": "lexer works" })),
            delta(
                3,
                Kind::Decision,
                json!({ "what": "use jiff", "why": "no clock", "rejected": ["chrono"] }),
            ),
            delta(4, Kind::Note, json!({ "text": "ask Tom" })),
            delta(5, Kind::Checkpoint, json!({ "summary": "parser half done" })),
            delta(6, Kind::Note, json!({ "text": "Codex stopped at a limit", "tags": ["stop"] })),
        ];
        let packet = packet(&session(), &deltas, Some(json!({ "step": 3 })), None);
        assert_eq!(packet.summary, "Donna did not wrap. Saved last: parser half done");
        assert_eq!(
            packet.work_completed.iter().map(|t| t.at.clone().unwrap_or_default()).collect::<Vec<_>>(),
            ["ledger#2", "ledger#5"]
        );
        assert_eq!(packet.decisions[0].rejected, ["chrono"]);
        // A plain note is no question.
        assert_eq!(packet.open_loops, []);
        assert_eq!(packet.session_notes.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(), ["ask Tom"]);
        assert_eq!(packet.known_issues[0].text, "Codex stopped at a limit");
        assert_eq!(packet.metadata["state"]["step"], 3);
    }

    #[test]
    fn only_a_note_that_asks_is_an_open_question() {
        let told_as = |text: &str, tags: Value| {
            let note = delta(1, Kind::Note, json!({ "text": text, "tags": tags }));
            let packet = packet(&session(), &[note], None, None);
            (packet.open_loops.len(), packet.session_notes.len(), packet.known_issues.len())
        };
        for question in ["Which law?", "Is it \"EU\" (or “UK”?) I wait.", "为什么？", "Why?!"] {
            assert_eq!(told_as(question, json!([])), (1, 0, 0), "{question}");
        }
        for plain in ["changed CSV export 13", "GET /list?page=2 is slow", "which law is open"] {
            assert_eq!(told_as(plain, json!([])), (0, 1, 0), "{plain}");
        }
        assert_eq!(told_as("which law is open", json!(["question"])), (1, 0, 0));
        assert_eq!(told_as("Is the limit reached?", json!(["stop"])), (0, 0, 1));
    }

    #[test]
    fn what_a_hook_captured_last_is_told_too() {
        let captured = |file: &str| {
            json!({ "summary": "kept", "packet": {
                "summary": "s", "files_modified": [{ "path": file, "change": "modified" }],
                "constraints": [{ "text": "no new dependency" }], "metadata": { "model": "m" },
            } })
        };
        let deltas = [
            delta(1, Kind::Checkpoint, captured("old.rs")),
            delta(2, Kind::Checkpoint, captured("new.rs")),
            delta(3, Kind::Checkpoint, json!({ "summary": "by hand" })),
            delta(4, Kind::Decision, json!({ "what": "use jiff" })),
        ];
        let packet = packet(&session(), &deltas, None, None);
        assert_eq!(packet.summary, "Donna did not wrap. Saved last: by hand");
        assert_eq!(packet.files_modified.iter().map(|f| f.path.as_str()).collect::<Vec<_>>(), ["new.rs"]);
        assert_eq!((packet.constraints.len(), packet.decisions.len()), (1, 1));
        assert_eq!(packet.metadata["model"], "m");
    }

    #[test]
    fn what_was_inherited_and_is_still_open_goes_on() {
        let inherited = Packet {
            summary: "the parser".into(),
            constraints: vec![Text { text: "no new dependency".into(), at: None }],
            ..Packet::default()
        };
        let packet = packet(&session(), &[], None, Some(&inherited));
        assert!(packet.summary.ends_with("It had taken over: the parser"));
        assert_eq!(packet.constraints, inherited.constraints);
        let deltas = [
            delta(1, Kind::Checkpoint, json!({ "summary": "lexer", "state": { "at": 1 } })),
            delta(2, Kind::Note, json!({})),
        ];
        let own = session();
        let of = (&own, AgentPresence::Away);
        let packet = sealed(of, &deltas, last_state(&deltas), None).expect("a packet");
        assert_eq!(packet.view().metadata["state"]["at"], 1);
        assert!(is_saved(&deltas) && !is_saved(&[delta(1, Kind::Pickup, json!({}))]));
        let next =
            sealed(of, &[delta(3, Kind::Checkpoint, json!({ "summary": "parser" }))], None, Some(&packet));
        let next = next.expect("a packet").view().clone();
        assert_eq!(
            next.summary,
            "Donna did not wrap. Saved last: parser. It had taken over: Donna did not wrap. Saved last: lexer"
        );
        assert_eq!((next.work_completed.len(), &next.metadata["state"]["at"]), (2, &json!(1)));
    }

    #[test]
    fn a_session_that_saved_no_summary_is_not_said_to_have_saved_nothing() {
        let state = [delta(1, Kind::Checkpoint, json!({ "summary": null, "state": { "step": 3 } }))];
        let summary_of =
            |deltas: &[Delta], state: Option<Value>| packet(&session(), deltas, state, None).summary;
        assert_eq!(
            summary_of(&state, Some(json!({ "step": 3 }))),
            "Donna did not wrap. Saved without a summary: 1 checkpoint, its state."
        );
        let words = [
            delta(1, Kind::Decision, json!({ "what": "use jiff" })),
            delta(2, Kind::Note, json!({ "text": "ask Tom" })),
            delta(3, Kind::Note, json!({ "text": "ask Ann" })),
        ];
        assert_eq!(
            summary_of(&words, None),
            "Donna did not wrap. Saved without a summary: 1 decision, 2 notes."
        );
        let inherited = Packet { summary: "the parser".into(), ..Packet::default() };
        let over = packet(&session(), &state, None, Some(&inherited)).summary;
        assert!(over.ends_with("1 checkpoint. It had taken over: the parser"), "{over}");
    }

    #[test]
    fn a_session_that_left_nothing_says_so() {
        assert_eq!(packet(&session(), &[], None, None).summary, "Donna did not wrap and saved nothing.");
    }

    #[test]
    fn an_agent_at_work_is_told_as_such_and_its_words_are_left_as_they_are() {
        let own = session();
        let summary_of = |deltas: &[Delta], inherited: Option<&Packet>| {
            let inherited = inherited.map(|view| ValidatedPacket::from_view(view.clone()).expect("a packet"));
            let made = sealed((&own, AgentPresence::AtWork), deltas, None, inherited.as_ref());
            made.expect("a packet").view().summary.clone()
        };
        let saved = |summary: &str| delta(1, Kind::Checkpoint, json!({ "summary": summary }));
        let inherited =
            Packet { summary: "Donna did not wrap and saved nothing.".into(), ..Packet::default() };
        assert_eq!(
            summary_of(&[saved("It said \"and saved nothing\"")], Some(&inherited)),
            "Donna is at work; saved last: It said \"and saved nothing\". It had taken over: \
             Donna did not wrap and saved nothing."
        );
        assert_eq!(
            summary_of(&[], Some(&inherited)),
            "Donna is at work and has saved nothing yet. It had taken over: Donna did not wrap and saved nothing."
        );
        assert_eq!(
            summary_of(&[delta(2, Kind::Note, json!({ "text": "ask Tom" }))], None),
            "Donna is at work; saved without a summary: 1 note."
        );
    }
}
