//! With what a provider stopped the agent of a transcript, in its packet: why, and when it answers again.

use baton_model::packet::Packet;
use baton_model::printable::quotable;
use baton_model::time::{Millis, parse_rfc3339, spoken_instants};
use baton_model::usage_limit::ProviderStop;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Where a packet has it.
const FIELD: &str = "provider_stop";
/// The most characters of the provider's words on a card.
const QUOTED: usize = 120;

/// With what a provider stopped an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// The provider's words.
    pub text: String,
    /// When it answers again, as far as it said so: `again at 3pm (Europe/Berlin)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
}

/// Adds when the provider answers again, which its words tell relative to the time at which they came.
pub(super) fn add_reset(packet: &mut Packet) {
    let Some(stop) = packet.metadata.get_mut(FIELD) else { return };
    let at = stop["at"].as_str().and_then(parse_rfc3339).unwrap_or_default();
    // A person reads the time of the clock in the provider's words.
    let read = ProviderStop::read(stop["text"].as_str().unwrap_or_default(), at, &|_| None);
    if let Some(again) = read.reset_text() {
        stop["again"] = json!(again);
    }
    stop["text"] = json!(read.text);
}

/// With what the agent was stopped whose transcript became this packet, as a card quotes it.
pub(crate) fn stopped(packet: &Packet) -> Option<Stopped> {
    quoted(packet.metadata.get(FIELD)?)
}

/// With what the agent was stopped, by the body of a delta: a capture has its packet in a field, a wrap is one.
pub(crate) fn stopped_in(body: &str) -> Option<Stopped> {
    if !body.contains(FIELD) {
        return None;
    }
    let body: Value = serde_json::from_str(body).ok()?;
    let packet = body.get("packet").unwrap_or(&body);
    quoted(packet.get("metadata")?.get(FIELD)?)
}

/// With what an agent was stopped, in the words of a list: `stopped at its limit, again at 03:00 UTC (in 2 h 10 min)`.
pub(crate) fn stop_text(stop: &Stopped, now: Millis) -> String {
    match &stop.again {
        Some(again) => format!("stopped at its limit, {}", spoken_instants(again, now)),
        None if ProviderStop::read(&stop.text, now, &|_| None).is_limit => {
            format!("stopped at its limit: {}", stop.text)
        }
        None => format!("stopped by its provider: {}", stop.text),
    }
}

fn quoted(stop: &Value) -> Option<Stopped> {
    let stop: Stopped = serde_json::from_value(stop.clone()).ok()?;
    let again = stop.again.map(|again| quotable(&again, QUOTED));
    Some(Stopped { text: quotable(&stop.text, QUOTED), again }).filter(|stop| !stop.text.is_empty())
}
