//! A conversation: what a tool calls a session, under the tool's own id. One conversation has at most one baton that waits,
//! whether its agent wrapped, a hook captured it or a person imported it.

use serde_json::json;

use crate::baton::State;
use crate::packet::{Packet, Text};
use crate::time::{Millis, rfc3339};

/// What the ledger knows of a conversation in a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversation {
    /// The project.
    pub project_id: String,
    /// The tool that keeps the transcript.
    pub tool_id: String,
    /// The tool's own id of the session, as [`conversation_key`] makes it unique.
    pub native_id: String,
    /// The newest session of the ledger that is known to belong to it.
    pub session_id: Option<String>,
    /// The newest baton that was left for it.
    pub baton_id: Option<String>,
    /// Size of the transcript when it was last read, in bytes.
    pub bytes: i64,
    /// Time of the last entry that was read.
    pub last_entry_at: Millis,
    /// When the row was last written.
    pub updated_at: Millis,
}

impl Conversation {
    /// Whether a transcript of this size and with this last entry holds more than the one that was read.
    pub fn is_behind(&self, bytes: i64, last_entry_at: Millis) -> bool {
        (last_entry_at, bytes) > (self.last_entry_at, self.bytes)
    }
}

/// The fewest letters and digits of an id that no other session has by chance. Goose counts its sessions anew each day in each home
/// (`20261129_1`), an id of Aider is the second in which the session began, and some tools take a name that a user gave.
pub const MIN_RANDOM_ID: usize = 20;

/// The id by which a conversation is known in a ledger that several homes share: the tool's own id, and where another home or folder
/// may have given the same one, the time of the first entry and a hash of the working directory besides.
pub fn conversation_key(id: &str, created_at: Option<Millis>, cwd: Option<&str>) -> String {
    let is_random = id.chars().filter(char::is_ascii_alphanumeric).count() >= MIN_RANDOM_ID
        && id.contains(|c: char| c.is_ascii_alphabetic());
    if is_random {
        return id.to_owned();
    }
    let at = created_at.map(|at| format!("@{}", rfc3339(at))).unwrap_or_default();
    let folder = cwd.map(|cwd| format!("@{:08x}", fnv1a(cwd.as_bytes()))).unwrap_or_default();
    format!("{id}{at}{folder}")
}

/// The hash of Fowler, Noll and Vo in its form 1a, of 32 bits: the same in every version, and short.
fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Whose words a baton holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The agent wrapped by itself.
    Agent,
    /// They were taken from its transcript.
    Transcript,
}

/// What becomes of a packet that arrives for a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrivalAction {
    /// It is left as a baton.
    Leave,
    /// It is left as a baton in place of the earlier one, which still waits.
    Supersede,
    /// The earlier baton says it already.
    Present,
    /// The earlier baton was taken: the packet is kept for its holder and not offered.
    Late,
}

/// What a conversation holds that its earlier baton does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Progress {
    /// Nothing.
    None,
    /// More was said.
    Words,
    /// More was asked for, or done.
    Work,
}

/// What becomes of a packet, given how the conversation's earlier baton stands and whose words that holds. The agent's own
/// words outrank those of a transcript, unless that tells of work after them; of two transcripts the longer counts. Work that
/// was done after another agent had wrapped on the earlier baton is a piece of work of its own: no agent is at work to whom it
/// could be given.
pub fn arrival(earlier: Option<(State, Origin)>, arriving: Origin, progress: Progress) -> ArrivalAction {
    use Origin::{Agent, Transcript};
    let is_newer = progress > Progress::None;
    match (earlier, arriving) {
        (None, _) => ArrivalAction::Leave,
        (Some((State::Open, _)), Agent) => ArrivalAction::Supersede,
        (Some((State::Open, Transcript)), Transcript) if is_newer => ArrivalAction::Supersede,
        (Some((State::Open, Agent)), Transcript) if progress == Progress::Work => ArrivalAction::Supersede,
        (Some((State::Open, _)), Transcript) => ArrivalAction::Present,
        (Some((State::Spent, _)), Transcript) if progress == Progress::Work => ArrivalAction::Leave,
        (Some(_), Agent) => ArrivalAction::Late,
        (Some(_), Transcript) if is_newer => ArrivalAction::Late,
        (Some(_), Transcript) => ArrivalAction::Present,
    }
}

/// What stands before the words of an earlier wrap in a summary, and before the time up to which they hold.
const BEFORE: &str = "\n\nWrapped before";
const UNTIL: &str = ", up to ";

/// The words of an earlier wrap that no transcript holds, and the time up to which they hold, if a join said it.
fn words_of(summary: &str) -> (&str, Option<&str>) {
    let Some((_, rest)) = summary.rsplit_once(BEFORE) else { return (summary, None) };
    match (rest.strip_prefix(UNTIL).and_then(|rest| rest.split_once(": ")), rest.strip_prefix(": ")) {
        (Some((until, words)), _) => (words, Some(until)),
        (None, Some(words)) => (words, None),
        (None, None) => (summary, None),
    }
}

