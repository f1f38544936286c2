//! A packet has a limit of size; what must go to meet it goes by value, and is counted.

use serde_json::{Map, Value, json};

use baton_packet::packet::Packet;

/// Below the limit of a packet, with room for what the sender adds.
const MAX_JSON: usize = 240 * 1024;

/// Takes the least valuable thing of a kind out and gives its text back.
type Drop = fn(&mut Packet) -> Option<String>;

/// What may go, the least valuable first.
const STEPS: &[(&str, Drop)] = &[
    ("diffs", |packet| packet.files_modified.iter_mut().find_map(|file| file.diff.take())),
    ("commands", |packet| oldest(&mut packet.commands)),
    ("searched", |packet| least(&mut packet.searched)),
    ("files_read", |packet| least(&mut packet.files_read)),
    ("remarks", |packet| oldest(&mut packet.remarks)),
    ("checks", |packet| least(&mut packet.checks)),
    ("messages", |packet| oldest(&mut packet.recent_messages)),
    ("failed_attempts", |packet| oldest(&mut packet.failed_attempts)),
    ("decisions", |packet| oldest(&mut packet.decisions)),
    ("pending_tasks", |packet| oldest(&mut packet.pending_tasks)),
    ("work_completed", |packet| oldest(&mut packet.work_completed)),
    ("files_modified", |packet| oldest(&mut packet.files_modified)),
    ("open_loops", |packet| packet.open_loops.pop().map(|text| text.text)),
    ("next_steps", |packet| packet.next_steps.pop().map(|text| text.text)),
    ("constraints", |packet| oldest(&mut packet.constraints)),
];

fn oldest<T: serde::Serialize>(list: &mut Vec<T>) -> Option<String> {
    (!list.is_empty()).then(|| serde_json::to_string(&list.remove(0)).unwrap_or_default())
}

/// Takes the last of a list that is in the order of value.
fn least<T: serde::Serialize>(list: &mut Vec<T>) -> Option<String> {
    list.pop().map(|last| serde_json::to_string(&last).unwrap_or_default())
}

/// Drops as little as needed for the JSON to keep within the limit.
pub(super) fn truncate(packet: &mut Packet) {
    let size = |packet: &Packet| serde_json::to_string(packet).map_or(0, |text| text.len());
    let mut excess = size(packet).saturating_sub(MAX_JSON);
    for (name, step) in STEPS {
        let mut count = 0_u64;
        while excess > 0 {
            let Some(gone) = step(packet) else { break };
            count += 1;
            excess = excess.saturating_sub(gone.len());
        }
        if count > 0 {
            count_omitted(&mut packet.metadata, name, count);
            // What was dropped is counted by its text; escapes make the JSON of it longer, never shorter.
            excess = size(packet).saturating_sub(MAX_JSON);
        }
    }
}

fn count_omitted(metadata: &mut Map<String, Value>, name: &str, count: u64) {
    let left_out = metadata.entry("left_out").or_insert_with(|| json!({}));
    if let Some(map) = left_out.as_object_mut() {
        let before = map.get(name).and_then(Value::as_u64).unwrap_or(0);
        map.insert(name.to_owned(), json!(before + count));
    }
}
