//! Traces for OpenTelemetry: a span for each request and one for each operation in it, sent as OTLP over HTTP in JSON to
//! where `OTEL_EXPORTER_OTLP_ENDPOINT` says. Without it nothing is measured.
//!
//! Spans that cannot be exported are dropped and counted: a slow or absent collector never blocks a request.

mod otlp;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use baton_model::refusal::Refusal;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::otlp::{Attribute, Span};
use crate::clock;
use crate::error::AppError;

/// Spans that may wait; more are dropped.
const QUEUE_CAPACITY: usize = 8_192;
/// Spans sent at once.
const BATCH_SIZE: usize = 512;
/// How long spans wait for others.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);
/// How long a collector may take.
const TIMEOUT: Duration = Duration::from_secs(5);

tokio::task_local! {
    /// The span of the request that this task answers.
    static CURRENT: Current;
}

#[derive(Clone)]
struct Current {
    tracer: Arc<Tracer>,
    trace: u128,
    span: u64,
}

/// Where spans go.
pub(crate) struct Tracer {
    spans: Sender<Span>,
    dropped: AtomicU64,
    /// Nanoseconds since 1970 at `begun`: from there on the clock only goes forward.
    base: u64,
    begun: Instant,
}

/// A tracer at work.
pub(crate) struct Tracing {
    /// What requests are measured with.
    pub tracer: Arc<Tracer>,
    stop: CancellationToken,
    sending: JoinHandle<()>,
}

impl Tracing {
    /// Starts, if the environment names a collector. Runs inside the runtime.
    pub(crate) fn start(vars: &BTreeMap<String, String>) -> Result<Option<Self>, AppError> {
        let Some(target) = Target::read(vars)? else { return Ok(None) };
        let (spans, waiting) = channel(QUEUE_CAPACITY);
        let base = u64::try_from(clock::now()).unwrap_or_default().saturating_mul(1_000_000);
        let tracer = Arc::new(Tracer { spans, dropped: AtomicU64::new(0), base, begun: Instant::now() });
        let stop = CancellationToken::new();
        let sending = tokio::spawn(send(target, waiting, stop.clone()));
        Ok(Some(Self { tracer, stop, sending }))
    }

    /// Sends what waits, for a short time, and ends.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        let _ = tokio::time::timeout(TIMEOUT, self.sending).await;
    }
}

impl Tracer {
    fn now(&self) -> u64 {
        self.base.saturating_add(u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn put(&self, span: Span) {
        if self.spans.try_send(span).is_err() && self.dropped.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::warn!("spans are dropped: the collector does not keep up");
        }
    }
}

/// Measures a request, as part of the trace that its `traceparent` names.
pub(crate) async fn traced(State(tracer): State<Arc<Tracer>>, request: Request, next: Next) -> Response {
    let from = parent(request.headers());
    if from.is_some_and(|from| !from.sampled) {
        return next.run(request).await;
    }
    let method = request.method().to_string();
    let path = crate::share_link::without_secret(request.uri().path());
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let (trace, span) = (from.map_or_else(random_trace, |from| from.trace), random_span());
    let current = Current { tracer: Arc::clone(&tracer), trace, span };
    let start = tracer.now();
    let response = CURRENT.scope(current, next.run(request)).await;
    let status = response.status();
    tracer.put(Span {
        trace,
        id: span,
        parent: from.map(|from| from.span),
        name: format!("{method} {}", route.as_deref().unwrap_or("*")),
        kind: 2,
        start,
        end: tracer.now(),
        attributes: vec![
            Attribute::text("http.request.method", Some(method)),
            Attribute::text("http.route", route),
            Attribute::text("url.path", Some(path)),
            Attribute::number("http.response.status_code", status.as_u16().into()),
        ],
        error: status.is_server_error().then(|| status.to_string()),
    });
    response
}

/// Measures an operation, where it belongs to a request that is traced.
pub(crate) async fn operation<T>(
    name: &str,
    run: impl Future<Output = Result<T, AppError>>,
) -> Result<T, AppError> {
    let Ok(current) = CURRENT.try_with(Clone::clone) else { return run.await };
    let start = current.tracer.now();
    let answer = run.await;
    let code = match &answer {
        Err(AppError::Refused(refusal)) => Some(refusal.code),
        Err(_) => Some("fault"),
        Ok(_) => None,
    };
    current.tracer.put(Span {
        trace: current.trace,
        id: random_span(),
        parent: Some(current.span),
        name: name.to_owned(),
        kind: 1,
        start,
        end: current.tracer.now(),
        attributes: vec![
            Attribute::text("baton.operation", Some(name.to_owned())),
            Attribute::text("baton.code", code.map(str::to_owned)),
        ],
        // A rule that says no is an answer; only what is our fault is an error.
        error: code.filter(|code| *code == "fault").map(str::to_owned),
    });
    answer
}

/// The span of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Parent {
    trace: u128,
    span: u64,
    sampled: bool,
}

