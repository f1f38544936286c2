//! Batons: the list of those that wait, are held or are spent, one of them, and taking one back.

mod list;
mod show;
mod withdraw;

pub use list::{List, ListInput, ListOutput, Row, RowLocation, Withdrawal};
pub use show::{Show, ShowInput, ShowOutput};
pub use withdraw::{Withdraw, WithdrawInput, WithdrawOutput};
