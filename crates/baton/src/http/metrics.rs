//! What the server has done, for Prometheus: requests by method and class of status, time, listeners, operations in hand.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;

use baton_model::access::Grant;

use super::answer::{of_type, problem};
use super::events::EventHub;
use super::limit::Peer;
use crate::leadership::Duties;
use crate::live::{self, Live};
use crate::share_link;
use crate::store_pool::Pool;

const METHODS: [&str; 5] = ["GET", "POST", "PATCH", "DELETE", "other"];
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
/// Upper edges of the times that are counted, in microseconds, as Prometheus writes them in seconds.
const EDGES: [(u64, &str); 9] = [
    (500, "0.0005"),
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (50_000, "0.05"),
    (250_000, "0.25"),
    (1_000_000, "1"),
    (5_000_000, "5"),
];

/// Counts requests.
#[derive(Default)]
pub(super) struct RequestMetrics {
    requests: [[AtomicU64; CLASSES.len()]; METHODS.len()],
    /// Requests by time, and those slower than the last edge.
    times: [AtomicU64; EDGES.len() + 1],
    micros: AtomicU64,
    begun: Option<Instant>,
    /// The second in which a refused request was logged last, and how many were in it.
    logged: AtomicU64,
}

/// Refused requests that are logged in one second; a flood of them is counted only.
const LOGGED: u64 = 10;

impl RequestMetrics {
    /// A meter at zero.
    pub(super) fn new() -> Self {
        Self { begun: Some(Instant::now()), ..Self::default() }
    }

    /// Whether a refused request is to be logged: not when so many were in this second already.
    fn is_logged(&self) -> bool {
        let second = self.begun.map_or(0, |begun| begun.elapsed().as_secs());
        let mut is_logged = false;
        let _ = self.logged.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |known| {
            let (at, count) = (known / (LOGGED + 1), known % (LOGGED + 1));
            let count = if at == second { count } else { 0 };
            is_logged = count < LOGGED;
            Some(second * (LOGGED + 1) + (count + 1).min(LOGGED))
        });
        is_logged
    }

    fn count(&self, method: &str, status: StatusCode, micros: u64) {
        let method = METHODS.iter().position(|m| *m == method).unwrap_or(METHODS.len() - 1);
        let class = usize::from(status.as_u16() / 100).clamp(1, CLASSES.len()) - 1;
        self.requests[method][class].fetch_add(1, Ordering::Relaxed);
        let edge = EDGES.iter().position(|(edge, _)| micros <= *edge).unwrap_or(EDGES.len());
        self.times[edge].fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    fn text(&self, gauges: &[(&str, &str, usize)]) -> String {
        let mut text = String::from("# HELP baton_http_requests_total Requests answered.\n");
        text.push_str("# TYPE baton_http_requests_total counter\n");
        for (method, classes) in METHODS.iter().zip(&self.requests) {
            for (class, count) in CLASSES.iter().zip(classes) {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    let labels = format!("method=\"{method}\",status=\"{class}\"");
                    let _ = writeln!(text, "baton_http_requests_total{{{labels}}} {count}");
                }
            }
        }
        text.push_str(
            "# HELP baton_http_request_seconds Time from the head of a request to the head of its answer.\n",
        );
        text.push_str("# TYPE baton_http_request_seconds histogram\n");
        let mut sum = 0;
        for (count, edge) in self.times.iter().zip(EDGES.iter().map(|(_, word)| *word).chain(["+Inf"])) {
            sum += count.load(Ordering::Relaxed);
            let _ = writeln!(text, "baton_http_request_seconds_bucket{{le=\"{edge}\"}} {sum}");
        }
        let micros = self.micros.load(Ordering::Relaxed);
        let (whole, rest) = (micros / 1_000_000, micros % 1_000_000);
        let _ = writeln!(text, "baton_http_request_seconds_sum {whole}.{rest:06}");
        let _ = writeln!(text, "baton_http_request_seconds_count {sum}");
        for (name, help, value) in gauges {
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n");
        }
        text
    }
}

/// Status codes of requests rejected before they run: unauthenticated, forbidden, timed out, too large, rate-limited.
const NOT_LET_IN: [u16; 5] = [401, 403, 408, 413, 429];