/// What `traceparent` says, as W3C Trace Context writes it; nothing where it is malformed.
fn parent(headers: &HeaderMap) -> Option<Parent> {
    read_parent(headers.get("traceparent")?.to_str().ok()?)
}

fn read_parent(text: &str) -> Option<Parent> {
    let mut parts = text.trim().split('-');
    let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_hex = |part: &str, len: usize| {
        part.len() == len && part.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let known = version == "00" && parts.next().is_none() || version != "00" && version != "ff";
    if !known || !is_hex(version, 2) || !is_hex(trace, 32) || !is_hex(span, 16) || !is_hex(flags, 2) {
        return None;
    }
    let parent = Parent {
        trace: u128::from_str_radix(trace, 16).ok()?,
        span: u64::from_str_radix(span, 16).ok()?,
        sampled: u8::from_str_radix(flags, 16).ok()? & 1 == 1,
    };
    (parent.trace != 0 && parent.span != 0).then_some(parent)
}

fn random_span() -> u64 {
    let mut bytes = [0; 8];
    clock::random(&mut bytes);
    u64::from_be_bytes(bytes).max(1)
}

fn random_trace() -> u128 {
    let mut bytes = [0; 16];
    clock::random(&mut bytes);
    u128::from_be_bytes(bytes).max(1)
}

/// Where the collector is.
struct Target {
    client: reqwest::Client,
    url: String,
    headers: Vec<(String, String)>,
    service: String,
}

impl Target {
    fn read(vars: &BTreeMap<String, String>) -> Result<Option<Self>, AppError> {
        let given = |name: &str| vars.get(name).map(|value| value.trim()).filter(|value| !value.is_empty());
        if given("OTEL_SDK_DISABLED") == Some("true") {
            return Ok(None);
        }
        let url = match (given("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), given("OTEL_EXPORTER_OTLP_ENDPOINT")) {
            (Some(url), _) => url.to_owned(),
            (None, Some(base)) => format!("{}/v1/traces", base.trim_end_matches('/')),
            (None, None) => return Ok(None),
        };
        if !url.starts_with("http://") && !url.starts_with("https://") {
            let what = format!("the address of the collector is `{}`", baton_model::id::visible(&url));
            return Err(Refusal::invalid("config_invalid", what, "write it as http://127.0.0.1:4318").into());
        }
        let pairs = given("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default().split(',');
        let headers = pairs.filter_map(|pair| pair.split_once('='));
        Ok(Some(Self {
            client: client(&url)?,
            headers: headers.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect(),
            service: given("OTEL_SERVICE_NAME").unwrap_or("baton").to_owned(),
            url,
        }))
    }

    async fn post(&self, spans: &[Span]) -> Result<(), String> {
        let mut request = self.client.post(&self.url).header("content-type", "application/json");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let body = otlp::document(&self.service, spans).map_err(|error| error.to_string())?;
        let response = request.body(body).send().await.map_err(|error| error.to_string())?;
        match response.status() {
            status if status.is_success() => Ok(()),
            status => Err(format!("the collector answered {status}")),
        }
    }
}

fn client(url: &str) -> Result<reqwest::Client, AppError> {
    // Installing twice is harmless: the first provider stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder().timeout(TIMEOUT).redirect(reqwest::redirect::Policy::none());
    if url.starts_with("http://") {
        builder = builder.tls_certs_only([]);
    }
    Ok(builder.build().map_err(|error| anyhow::anyhow!("the HTTP client cannot be built: {error}"))?)
}

/// Exports spans until cancelled; then those that are queued, and ends.
async fn send(target: Target, mut waiting: Receiver<Span>, stop: CancellationToken) {
    let mut warned = false;
    while !stop.is_cancelled() {
        let mut spans = Vec::new();
        // What comes within the pause after the first goes along.
        let gathered = async {
            waiting.recv_many(&mut spans, BATCH_SIZE).await;
            let more = async {
                while spans.len() < BATCH_SIZE && waiting.recv_many(&mut spans, BATCH_SIZE).await > 0 {}
            };
            let _ = tokio::time::timeout(FLUSH_INTERVAL, more).await;
        };
        tokio::select! { () = gathered => {}, () = stop.cancelled() => {} }
        if stop.is_cancelled() {
            while let Ok(span) = waiting.try_recv() {
                spans.push(span);
            }
        }
        for part in spans.chunks(BATCH_SIZE) {
            match target.post(part).await {
                Ok(()) => warned = false,
                Err(why) if !warned => {
                    tracing::warn!(why, "traces cannot be sent");
                    warned = true;
                }
                Err(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_callers_trace_goes_on() {
        let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let parent = read_parent(text).expect("a parent");
        assert_eq!(format!("{:032x}-{:016x}", parent.trace, parent.span), &text[3..52]);
        assert!(parent.sampled);
        assert!(!read_parent(&text.replace("-01", "-00")).expect("a parent").sampled);
    }

    #[test]
    fn what_is_no_traceparent_begins_a_trace_of_its_own() {
        for text in [
            "",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert_eq!(read_parent(text), None, "{text}");
        }
    }

    #[test]
    fn a_span_is_written_as_otlp_wants_it() {
        let span = Span {
            trace: 1,
            id: 2,
            parent: Some(3),
            name: "GET /healthz".into(),
            kind: 2,
            start: 1_500,
            end: 2_500,
            attributes: vec![
                Attribute::number("http.response.status_code", 500),
                Attribute::text("http.route", None),
            ],
            error: Some("500".into()),
        };
        let text = otlp::document("baton", &[span]).expect("a document");
        let document: Value = serde_json::from_str(&text).expect("JSON");
        let row = &document["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
        assert_eq!(row["traceId"], "00000000000000000000000000000001");
        assert_eq!(
            (&row["spanId"], &row["parentSpanId"]),
            (&json!("0000000000000002"), &json!("0000000000000003"))
        );
        assert_eq!(row["startTimeUnixNano"], "1500");
        assert_eq!(
            row["attributes"],
            json!([{ "key": "http.response.status_code", "value": { "intValue": "500" } }])
        );
        assert_eq!(row["status"]["code"], 2);
    }

    #[test]
    fn only_an_address_that_can_be_one_is_taken() {
        let vars = |url: &str| [("OTEL_EXPORTER_OTLP_ENDPOINT".to_owned(), url.to_owned())].into();
        let target = Target::read(&vars("http://127.0.0.1:4318/")).expect("valid").expect("a target");
        assert_eq!(
            (target.url.as_str(), target.service.as_str()),
            ("http://127.0.0.1:4318/v1/traces", "baton")
        );
        assert!(Target::read(&vars("")).expect("valid").is_none());
        assert!(Target::read(&vars("collector:4317")).is_err());
    }
}
