//! Repeated requests: the answer to one key is kept and given again, and the operation runs once.

pub mod replay;
pub(crate) mod request;
mod run;

pub use run::{forget, run};
