//! A conversation in which nothing was asked and nothing was done: its end hands nothing over.

use std::path::Path;

use baton_model::packet::Packet;
use baton_model::refusal::Refusal;
use baton_transcripts::{Options, is_request, summarize};

use super::Row;
use super::find::FoundTranscript;

/// A transcript of more bytes is no greeting, and takes long to read.
const MAX_BYTES: u64 = 2 * 1024 * 1024;

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

/// Whether a listed conversation is one, as far as that can be told quickly: only one that began without a request is read.
pub(super) fn is_idle_row(row: &Row) -> bool {
    let begins_idle = row.title.as_deref().is_some_and(|title| !is_request(title));
    if !begins_idle || row.key.is_some() || row.bytes > MAX_BYTES {
        return false;
    }
    let reader = baton_transcripts::by_id(&row.agent);
    reader.is_some_and(|reader| is_idle(&summarize(Path::new(&row.path), reader, &Options::default())))
}

/// Refuses to keep such a conversation, as one in which nothing was said.
pub(super) fn refuse_idle(meant: &FoundTranscript) -> Refusal {
    Refusal::invalid(
        "transcript_empty",
        format!("nothing was asked and nothing done in {}", meant.path.display()),
        "`baton import-transcript` makes a baton of it all the same",
    )
}
