//! The MCP face's way to the store: lazily for a pipe, on the server's threads for HTTP.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use baton_mcp::{Answer, Backend, BoxedFuture, DeliveryReceipt, Receipts, Shared, ToolSet};
use baton_model::access::Grant;
use baton_model::time::Millis;
use baton_ops::answer::AnswerView;
use baton_ops::handoff::{HandoffOrBaton, Show, ShowInput};
use baton_ops::message::{Delivered, DeliveredInput};
use baton_ops::op::{Access, Caller, Operation};
use baton_ops::session::Wrap;
use baton_store::{Store, Target};
use futures_util::{StreamExt, stream};
use http::request::Parts;
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::app::{self, App};
use crate::changes::ledger;
use crate::clock;
use crate::config::{ChangesMode, Config};
use crate::error::AppError;
use crate::host::{self, Machine};
use crate::mcp_http::normalize;
use crate::mcp_sessions::{Owners, check_owner};
use crate::mirror::Mirror;
use crate::relay::saga::Driver;
use crate::remote::Remote;
use crate::store_pool::{Pool, Threads};
use crate::transfer_progress::{self, is_driven};

/// Serves one client on standard input and output, to its end.
pub(crate) fn serve(offer: ToolSet, app: &mut App) -> Result<(), AppError> {
    let backend = StdioBackend {
        caller: app.caller(),
        machine: Arc::new(Machine::new(&app.config)),
        config: app.config.clone(),
        pool: OnceCell::new(),
        mirror: Mirror::of_client(&app.config).filter(|_| app.config.server.is_none()),
        resumed: Arc::new(Mutex::new(None)),
        remote: match app.config.server {
            Some(_) => Some(Remote::new(&app.config, Arc::clone(&app.machine))?),
            None => None,
        },
    };
    let mirror = backend.mirror.clone();
    let shared = Arc::new(Shared::new(Arc::new(backend), offer));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(baton_mcp::serve_stdio(shared));
    // Reading standard input cannot be interrupted where it is no pipe.
    runtime.shutdown_background();
    mirror.iter().for_each(|mirror| mirror.stop());
    served.map_err(|what| anyhow::anyhow!("the MCP connection broke: {what}").into())
}

/// The service at `/mcp`; its streams end with the token.
pub(crate) fn router(pool: &Arc<Pool>, streams: CancellationToken) -> Router {
    let shared = Arc::new(Shared::new(Arc::new(PoolBackend(Arc::clone(pool))), ToolSet::default()));
    Router::new()
        .route_service("/mcp", baton_mcp::web(shared, streams))
        .layer(middleware::from_fn_with_state(Arc::new(Owners::default()), check_owner))
        .layer(middleware::from_fn(normalize))
        .layer(middleware::from_fn_with_state(Arc::clone(pool), mark_delivered))
}

/// When the last byte of an MCP answer was taken, the signals in it are marked as delivered, by the authority of its caller.
async fn mark_delivered(State(pool): State<Arc<Pool>>, mut request: Request, next: Next) -> Response {
    let receipts = Arc::new(Receipts::default());
    request.extensions_mut().insert(Arc::clone(&receipts));
    // Without a grant no request gets here.
    let grant = request.extensions().get::<Grant>().cloned();
    let caller = grant.map(|grant| Caller { grant, ..Caller::default() });
    let (head, body) = next.run(request).await.into_parts();
    let rest = stream::unfold(Some((body.into_data_stream(), pool, caller, receipts)), |state| async move {
        let (mut body, pool, caller, receipts) = state?;
        match body.next().await {
            Some(chunk) => Some((chunk, Some((body, pool, caller, receipts)))),
            None => {
                delivered(&pool, caller?, &receipts).await;
                None
            }
        }
    });
    Response::from_parts(head, Body::from_stream(rest))
}

/// The process behind a pipe. Nothing is opened before the first operation: a client waits for the answer to its greeting.
struct StdioBackend {
    caller: Caller,
    machine: Arc<Machine>,
    config: Config,
    pool: OnceCell<Pool>,
    /// The Beads file of the tasks, if the settings name one.
    mirror: Option<Arc<Mirror>>,
    /// When this process last went on with what was due; held while it does.
    resumed: Arc<Mutex<Option<Instant>>>,
    /// The server that takes the place of a store.
    remote: Option<Remote>,
}

