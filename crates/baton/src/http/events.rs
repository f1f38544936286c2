//! Server-Sent Events: sends every delta, as it is written, to all listeners, and says of each project when something changed that no
//! delta records: mail, leases, shares, marks of hand-offs.
//!
//! One task of the server follows the ledgers and sends each event, serialised once, to all listeners (`follow.rs`). It looks at once
//! when this server has written or another one publishes a write through Redis, and several times a second for writes
//! by other processes. An event's id holds its project, its number there and its time. A listener that reconnects with
//! `Last-Event-ID` gets what it missed: of that project from exactly there on, of the others from shortly before that
//! time, so that an event may be repeated and none is missed.

mod follow;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use baton_model::access::Grant;
use baton_model::delta::Kind;
use baton_model::refusal::Refusal;
use baton_model::time::Timestamp;
use baton_ops::ledger::{Head, Heads, HeadsInput, HeadsOutput, LedgerList, LedgerListInput, Row};
use baton_ops::op::Caller;
use futures_util::stream::{self, StreamExt};
use serde::Serialize;
use tokio::sync::Mutex;
use tokio::sync::broadcast::{self, error::RecvError};

use self::follow::Position;
use super::answer::{of_type, problem};
use crate::clock;
use crate::error::AppError;
use crate::live::Live;
use crate::store_pool::Pool;

/// Events that a slow listener may fall behind; then its stream ends, and it comes back for the rest.
const BACKLOG: usize = 4_096;
/// How often a quiet stream shows that it lives.
const KEEPALIVE: Duration = Duration::from_secs(15);
/// Deltas read at once.
const PAGE: i64 = 500;
/// How far before the last event's time a listener to all projects begins again, in milliseconds: longer than a
/// transaction takes.
const OVERLAP: i64 = 10_000;

/// One delta, ready to be sent.
struct Event {
    project_id: String,
    seq: i64,
    millis: i64,
    /// Whether it is an entry of the ledger, which is sent to a listener once.
    is_delta: bool,
    frame: Bytes,
    /// What those get who listen to all projects, where this one is isolated: without what was said.
    outline: Option<Bytes>,
}

/// Broadcasts events to the listeners.
pub(super) struct EventHub {
    pool: Arc<Pool>,
    events: broadcast::Sender<Arc<Event>>,
    /// Where other servers say that they wrote.
    live: Option<Arc<Live>>,
    /// How far the listeners have heard; none without listeners.
    position: Mutex<Option<Position>>,
}

impl EventHub {
    /// A stage; `follow` must run for it to show anything.
    pub(super) fn new(pool: Arc<Pool>, live: Option<Arc<Live>>) -> Self {
        Self { pool, events: broadcast::channel(BACKLOG).0, live, position: Mutex::default() }
    }

    /// How many listen.
    pub(super) fn listeners(&self) -> usize {
        self.events.receiver_count()
    }

    /// How far the ledgers have come.
    async fn heads(&self, input: &HeadsInput) -> Result<HeadsOutput, AppError> {
        self.pool.run_typed::<Heads>(input, Caller::default()).await
    }

    /// A number of the ledger after which everything since this time comes: looked for backwards from the head, so what is
    /// long past is not read.
    async fn position_before(&self, project_id: &str, head: i64, since: i64) -> Result<i64, AppError> {
        let mut back = PAGE;
        loop {
            let after = head.saturating_sub(back).max(0);
            let page = self.page(project_id, after, &Grant::default()).await?;
            // No event is no answer: a restore leaves a gap in the numbers.
            if after == 0 || page.first().is_some_and(|event| event.millis < since) {
                return Ok(after);
            }
            back = back.saturating_mul(2);
        }
    }

    /// The id of a project that a listener names. One that is not there, or not for this bearer, is refused.
    async fn project_id(&self, named: &str, grant: &Grant) -> Result<String, AppError> {
        let (project, after) = (Some(named.to_owned()), i64::MAX - 1);
        let input =
            LedgerListInput { project, after, limit: Some(1), brief: true, ..LedgerListInput::default() };
        let caller = Caller { grant: grant.clone(), ..Caller::default() };
        Ok(self.pool.run_typed::<LedgerList>(&input, caller).await?.project_id)
    }

    async fn page(&self, project_id: &str, after: i64, grant: &Grant) -> Result<Vec<Event>, AppError> {
        let project = Some(project_id.to_owned());
        let input =
            LedgerListInput { project, after, limit: Some(PAGE), brief: true, ..LedgerListInput::default() };
        let caller = Caller { grant: grant.clone(), ..Caller::default() };
        let page = self.pool.run_typed::<LedgerList>(&input, caller).await?;
        let events = page.items.iter().map(|delta| event(delta, page.is_isolated));
        Ok(events.collect::<Result<_, _>>().map_err(anyhow::Error::from)?)
    }
}

