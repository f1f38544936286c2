//! Which issues a command is about: a condition on their fields, an order and a limit.

mod condition;
mod flags;
mod order;
mod query;

pub(super) use condition::{Condition, Field, Relation, Test};
pub(super) use flags::{filter_conditions, filtered, key_value_refusal};
pub(super) use order::sort;
pub(super) use query::parse;
