//! The HTTP face: paths of a table, one route per operation, events, and what a server shows of itself.

mod access;
mod answer;
mod body;
mod encoding;
mod events;
mod github;
mod guard;
mod input;
mod limit;
mod listen;
mod metrics;
mod openapi;
mod page;
mod reload;
mod remote;
mod rest;
mod routes;
mod sd_notify;
mod share;
mod signals;
mod stall;
mod tls;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Extension, Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use baton_model::access::Grant;
use baton_model::refusal::{Kind, Refusal};
use baton_ops::op::{BeginsStore, Caller, HandoffEffect};
use baton_ops::token::{Check, CheckInput};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::config::Config;
use crate::error::AppError;
use crate::host::Machine;
use crate::leadership::{self, Duties};
use crate::live::Live;
use crate::mcp;
use crate::relay::saga::{self, Driver};
use crate::relay::{self, memory_index};
use crate::remote::caller_of;
use crate::served_beads_files::ServerBeadsFiles;
use crate::services::Services;
use crate::store_pool::{Pool, Threads};
use crate::traces;
use crate::{router as task_router, sweep};
use access::Authenticator;
use metrics::RequestMetrics;
pub(crate) use reload::ReadSettings;
use reload::Reloader;
use sd_notify::ServiceState;
use signals::Signals;
use tls::Certificate;

/// How long clients may take to finish their requests after the stop.
const GRACE: Duration = Duration::from_secs(2);
/// How long operations that were accepted may take after the stop.
const DRAIN: Duration = Duration::from_secs(10);

/// The command-line options of the server.
pub(crate) struct Options {
    /// Where it listens.
    pub address: SocketAddr,
    /// Certificate chain and key, in PEM.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Names under which it is reached besides those of this machine.
    pub hosts: Vec<String>,
    /// Requests a second that each token may make; 0 for no limit.
    pub rate: u32,
    /// Reads the settings as they are now, for SIGHUP.
    pub settings: ReadSettings,
}

/// What outlives a start with other settings.
struct Process {
    signals: Signals,
    certificate: Option<Arc<Certificate>>,
    /// Kept while the server starts again: clients wait in its queue.
    socket: Option<std::net::TcpListener>,
}

/// Serves until SIGINT or SIGTERM; then it finishes the requests that it has accepted. After SIGHUP it goes on with the
/// certificate and the settings as they are then.
pub(crate) fn serve(options: &Options, app: &mut App) -> Result<(), AppError> {
    let certificate = options.tls.as_ref().map(|(chain, key)| Certificate::read(chain, key)).transpose()?;
    let certificate = certificate.map(Arc::new);
    let mut process = Process { signals: Signals::receive()?, certificate, socket: None };
    let mut previous = None;
    loop {
        match serve_with_settings(options, app, &mut process) {
            Ok(None) => return Ok(()),
            Ok(Some(config)) => previous = Some(std::mem::replace(&mut app.config, config)),
            Err(error) => {
                let Some(config) = previous.take() else { return Err(error) };
                tracing::error!(?error, "the server does not start with the new settings: the old ones stay");
                app.config = config;
            }
        }
    }
}

/// Serves with the settings of `app`, until the end or until there are others, which are returned.
fn serve_with_settings(
    options: &Options,
    app: &App,
    process: &mut Process,
) -> Result<Option<Config>, AppError> {
    app.require_named_store(BeginsStore::InFolder)?;
    let machine = Arc::new(Machine::new(&app.config));
    let pool = Pool::open(&app.config.store, &machine, app.config.limits, Threads::MANY)?;
    let files = ServerBeadsFiles::open(&app.config, &machine);
    let pool = Arc::new(pool.with_server_files(&files));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (leader, duties) = leadership::start(&app.config, &machine)?;
    let handle = runtime.handle();
    let services = start_services(app, &machine, &duties, (files.clone(), handle))?;
    let driver = Driver::new(&app.config, Arc::clone(&machine))?;
    let hook = github::WebhookReceiver::new(&app.config, Arc::clone(&pool), driver);
    let next = Arc::new(Mutex::new(None));
    let served = runtime.block_on(async {
        let tracing = traces::Tracing::start(&app.config.vars)?;
        let listener = listener(options, app, process, &pool).await?;
        let stop = process.signals.stop.child_token();
        let live = machine.live().cloned();
        live.iter().for_each(|live| live.listen());
        let stage = Arc::new(events::EventHub::new(Arc::clone(&pool), live.clone()));
        tokio::spawn(Arc::clone(&stage).follow());
        let seen = (&stage, &duties, &live);
        let mut router = router(&pool, seen, (options, app.config.user_name()), (stop.clone(), hook));
        if let Some(tracing) = &tracing {
            let tracer = Arc::clone(&tracing.tracer);
            router = router.layer(middleware::from_fn_with_state(tracer, traces::traced));
        }
        tokio::spawn(process.reloader(options, app, &next).run(stop.clone()));
        // Printed when the server is ready to accept: the reader may connect or stop it at once.
        let scheme = if options.tls.is_some() { "https" } else { "http" };
        app.remark(&format!("baton serves on {scheme}://{}", listener.local_addr()?));
        sd_notify::notify(ServiceState::Ready);
        let certificate = process.certificate.clone();
        let ended = async {
            stop.cancelled().await;
            // At the end the port is free at once; for a new start clients wait.
            if process.signals.stop.is_cancelled() {
                process.socket = None;
            }
        };
        listen::serve(listener, certificate, router, ended, settled(&pool)).await;
        if let Some(tracing) = tracing {
            tracing.stop().await;
        }
        Ok::<(), AppError>(())
    });
    services.stop();
    files.stop();
    // Others take over only work whose process is gone.
    leader.stop();
    runtime.shutdown_timeout(Duration::from_secs(5));
    served?;
    let next = next.lock().unwrap_or_else(PoisonError::into_inner).take();
    Ok(next.filter(|_| !process.signals.stop.is_cancelled()))
}

