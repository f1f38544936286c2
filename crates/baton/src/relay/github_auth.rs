//! Authentication at GitHub: a token, or a GitHub App, which signs a request for a token that is valid for an hour.

use std::sync::Mutex;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::RSA_PKCS1_SHA256;
use serde::{Deserialize, Serialize};

use super::github_http::{Http, RequestError, Response};
use super::github_json::{json, read};
use crate::clock;
use crate::config::{Config, key_pair};
use crate::host;

/// How long before its end a token is replaced, in milliseconds.
const MARGIN: i64 = 60_000;

/// Credentials for the GitHub API.
pub(super) enum GitHubCredentials {
    /// A person's or a machine's token.
    Token(String),
    /// An app.
    App(App),
}

/// A token of an installation.
#[derive(Default, Deserialize)]
#[serde(default)]
struct AccessToken {
    token: Option<String>,
    expires_at: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Installation {
    id: Option<i64>,
}

/// The header of a JSON web token.
#[derive(Serialize)]
struct Head {
    alg: &'static str,
    typ: &'static str,
}

/// What a JSON web token claims: from when until when which app asks.
#[derive(Serialize)]
struct Claims<'a> {
    iat: i64,
    exp: i64,
    iss: &'a str,
}

fn part(value: &impl Serialize) -> String {
    URL_SAFE_NO_PAD.encode(json(value).to_string())
}

/// What stands in the place of a token: GitHub's answer to our asking for one, or none.
pub(super) type TokenFailure = Result<Response, RequestError>;

/// A GitHub App.
pub(super) struct App {
    id: String,
    key: String,
    installation: Option<String>,
    token: Mutex<Option<(String, i64)>>,
}

impl GitHubCredentials {
    /// What is configured: a token, else an app, else what the `gh` command knows.
    pub(super) fn of(config: &Config) -> Option<Self> {
        if let Some(token) = &config.github.token {
            return Some(Self::Token(token.clone()));
        }
        if let (Some(id), Some(key)) = (&config.github.app_id, &config.github.app_key) {
            let app = App {
                id: id.clone(),
                key: key.clone(),
                installation: config.github.app_installation.clone(),
                token: Mutex::new(None),
            };
            return Some(Self::App(app));
        }
        host::gh_token(config).map(Self::Token)
    }

    /// The token for a request of this path. Where there is none, what GitHub said in its place is the answer to that request.
    pub(super) async fn token(&self, http: &Http, path: &str) -> Result<String, TokenFailure> {
        match self {
            Self::Token(token) => Ok(token.clone()),
            Self::App(app) => app.token(http, path).await,
        }
    }
}

impl App {
    async fn token(&self, http: &Http, path: &str) -> Result<String, TokenFailure> {
        let now = clock::now();
        let known = self.token.lock().ok().and_then(|known| known.clone());
        if let Some((token, _)) = known.filter(|(_, until)| *until > now + MARGIN) {
            return Ok(token);
        }
        let signed = self.sign(now / 1_000).map_err(Err)?;
        let installation = match &self.installation {
            Some(id) => id.clone(),
            None => self.find(http, path, &signed).await?,
        };
        let place = format!("/app/installations/{installation}/access_tokens");
        let made = http
            .send_with_token("POST", &place, None, Duration::from_secs(4), (&signed, None))
            .await
            .map_err(Err)?;
        let AccessToken { token, expires_at } = read(&made.body);
        match (token, expires_at.as_deref().and_then(baton_model::time::parse_rfc3339)) {
            (Some(token), Some(until)) => {
                if let Ok(mut known) = self.token.lock() {
                    *known = Some((token.clone(), until));
                }
                Ok(token)
            }
            _ if made.status >= 300 => Err(Ok(made)),
            _ => Err(Err(RequestError::unsent("GitHub gave the app no token", None))),
        }
    }

    /// The installation that may speak for the repository of this path.
    async fn find(&self, http: &Http, path: &str, signed: &str) -> Result<String, TokenFailure> {
        let repo: Vec<&str> = path.split('/').skip(2).take(2).collect();
        let place = format!("/repos/{}/installation", repo.join("/"));
        let found = http
            .send_with_token("GET", &place, None, Duration::from_secs(4), (signed, None))
            .await
            .map_err(Err)?;
        match read::<Installation>(&found.body).id {
            Some(id) => Ok(id.to_string()),
            None if found.status >= 300 => Err(Ok(found)),
            None => Err(Err(RequestError::unsent("GitHub named no installation of the app", None))),
        }
    }

    /// A JSON web token that says for ten minutes which app asks.
    fn sign(&self, now: i64) -> Result<String, RequestError> {
        let wrong = |what: &str| RequestError::unsent(format!("the key of the GitHub App {what}"), None);
        let pair = key_pair(&self.key).ok_or_else(|| wrong("is not an RSA key in PEM"))?;
        let head = part(&Head { alg: "RS256", typ: "JWT" });
        let claims = part(&Claims { iat: now - 60, exp: now + 540, iss: &self.id });
        let text = format!("{head}.{claims}");
        let mut signature = vec![0; pair.public().modulus_len()];
        pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature)
            .map_err(|_| wrong("cannot sign"))?;
        Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}