impl StdioBackend {
    async fn pool(&self) -> Result<&Pool, AppError> {
        let open = || async {
            let (target, machine, limits) =
                (self.config.store.clone(), Arc::clone(&self.machine), self.config.limits);
            let opened =
                tokio::task::spawn_blocking(move || Pool::open(&target, &machine, limits, Threads::ONE))
                    .await;
            let opened = opened.map_err(|error| anyhow::anyhow!("the store cannot be opened: {error}"))?;
            opened.map_err(|fault| AppError::of_service(fault.into()))
        };
        let open = || async { Ok::<Pool, AppError>(open().await?.with_mirror(self.mirror.clone())) };
        self.pool.get_or_try_init(open).await
    }

    /// As a command does: drives the hand-off that a call has planned or moved on, before the call is answered. What is not done by
    /// then goes on with a later call.
    async fn drive(&self, pool: &Pool, operation: &str, answer: &mut Value) {
        let span = if is_driven(operation) { transfer_progress::SPAN } else { transfer_progress::SPAN / 3 };
        let view = AnswerView(answer);
        let Some(id) = view.handoff_id().map(str::to_owned) else { return };
        if view.is_dry_run() || matches!(self.config.store, Target::Memory) {
            return;
        }
        let show = ShowInput { id: id.clone(), project: None };
        let (config, machine, at_work) =
            (self.config.clone(), Arc::clone(&self.machine), Arc::clone(&self.resumed));
        let handle = tokio::runtime::Handle::current();
        let drive = move || -> Result<(), AppError> {
            // One at a time: what this process has in hand already is finished first.
            let _alone = at_work.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let mut store = Store::open(&config.store, clock::now())?;
            machine.observe(&mut store);
            let until = (Instant::now() + span, span);
            Driver::new(&config, machine)?.drive(&mut store, &handle, &id, until)?;
            Ok(())
        };
        match tokio::task::spawn_blocking(drive).await {
            Ok(Ok(_)) => {}
            failed => tracing::warn!(?failed, "the hand-off could not be driven"),
        }
        let shown = pool.ask::<Show>(&show, Caller::default()).await;
        if let Ok(HandoffOrBaton::Handoff(now)) = shown.map(|shown| shown.handoff) {
            transfer_progress::renew(answer, &now);
            transfer_progress::log(&now);
        }
    }

    /// Takes along what is not committed where the settings say so. Returns why it stays behind.
    async fn add_changes(&self, input: &mut Value, caller: &Caller) -> Option<String> {
        if self.config.wrap_changes != ChangesMode::Always || matches!(self.config.store, Target::Memory) {
            return None;
        }
        let (config, root, wrap) = (self.config.clone(), caller.git_root.clone()?, input.clone());
        let added = move || ledger::of_wrap(config, root.into(), &wrap);
        match tokio::task::spawn_blocking(added).await {
            Ok(Ok(manifest)) => {
                if let Some(manifest) = manifest {
                    input["changes"] = json!(manifest);
                }
                None
            }
            Ok(Err(why)) => Some(why),
            Err(error) => Some(error.to_string()),
        }
    }

    /// Drives pending steps in the background, at most once per [`RESUME`].
    fn resume(&self) {
        let (config, machine, last) =
            (self.config.clone(), Arc::clone(&self.machine), Arc::clone(&self.resumed));
        if matches!(config.store, Target::Memory) {
            return;
        }
        tokio::task::spawn_blocking(move || {
            let Ok(mut last) = last.try_lock() else { return };
            if last.is_some_and(|at| at.elapsed() < RESUME) {
                return;
            }
            let resumed = Store::open(&config.store, clock::now())
                .map_err(AppError::from)
                .and_then(|mut store| app::resume(&mut store, &config, &machine));
            if let Err(ended) = resumed {
                tracing::debug!(?ended, "hand-offs could not be driven on");
            }
            *last = Some(Instant::now());
        });
    }
}

/// The answer of a wrap, with why what is not committed did not go along.
fn with_warning(mut answer: Value, left_behind: Option<String>) -> Value {
    if let (Some(why), Some(warnings)) = (left_behind, answer["warnings"].as_array_mut()) {
        let message = format!("what is not committed does not go with the baton: {why}");
        warnings.push(json!({ "kind": "changes_left_behind", "message": message }));
    }
    answer
}

/// Pause between two times that a process on a pipe goes on with what is due.
const RESUME: Duration = Duration::from_secs(5);