fn start_services(
    app: &App,
    machine: &Arc<Machine>,
    duties: &Arc<Duties>,
    (files, handle): (ServerBeadsFiles, &tokio::runtime::Handle),
) -> Result<Services, AppError> {
    let mut services = Services::default();
    services.add(task_router::start(&app.config, machine, duties, (files, handle.clone()))?);
    let driver = Arc::new(Driver::new(&app.config, Arc::clone(machine))?);
    saga::start(&app.config, &driver, duties, handle)?.into_iter().for_each(|lane| services.add(lane));
    services.add(relay::start(&app.config, machine, duties, handle.clone())?);
    if let Some(indexer) = memory_index::start(&app.config, machine, duties, handle.clone())? {
        services.add(indexer);
    }
    services.add(sweep::start(&app.config, machine, duties)?);
    Ok(services)
}

/// The listening socket: bound at the first start, the same one at the next.
async fn listener(
    options: &Options,
    app: &App,
    process: &mut Process,
    pool: &Arc<Pool>,
) -> Result<TcpListener, AppError> {
    let address = options.address;
    if !address.ip().is_loopback() {
        some_token(pool, address).await?;
        if options.tls.is_none() {
            app.remark("without --tls-cert tokens travel in the clear: put a proxy with TLS in front");
        }
    }
    let socket = match process.socket.take() {
        Some(socket) => socket,
        None => listen::bind(address).map_err(|error| unheard_refusal(address, &error))?.into_std()?,
    };
    process.socket = Some(socket.try_clone()?);
    Ok(TcpListener::from_std(socket)?)
}

impl Process {
    fn reloader(&self, options: &Options, app: &App, next: &Arc<Mutex<Option<Config>>>) -> Reloader {
        Reloader {
            signal: Arc::clone(&self.signals.reload),
            certificate: self.certificate.clone(),
            read: Arc::clone(&options.settings),
            origins: app.config.origins.clone(),
            next: Arc::clone(next),
        }
    }
}

fn unheard_refusal(address: SocketAddr, error: &std::io::Error) -> Refusal {
    let what = format!("cannot listen on {address}: {error}");
    Refusal::invalid("listen_failed", what, "choose another port with --listen, or 0 for a free one")
}

/// Refuses to listen on a non-loopback address as long as the store has no access token.
async fn some_token(pool: &Pool, address: SocketAddr) -> Result<(), AppError> {
    let answer = pool.run_typed::<Check>(&CheckInput::default(), Caller::default()).await?;
    if answer.needed {
        return Ok(());
    }
    Err(Refusal::new(
        Kind::Refused,
        "listen_without_token",
        format!("{address} can be reached from other machines, and nobody has an access token"),
        "make one with `baton token create`, or listen on 127.0.0.1",
    )
    .into())
}

/// What is shown beside the operations.
type MetricSources<'a> = (&'a Arc<events::EventHub>, &'a Arc<Duties>, &'a Option<Arc<Live>>);

