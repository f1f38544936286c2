//! A packet whose budget the client applies: what is encrypted can be cut only after it was decrypted.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Surroundings, Values};
use crate::handoff_message::Kind;
use crate::task::{Task, sealed};

/// The key under which it stands in an answer.
const KEY: &str = "baton:unfitted";

/// All that a packet can say, with encrypted texts in the place of contexts that the client alone can decrypt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unfitted {
    /// The budget in bytes.
    pub budget: usize,
    kind: Kind,
    fields: Map<String, Value>,
    handoff_instructions: Map<String, Value>,
    agent_context: Map<String, Value>,
}

impl Unfitted {
    /// The packet of a task of which only the client can decrypt a context; nothing for any other.
    pub fn of(task: &Task, beside: &Surroundings, budget: usize) -> Option<Self> {
        let is_encrypted = sealed::is_encrypted_context;
        (is_encrypted(&task.agent_context) || is_encrypted(&task.handoff_instructions)).then(|| {
            let Values { fields, instructions, context, kind } = Values::of(task, beside);
            Self { budget, kind, fields, handoff_instructions: instructions, agent_context: context }
        })
    }

    /// The packet within the budget.
    pub fn packet(&self) -> Value {
        let Self { budget, kind, fields, handoff_instructions, agent_context } = self.clone();
        Values::new(fields, handoff_instructions, agent_context, kind).packet(budget)
    }

    /// What stands in the place of the packet.
    pub fn in_place(&self) -> Value {
        json!({ KEY: self })
    }

    /// What stands in the place of a packet, if its budget was not applied.
    pub fn read(packet: &Value) -> Option<Self> {
        Self::deserialize(packet.get(KEY)?).ok()
    }
}
