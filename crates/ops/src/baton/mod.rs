//! Batons: the list of those that wait, are held or are spent, and one of them.

mod list;
mod show;

pub use list::{List, ListInput, ListOutput, Row, RowLocation};
pub use show::{Show, ShowInput, ShowOutput};
