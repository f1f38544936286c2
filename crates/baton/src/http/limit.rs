//! Rate limits: one bucket for each valid token, and one for each address that presents none. And a limit of what one
//! token may have open at once.
//!
//! A bucket of requests fills up evenly and is emptied one by one. The local user is not counted.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use baton_model::refusal::{Kind, Refusal};

/// Seconds' worth of requests that may come at once after a pause.
const BURST: f64 = 2.0;
/// Requests a second from one address that open nothing.
const STRANGERS: f64 = 20.0;
/// Buckets remembered at once; when there are more, the full ones are forgotten, and if none is, all.
const MAX_BUCKETS: usize = 10_000;

/// Where a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Peer(pub IpAddr);

/// Who is counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum LimitKey {
    /// The bearer of this secret.
    Token(String),
    /// A client without a valid token, by its address.
    Anonymous(IpAddr),
}

struct Bucket {
    left: f64,
    at: Instant,
}

/// Counts.
pub(super) struct Limiter {
    rate: f64,
    buckets: Mutex<HashMap<LimitKey, Bucket>>,
}

impl Limiter {
    /// So many requests a second for each token; 0 for as many as they like.
    pub(super) fn new(rate: u32) -> Self {
        Self { rate: f64::from(rate), buckets: Mutex::default() }
    }

    /// Counts one request, or refuses it and says how many seconds to wait.
    pub(super) fn count(&self, who: LimitKey, now: Instant) -> Result<(), (u64, Refusal)> {
        let rate = match who {
            LimitKey::Token(_) => self.rate,
            LimitKey::Anonymous(_) => STRANGERS,
        };
        if rate <= 0.0 {
            return Ok(());
        }
        let Ok(mut buckets) = self.buckets.lock() else { return Ok(()) };
        if buckets.len() >= MAX_BUCKETS && !buckets.contains_key(&who) {
            buckets.retain(|_, bucket| now.saturating_duration_since(bucket.at) < FULL);
            if buckets.len() >= MAX_BUCKETS {
                buckets.clear();
            }
        }
        let bucket = buckets.entry(who).or_insert(Bucket { left: rate * BURST, at: now });
        let since = now.saturating_duration_since(bucket.at).as_secs_f64();
        bucket.left = (bucket.left + since * rate).min(rate * BURST);
        bucket.at = now;
        if bucket.left >= 1.0 {
            bucket.left -= 1.0;
            return Ok(());
        }
        Err((1, too_often_refusal(rate)))
    }
}

/// Requests and event streams that one token may have open at once.
pub(super) const OPEN_PER_TOKEN: usize = 256;

/// Counts what each token has open: a request from its arrival until the last byte of its answer is sent.
#[derive(Default)]
pub(super) struct OpenRequests {
    by_token: Mutex<HashMap<String, usize>>,
}

impl OpenRequests {
    /// Counts one more of this token until the guard is dropped, or refuses it.
    pub(super) fn enter(self: &Arc<Self>, token: &str) -> Result<OpenRequest, Refusal> {
        let mut open = self.by_token.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(token.to_owned()).or_default();
        if *count >= OPEN_PER_TOKEN {
            return Err(too_many_open_refusal());
        }
        *count += 1;
        Ok(OpenRequest { requests: Arc::clone(self), token: token.to_owned() })
    }
}

/// One open request of a token.
pub(super) struct OpenRequest {
    requests: Arc<OpenRequests>,
    token: String,
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let mut open = self.requests.by_token.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.token) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.token);
            }
        }
    }
}

fn too_many_open_refusal() -> Refusal {
    Refusal::new(
        Kind::Outside,
        "open_requests_limited",
        format!(
            "this token has {OPEN_PER_TOKEN} requests and event streams open, and may have no more at once"
        ),
        "close the streams that nobody reads; give each client a token of its own",
    )
}

/// After this time every bucket is full.
const FULL: Duration = Duration::from_secs(2);

fn too_often_refusal(rate: f64) -> Refusal {
    Refusal::new(
        Kind::Outside,
        "rate_limited",
        format!("these are more than {rate} requests a second"),
        "wait as long as Retry-After says; `baton serve --rate N` sets another limit",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(name: &str) -> LimitKey {
        LimitKey::Token(name.to_owned())
    }

    #[test]
    fn a_token_may_ask_as_often_as_it_may_and_no_more() {
        let limiter = Limiter::new(10);
        let begin = Instant::now();
        assert_eq!((0..100).filter(|_| limiter.count(token("a"), begin).is_ok()).count(), 20);
        let (after, refusal) = limiter.count(token("a"), begin).expect_err("too often");
        assert_eq!((after, refusal.code), (1, "rate_limited"));
        assert!(limiter.count(token("b"), begin).is_ok(), "another token is not concerned");
        let later = begin + Duration::from_millis(500);
        assert_eq!((0..100).filter(|_| limiter.count(token("a"), later).is_ok()).count(), 5);
    }

    #[test]
    fn without_a_limit_only_strangers_are_counted() {
        let limiter = Limiter::new(0);
        let now = Instant::now();
        assert!((0..10_000).all(|_| limiter.count(token("a"), now).is_ok()));
        let stranger = LimitKey::Anonymous([10, 0, 0, 1].into());
        assert_eq!((0..100).filter(|_| limiter.count(stranger.clone(), now).is_ok()).count(), 40);
    }

    #[test]
    fn what_a_token_has_open_is_limited_and_counted_until_it_ends() {
        let requests = Arc::new(OpenRequests::default());
        let mut open: Vec<_> = (0..OPEN_PER_TOKEN).map(|_| requests.enter("a").expect("room")).collect();
        assert_eq!(requests.enter("a").err().map(|refusal| refusal.code), Some("open_requests_limited"));
        assert!(requests.enter("b").is_ok(), "another token is not concerned");
        open.pop();
        assert!(requests.enter("a").is_ok());
        drop(open);
        assert!(requests.by_token.lock().expect("no panic").is_empty(), "what has ended is not remembered");
    }

    #[test]
    fn a_flood_of_names_does_not_eat_the_memory() {
        let limiter = Limiter::new(1);
        let now = Instant::now();
        for n in 0..MAX_BUCKETS * 3 {
            let _ = limiter.count(token(&n.to_string()), now);
        }
        assert!(limiter.buckets.lock().expect("no panic").len() <= MAX_BUCKETS);
    }
}
