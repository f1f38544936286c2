//! The MCP face's way to the store: lazily for a pipe, on the server's threads for HTTP.

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use baton_mcp::{Answer, Backend, BoxedFuture, DeliveryReceipt, Receipts, Shared, ToolSet};
use baton_model::access::Grant;
use baton_model::changes::Manifest;
use baton_model::refusal::{ErrorObject, Refusal};
use baton_model::time::Millis;
use baton_ops::input::InputView;
use baton_ops::message::{Delivered, DeliveredInput};
use baton_ops::op::Caller;
use baton_ops::session::{BatonWarning, Warning, WarningKind, WrapInput, WrapOutput};
use baton_ops::{all, input};
use baton_store::Target;
use futures_util::{StreamExt, stream};
use http::request::Parts;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::app::{App, named_store};
use crate::beads_file_service::BeadsFileService;
use crate::changes::carry;
use crate::clock;
use crate::config::{ChangesMode, Config};
use crate::error::AppError;
use crate::handoff_driver::HandoffDriver;
use crate::host::{self, Machine};
use crate::mcp_http::normalize;
use crate::mcp_sessions::{Owners, check_owner};
use crate::remote::{Remote, RemoteCall, caller_of};
use crate::runner::{self, Call};
use crate::store_pool::{Pool, Threads};

/// Serves one client on standard input and output, to its end.
pub(crate) fn serve(offer: ToolSet, app: &mut App) -> Result<(), AppError> {
    let backend = StdioBackend {
        caller: app.caller(),
        machine: Arc::new(Machine::new(&app.config)),
        config: app.config.clone(),
        pool: OnceCell::new(),
        beads_file: BeadsFileService::of_client(&app.config).filter(|_| app.config.server.is_none()),
        remote: match app.config.server {
            Some(_) => Some(Remote::new(&app.config, Arc::clone(&app.machine))?),
            None => None,
        },
    };
    let mirror = backend.beads_file.clone();
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

/// When the last byte of an MCP answer was taken, the messages in it are marked as delivered, by the authority of its caller.
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
    beads_file: Option<Arc<BeadsFileService>>,
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
        let open = || async {
            let driver = HandoffDriver::new(&self.config, &self.machine);
            Ok::<Pool, AppError>(open().await?.with_beads_file(self.beads_file.clone()).with_driver(driver))
        };
        self.pool.get_or_try_init(open).await
    }

    /// Takes along what is not committed where the settings say so. Returns it, or why it stays behind.
    async fn add_changes(&self, input: &mut Value, caller: &Caller) -> Result<Option<Manifest>, LeftBehind> {
        if self.config.wrap_changes != ChangesMode::Always || matches!(self.config.store, Target::Memory) {
            return Ok(None);
        }
        // What cannot be read is refused by the operation.
        let Ok(wrap) = input::read::<WrapInput>(input) else { return Ok(None) };
        let Some(root) = caller.git_root.clone() else { return Ok(None) };
        let config = self.config.clone();
        let added = move || carry::add_to_wrap(config, root.into(), wrap);
        let added =
            tokio::task::spawn_blocking(added).await.map_err(|error| LeftBehind(error.to_string()))?;
        let Some(wrap) = added.map_err(LeftBehind)? else { return Ok(None) };
        let manifest = wrap.changes.clone();
        *input = serde_json::to_value(wrap).map_err(|error| LeftBehind(error.to_string()))?;
        Ok(manifest)
    }
}

impl StdioBackend {
    /// The answer of a wrap, with what it left uncommitted in the working copy with this top folder.
    async fn with_uncommitted(&self, answer: Value, root: Option<String>) -> Value {
        let Some(root) = root else { return answer };
        let Ok(wrapped) = WrapOutput::deserialize(&answer) else { return answer };
        let mode = self.config.wrap_changes;
        let left =
            tokio::task::spawn_blocking(move || carry::left_uncommitted(mode, Path::new(&root), &wrapped));
        // A newer server's answer has fields that this version does not know: they stay.
        let mut answer = answer;
        if let (Some(left), Some(fields)) = (left.await.ok().flatten(), answer.as_object_mut()) {
            fields.insert("uncommitted".to_owned(), json!(left));
        }
        answer
    }
}

/// Why what is not committed does not go with a baton, in a sentence.
struct LeftBehind(String);

