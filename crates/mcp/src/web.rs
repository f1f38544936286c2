//! The server over streamable HTTP, as a service that `baton serve` mounts.

use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::server::{Server, Shared};

/// The largest body accepted: a packet of 256 KiB, escaped, with room to spare.
pub const MAX_BODY: usize = 2 * 1024 * 1024;

/// The service, for both eras: sessions where the client opens one, none where it does not.
pub type Web = StreamableHttpService<Server, LocalSessionManager>;

/// What is mounted. Cancelling the token ends every stream.
pub fn service(shared: Arc<Shared>, stop: tokio_util::sync::CancellationToken) -> Web {
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(stop)
        .with_max_request_body_bytes(MAX_BODY)
        // Who may ask from where is checked at the door of the server, for this path as for all others.
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let make = move || Ok(Server::new(Arc::clone(&shared)));
    StreamableHttpService::new(make, Arc::new(LocalSessionManager::default()), config)
}
