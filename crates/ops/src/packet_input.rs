//! The packet of a call: its exact text, or an object.

use baton_model::packet::ValidatedPacket;
use baton_model::refusal::Refusal;
use serde_json::Value;

/// The packet, if one is given. An object, and text that a client has made one of, is stored as it is written here;
/// `packet_text` is stored as it came.
pub(crate) fn read(packet: Option<&Value>, text: Option<&str>) -> Result<Option<ValidatedPacket>, Refusal> {
    let text = match (packet, text) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => {
            return Err(Refusal::invalid(
                "packet_invalid",
                "`packet` and `packet_text` are two ways to give the same",
                "give one of them: `packet_text` is stored byte for byte",
            ));
        }
        (None, Some(text)) => text.to_owned(),
        (Some(Value::String(text)), None) => text.clone(),
        (Some(object), None) => object.to_string(),
    };
    ValidatedPacket::parse(text).map(Some)
}
