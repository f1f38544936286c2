//! File leases: announce what is being worked on, see who works on what, give it back.

mod list;
mod release;
mod take;

pub use baton_model::lease::{Mode, Row};
pub use list::{List, ListInput, ListOutput};
pub use release::{Release, ReleaseInput, ReleaseOutput};
pub use take::{Take, TakeInput, TakeOutput, Warning, WarningKind};
