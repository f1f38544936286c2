//! The project registry.

mod init;
mod isolation;
mod list;
mod overview;
mod relate;
mod search;
mod set;
mod show;
pub use init::{Init, InitInput, InitOutput};
pub use list::{List, ListInput, ListOutput};
pub use overview::{Overview, OverviewInput, OverviewOutput};
pub use relate::{Relate, RelateInput, RelateOutput};
pub use search::{Search, SearchInput, SearchOutput};
pub use set::{Set, SetInput, SetOutput};
pub use show::{Show, ShowInput, ShowOutput};
