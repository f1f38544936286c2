//! The server: one handler for both transports and both eras of the protocol.
//!
//! In the stateless era a handler is made for every request, so what has to last stands in [`Shared`].

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, RequestStateCodec, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool as Listed, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};

use crate::backend::Backend;
use crate::connection::{ConnectionState, Receipts};
use crate::tools::{self, ToolSet};
use crate::truncate::AnswerCache;
use crate::watch::Watches;
use crate::{complete, next_step, prompts, resources, watch};

/// Lists change with the program only.
const LIST_TTL_MS: u64 = 3_600_000;

/// What all connections of a process have in common.
pub struct Shared {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) offer: ToolSet,
    pub(crate) kept: AnswerCache,
    pub(crate) codec: RequestStateCodec,
    tools: Vec<Listed>,
}

impl Shared {
    /// What a process serves. The key that seals questions lives as long as the process.
    pub fn new(backend: Arc<dyn Backend>, offer: ToolSet) -> Self {
        let mut key = [0; 32];
        backend.random(&mut key);
        let codec = RequestStateCodec::new_unchecked(key);
        let tools = tools::list(&offer);
        Self { backend, offer, kept: AnswerCache::default(), codec, tools }
    }

    /// A name for an answer that is kept.
    pub(crate) fn token(&self) -> String {
        let mut bytes = [0; 6];
        self.backend.random(&mut bytes);
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The handler of one connection, or of one request where the protocol has no connections.
#[derive(Clone)]
pub struct Server {
    pub(crate) shared: Arc<Shared>,
    pub(crate) connection: Arc<ConnectionState>,
    watches: Arc<Watches>,
}

impl Server {
    /// A handler with a memory of its own.
    pub fn new(shared: Arc<Shared>) -> Self {
        Self { shared, connection: Arc::default(), watches: Arc::default() }
    }

    /// Where the answer to this request is waited for: its own HTTP response, else the pipe.
    pub(crate) fn receipts(&self, context: &RequestContext<RoleServer>) -> Arc<Receipts> {
        let parts = context.extensions.get::<http::request::Parts>();
        let of_request = parts.and_then(|parts| parts.extensions.get::<Arc<Receipts>>());
        of_request.map_or_else(|| Arc::clone(&self.connection.receipts), Arc::clone)
    }
}

/// How the server presents itself.
fn config() -> ServerConfig {
    let capabilities = ServerCapabilities::builder()
        .enable_tools()
        .enable_resources()
        .enable_resources_subscribe()
        .enable_prompts()
        .enable_completions()
        .build();
    let mut config = ServerConfig::new(capabilities);
    config.server_info = Implementation::new("baton", env!("CARGO_PKG_VERSION")).with_title("Baton");
    config.instructions = Some(next_step::INSTRUCTIONS.to_owned());
    config
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        config()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = ListToolsResult::with_all_items(self.shared.tools.clone());
        (list.ttl_ms, list.cache_scope) = (Some(LIST_TTL_MS), Some(CacheScope::Private));
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Listed> {
        self.shared.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let cancelled = context.ct.clone();
        tokio::select! {
            biased;
            answer = self.call(request, context) => answer,
            // The answer is not waited for. What an operation has begun it finishes.
            () = cancelled.cancelled() => Err(ErrorData::internal_error("the call was cancelled", None)),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        resources::list(self, request.and_then(|request| request.cursor), &context).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = ListResourceTemplatesResult::with_all_items(resources::templates());
        (list.ttl_ms, list.cache_scope) = (Some(LIST_TTL_MS), Some(CacheScope::Private));
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(resources::read(self, &request.uri, &context).await?.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut list = ListPromptsResult::with_all_items(prompts::list());
        (list.ttl_ms, list.cache_scope) = (Some(LIST_TTL_MS), Some(CacheScope::Private));
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(prompts::get(&request.name, &request.arguments.unwrap_or_default())?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        complete::complete(self, &request, &context).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        watch::subscribe(self, &self.watches, &request.uri, &context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.watches.end(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(watch::accepted(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        watch::listen(self, &context).await;
        Ok(())
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        if let Ok(mut roots) = self.connection.roots.lock() {
            *roots = None;
        }
    }
}
