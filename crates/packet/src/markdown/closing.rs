//! The last lines of a document: where texts were cut before, and what the reader is to do.

use super::quote;
use crate::packet::Packet;

/// What ends the mark where a text was cut before it came into the packet.
const CUT_MARK: &str = " bytes left out]";

/// A longer command is left out: one that is cut cannot be run.
const MAX_COMMAND: usize = 400;

/// A command that the reader may run, as code.
pub(super) fn whole_command(command: &str) -> Option<String> {
    (command.chars().count() <= MAX_COMMAND).then(|| quote::code(command))
}

/// `*Texts are cut in 4 places, where “[… bytes left out]” stands. All that was said: …*`, with the command that prints the source.
pub(super) fn cut_line(text: &str, source_hint: Option<&str>) -> String {
    let count = text.matches(CUT_MARK).count();
    if count == 0 {
        return String::new();
    }
    let places = if count == 1 { "1 place".to_owned() } else { format!("{count} places") };
    let hint = source_hint.and_then(whole_command);
    let hint = hint.map(|hint| format!(" All that was said: {hint}")).unwrap_or_default();
    format!("\n*Texts are cut in {places}, where “[… bytes left out]” stands.{hint}*\n")
}

/// Who wrote the session, and what the reader is to do.
pub(super) fn closing(packet: &Packet, small: bool) -> String {
    let agent = packet.source.as_ref().and_then(|source| source.agent.as_deref()).and_then(quote::name);
    let agent = match agent {
        Some("human") => "a person",
        Some(agent) => agent,
        None => "another agent",
    };
    if small {
        return format!("\n**You continue this session of {agent}: check the working copy, then go on.**\n");
    }
    format!(
        "\n---\n\n**You are continuing this session from {agent}. Check the working copy, then go on exactly where it \
stopped.**\n"
    )
}