impl Backend for StdioBackend {
    fn run<'a>(&'a self, operation: &'a str, mut input: Value, caller: Caller) -> BoxedFuture<'a, Answer> {
        Box::pin(async move {
            let left_behind = match operation {
                Wrap::NAME => self.add_changes(&mut input, &caller).await,
                _ => None,
            };
            if let Some(remote) = &self.remote {
                let answer = remote.run(operation, input, &caller).await.map_err(|ended| error(&ended))?;
                return Ok(with_warning(answer, left_behind));
            }
            let pool = self.pool().await.map_err(|ended| error(&ended))?;
            let answer = pool.run(operation, input, caller).await.map_err(|ended| error(&ended))?;
            let mut answer = with_warning(answer, left_behind);
            if is_driven(operation) || operation == baton_ops::handoff::Advance::NAME {
                self.drive(pool, operation, &mut answer).await;
            } else if baton_ops::all::find(operation).is_ok_and(|entry| entry.access == Access::Write) {
                self.resume();
            }
            Ok(answer)
        })
    }

    /// The branch may have changed since the last call.
    fn caller(&self, _: Option<&Parts>) -> Result<Caller, Value> {
        Ok(match &self.config.cwd {
            Some(cwd) => standing_in(&self.caller, cwd),
            None => self.caller.clone(),
        })
    }

    fn standing_in(&self, caller: &Caller, path: &str) -> Caller {
        standing_in(caller, Path::new(path))
    }

    fn has_store(&self) -> bool {
        self.pool.initialized()
            || self.remote.is_some()
            || match &self.config.store {
                Target::File(path) => path.is_file(),
                _ => false,
            }
    }

    fn store(&self) -> Option<String> {
        let server = self.config.server.as_ref().map(|server| server.url.clone());
        Some(server.unwrap_or_else(|| self.config.store.to_string()))
    }

    fn now(&self) -> Millis {
        clock::now()
    }

    fn random(&self, bytes: &mut [u8]) {
        clock::random(bytes);
    }
}

/// The threads of `baton serve`.
struct PoolBackend(Arc<Pool>);

impl Backend for PoolBackend {
    fn run<'a>(&'a self, operation: &'a str, input: Value, caller: Caller) -> BoxedFuture<'a, Answer> {
        Box::pin(async move {
            let mut answer = self.0.run(operation, input, caller).await.map_err(|ended| error(&ended))?;
            if is_driven(operation) {
                transfer_progress::wait(&self.0, &mut answer).await;
            }
            Ok(answer)
        })
    }

    fn caller(&self, request: Option<&Parts>) -> Result<Caller, Value> {
        let parts = request.ok_or_else(unasked)?;
        // The HTTP layer has authenticated the request: a missing grant is an error.
        let grant = parts.extensions.get::<Grant>().cloned().ok_or_else(unasked)?;
        let caller = crate::http::caller(&parts.headers).map_err(|refusal| error(&refusal.into()))?;
        // Who is bound to an identity is not asked for one.
        let bound = grant.bearer.as_ref().and_then(|bearer| bearer.identities.as_ref()?.first().cloned());
        Ok(Caller { grant, identity: caller.identity.clone().or(bound), ..caller })
    }

    /// A client's folder is its own word here: this machine's disk is not asked about it.
    fn standing_in(&self, caller: &Caller, path: &str) -> Caller {
        let folders = Path::new(path).ancestors().map(|folder| folder.display().to_string()).collect();
        Caller { folders, git_root: None, repository: None, git_fault: None, ..caller.clone() }
    }

    fn has_store(&self) -> bool {
        true
    }

    fn store(&self) -> Option<String> {
        None
    }

    fn now(&self) -> Millis {
        clock::now()
    }

    fn random(&self, bytes: &mut [u8]) {
        clock::random(bytes);
    }
}

fn unasked() -> Value {
    json!({ "code": "fault", "message": "the request was not let in at the door", "hint": "report this" })
}

fn standing_in(caller: &Caller, folder: &Path) -> Caller {
    let Caller { folders, git_root, repository, git_fault, .. } = host::stand_in(folder);
    Caller { folders, git_root, repository, git_fault, ..caller.clone() }
}

fn error(ended: &AppError) -> Value {
    ended.to_service_json()["error"].take()
}

/// The signals of answers that were written out are delivered.
async fn delivered(pool: &Pool, caller: Caller, receipts: &Receipts) {
    for DeliveryReceipt { project_id, message_ids } in receipts.answer_written(None) {
        let mark = DeliveredInput { project: Some(project_id), message_ids };
        // The result is not needed: if the operation fails, the signals are delivered once more.
        let _ = pool.ask::<Delivered>(&mark, caller.clone()).await;
    }
}
