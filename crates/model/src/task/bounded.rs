//! What an agent receives for one task: the context that matters, within a budget, and a word on what was left out.

use serde_json::{Map, Value, json};

use super::closing::IncrementStage;
use super::{Task, sealed};
use crate::route::last_sent;

/// The budget of a role in bytes: 2 KiB to build or to mend, 1 KiB to test, half of one to approve.
pub fn budget_of(role: Option<&str>) -> usize {
    match IncrementStage::of(role) {
        Some(IncrementStage::Testing) => 1024,
        Some(IncrementStage::Verification) => 512,
        _ => 2048,
    }
}

/// The fewest bytes that a text is shown with when it does not fit; below, it is left out.
const LEAST: usize = 48;

/// The task as its next agent gets it: id, title, role first, then instructions, context and description, as far as the
/// budget in bytes of JSON goes. What did not fit is named under `left_out`; `task_show` with `full` has all of it.
pub fn packet(task: &Task, budget: usize) -> Value {
    let mut packet = Packet { fields: Map::new(), left_out: Vec::new(), budget };
    packet.put("id", json!(task.task_id));
    packet.put("title", json!(task.title));
    packet.put("agent_role", json!(task.agent_role));
    packet.put("type", json!(task.pending_type.as_deref().or(last_sent(task).map(|(kind, _)| kind))));
    packet.put("previous_agent", json!(task.previous_agent));
    packet.put("attempts", json!(task.attempts));
    packet.put_object("handoff_instructions", &sealed::redacted_view(&task.handoff_instructions));
    packet.put_object("agent_context", &sealed::redacted_view(&task.agent_context));
    packet.put("description", json!(task.description));
    packet.put("acceptance_criteria", task.extra.get("acceptance_criteria").cloned().unwrap_or_default());
    packet.close()
}

struct Packet {
    fields: Map<String, Value>,
    left_out: Vec<String>,
    budget: usize,
}

impl Packet {
    /// Bytes that are left, with room for the names of everything that may be left out.
    fn room(&self) -> usize {
        let used = json!(self.fields).to_string().len() + json!(self.left_out).to_string().len() + 60;
        self.budget.saturating_sub(used)
    }

    /// The packet with what was left out of it. Should the names of that not fit any more, the last field gives way.
    fn close(mut self) -> Value {
        loop {
            let mut whole = self.fields.clone();
            if !self.left_out.is_empty() {
                whole.insert("left_out".into(), json!(self.left_out));
            }
            let whole = Value::Object(whole);
            if self.fields.len() <= 1 || whole.to_string().len() <= self.budget {
                return whole;
            }
            let Some(key) = self.fields.keys().next_back().cloned() else { return whole };
            self.fields.shift_remove(&key);
            self.left_out.retain(|left| !left.ends_with(key.as_str()));
            self.left_out.push(key);
        }
    }

    fn put(&mut self, key: &str, value: Value) {
        if super::is_empty(&value) {
            return;
        }
        match fit(&value, self.room().saturating_sub(key.len() + 4)) {
            Some(fitted) => {
                if fitted != value {
                    self.left_out.push(format!("rest of {key}"));
                }
                self.fields.insert(key.to_owned(), fitted);
            }
            None => self.left_out.push(key.to_owned()),
        }
    }

    fn put_object(&mut self, key: &str, object: &Map<String, Value>) {
        if object.is_empty() {
            return;
        }
        let mut left = 0;
        self.fields.insert(key.to_owned(), json!({}));
        // What is short says most for its bytes: it goes first, and a long log gets what is left.
        let mut by_size: Vec<(&String, &Value)> = object.iter().collect();
        by_size.sort_by_key(|(_, value)| value.to_string().len());
        for (name, value) in by_size {
            let room = self.room().saturating_sub(name.len() + 4);
            let fitted = fit(value, room.saturating_sub(32));
            left += usize::from(fitted.as_ref() != Some(value));
            if let (Some(Value::Object(fields)), Some(fitted)) = (self.fields.get_mut(key), fitted) {
                fields.insert(name.clone(), fitted);
            }
        }
        if left > 0 {
            self.left_out.push(format!("{left} of {key}"));
        }
    }
}

/// The value within so many bytes of JSON: a text may lose its end, which is marked; anything else fits or does not.
fn fit(value: &Value, room: usize) -> Option<Value> {
    let whole = value.to_string();
    if whole.len() <= room {
        return Some(value.clone());
    }
    let Value::String(text) = value else { return None };
    let mut end = text.len().min(room);
    while end >= LEAST {
        end = (0..=end).rev().find(|at| text.is_char_boundary(*at))?;
        let cut = Value::String(format!("{}…", &text[..end]));
        let over = cut.to_string().len().saturating_sub(room);
        if over == 0 {
            return Some(cut);
        }
        end = end.saturating_sub(over);
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_fits_is_whole_and_what_does_not_is_named() {
        let mut task = Task {
            task_id: "a-1".into(),
            title: "t".into(),
            description: "d".repeat(900),
            ..Task::default()
        };
        task.handoff_instructions =
            serde_json::from_value(json!({ "test_command": "./t.sh" })).expect("object");
        task.agent_context =
            serde_json::from_value(json!({ "log": "l".repeat(900), "done": "x" })).expect("object");
        let whole = packet(&task, 4096);
        assert_eq!(whole.get("left_out"), None);
        assert_eq!(whole["agent_context"]["log"].as_str().map(str::len), Some(900));
        let small = packet(&task, 512);
        assert!(small.to_string().len() <= 512, "{}", small.to_string().len());
        assert_eq!(small["handoff_instructions"]["test_command"], "./t.sh");
        assert!(small["left_out"].as_array().is_some_and(|left| !left.is_empty()), "{small}");
    }

    proptest! {
        #[test]
        fn the_budget_is_kept(
            title in "[a-zä\"\\\\]{1,60}", description in "[a-zü\n\"]{0,3000}",
            context in prop::collection::btree_map("[a-z]{1,12}", "[a-z\"é\n]{0,600}", 0..8), role in 0..4usize,
        ) {
            let roles = ["implementation", "testing", "fixing", "verification"];
            let mut task = Task { task_id: "shop-a3f9".into(), title, description, ..Task::default() };
            task.agent_role = Some(roles[role].into());
            task.previous_agent = Some("fixing-specialist-RedStone".into());
            task.agent_context = context.into_iter().map(|(k, v)| (k, v.into())).collect();
            let budget = budget_of(task.agent_role.as_deref());
            let bytes = packet(&task, budget).to_string().len();
            prop_assert!(bytes <= budget, "{} of {}", bytes, budget);
        }
    }
}