/// The grant of a reader of one project alone.
fn grant_of_project(project_id: &str) -> Grant {
    Grant { projects: Some(vec![project_id.to_owned()]), ..Grant::default() }
}

/// The event for a delta of an isolated project, as sent to listeners of all projects: only that there is one.
#[derive(Serialize)]
struct IsolatedDelta<'a> {
    seq: i64,
    kind: Kind,
    project_id: &'a str,
    created_at: Timestamp,
}

fn event(delta: &Row, is_isolated: bool) -> serde_json::Result<Event> {
    let Row { seq, kind, project_id, created_at, .. } = delta;
    let (millis, word) = (created_at.0, kind.as_str());
    let frame = |data: String| {
        Bytes::from(format!("id: {project_id}/{seq}/{millis}\nevent: {word}\ndata: {data}\n\n"))
    };
    let outline = IsolatedDelta { seq: *seq, kind: *kind, project_id, created_at: *created_at };
    let outline = is_isolated.then(|| serde_json::to_string(&outline)).transpose()?.map(frame);
    let frame = frame(serde_json::to_string(delta)?);
    Ok(Event { project_id: project_id.clone(), seq: *seq, millis, is_delta: true, frame, outline })
}

/// A change that no delta records, as it is sent: who listens reads anew what it is about.
#[derive(Serialize)]
struct UnrecordedChange<'a> {
    seq: i64,
    kind: &'static str,
    project_id: &'a str,
    created_at: Timestamp,
}

/// The event for a change that no delta records. It says nothing of what changed, and is the same for every listener.
fn change(head: &Head) -> serde_json::Result<Event> {
    let Head { project_id, seq, .. } = head;
    let (millis, kind) = (clock::now(), "change");
    let notice = UnrecordedChange { seq: *seq, kind, project_id, created_at: Timestamp(millis) };
    let data = serde_json::to_string(&notice)?;
    let frame = Bytes::from(format!("id: {project_id}/{seq}/{millis}\nevent: {kind}\ndata: {data}\n\n"));
    Ok(Event { project_id: project_id.clone(), seq: *seq, millis, is_delta: false, frame, outline: None })
}

/// Where a listener was when it went away.
#[derive(Debug, Clone, PartialEq, Eq)]
struct EventCursor {
    project_id: String,
    seq: i64,
    millis: i64,
}

impl EventCursor {
    fn read(text: &str) -> Result<Self, Refusal> {
        let mut parts = text.rsplitn(3, '/');
        let read = (|| {
            let millis = parts.next()?.parse().ok()?;
            let seq = parts.next()?.parse().ok()?;
            Some(Self { project_id: parts.next()?.to_owned(), seq, millis })
        })();
        read.ok_or_else(|| {
            Refusal::invalid(
                "event_id_invalid",
                format!("`{}` is not the id of an event", baton_model::id::visible(text)),
                "send the last id as it came, or none",
            )
        })
    }
}

/// What a listener asked for.
struct EventRequest {
    project: Option<String>,
    from: Option<EventCursor>,
    grant: Grant,
}

impl EventRequest {
    /// What this listener gets of an event.
    fn frame(&self, event: &Event) -> Bytes {
        let outline = event.outline.as_ref().filter(|_| self.project.is_none());
        outline.unwrap_or(&event.frame).clone()
    }

    fn covers(&self, event: &Event) -> bool {
        self.project.as_ref().is_none_or(|only| *only == event.project_id)
            && self.grant.reaches(&event.project_id)
    }
}

/// `GET /api/v1/events[?project=ID]`
pub(super) async fn listen(
    State(stage): State<Arc<EventHub>>,
    Extension(grant): Extension<Grant>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    match open(stage, grant, query.as_deref().unwrap_or_default(), &headers).await {
        Ok(response) => response,
        Err(error) => problem(&error),
    }
}

async fn open(
    stage: Arc<EventHub>,
    grant: Grant,
    query: &str,
    headers: &HeaderMap,
) -> Result<Response, AppError> {
    let mut request = EventRequest { project: None, from: None, grant };
    let mut last = headers.get("last-event-id").and_then(|value| value.to_str().ok()).map(str::to_owned);
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match name.as_ref() {
            "project" => request.project = Some(value.into_owned()),
            "last_event_id" => last = Some(value.into_owned()),
            // The page's own way to give a browser's stream a token is its cookie; anything else is a mistake.
            other => {
                let what = format!("events take no `{}`", baton_model::id::visible(other));
                return Err(
                    Refusal::invalid("query_unknown", what, "they take project and last_event_id").into()
                );
            }
        }
    }
    request.from = last.filter(|text| !text.is_empty()).as_deref().map(EventCursor::read).transpose()?;
    // Listening begins before the past is read, so nothing falls between the two.
    let events = stage.events.subscribe();
    stage.begin_to_follow().await?;
    if let Some(named) = &request.project {
        request.project = Some(stage.project_id(named, &request.grant).await?);
    }
    let past = past(&stage, &request).await?;
    let mut response = of_type(StatusCode::OK, "text/event-stream", body(request, past, events));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// What the listener missed.
