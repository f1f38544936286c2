//! Batons: the list of those that wait, are held or are spent, one of them, and taking one back.

mod list;
mod show;
mod spent;
mod withdraw;

pub use list::{List, ListInput, ListOutput, Row, RowLocation, Withdrawal};
pub use show::{Show, ShowInput, ShowOutput};
pub(crate) use spent::spending;
pub use spent::{Spending, SpentReason};
pub use withdraw::{Withdraw, WithdrawInput, WithdrawOutput};