fn router(
    pool: &Arc<Pool>,
    (stage, duties, live): MetricSources<'_>,
    (options, local_name): (&Options, Option<String>),
    (streams, hook): (CancellationToken, Arc<github::WebhookReceiver>),
) -> Router {
    let reachable = !options.address.ip().is_loopback();
    let limiter = limit::Limiter::new(options.rate);
    let authenticator = Arc::new(Authenticator::new(Arc::clone(pool), reachable, limiter, local_name));
    let meter = Arc::new(RequestMetrics::new());
    let guarded = Router::new()
        .route("/api/v1/ops/{name}", post(operation))
        .route("/api/v1/remote/{name}", post(remote::call))
        .merge(rest::router())
        .with_state(Arc::clone(pool))
        .merge(mcp::router(pool, streams))
        .route("/api/v1/events", get(events::listen).with_state(Arc::clone(stage)))
        .route(
            "/metrics",
            get(metrics::show).with_state(metrics::MetricsSnapshot {
                meter: Arc::clone(&meter),
                pool: Arc::clone(pool),
                stage: Arc::clone(stage),
                duties: Arc::clone(duties),
                live: live.clone(),
            }),
        )
        .route_layer(middleware::from_fn_with_state(Arc::clone(&authenticator), access::confirm))
        .route_layer(middleware::from_fn_with_state(body::room(), body::read_body))
        // Outside of it: who may not come in is not listened to.
        .route_layer(middleware::from_fn_with_state(authenticator, access::authenticate));
    let hosts = Arc::new(guard::Hosts::new(options.hosts.clone(), reachable));
    Router::new()
        .route("/healthz", get(health).with_state(live.clone()))
        .route("/readyz", get(ready).with_state((Arc::clone(pool), live.clone())))
        .route("/openapi.json", get(openapi::show))
        .merge(guarded)
        .merge(github::router(hook))
        .merge(page::router())
        .merge(share::router(pool))
        .fallback(answer::no_route)
        .method_not_allowed_fallback(answer::no_method)
        .layer(DefaultBodyLimit::max(body::MAX_BODY_BYTES))
        .layer(middleware::from_fn_with_state(hosts, guard::known_host))
        .layer(middleware::from_fn_with_state(meter, metrics::measured))
}

/// Ends some time after the stop, once every operation that was accepted has been answered: a client that sends or reads
/// too slowly, or listens to events, is cut off. An operation that takes longer than the drain is abandoned.
async fn settled(pool: &Pool) {
    let begin = Instant::now();
    tokio::time::sleep(GRACE).await;
    while pool.in_flight() > 0 && begin.elapsed() < DRAIN {
        tokio::time::sleep(GRACE / 10).await;
    }
}

/// How the server is.
#[derive(Serialize)]
struct Health {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'static str>,
    /// How Redis is, where there is to be one. A server without it does everything it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    redis: Option<&'static str>,
}

async fn health(State(live): State<Option<Arc<Live>>>) -> Json<Health> {
    let redis = live.map(|live| live.state().as_str());
    Json(Health { status: "ok", version: Some(env!("CARGO_PKG_VERSION")), redis })
}

/// Whether the store answers.
async fn ready(State((pool, live)): State<(Arc<Pool>, Option<Arc<Live>>)>) -> Response {
    match pool.run_typed::<Check>(&CheckInput::default(), Caller::default()).await {
        Ok(_) => {
            let redis = live.map(|live| live.state().as_str());
            answer::json_of(StatusCode::OK, &json!(Health { status: "ready", version: None, redis }))
        }
        Err(error) => answer::problem_as(StatusCode::SERVICE_UNAVAILABLE, &error),
    }
}

/// `POST /api/v1/ops/{name}`: any operation by its name.
async fn operation(
    State(pool): State<Arc<Pool>>,
    Extension(grant): Extension<Grant>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    match call(&pool, &name, grant.clone(), &headers, &body).await {
        Ok(answer) if begins_handoff(&name) => answer::handoff_response(StatusCode::OK, &answer),
        Ok(answer) => answer::delivered(pool, grant, StatusCode::OK, answer),
        Err(error) => rest::conditional_problem(&headers, &error),
    }
}

fn begins_handoff(operation: &str) -> bool {
    baton_ops::all::meta(operation).is_some_and(|meta| meta.handoff == HandoffEffect::Begins)
}

async fn call(
    pool: &Pool,
    name: &str,
    grant: Grant,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Value, AppError> {
    let caller = Caller { grant, ..caller_of(headers)? };
    let input = rest::named_input(name, headers, body)?;
    match input::idempotency_key(headers)? {
        Some(key) => {
            rest::check_key(&input, key)?;
            pool.run_once(name, input, caller, key.to_owned()).await
        }
        None => pool.run(name, input, caller).await,
    }
}
