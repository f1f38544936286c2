//! The server that takes the place of a store.

use std::collections::BTreeMap;
use std::path::PathBuf;

use baton_model::refusal::Refusal;

/// A Baton on another machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Server {
    /// Where it is, without a slash at the end.
    pub url: String,
    /// The access token, from the environment only.
    pub token: Option<String>,
    /// Certificates, as PEM, that are believed in place of the system's.
    pub ca: Option<PathBuf>,
}

impl Server {
    /// Whether it is spoken to over TLS.
    pub(crate) fn is_secure(&self) -> bool {
        self.url.starts_with("https://")
    }

    /// A server by its address, which `origin` gave. It is told no token.
    pub(crate) fn at(url: &str, origin: &str, ca: Option<PathBuf>) -> Result<Self, Refusal> {
        Ok(Self { url: address(url, origin)?, token: None, ca })
    }
}

/// The address of a server, without a slash at the end.
fn address(url: &str, origin: &str) -> Result<String, Refusal> {
    let url = url.trim().trim_end_matches('/');
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    if rest.is_none_or(|rest| {
        rest.is_empty() || rest.contains(['@', '?', '#']) || rest.contains(char::is_whitespace)
    }) {
        let what =
            format!("{origin} gives `{}`, which is no address of a server", baton_model::id::visible(url));
        let hint = "write it as https://baton.example, the token into BATON_TOKEN";
        return Err(Refusal::invalid("config_invalid", what, hint));
    }
    Ok(url.to_owned())
}

/// The server of the settings, if there is one.
pub(super) fn read(
    origins: &BTreeMap<&'static str, (String, String)>,
    token: Option<String>,
) -> Result<Option<Server>, Refusal> {
    let Some((url, origin)) = origins.get("server") else { return Ok(None) };
    let url = address(url, origin)?;
    if token.as_ref().is_some_and(|token| token.chars().any(|c| !c.is_ascii_graphic())) {
        let what = "BATON_TOKEN is not a token";
        return Err(Refusal::invalid("config_invalid", what, "give it as `baton token create` showed it"));
    }
    let ca = origins.get("server_ca").map(|(path, _)| PathBuf::from(path));
    Ok(Some(Server { url, token, ca }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, origin: &str, token: Option<&str>) -> Result<Option<Server>, Refusal> {
        let origins = [("server", (url.to_owned(), origin.to_owned()))].into();
        read(&origins, token.map(str::to_owned))
    }

    #[test]
    fn an_address_is_http_or_https_and_carries_no_secret() {
        let server =
            check("https://baton.example:7077/", "env BATON_SERVER", Some("baton_1")).expect("valid");
        let server = server.expect("a server");
        assert_eq!((server.url.as_str(), server.is_secure()), ("https://baton.example:7077", true));
        for bad in
            ["baton.example", "http://", "ftp://x", "http://me:secret@x", "http://a b", "http://x?token=1"]
        {
            assert!(check(bad, "env BATON_SERVER", None).is_err(), "{bad}");
        }
        assert!(check("http://x", "env BATON_SERVER", Some("two\nlines")).is_err());
    }
}