/// Counts a request when its answer begins.
pub(super) async fn measured(
    State(meter): State<Arc<RequestMetrics>>,
    request: Request,
    next: Next,
) -> Response {
    let begin = Instant::now();
    let method = request.method().clone();
    let path = share_link::without_secret(request.uri().path());
    let peer = request.extensions().get::<Peer>().copied();
    let response = next.run(request).await;
    let micros = u64::try_from(begin.elapsed().as_micros()).unwrap_or(u64::MAX);
    meter.count(method.as_str(), response.status(), micros);
    let status = response.status().as_u16();
    if NOT_LET_IN.contains(&status) && meter.is_logged() {
        let peer = peer.map(|Peer(address)| address.to_string()).unwrap_or_default();
        tracing::info!(%method, path, status, peer, "refused");
    } else {
        tracing::debug!(%method, path, status, micros, "answered");
    }
    response
}

/// What is shown.
#[derive(Clone)]
pub(super) struct MetricsSnapshot {
    /// Requests.
    pub meter: Arc<RequestMetrics>,
    /// Operations.
    pub pool: Arc<Pool>,
    /// Listeners.
    pub stage: Arc<EventHub>,
    /// What this server does by itself.
    pub duties: Arc<Duties>,
    /// Live state beside the ledger.
    pub live: Option<Arc<Live>>,
}

/// `GET /metrics`
///
/// Answers a scrape. Requires a token for the whole server: the counts include projects that a restricted token cannot
/// reach.
pub(super) async fn show(
    State(seen): State<MetricsSnapshot>,
    Extension(grant): Extension<Grant>,
) -> Response {
    if let Err(refusal) = grant.require_all_projects() {
        return problem(&refusal.into());
    }
    let mut gauges = vec![
        ("baton_operations_in_hand", "Operations accepted and not answered yet.", seen.pool.in_flight()),
        ("baton_event_listeners", "Open streams of events.", seen.stage.listeners()),
        ("baton_duties", "Duties of the ledger that this server has.", seen.duties.count()),
    ];
    if let Some(live) = &seen.live {
        let ((errors, beats), up) = (live.counts(), live.state() == live::State::Up);
        let count = |count| usize::try_from(count).unwrap_or(usize::MAX);
        gauges.push(("baton_redis_up", "Whether Redis answers and takes heartbeats.", usize::from(up)));
        gauges.push(("baton_redis_errors", "How often Redis failed since the start.", count(errors)));
        gauges.push(("baton_redis_heartbeats", "Heartbeats kept in Redis since the start.", count(beats)));
    }
    of_type(StatusCode::OK, "text/plain; version=0.0.4", Body::from(seen.meter.text(&gauges)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_refused_requests_is_logged_ten_times_a_second() {
        let meter = RequestMetrics::default();
        assert_eq!((0..1_000).filter(|_| meter.is_logged()).count(), 10);
    }

    #[test]
    fn every_request_is_in_one_class_and_one_time() {
        let meter = RequestMetrics::new();
        meter.count("GET", StatusCode::OK, 700);
        meter.count("GET", StatusCode::NOT_FOUND, 1_000);
        meter.count("BREW", StatusCode::OK, 9_000_000);
        let text = meter.text(&[("baton_x", "X.", 3)]);
        for line in [
            "baton_http_requests_total{method=\"GET\",status=\"2xx\"} 1",
            "baton_http_requests_total{method=\"GET\",status=\"4xx\"} 1",
            "baton_http_requests_total{method=\"other\",status=\"2xx\"} 1",
            "baton_http_request_seconds_bucket{le=\"0.0005\"} 0",
            "baton_http_request_seconds_bucket{le=\"0.001\"} 2",
            "baton_http_request_seconds_bucket{le=\"5\"} 2",
            "baton_http_request_seconds_bucket{le=\"+Inf\"} 3",
            "baton_http_request_seconds_sum 9.001700",
            "baton_http_request_seconds_count 3",
            "baton_x 3",
        ] {
            assert!(text.lines().any(|l| l == line), "{line} is missing in\n{text}");
        }
    }
}
