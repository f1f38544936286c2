//! What a conversation holds that its earlier baton does not: whether more was only said, or asked for and done.

use baton_model::baton::State;
use baton_model::conversation::{Conversation, Origin, Progress};
use baton_model::packet::{Packet, ValidatedPacket};
use baton_model::time::Millis;
use baton_store::{Failure, Tx, delta};
use baton_transcripts::is_request;

use super::found_transcript::FoundTranscript;
use super::import::extent;
use crate::session::conversation::EarlierBaton;

/// An agent that wraps says a last word after it.
const LAST_WORDS: Millis = 60_000;
/// So far the clock of a server may be behind the one of the tool.
const MAX_CLOCK_SKEW: Millis = 3_000;

/// How far a conversation has gone on since its earlier baton was left.
pub(super) fn progress(
    tx: &mut Tx<'_>,
    now: Millis,
    (known, earlier): (&Conversation, &EarlierBaton),
    (transcript, packet): (&FoundTranscript, &ValidatedPacket),
) -> Result<Progress, Failure> {
    let (bytes, last_entry_at) = extent(transcript);
    if !known.is_behind(bytes, last_entry_at) {
        return Ok(Progress::None);
    }
    let (_, origin) = earlier.facts();
    let has_work = match (origin, transcript.wrapped_line) {
        (Origin::Transcript, _) => {
            let wrap = delta::get(tx, &earlier.baton.project_id, &earlier.baton.baton_id)?;
            let before = wrap.and_then(|wrap| ValidatedPacket::parse_stored(wrap.body).ok());
            before.is_some_and(|before| has_more(before.view(), packet.view()))
        }
        (Origin::Agent, Some(wrapped)) => work_places(packet.view()).any(|(_, line)| line > wrapped),
        // The transcript does not tell of the wrap: the agent said it in another process. What has a time tells what came after it.
        (Origin::Agent, None) if works_after(transcript, earlier, now) => true,
        // Without times nothing takes the place of the agent's own words.
        (Origin::Agent, None) if earlier.state == State::Open => false,
        // An agent's own words name no places of the transcript. How far it was read by then is known where hooks run.
        (Origin::Agent, None) => {
            let after_wrap = last_entry_at.saturating_sub(earlier.baton.created_at) > LAST_WORDS;
            known.last_entry_at > 0 && after_wrap && has_request(packet.view())
        }
    };
    Ok(if has_work { Progress::Work } else { Progress::Words })
}

/// Whether something was asked for or done after the wrap, by the time that the tool wrote down.
/// A time that is still to come says nothing.
fn works_after(transcript: &FoundTranscript, earlier: &EarlierBaton, now: Millis) -> bool {
    let times = earlier.baton.created_at.saturating_add(MAX_CLOCK_SKEW)..now.saturating_add(MAX_CLOCK_SKEW);
    transcript.last_work_at.is_some_and(|at| times.contains(&at))
}

fn has_request(packet: &Packet) -> bool {
    let last = packet.requests.as_ref().and_then(|requests| requests.last.as_ref());
    last.is_some_and(|last| is_request(&last.text))
}

/// Whether the later packet has a request, a change or a command from after all of the earlier one's. Lines of another transcript, of
/// which the later one is a copy, say nothing about it.
fn has_more(before: &Packet, later: &Packet) -> bool {
    let until = |of: &str| {
        let known = work_places(before).filter(|(transcript, _)| *transcript == of);
        known.map(|(_, line)| line).max().unwrap_or(0)
    };
    work_places(later).any(|(of, line)| line > until(of))
}

/// The transcripts and their lines on which something was asked for or done.
fn work_places(packet: &Packet) -> impl Iterator<Item = (&str, u64)> {
    let requests = packet.requests.iter().flat_map(|requests| requests.first.iter().chain(&requests.last));
    let times = requests.filter(|request| is_request(&request.text)).map(|request| request.at.as_deref());
    let changed = packet.files_modified.iter().map(|file| file.at.as_deref());
    let run = packet.commands.iter().map(|command| command.at.as_deref());
    let places = times.chain(changed).chain(run).flatten();
    places.filter_map(|at| at.rsplit_once('#').and_then(|(of, line)| Some((of, line.parse().ok()?))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(added: serde_json::Value, expected: bool) {
        let before = json!({ "summary": "s", "requests": { "first": { "text": "Count the cart", "at": "claude:ab#2" } },
            "commands": [{ "command": "make", "at": "claude:ab#9" }] });
        let mut later = before.clone();
        for (field, value) in added.as_object().expect("fields") {
            later[field] = value.clone();
        }
        let [before, later] =
            [before, later].map(|one| serde_json::from_value::<Packet>(one).expect("a packet"));
        assert_eq!(has_more(&before, &later), expected, "{added}");
    }

    #[test]
    fn what_is_asked_for_or_done_later_is_work_and_a_greeting_is_none() {
        check(json!({}), false);
        let last = |text: &str| json!({ "requests": { "last": { "text": text, "at": "claude:ab#12" } } });
        check(last("Now the taxes"), true);
        check(last("thanks!"), false);
        check(json!({ "files_modified": [{ "path": "a", "at": "claude:ab#11" }] }), true);
        check(json!({ "files_modified": [{ "path": "a", "at": "claude:ab#8" }] }), false);
        check(json!({ "commands": [{ "command": "make", "at": "claude:ab#14" }] }), true);
        check(json!({ "commands": [{ "command": "make", "at": "codex:cd#3" }] }), true);
    }
}
