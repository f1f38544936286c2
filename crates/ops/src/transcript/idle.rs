//! A conversation in which nothing was asked and nothing was done: its end hands nothing over.

use baton_model::packet::Packet;
use baton_model::refusal::Refusal;
use baton_transcripts::is_request;

use super::find::FoundTranscript;

/// Whether the user only greeted, said that it is well or that the work goes on, and the agent called no tool. A baton of it would
/// be newer than the one that holds the work, and so be the first that is picked up.
pub(super) fn is_idle(packet: &Packet) -> bool {
    let requests = packet.requests.iter().flat_map(|requests| requests.first.iter().chain(&requests.last));
    let messages = packet.recent_messages.iter().filter(|message| message.role == "user");
    let texts: Vec<&str> = requests
        .map(|text| text.text.as_str())
        .chain(messages.map(|message| message.text.as_str()))
        .collect();
    let is_untouched = packet.tool_activity.is_empty()
        && packet.commands.is_empty()
        && packet.files_modified.is_empty()
        && packet.files_read.is_empty()
        && packet.searched.is_empty()
        && packet.decisions.is_empty()
        && packet.pending_tasks.is_empty()
        && packet.last_failure.is_none();
    is_untouched && !texts.is_empty() && !texts.iter().any(|text| is_request(text))
}

/// Refuses to keep such a conversation, as one in which nothing was said.
pub(super) fn refuse_idle(meant: &FoundTranscript) -> Refusal {
    Refusal::invalid(
        "transcript_empty",
        format!("nothing was asked and nothing done in {}", meant.path.display()),
        "`baton import-transcript` makes a baton of it all the same",
    )
}
