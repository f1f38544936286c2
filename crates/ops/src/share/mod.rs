//! Shares: an address under which one baton or one thread is read without a token, and without secrets.

mod create;
mod list;
mod preview;
mod revoke;
mod show;
mod view;

pub use baton_model::share::ShareRow;
pub use create::{Create, CreateInput, CreateOutput};
pub use list::{List, ListInput, ListOutput};
pub use preview::{Preview, PreviewInput};
pub use revoke::{Revoke, RevokeInput, RevokeOutput};
pub use show::{Show, ShowInput};
pub use view::SharedView;