async fn past(stage: &EventHub, request: &EventRequest) -> Result<Vec<Event>, AppError> {
    let Some(from) = &request.from else { return Ok(Vec::new()) };
    let projects = request.project.iter().cloned().collect();
    let heads = stage.heads(&HeadsInput { projects, ..HeadsInput::default() }).await?;
    let mut missed = Vec::new();
    for head in heads.items.into_iter().filter(|head| request.grant.reaches(&head.project_id)) {
        let project_id = head.project_id;
        let (mut after, since) = if project_id == from.project_id {
            (from.seq, i64::MIN)
        } else {
            let since = from.millis.saturating_sub(OVERLAP);
            (stage.position_before(&project_id, head.seq, since).await?, since)
        };
        loop {
            let page = stage.page(&project_id, after, &request.grant).await?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            missed.extend(page.into_iter().filter(|event| event.millis >= since));
        }
    }
    Ok(missed)
}

fn body(request: EventRequest, past: Vec<Event>, events: broadcast::Receiver<Arc<Event>>) -> Body {
    let mut seen: BTreeMap<String, i64> = BTreeMap::new();
    for event in &past {
        seen.insert(event.project_id.clone(), event.seq);
    }
    let hello = Bytes::from_static(b"retry: 1000\n: here are the deltas as they are written\n\n");
    let past: Vec<Bytes> = past.iter().map(|event| request.frame(event)).collect();
    let begin = std::iter::once(hello).chain(past);
    let live = stream::unfold(Some((request, seen, events)), |state| async move {
        let (request, seen, mut events) = state?;
        let frame = loop {
            match tokio::time::timeout(KEEPALIVE, events.recv()).await {
                Err(_) => break Bytes::from_static(b": still here\n\n"),
                Ok(Ok(event)) => {
                    let known =
                        event.is_delta && seen.get(&event.project_id).is_some_and(|last| event.seq <= *last);
                    if request.covers(&event) && !known {
                        break request.frame(&event);
                    }
                }
                // It comes back with the id of the last event it has seen.
                Ok(Err(RecvError::Lagged(_) | RecvError::Closed)) => return None,
            }
        };
        Some((frame, Some((request, seen, events))))
    });
    Body::from_stream(stream::iter(begin).chain(live).map(Ok::<_, std::convert::Infallible>))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(project_id: &str, kind: Kind) -> Row {
        Row {
            seq: 7,
            delta_id: "d".into(),
            kind,
            project_id: project_id.into(),
            session_id: None,
            identity: "Ann".into(),
            created_at: Timestamp(1_795_219_200_000),
            inherited_from: None,
            thread_id: None,
            summary: None,
            about: None,
            body: None,
            body_text: None,
            chain: None,
        }
    }

    #[test]
    fn an_event_says_where_it_stands() {
        let delta = row("shop", Kind::Wrap);
        let event = event(&delta, false).expect("an event");
        let text = String::from_utf8(event.frame.to_vec()).expect("text");
        let id = text.lines().next().and_then(|line| line.strip_prefix("id: ")).expect("an id");
        let place = EventCursor::read(id).expect("a place");
        assert_eq!((place.project_id.as_str(), place.seq), ("shop", 7));
        assert!(text.ends_with("\n\n") && text.contains("\nevent: wrap\ndata: {"), "{text}");
    }

    #[test]
    fn who_listens_to_all_projects_hears_of_an_isolated_one_no_words() {
        let delta = Row { summary: Some("secret".into()), ..row("lone", Kind::Note) };
        let message = |project: Option<&str>, is_isolated| {
            let request =
                EventRequest { project: project.map(str::to_owned), from: None, grant: Grant::default() };
            let event = event(&delta, is_isolated).expect("an event");
            String::from_utf8(request.frame(&event).to_vec()).expect("text")
        };
        assert!(message(None, false).contains("secret") && message(Some("lone"), true).contains("secret"));
        let outline = message(None, true);
        assert!(!outline.contains("secret") && !outline.contains("Ann"), "{outline}");
        assert!(
            outline.starts_with("id: lone/7/") && outline.contains("\nevent: note\ndata: {\"seq\":7"),
            "{outline}"
        );
    }

    #[test]
    fn an_id_that_is_none_is_refused() {
        for text in ["7", "shop/7", "shop/x/1", "shop/1/x", ""] {
            assert_eq!(EventCursor::read(text).map_err(|r| r.code), Err("event_id_invalid"), "{text}");
        }
    }
}
