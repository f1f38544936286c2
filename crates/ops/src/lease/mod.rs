//! File leases: announce what is being worked on, see who works on what, give it back.

mod list;
mod release;
mod take;

pub(crate) use list::List;
pub(crate) use release::Release;
pub(crate) use take::Take;
