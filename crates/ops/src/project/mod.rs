//! The project registry.

mod init;
mod isolation;
mod list;
mod overview;
mod relate;
mod search;
mod set;
mod show;

pub(crate) use init::Init;
pub(crate) use list::List;
pub(crate) use overview::Overview;
pub(crate) use relate::Relate;
pub(crate) use search::Search;
pub(crate) use set::Set;
pub(crate) use show::Show;
