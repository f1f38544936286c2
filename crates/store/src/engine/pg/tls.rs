//! TLS connector for tokio-postgres, over rustls.

use std::error::Error;
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use sha2::{Digest, Sha256, Sha384, Sha512};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

use super::url::{Mode, Roots};

/// Makes connections encrypted. Cheap to clone.
#[derive(Clone)]
pub(super) struct Tls(TlsConnector);

impl Tls {
    /// What a mode asks for; `None` where nothing is ever encrypted. The error is a sentence.
    pub(super) fn new(mode: Mode, roots: &Roots) -> Result<Option<Self>, String> {
        let checks = match mode {
            Mode::Disable => return Ok(None),
            Mode::Prefer | Mode::Require => None,
            Mode::VerifyCa => Some(Trust::read(roots, false)?),
            Mode::VerifyFull => Some(Trust::read(roots, true)?),
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = Arc::new(Verifier { checks, provider: Arc::clone(&provider) });
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| format!("TLS cannot be set up: {error}"))?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        Ok(Some(Self(TlsConnector::from(Arc::new(config)))))
    }
}

/// Whether an attempt to connect ended because of the server's certificate.
pub(super) fn is_untrusted(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let tls = inner.and_then(|inner| inner.downcast_ref()).or_else(|| error.downcast_ref());
        if matches!(tls, Some(rustls::Error::InvalidCertificate(_))) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Authorities, and whether the certificate must name the host.
#[derive(Debug)]
struct Trust {
    roots: RootCertStore,
    /// The certificates themselves: a server may show one of them as its own.
    own: Vec<CertificateDer<'static>>,
    names_host: bool,
}

impl Trust {
    fn read(roots: &Roots, names_host: bool) -> Result<Self, String> {
        let own = match roots {
            Roots::File(path) => in_file(path)?,
            Roots::System => rustls_native_certs::load_native_certs().certs,
        };
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(own.iter().cloned());
        if store.is_empty() {
            return Err(match roots {
                Roots::File(path) => format!("sslrootcert: {} holds no certificate", path.display()),
                Roots::System => "this machine trusts no authority: name one with sslrootcert=FILE".into(),
            });
        }
        Ok(Self { roots: store, own, names_host })
    }
}

fn in_file(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    read.map_err(|error| format!("sslrootcert: {} cannot be read: {error}", path.display()))
}

/// Verifies a certificate as strictly as the mode requires.
#[derive(Debug)]
struct Verifier {
    checks: Option<Trust>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if let Some(trust) = &self.checks {
            let parsed = ParsedCertificate::try_from(certificate)?;
            if !trust.own.contains(certificate) {
                let known = self.provider.signature_verification_algorithms.all;
                verify_server_cert_signed_by_trust_anchor(&parsed, &trust.roots, between, now, known)?;
            }
            if trust.names_host {
                verify_server_name(&parsed, name)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Encrypted;
    type TlsConnect = To;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<To> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(To { connector: self.0.clone(), name })
    }
}

/// One connection that is about to be encrypted.
pub(super) struct To {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl TlsConnect<Socket> for To {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move { self.connector.connect(self.name, socket).await.map(Encrypted) })
    }
}

/// An encrypted connection.
pub(super) struct Encrypted(tokio_rustls::client::TlsStream<Socket>);

impl TlsStream for Encrypted {
    /// Binds the SCRAM proof to the server's certificate (`tls-server-end-point`), so that a man in the middle cannot
    /// relay it.
    fn channel_binding(&self) -> ChannelBinding {
        let shown = self.0.get_ref().1.peer_certificates().and_then(<[_]>::first);
        shown
            .and_then(|shown| end_point(shown))
            .map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, into)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// The certificate's hash as RFC 5929 wants it: by the hash of its own signature, and SHA-256 for older ones. `None` for a
/// signature that has no hash of its own.
fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
    const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03];
    let oid = signature(certificate)?;
    let (last, family) = oid.split_last()?;
    Some(match (family, last) {
        (RSA, 4 | 5 | 11) | (ECDSA, 1 | 2) => Sha256::digest(certificate).to_vec(),
        (RSA, 12) | (ECDSA, 3) => Sha384::digest(certificate).to_vec(),
        (RSA, 13) | (ECDSA, 4) => Sha512::digest(certificate).to_vec(),
        _ => return None,
    })
}

/// The identifier of the algorithm that signed a certificate: a sequence of the signed part, then of the algorithm.
fn signature(certificate: &[u8]) -> Option<&[u8]> {
    let (whole, _) = element(certificate, 0x30)?;
    let (_, after) = element(whole, 0x30)?;
    let (algorithm, _) = element(after, 0x30)?;
    element(algorithm, 0x06).map(|(oid, _)| oid)
}

/// The content of a DER element with this tag, and what comes after it.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    (found == tag).then(|| rest.split_at_checked(length))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_read_whatever_its_length() {
        assert_eq!(element(&[0x30, 2, 7, 8, 9], 0x30), Some((&[7, 8][..], &[9][..])));
        let mut long = vec![0x30, 0x82, 1, 0];
        long.extend([5; 256]);
        assert_eq!(element(&long, 0x30).map(|(content, rest)| (content.len(), rest.len())), Some((256, 0)));
        for broken in [&[][..], &[0x30], &[0x30, 3, 1], &[0x30, 0x80, 0], &[0x30, 0x84, 1], &[0x31, 0]] {
            assert_eq!(element(broken, 0x30), None, "{broken:?}");
        }
    }

    #[test]
    fn no_bytes_of_a_certificate_are_too_wild() {
        for length in 0..64_u8 {
            let bytes: Vec<u8> = (0..length).map(|at| at.wrapping_mul(73) ^ 0x30).collect();
            end_point(&bytes);
        }
    }

    #[test]
    fn a_mode_that_looks_needs_somebody_to_believe() {
        assert!(Tls::new(Mode::Disable, &Roots::System).is_ok_and(|tls| tls.is_none()));
        assert!(Tls::new(Mode::Require, &Roots::System).is_ok_and(|tls| tls.is_some()));
        let missing = Roots::File("/nowhere/ca.pem".into());
        let error = Tls::new(Mode::VerifyFull, &missing).err();
        assert!(error.is_some_and(|error| error.contains("/nowhere/ca.pem")));
    }
}
