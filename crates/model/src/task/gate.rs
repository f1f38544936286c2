//! What a dependency holds back, and until when.

use serde_json::{Map, Value};

/// When a dependency lets go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// When the other task is closed (or pinned).
    Closed,
    /// When the other task is closed and has passed.
    Passed,
    /// When the other task is closed and has failed.
    Failed,
    /// When every child of the other task is closed.
    Children,
    /// When one child of the other task is closed.
    AnyChild,
}

impl Gate {
    /// The word that is stored with the dependency; empty for one that holds nothing back.
    pub fn word(gate: Option<Self>) -> &'static str {
        match gate {
            None => "",
            Some(Self::Closed) => "closed",
            Some(Self::Passed) => "passed",
            Some(Self::Failed) => "failed",
            Some(Self::Children) => "children",
            Some(Self::AnyChild) => "any-child",
        }
    }

    /// The gate of a stored word.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "closed" => Some(Self::Closed),
            "passed" => Some(Self::Passed),
            "failed" => Some(Self::Failed),
            "children" => Some(Self::Children),
            "any-child" => Some(Self::AnyChild),
            _ => None,
        }
    }

    /// The gate of a dependency by its type and its metadata, which trackers keep as a JSON text.
    pub fn of(kind: &str, metadata: Option<&Value>) -> Option<Self> {
        let field = |key: &str| {
            let fields: Map<String, Value> = match metadata? {
                Value::String(text) => serde_json::from_str(text).ok()?,
                Value::Object(fields) => fields.clone(),
                _ => return None,
            };
            fields.get(key)?.as_str().map(str::to_owned)
        };
        match kind {
            "blocks" if field("opens_on").as_deref() == Some("pass") => Some(Self::Passed),
            "blocks" => Some(Self::Closed),
            "conditional-blocks" => Some(Self::Failed),
            "waits-for" if field("gate").as_deref() == Some("any-children") => Some(Self::AnyChild),
            "waits-for" => Some(Self::Children),
            _ => None,
        }
    }

    /// Whether it looks at the children of the other task.
    pub fn is_of_children(self) -> bool {
        matches!(self, Self::Children | Self::AnyChild)
    }

    /// Whether the dependency still blocks. One on a missing task never does.
    pub fn holds(self, other: Option<GateFacts<'_>>, woken: bool) -> bool {
        let Some(other) = other else { return false };
        let passed = other.result != Some("fail");
        match self {
            Self::Closed => !other.settled,
            Self::Passed => !(other.settled && passed),
            Self::Failed => !woken && (!other.settled || passed),
            Self::Children => other.open_children > 0,
            Self::AnyChild => other.open_children > 0 && other.closed_children == 0,
        }
    }
}

/// What a gate looks at.
#[derive(Debug, Clone, Copy, Default)]
pub struct GateFacts<'a> {
    /// Closed or pinned.
    pub settled: bool,
    /// `pass` or `fail`, when it is closed.
    pub result: Option<&'a str>,
    /// Its children that are not closed.
    pub open_children: i64,
    /// Its children that are.
    pub closed_children: i64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn seen(settled: bool, result: Option<&str>) -> Option<GateFacts<'_>> {
        Some(GateFacts { settled, result, ..GateFacts::default() })
    }

    #[test]
    fn a_dependency_lets_go_when_its_type_says() {
        let metadata = json!("{\"opens_on\":\"pass\"}");
        let any = json!({ "gate": "any-children" });
        assert_eq!(Gate::of("blocks", None), Some(Gate::Closed));
        assert_eq!(Gate::of("blocks", Some(&metadata)), Some(Gate::Passed));
        assert_eq!(Gate::of("blocks", Some(&json!("not json"))), Some(Gate::Closed));
        assert_eq!(Gate::of("waits-for", Some(&any)), Some(Gate::AnyChild));
        assert_eq!(Gate::of("related", None), None);
        for gate in [Gate::Closed, Gate::Passed, Gate::Failed, Gate::Children, Gate::AnyChild] {
            assert_eq!(Gate::from_word(Gate::word(Some(gate))), Some(gate));
            assert!(!gate.holds(None, false), "what is not there holds nobody back");
        }
    }

    #[test]
    fn a_condition_opens_on_failure_only_and_for_what_was_woken() {
        assert!(Gate::Failed.holds(seen(false, None), false));
        assert!(Gate::Failed.holds(seen(true, Some("pass")), false));
        assert!(!Gate::Failed.holds(seen(true, Some("fail")), false));
        assert!(!Gate::Failed.holds(seen(true, Some("pass")), true));
        assert!(Gate::Passed.holds(seen(true, Some("fail")), false));
        assert!(!Gate::Passed.holds(seen(true, Some("pass")), false));
        assert!(!Gate::Closed.holds(seen(true, Some("fail")), false));
    }

    #[test]
    fn waiting_for_children_ends_with_the_last_or_the_first() {
        let of = |open, closed| {
            Some(GateFacts { open_children: open, closed_children: closed, ..GateFacts::default() })
        };
        assert!(Gate::Children.holds(of(1, 5), false) && !Gate::Children.holds(of(0, 5), false));
        assert!(Gate::AnyChild.holds(of(1, 0), false) && !Gate::AnyChild.holds(of(1, 1), false));
        assert!(!Gate::AnyChild.holds(of(0, 0), false), "no children: nothing to wait for");
    }
}
