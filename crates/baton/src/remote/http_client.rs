//! How a server is spoken to: time limits, certificates, and the token.

use std::time::Duration;

use baton_model::refusal::Refusal;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};

use crate::config::Server;
use crate::error::AppError;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How long an answer may take: longer than a server waits for systems outside.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// The client of a server: with its token, and with the certificates that count for it.
pub(super) fn client(server: &Server) -> Result<reqwest::Client, AppError> {
    // Installing twice is harmless: the first provider stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut headers = HeaderMap::new();
    if let Some(token) = &server.token {
        let mut value = HeaderValue::from_str(&format!("Bearer {token}")).map_err(anyhow::Error::from)?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    let mut builder = reqwest::Client::builder()
        .connect_timeout(CONNECT)
        .timeout(ANSWER_TIMEOUT)
        // The token is for this server, not for one that it points to.
        .redirect(reqwest::redirect::Policy::none())
        .default_headers(headers)
        .user_agent(concat!("baton/", env!("CARGO_PKG_VERSION")));
    builder = match (&server.ca, server.is_secure()) {
        (Some(path), _) => builder.tls_certs_only(authorities(path)?),
        // The system's certificates take a while to load, and nothing asks for them.
        (None, false) => builder.tls_certs_only([]),
        (None, true) => builder,
    };
    if is_loopback(&server.url) {
        builder = builder.no_proxy();
    }
    Ok(builder.build().map_err(|error| anyhow::anyhow!("the HTTP client cannot be built: {error}"))?)
}

fn authorities(path: &std::path::Path) -> Result<Vec<reqwest::Certificate>, Refusal> {
    let refusal = |why: String| {
        let what = format!("{} holds no certificate that can be read: {why}", path.display());
        Refusal::invalid("config_invalid", what, "give BATON_SERVER_CA a PEM file")
    };
    let pem = std::fs::read(path).map_err(|error| refusal(error.to_string()))?;
    let found = reqwest::Certificate::from_pem_bundle(&pem).map_err(|error| refusal(error.to_string()))?;
    if found.is_empty() { Err(refusal("there is none in it".to_owned())) } else { Ok(found) }
}

/// Whether an address is of this machine.
pub(super) fn is_loopback(url: &str) -> bool {
    let host = url.split("://").nth(1).unwrap_or_default();
    let name = host.split('/').next().unwrap_or_default();
    let name = name.rsplit_once(':').map_or(name, |(name, _)| name).trim_matches(['[', ']']);
    name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
