//! Starting a coding agent with a hand-off. What each is started with stands in `baton-tools`.

mod argv;
mod deliver;
pub mod native;
mod start;

pub use argv::{Call, argv, check_session, quoted as shell_word, shell_line, vars_as_flags};
pub use deliver::{Prompt, deliver};
pub use start::{Invocation, installed, not_installed, start};
