//! TLS from a certificate and a key in PEM files.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use baton_model::refusal::Refusal;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// The certificate that is shown to the next connection.
pub(super) struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    current: RwLock<TlsAcceptor>,
}

impl Certificate {
    pub(super) fn read(chain: &Path, key: &Path) -> Result<Self, Refusal> {
        let current = RwLock::new(acceptor(chain, key)?);
        Ok(Self { chain: chain.to_owned(), key: key.to_owned(), current })
    }

    /// Reads the files anew. If they cannot be used, the old certificate stays.
    pub(super) fn reload(&self) -> Result<(), Refusal> {
        let new = acceptor(&self.chain, &self.key)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = new;
        Ok(())
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Reads certificate chain and key.
fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, Refusal> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| unusable_refusal(certificate, &error))?;
    if chain.is_empty() {
        return Err(unusable_refusal(certificate, &"it holds no certificate"));
    }
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable_refusal(key, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, secret))
        .map_err(|error| unusable_refusal(certificate, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn unusable_refusal(file: &Path, why: &dyn std::fmt::Display) -> Refusal {
    Refusal::invalid(
        "tls_unusable",
        format!("{} cannot be used for TLS: {why}", file.display()),
        "give a certificate chain with --tls-cert and its key with --tls-key, both in PEM",
    )
}
