//! Reading certificates and settings anew while the server runs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use baton_model::refusal::Refusal;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::sd_notify::{ServiceState, notify};
use super::tls::Certificate;
use crate::config::Config;

/// Reads the settings as they are now.
pub(crate) type ReadSettings = Arc<dyn Fn() -> Result<Config, Refusal> + Send + Sync>;

/// Waits for SIGHUP and does what it asks for. A certificate is exchanged under running connections; for other settings the
/// server starts again on the same socket.
pub(super) struct Reloader {
    pub signal: Arc<Notify>,
    pub certificate: Option<Arc<Certificate>>,
    pub read: ReadSettings,
    /// Where each setting of the running server came from.
    pub origins: BTreeMap<&'static str, (String, String)>,
    /// Settings with which the server is to start again.
    pub next: Arc<Mutex<Option<Config>>>,
}

impl Reloader {
    /// Runs until there are other settings; then ends the running server through `stop`.
    pub(super) async fn run(self, stop: CancellationToken) {
        loop {
            self.signal.notified().await;
            notify(ServiceState::Reloading);
            self.exchange_certificate();
            match (self.read)() {
                Ok(config) if config.origins != self.origins => {
                    tracing::warn!("the settings have changed: the server starts again on the same socket");
                    *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(config);
                    stop.cancel();
                    return;
                }
                Ok(_) => {}
                Err(refusal) => {
                    tracing::error!(
                        code = refusal.code,
                        "{}; the settings stay as they were",
                        refusal.message
                    );
                }
            }
            notify(ServiceState::Ready);
        }
    }

    fn exchange_certificate(&self) {
        let Some(certificate) = &self.certificate else { return };
        match certificate.reload() {
            Ok(()) => tracing::warn!("the certificate was read anew"),
            Err(refusal) => {
                tracing::error!(code = refusal.code, "{}; the old certificate stays in use", refusal.message);
            }
        }
    }
}
