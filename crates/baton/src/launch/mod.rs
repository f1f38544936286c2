//! Starting a coding agent with a hand-off. What each is started with stands in `baton-tools`.

mod argv;
mod deliver;
pub(crate) mod native;
mod start;

pub(crate) use argv::{Call, argv, check_session, quoted as shell_word, shell_line, vars_as_flags};
pub(crate) use deliver::{Prompt, deliver};
pub(crate) use start::{Invocation, installed, is_program, not_installed_refusal, start_tool};