/// The answer of a wrap, with why what is not committed did not go along.
fn with_warning(answer: Value, left_behind: Option<LeftBehind>) -> Value {
    let Some(LeftBehind(why)) = left_behind else { return answer };
    let Ok(mut wrapped) = WrapOutput::deserialize(&answer) else { return answer };
    let message = format!("what is not committed does not go with the baton: {why}");
    let kind = WarningKind::Baton(BatonWarning::ChangesLeftBehind);
    wrapped.warnings.push(Warning { kind, message, existing_baton: None });
    serde_json::to_value(wrapped).unwrap_or(answer)
}

impl Backend for StdioBackend {
    fn run<'a>(
        &'a self,
        operation: &'a str,
        mut input: Value,
        caller: Caller,
        key: Option<String>,
    ) -> BoxedFuture<'a, Answer> {
        Box::pin(async move {
            let entry = all::find(operation).map_err(|refusal| error_object(&refusal.into()))?;
            // The work of another project has its changes elsewhere.
            let names_project = input.as_object().is_some_and(|input| InputView(input).project().is_some());
            let root = caller.git_root.clone().filter(|_| entry.carries_changes && !names_project);
            let added = match entry.carries_changes {
                true => self.add_changes(&mut input, &caller).await,
                false => Ok(None),
            };
            let answer = match &self.remote {
                Some(remote) => {
                    let mut way = RemoteCall { remote, key };
                    runner::run(&mut way, Call { entry, input, caller }).await
                }
                None => {
                    if !self.pool.initialized() {
                        let missing = |refusal: Refusal| error_object(&refusal.into());
                        named_store::require(&self.config, entry.begins_store).map_err(missing)?;
                    }
                    let pool = self.pool().await.map_err(|error| error_object(&error))?;
                    pool.run_keyed(operation, input, caller, key).await
                }
            };
            let answer = answer.map_err(|error| error_object(&error))?;
            carry::confirm(&self.config.data_dir, added.as_ref().ok().and_then(Option::as_ref));
            Ok(self.with_uncommitted(with_warning(answer, added.err()), root).await)
        })
    }

    /// The branch may have changed since the last call.
    fn caller(&self, _: Option<&Parts>) -> Result<Caller, ErrorObject> {
        Ok(match &self.config.cwd {
            Some(cwd) => host::caller_at(&self.caller, cwd),
            None => self.caller.clone(),
        })
    }

    fn with_folder(&self, caller: &Caller, path: &str) -> Caller {
        host::caller_at(caller, Path::new(path))
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
    fn run<'a>(
        &'a self,
        operation: &'a str,
        input: Value,
        caller: Caller,
        key: Option<String>,
    ) -> BoxedFuture<'a, Answer> {
        Box::pin(async move {
            let answer = self.0.run_keyed(operation, input, caller, key).await;
            answer.map_err(|error| error_object(&error))
        })
    }

    fn caller(&self, request: Option<&Parts>) -> Result<Caller, ErrorObject> {
        let parts = request.ok_or_else(missing_grant)?;
        // The HTTP layer has authenticated the request: a missing grant is an error.
        let grant = parts.extensions.get::<Grant>().cloned().ok_or_else(missing_grant)?;
        let caller = caller_of(&parts.headers).map_err(|refusal| error_object(&refusal.into()))?;
        // Who is bound to an identity is not asked for one.
        let bound = grant.bearer.as_ref().and_then(|bearer| bearer.identities.as_ref()?.first().cloned());
        Ok(Caller { grant, identity: caller.identity.clone().or(bound), ..caller })
    }

    /// A client's folder is its own word here: this machine's disk is not asked about it.
    fn with_folder(&self, caller: &Caller, path: &str) -> Caller {
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

fn missing_grant() -> ErrorObject {
    ErrorObject::new("fault", "the request was not let in at the door", "report this")
}

fn error_object(error: &AppError) -> ErrorObject {
    error.to_service_error()
}

/// The signals of answers that were written out are delivered.
async fn delivered(pool: &Pool, caller: Caller, receipts: &Receipts) {
    for DeliveryReceipt { project_id, message_ids } in receipts.answer_written(None) {
        let mark = DeliveredInput { project: Some(project_id), message_ids };
        // The result is not needed: if the operation fails, the signals are delivered once more.
        let _ = pool.run_typed::<Delivered>(&mark, caller.clone()).await;
    }
}
