//! Certificates and keys in the form in which servers are given them.

use base64::Engine;

/// A certificate in PEM.
pub(crate) fn certificate(der: &[u8]) -> String {
    pem("CERTIFICATE", der)
}

/// A private key in PEM.
pub(crate) fn key(pair: &rcgen::KeyPair) -> String {
    pem("PRIVATE KEY", &pair.serialize_der())
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap_or_default()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}
