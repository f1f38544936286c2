//! Posts deltas to a project's webhook.

use std::time::Duration;

use baton_model::effect::{Effect, Outcome, WebhookPost};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::clock;
use crate::error::AppError;

/// How long a receiver may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The webhook adapter.
pub(super) struct Webhook {
    client: reqwest::Client,
    secret: Option<String>,
}

impl Webhook {
    /// An adapter that signs with this secret, if there is one.
    pub(super) fn new(secret: Option<String>) -> Result<Self, AppError> {
        // Installing twice is harmless: the first provider stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| anyhow::anyhow!("the HTTP client cannot be built: {error}"))?;
        Ok(Self { client, secret })
    }

    /// Posts one delta. The effect's id goes along, so that a receiver can drop what it has seen.
    pub(super) async fn post(&self, effect: &Effect, post: &WebhookPost) -> Outcome {
        let body = post.delta.to_string();
        let seconds = clock::now() / 1_000;
        let mut request = self
            .client
            .post(&post.url)
            .header("content-type", "application/json")
            .header("baton-effect-id", &effect.effect_id)
            .header("baton-attempt", effect.attempts);
        let signed = format!("{seconds}.{}.{body}", effect.effect_id);
        if let (Some(whole), Some(body)) = (self.signature(&signed), self.signature(&body)) {
            request = request
                .header("baton-timestamp", seconds)
                .header("baton-signature-v2", whole)
                // For receivers that know no other yet; it says nothing of when and which.
                .header("baton-signature", body);
        }
        match request.body(body).send().await {
            Ok(response) => outcome(response.status().as_u16(), retry_after(&response)),
            // The path of the address is a secret of many receivers.
            Err(error) if error.is_builder() => {
                Outcome::Final { why: format!("the URL is not usable: {}", error.without_url()) }
            }
            Err(error) => Outcome::Retry { why: causes(error.without_url()), after: None },
        }
    }

    /// `sha256=` and the HMAC of a text in hex.
    fn signature(&self, text: &str) -> Option<String> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.secret.as_ref()?.as_bytes()).ok()?;
        mac.update(text.as_bytes());
        let digest = mac.finalize().into_bytes();
        Some(digest.iter().fold("sha256=".to_owned(), |text, byte| format!("{text}{byte:02x}")))
    }
}

/// An error with what it comes from: without its address it says little by itself.
fn causes(error: reqwest::Error) -> String {
    format!("{:#}", anyhow::Error::from(error))
}

fn retry_after(response: &reqwest::Response) -> Option<i64> {
    let seconds = response.headers().get("retry-after")?.to_str().ok()?.parse::<i64>().ok()?;
    Some(seconds.clamp(0, 3_600) * 1_000)
}

/// Whether trying again can help.
fn outcome(status: u16, after: Option<i64>) -> Outcome {
    match status {
        200..=299 => Outcome::Done,
        408 | 425 | 429 | 500..=599 => {
            Outcome::Retry { why: format!("the receiver answered {status}"), after }
        }
        _ => Outcome::Final { why: format!("the receiver answered {status}") },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_pass_is_tried_again() {
        assert_eq!(outcome(204, None), Outcome::Done);
        assert!(matches!(outcome(503, Some(5)), Outcome::Retry { after: Some(5), .. }));
        assert!(matches!(outcome(404, None), Outcome::Final { .. }));
        assert!(matches!(outcome(302, None), Outcome::Final { .. }));
    }

    #[test]
    fn a_signature_is_the_hmac_of_the_body() {
        // The well-known example of RFC 4231, test case 2.
        let webhook = Webhook::new(Some("Jefe".into())).expect("client");
        assert_eq!(
            webhook.signature("what do ya want for nothing?").as_deref(),
            Some("sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        );
    }
}