/// A later packet with the words of an earlier one that no transcript holds: those of the agent or of the person who
/// summarised it, and the time `until` which those hold. `baton_id` names the wrap in which the earlier packet stays readable as
/// it was.
pub fn merge_packets(earlier: &Packet, mut later: Packet, baton_id: &str, until: &str) -> Packet {
    later.mark_summary_as_of(earlier);
    later.metadata.insert("supersedes".into(), json!(baton_id));
    // Of what was joined before, only the words that no transcript holds come along again.
    let (words, known) = words_of(&earlier.summary);
    let until = known.unwrap_or(until);
    if !later.summary.contains(words) {
        later.summary = format!("{}{BEFORE}{UNTIL}{until}: {words}", later.summary);
        later.metadata.insert("summary_until".into(), json!(until));
    }
    let add = |into: &mut Vec<Text>, from: &[Text]| {
        let missing = from.iter().filter(|one| !into.iter().any(|known| known.text == one.text));
        let missing: Vec<Text> = missing.cloned().collect();
        into.extend(missing);
    };
    add(&mut later.next_steps, &earlier.next_steps);
    add(&mut later.open_loops, &earlier.open_loops);
    add(&mut later.session_notes, &earlier.session_notes);
    add(&mut later.constraints, &earlier.constraints);
    add(&mut later.known_issues, &earlier.known_issues);
    for decision in &earlier.decisions {
        if !later.decisions.contains(decision) {
            later.decisions.push(decision.clone());
        }
    }
    later
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counted_id_is_told_from_that_of_another_home() {
        let at = Some(1_764_449_500_000);
        let key = |id: &str| conversation_key(id, at, Some("/home/you/shop"));
        assert_eq!(key("20261129_1"), "20261129_1@2025-11-29T20:51:40.000Z@7decbb32");
        assert_ne!(key("20261129-100000"), conversation_key("20261129-100000", at, Some("/home/you/w1")));
        for id in ["0198c7de-9b1c-7cc1-a5e2-0d2f3f6ab001", "ses_5f3a9c0b7ffe4nQ0xYz12AbCdE"] {
            assert_eq!(key(id), id);
        }
        assert_eq!(conversation_key("20261129_1", None, None), "20261129_1");
    }

    #[test]
    fn one_baton_waits_and_the_agents_words_outrank_a_transcript() {
        use Origin::{Agent, Transcript};
        let all = [State::Open, State::Held, State::Abandoned, State::Spent];
        for progress in [Progress::None, Progress::Words, Progress::Work] {
            assert_eq!(arrival(None, Transcript, progress), ArrivalAction::Leave);
            let own =
                if progress == Progress::Work { ArrivalAction::Supersede } else { ArrivalAction::Present };
            assert_eq!(arrival(Some((State::Open, Agent)), Transcript, progress), own);
            for origin in [Agent, Transcript] {
                assert_eq!(arrival(Some((State::Open, origin)), Agent, progress), ArrivalAction::Supersede);
                for taken in all.into_iter().filter(|state| *state != State::Open) {
                    assert_eq!(arrival(Some((taken, origin)), Agent, progress), ArrivalAction::Late);
                    let wanted = match (progress, taken) {
                        (Progress::None, _) => ArrivalAction::Present,
                        (Progress::Work, State::Spent) => ArrivalAction::Leave,
                        _ => ArrivalAction::Late,
                    };
                    assert_eq!(arrival(Some((taken, origin)), Transcript, progress), wanted);
                }
            }
        }
        assert_eq!(
            arrival(Some((State::Open, Transcript)), Transcript, Progress::Words),
            ArrivalAction::Supersede
        );
        assert_eq!(
            arrival(Some((State::Open, Transcript)), Transcript, Progress::None),
            ArrivalAction::Present
        );
    }

    #[test]
    fn a_transcript_is_newer_by_its_last_entry_and_then_by_its_size() {
        let known = Conversation { bytes: 10, last_entry_at: 5, ..Conversation::default() };
        assert!(known.is_behind(1, 6) && known.is_behind(11, 5));
        assert!(!known.is_behind(10, 5) && !known.is_behind(99, 4));
    }

    #[test]
    fn words_of_an_earlier_packet_come_along_once() {
        let text = |text: &str| Text { text: text.into(), at: None };
        let earlier =
            Packet { summary: "mine".into(), next_steps: vec![text("a"), text("b")], ..Packet::default() };
        let later = Packet { summary: "facts".into(), next_steps: vec![text("b")], ..Packet::default() };
        let once = merge_packets(&earlier, later, "b1", "noon");
        assert_eq!(once.summary, "facts\n\nWrapped before, up to noon: mine");
        assert_eq!(once.metadata["summary_until"], "noon");
        assert_eq!(once.next_steps, [text("b"), text("a")]);
        let twice = merge_packets(&earlier, once.clone(), "b1", "noon");
        assert_eq!(twice, once);
        // Words that came along before hold no longer than they did.
        let third = Packet { summary: "more facts".into(), ..Packet::default() };
        let third = merge_packets(&once, third, "b2", "night");
        assert_eq!(third.summary, "more facts\n\nWrapped before, up to noon: mine");
    }
}
