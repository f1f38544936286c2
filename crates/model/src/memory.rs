//! A memory: what a project should not have to learn twice, and how recalled ones are ranked.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::id::check_label;
use crate::refusal::Refusal;
use crate::time::{Millis, Timestamp};

/// The largest text of a memory, in bytes.
pub const MAX_TEXT: usize = 64 * 1024;
/// Importance is kept in thousandths.
pub const UNIT: i64 = 1_000;
/// After this time the weight of recency is halved.
const HALF_LIFE: f64 = 30.0 * 86_400_000.0;
/// Weights of text match, importance and recency; together 1.
const WEIGHTS: (f64, f64, f64) = (0.6, 0.25, 0.15);

/// A memory of a project.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Memory {
    /// The project.
    pub project_id: String,
    /// Its id.
    pub memory_id: String,
    /// `note`, `decision`, `issue`, …: a label.
    pub kind: String,
    /// What is remembered.
    pub text: String,
    /// Tags.
    pub tags: Vec<String>,
    /// 0 to 1000, in thousandths.
    pub importance: i64,
    /// Who stored it.
    pub identity: String,
    /// The hand-off that it came with.
    pub handoff_id: Option<String>,
    /// When it was stored.
    pub created_at: Millis,
    /// When it was withdrawn; it is never recalled again.
    pub withdrawn_at: Option<Millis>,
    /// Who withdrew it.
    pub withdrawn_by: Option<String>,
    /// Why.
    pub withdrawn_why: Option<String>,
}

impl Memory {
    /// Refuses what could not be stored or found.
    pub fn check(&self) -> Result<(), Refusal> {
        for label in self.tags.iter().chain([&self.kind]) {
            check_label("tag", label)?;
        }
        let refuse = |what: &str, hint: &str| Err(Refusal::invalid("memory_invalid", what, hint));
        if self.text.trim().is_empty() {
            return refuse("there is nothing to remember", "give a text");
        }
        if self.text.len() > MAX_TEXT {
            return refuse("the text has over 64 KiB", "keep large things in files and name them");
        }
        if !(0..=UNIT).contains(&self.importance) {
            return refuse(
                "the importance is not between 0 and 1",
                "0.4 is usual, 1 is what must not be forgotten",
            );
        }
        Ok(())
    }

    /// As answers show it.
    pub fn to_json(&self) -> Value {
        json!(View::from(self))
    }
}

/// A memory as answers show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Its id.
    pub memory_id: String,
    /// The project.
    pub project_id: String,
    /// `note`, `decision`, `issue`, …: a label.
    pub kind: String,
    /// What is remembered.
    pub text: String,
    /// Tags.
    pub tags: Vec<String>,
    /// 0 to 1.
    pub importance: f64,
    /// Who stored it.
    pub identity: String,
    /// When it was stored.
    pub created_at: Timestamp,
    /// The hand-off that it came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff_id: Option<String>,
    /// That it was withdrawn, if it was.
    #[serde(flatten)]
    pub withdrawal: Option<Withdrawal>,
}

/// When, by which identity and why a memory was withdrawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withdrawal {
    /// When.
    pub withdrawn_at: Timestamp,
    /// By which identity.
    pub withdrawn_by: Option<String>,
    /// Why.
    pub withdrawn_why: Option<String>,
}

impl From<&Memory> for View {
    fn from(memory: &Memory) -> Self {
        Self {
            memory_id: memory.memory_id.clone(),
            project_id: memory.project_id.clone(),
            kind: memory.kind.clone(),
            text: memory.text.clone(),
            tags: memory.tags.clone(),
            importance: share(memory.importance),
            identity: memory.identity.clone(),
            created_at: Timestamp(memory.created_at),
            handoff_id: memory.handoff_id.clone(),
            withdrawal: memory.withdrawn_at.map(|at| Withdrawal {
                withdrawn_at: Timestamp(at),
                withdrawn_by: memory.withdrawn_by.clone(),
                withdrawn_why: memory.withdrawn_why.clone(),
            }),
        }
    }
}

