//! The settings of GitHub.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_model::refusal::Refusal;
use ring::signature::RsaKeyPair;

use super::span;

/// How GitHub is reached.
#[derive(Debug, Clone)]
pub(crate) struct GitHub {
    /// Where GitHub's API is.
    pub api: String,
    /// Token for GitHub, from the environment only.
    pub token: Option<String>,
    /// Id of a GitHub App.
    pub app_id: Option<String>,
    /// Its private key, as PEM.
    pub app_key: Option<String>,
    /// Its installation; else it is looked up.
    pub app_installation: Option<String>,
    /// Secret with which GitHub signs what it posts to us.
    pub webhook_secret: Option<String>,
    /// Pause between two looks at a tracker.
    pub poll: std::time::Duration,
}

/// How GitHub is reached: tokens and keys come from the environment only.
pub(super) fn read(
    setting: &impl Fn(&str) -> Option<String>,
    given: &impl Fn(&str) -> Option<String>,
) -> Result<GitHub, Refusal> {
    Ok(GitHub {
        api: setting("github_api").unwrap_or_else(|| "https://api.github.com".into()),
        token: given("BATON_GITHUB_TOKEN").or_else(|| given("GITHUB_TOKEN")),
        app_id: setting("github_app_id"),
        app_key: given("BATON_GITHUB_APP_KEY").map(|key| key_text(&key)).transpose()?,
        app_installation: setting("github_app_installation"),
        webhook_secret: given("BATON_GITHUB_WEBHOOK_SECRET"),
        poll: std::time::Duration::from_millis(
            u64::try_from(span("github_poll", setting("github_poll"), 60_000)?).unwrap_or(60_000),
        ),
    })
}

/// A key: its text, or the file that holds it.
fn key_text(given: &str) -> Result<String, Refusal> {
    let wrong = |what: String| {
        Refusal::invalid(
            "config_invalid",
            what,
            "give BATON_GITHUB_APP_KEY a PEM file of an RSA key, or its text",
        )
    };
    let text = if given.contains("-----BEGIN") {
        given.to_owned()
    } else {
        let unread = |error| wrong(format!("the key of the GitHub App cannot be read: {error}"));
        std::fs::read_to_string(given).map_err(unread)?
    };
    if key_pair(&text).is_some() {
        Ok(text)
    } else {
        Err(wrong("the key of the GitHub App is no RSA key".into()))
    }
}

/// The RSA key in a PEM text, with which an app signs: what GitHub gives out (PKCS #1), or PKCS #8.
pub(crate) fn key_pair(pem: &str) -> Option<RsaKeyPair> {
    let body: String = pem.lines().filter(|line| !line.starts_with("-----")).map(str::trim).collect();
    let der = STANDARD.decode(body).ok()?;
    RsaKeyPair::from_der(&der).or_else(|_| RsaKeyPair::from_pkcs8(&der)).ok()
}
