//! Which sessions of the ledger a conversation began or wrapped: read from the answers that its own calls of Baton got. What is
//! shown in any other way, a list of batons for instance, says nothing about whose they are.

use std::collections::HashMap;

use baton_model::time::Millis;
use baton_transcripts::event::{Call, Category, Event, EventKind, TYPED_COMMAND};
use baton_transcripts::{Options, is_request, show_session};

use super::found_transcript::FoundTranscript;

/// Tools of our MCP server that answer with the caller's own session.
const TOOLS: [&str; 5] =
    ["session_start", "session_checkpoint", "session_wrap", "session_heartbeat", "hd_exec"];
/// Verbs of the command line that do.
const VERBS: [&str; 4] = ["baton start", "baton pickup", "baton checkpoint", "baton wrap"];
/// The field of the id in an answer as JSON, the quotes of which may be escaped.
const FIELD: &str = "\"session_id";
/// What stands before the id in an answer as text. A wrap's text names the baton.
const MARKS: [&str; 2] = ["session ", "wrapped: baton "];
/// What stands before everything else in a refusal: over MCP, as JSON, as text.
const REFUSALS: [&str; 5] = ["Refused (", "\"error\":", "\\\"error\\\":", "error: ", "is held by "];
/// The most characters between a mark and the id: quotes, which may be escaped, a colon, spaces.
const GAP: usize = 8;
/// The most ids that are kept, the newest.
const MAX_SESSIONS: usize = 50;

/// What a conversation's own calls of Baton tell.
#[derive(Debug, Default)]
pub(super) struct OwnSessions {
    /// Ids of sessions, or of the batons that they left, oldest first.
    pub ids: Vec<String>,
    /// The line on which the last wrap was answered.
    pub wrapped_line: Option<u64>,
    /// When something was asked for or done last, calls of Baton left out, where the transcript has times.
    pub last_work_at: Option<Millis>,
}

/// Reads them.
pub(super) fn own_sessions(transcript: &FoundTranscript) -> OwnSessions {
    let (mut calls, mut found) = (HashMap::new(), OwnSessions::default());
    let _ = show_session(
        &transcript.path,
        transcript.key.as_deref(),
        transcript.format,
        &Options::default(),
        &mut |event| {
            take(event, &mut calls, &mut found);
        },
    );
    let surplus = found.ids.len().saturating_sub(MAX_SESSIONS);
    found.ids = found.ids.split_off(surplus);
    found
}

/// Takes an event in; of each call of Baton it is known whether it wraps.
fn take(event: &Event<'_>, calls: &mut HashMap<String, bool>, found: &mut OwnSessions) {
    if is_work(&event.what) {
        found.last_work_at = event.at_ms.max(found.last_work_at);
    }
    if event.subagent.is_some() {
        return;
    }
    match &event.what {
        EventKind::Call(call) if is_ours(call) => _ = calls.insert(call.id.to_string(), is_wrap(call)),
        EventKind::Outcome(outcome) if outcome.ok != Some(false) => {
            let Some(is_wrap) = calls.get(outcome.id.as_ref()) else { return };
            let Some(id) = id_in(&outcome.output) else { return };
            if *is_wrap {
                found.wrapped_line = Some(event.position.line);
            }
            if !found.ids.contains(&id) {
                found.ids.push(id);
            }
        }
        _ => {}
    }
}

/// Whether an event is a request of the user, an edit, or a command: what the next agent has to know.
fn is_work(what: &EventKind<'_>) -> bool {
    match what {
        EventKind::User(text) => is_request(text),
        EventKind::Call(call) => match call.category {
            Category::Edit | Category::Write => true,
            Category::Shell => !call.target.contains("baton ") && call.name != TYPED_COMMAND,
            _ => false,
        },
        _ => false,
    }
}

fn is_wrap(call: &Call<'_>) -> bool {
    call.name.ends_with("session_wrap") || call.target.contains("baton wrap")
}

fn is_ours(call: &Call<'_>) -> bool {
    match call.category {
        Category::Shell => {
            VERBS.iter().any(|verb| call.target.contains(verb)) && !call.target.contains("--dry-run")
        }
        Category::Mcp(_) | Category::Other => TOOLS.iter().any(|tool| call.name.ends_with(tool)),
        _ => false,
    }
}

/// The id of the session that an answer is about: in JSON the one of its own field, whatever sentences stand before it; in text
/// the one that the first mark names. Behind it stand words of others, and a refusal names the session of another agent.
fn id_in(output: &str) -> Option<String> {
    let refused_at = REFUSALS.iter().filter_map(|words| output.find(words)).min();
    let field = output.find(FIELD).map(|at| (at, FIELD));
    let in_text = || {
        let marks = MARKS.iter().filter_map(|mark| Some((output.find(mark)?, *mark)));
        marks.min_by_key(|(at, _)| *at)
    };
    let (at, mark) = field.or_else(in_text)?;
    if refused_at.is_some_and(|refused| refused < at) {
        return None;
    }
    let rest = output.get(at + mark.len()..)?;
    let at = rest.find(|c: char| c.is_ascii_hexdigit()).filter(|at| *at <= GAP)?;
    rest.get(at..at + 36).filter(|id| is_id(id)).map(str::to_owned)
}

fn is_id(text: &str) -> bool {
    text.bytes().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0199aaaa-0000-7000-8000-000000000001";

    #[test]
    fn the_callers_session_stands_first_in_an_answer() {
        for output in [
            format!(r#"{{"project_id":"p","identity":"Ann","session_id":"{ID}","sessions":[]}}"#),
            format!(r#"{{\"session_id\": \"{ID}\", \"x\": 1}}"#),
            format!("started session {ID} as Ann\n"),
            // A wrap over MCP begins with a sentence.
            format!(
                r#"{{"next_step":"Wrapped: baton 0199bbbb waits. Your session is over.","session_id":"{ID}"}}"#
            ),
            format!("wrapped: baton {ID} waits\n"),
        ] {
            assert_eq!(id_in(&output).as_deref(), Some(ID), "{output}");
        }
        for refusal in [
            // A dry run opens no session, and shows another agent's words.
            format!(
                r#"{{"session_id":null,"predecessor_session_id":"{ID}","baton":{{"body":"session {ID}"}}}}"#
            ),
            format!(r#"{{"error":{{"code":"baton_claimed","holder":{{"session_id":"{ID}"}}}}}}"#),
            format!(
                r#"{{"next_step":"Refused (baton_claimed): …","error":{{"holder":{{"session_id":"{ID}"}}}}}}"#
            ),
            format!("error: session {ID} of Ann is at work [predecessor_active]"),
        ] {
            assert_eq!(id_in(&refusal), None, "{refusal}");
        }
        for output in
            ["", "session_id", "session_id: null, 0199aaaa", "session of Ann", "wrapped: baton 0199"]
        {
            assert_eq!(id_in(output), None, "{output}");
        }
    }

    #[test]
    fn only_calls_that_answer_with_the_own_session_count() {
        let call = |category, name: &'static str, target: &'static str| {
            is_ours(&Call { name: name.into(), target: target.into(), category, ..Call::default() })
        };
        assert!(call(Category::Mcp("baton".into()), "mcp__baton__session_wrap", ""));
        assert!(call(Category::Shell, "Bash", "cd x && baton wrap --summary s"));
        assert!(!call(Category::Shell, "Bash", "baton status"));
        assert!(!call(Category::Shell, "Bash", "baton pickup --dry-run"));
        assert!(!call(Category::Read, "Read", "baton start"));
    }
}