/// Thousandths as a number from 0 to 1.
#[allow(clippy::cast_precision_loss, reason = "0 to 1000")]
pub fn share(thousandths: i64) -> f64 {
    thousandths as f64 / UNIT as f64
}

/// A number from 0 to 1 as thousandths.
#[allow(clippy::cast_possible_truncation, reason = "checked to be 0 to 1 first")]
pub fn thousandths(importance: f64) -> Result<i64, Refusal> {
    if (0.0..=1.0).contains(&importance) {
        return Ok((importance * 1_000.0).round() as i64);
    }
    let hint = "0.4 is usual, 1 is what must not be forgotten";
    Err(Refusal::invalid("memory_invalid", "the importance is not between 0 and 1", hint))
}

/// How a memory ranks: how well its text matches (0 to 1, the best of the found is 1), how important it is, how new.
#[allow(clippy::cast_precision_loss, reason = "ages are far below 2^52 milliseconds")]
pub fn score(matched: f64, memory: &Memory, now: Millis) -> f64 {
    let age = now.saturating_sub(memory.created_at).max(0) as f64;
    let recency = 0.5_f64.powf(age / HALF_LIFE);
    WEIGHTS.0 * matched.clamp(0.0, 1.0) + WEIGHTS.1 * share(memory.importance) + WEIGHTS.2 * recency
}

/// The words of a question, in lower case, each once.
pub fn query_words(query: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in query.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
        let word = word.to_lowercase();
        if !found.contains(&word) && found.len() < 32 {
            found.push(word);
        }
    }
    found
}

/// Projects that a memory search may cover: its own, and its related ones, unless either side is isolated.
pub fn scope<'a>(own: &'a str, own_is_isolated: bool, related: &'a [(String, bool)]) -> Vec<&'a str> {
    let mut all = vec![own];
    if !own_is_isolated {
        all.extend(related.iter().filter(|(_, isolated)| !isolated).map(|(id, _)| id.as_str()));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(importance: i64, created_at: Millis) -> Memory {
        Memory { importance, created_at, kind: "note".into(), text: "t".into(), ..Memory::default() }
    }

    #[test]
    fn each_of_match_importance_and_recency_counts() {
        let now = 100 * 86_400_000;
        let usual = score(0.5, &memory(400, now), now);
        assert!(score(0.9, &memory(400, now), now) > usual);
        assert!(score(0.5, &memory(900, now), now) > usual);
        assert!(score(0.5, &memory(400, 0), now) < usual);
        assert!((score(1.0, &memory(1_000, now), now) - 1.0).abs() < 1e-9);
        assert!(score(1.0, &memory(0, 0), now) > score(0.0, &memory(1_000, now), now), "a match counts most");
    }

    #[test]
    fn an_isolated_project_neither_recalls_nor_is_recalled() {
        let related = [("a".to_owned(), false), ("b".to_owned(), true)];
        assert_eq!(scope("own", false, &related), ["own", "a"]);
        assert_eq!(scope("own", true, &related), ["own"]);
    }

    #[test]
    fn a_question_is_words() {
        assert_eq!(query_words("Why \"NOT\" Redis* (v7)? not"), ["why", "not", "redis", "v7"]);
        assert_eq!(query_words("!?"), Vec::<String>::new());
    }

    #[test]
    fn a_memory_is_refused_before_it_is_stored() {
        assert!(memory(400, 0).check().is_ok());
        assert!(Memory { text: " ".into(), ..memory(400, 0) }.check().is_err());
        assert!(Memory { text: "x".repeat(MAX_TEXT + 1), ..memory(400, 0) }.check().is_err());
        assert!(Memory { kind: "a\nb".into(), ..memory(400, 0) }.check().is_err());
        assert!(thousandths(1.2).is_err() && thousandths(-0.1).is_err() && thousandths(f64::NAN).is_err());
        assert_eq!(thousandths(0.4), Ok(400));
    }
}
