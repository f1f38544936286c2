//! A call that a caller may repeat under a key of its own.

use super::client::Remote;
use crate::runner::{self, Answer, Runner};

/// A call on its way to the server, under a key where its caller has one.
pub(crate) struct RemoteCall<'a> {
    /// The way there.
    pub(crate) remote: &'a Remote,
    /// The key; else the request has one of its own.
    pub(crate) key: Option<String>,
}

impl Runner for RemoteCall<'_> {
    type FileLock = std::convert::Infallible;

    async fn execute(&mut self, call: runner::Call) -> Answer {
        self.remote.run(call.entry, call.input, &call.caller, self.key.take()).await
    }
}
