//! What an agent receives for one task: the context that matters, within a budget, and a word on what was left out.

use serde_json::{Map, Value, json};

use super::closing::IncrementStage;
use super::{Task, sealed};
use crate::handoff_message::Kind;
use crate::handoff_message::build::field_order;
use crate::route::{last_sent, message_kind};

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

/// How often a task, or what it is to approve, failed before.
pub fn attempts(task: &Task) -> i64 {
    let told = task.agent_context.get("attempts").and_then(Value::as_i64).unwrap_or_default();
    task.attempts.max(told)
}

/// The task as its next agent gets it, the most useful first: id, title, role, when it counts as done, instructions, context and
/// description, as far as the budget in bytes of JSON goes. What did not fit is named under `left_out`; `task_show` with `full` has
/// all of it.
pub fn packet(task: &Task, budget: usize) -> Value {
    let whole = fill(task, Packet { fields: Map::new(), left_out: Vec::new(), budget, reserve: 0 });
    if whole.get("left_out").is_none() {
        return whole;
    }
    // Names of what is left out take a part of the budget.
    fill(task, Packet { fields: Map::new(), left_out: Vec::new(), budget, reserve: budget / 8 })
}

fn fill(task: &Task, mut packet: Packet) -> Value {
    packet.put("id", json!(task.task_id));
    packet.put("title", json!(task.title));
    packet.put("agent_role", json!(task.agent_role));
    let word = task.pending_type.as_deref().or(last_sent(task).map(|(kind, _)| kind));
    packet.put("type", json!(word));
    packet.put("previous_agent", json!(task.previous_agent));
    packet.put("attempts", json!(attempts(task)));
    let criteria = task.extra.get("acceptance_criteria").cloned().unwrap_or_default();
    packet.put_part("acceptance_criteria", criteria);
    let kind = word.and_then(Kind::from_word).unwrap_or_else(|| message_kind(task));
    let order: Vec<&str> = field_order(kind).collect();
    let mut context = sealed::redacted_view(&task.agent_context);
    // Both are said above.
    context.shift_remove("attempts");
    if task.previous_agent.is_some() {
        context.shift_remove("previous_agent");
    }
    let instructions = sealed::redacted_view(&task.handoff_instructions);
    // What every receiver of this kind of message needs, of both, before what else was put there.
    let parts = [("handoff_instructions", &instructions), ("agent_context", &context)];
    for (is_known, (key, object)) in
        [true, false].into_iter().flat_map(|known| parts.map(|part| (known, part)))
    {
        let is_of_turn = |name: &String| order.contains(&name.as_str()) == is_known;
        let fields: Vec<_> = object.iter().filter(|(name, _)| is_of_turn(name)).collect();
        packet.put_fields(key, fields, &order);
    }
    packet.put("description", json!(task.description));
    packet.close()
}

struct Packet {
    fields: Map<String, Value>,
    left_out: Vec<String>,
    budget: usize,
    /// Bytes for the names of what is left out.
    reserve: usize,
}

impl Packet {
    /// Bytes that are left.
    fn room(&self) -> usize {
        let names = json!(self.left_out).to_string().len().max(self.reserve);
        let used = json!(self.fields).to_string().len() + names + 24;
        self.budget.saturating_sub(used)
    }

    /// The packet with what was left out of it. Where the names of that do not fit, the last of them are counted, and then the last
    /// field gives way.
    fn close(mut self) -> Value {
        let all = self.left_out.len();
        let mut named = all;
        loop {
            let mut whole = self.fields.clone();
            if !self.left_out.is_empty() {
                let mut shown: Vec<String> = self.left_out[..named].to_vec();
                if named < self.left_out.len() {
                    shown.push(format!("{} more", self.left_out.len() - named));
                }
                whole.insert("left_out".into(), json!(shown));
            }
            let whole = Value::Object(whole);
            if self.fields.len() <= 1 || whole.to_string().len() <= self.budget {
                return whole;
            }
            if named > 1 {
                named -= 1;
                continue;
            }
            let Some(key) = self.fields.keys().next_back().cloned() else { return whole };
            self.fields.shift_remove(&key);
            self.left_out
                .retain(|left| !left.ends_with(key.as_str()) && !left.starts_with(&format!("{key}.")));
            self.left_out.insert(0, key);
            named = named.clamp(1, self.left_out.len());
        }
    }

    fn put(&mut self, key: &str, value: Value) {
        let room = self.room();
        self.put_within(key, value, room);
    }

    /// The same, with at most a third of what is left for a text that does not fit.
    fn put_part(&mut self, key: &str, value: Value) {
        let room = self.room();
        let part = room / 3;
        self.put_within(key, value, if part > LEAST { part } else { room });
    }

    fn put_within(&mut self, key: &str, value: Value, room: usize) {
        if super::is_empty(&value) {
            return;
        }
        match fit(&value, room.saturating_sub(key.len() + 4)) {
            Some(fitted) => {
                if fitted != value {
                    self.left_out.push(format!("rest of {key}"));
                }
                self.fields.insert(key.to_owned(), fitted);
            }
            None => self.left_out.push(key.to_owned()),
        }
    }

    /// Fields of an object: those of the order first, then the short ones, and a long log gets what is left.
    fn put_fields(&mut self, key: &str, mut fields: Vec<(&String, &Value)>, order: &[&str]) {
        if fields.is_empty() {
            return;
        }
        self.fields.entry(key).or_insert_with(|| json!({}));
        let place = |name: &str| order.iter().position(|known| *known == name).unwrap_or(order.len());
        fields.sort_by_key(|(name, value)| (place(name), value.to_string().len()));
        for (name, value) in fields {
            let room = self.room().saturating_sub(name.len() + 4);
            // What comes first leaves something for what comes next.
            let most =
                if place(name) < order.len() && value.to_string().len() > room / 2 { room / 2 } else { room };
            let fitted = fit(value, most).or_else(|| fit(value, room));
            match &fitted {
                Some(fitted) if fitted == value => {}
                Some(_) => self.left_out.push(format!("rest of {key}.{name}")),
                None => self.left_out.push(format!("{key}.{name}")),
            }
            if let (Some(Value::Object(fields)), Some(fitted)) = (self.fields.get_mut(key), fitted) {
                fields.insert(name.clone(), fitted);
            }
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

    #[test]
    fn instructions_do_not_push_out_what_failed_and_when_it_is_done() {
        let mut task = Task {
            task_id: "a-1".into(),
            title: "t".into(),
            agent_role: Some("fixing".into()),
            pending_type: Some("test_failure_report".into()),
            description: "d".repeat(4000),
            ..Task::default()
        };
        task.extra.insert("acceptance_criteria".into(), json!("half up"));
        task.handoff_instructions = (0..11).map(|n| (format!("n{n}"), json!("i".repeat(190)))).collect();
        task.agent_context =
            serde_json::from_value(json!({ "failure": "test_round red", "test_command": "./t.sh" }))
                .expect("object");
        let packet = packet(&task, budget_of(task.agent_role.as_deref()));
        assert_eq!(packet["acceptance_criteria"], "half up");
        assert_eq!(packet["agent_context"]["failure"], "test_round red");
        assert_eq!(packet["agent_context"]["test_command"], "./t.sh");
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
