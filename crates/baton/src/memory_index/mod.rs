//! The memory index outside the ledger: Qdrant and an embeddings endpoint. Queried before a search operation, which
//! gets the results; kept up to date by the relay.

mod embeddings;
mod http;
mod qdrant;
mod qdrant_json;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use baton_model::memory_index::{
    HASHING, HASHING_FLOOR_OUTSIDE, IndexResult, QuantizedVector, document, hashing, question,
};
use baton_model::query::check_query;
use baton_ops::memory::{MemoryScopeInput, MemoryScopeOutput, SearchInput};
use baton_ops::memory_index::Setup;
use baton_ops::op::Caller;
use serde::Deserialize;
use serde_json::Value;

use crate::config::Config;
use crate::error::AppError;
use embeddings::Embeddings;
pub(crate) use http::ServiceError;
pub(crate) use qdrant::{Point, Qdrant};

/// A search, and which projects it may look into: that is asked of the ledger first.
pub(crate) struct ScopedQuery {
    /// The words.
    pub query: String,
    /// The question for the ledger.
    pub scope: MemoryScopeInput,
}

/// How long a search waits for those outside, all together.
const SEARCH_TIMEOUT: Duration = Duration::from_millis(1_500);
/// How long those are left alone who did not answer: a search in that time does not wait for them again.
const COOL_DOWN: Duration = Duration::from_secs(5);

/// The external services of the memory index: Qdrant and an embeddings endpoint.
pub(crate) struct IndexServices {
    setup: Setup,
    qdrant: Option<Qdrant>,
    embeddings: Option<Embeddings>,
    resting: Mutex<Option<(Instant, String)>>,
}

impl IndexServices {
    /// Those of the settings, if there are any.
    pub(crate) fn new(config: &Config) -> Result<Option<Arc<Self>>, AppError> {
        let setup = config.memory_index.setup();
        if !setup.needs_relay() {
            return Ok(None);
        }
        Ok(Some(Arc::new(Self {
            setup,
            qdrant: config.memory_index.qdrant.as_ref().map(Qdrant::new).transpose()?,
            embeddings: config.memory_index.embeddings.as_ref().map(Embeddings::new).transpose()?,
            resting: Mutex::new(None),
        })))
    }

    /// Qdrant, if there is one.
    pub(crate) fn qdrant(&self) -> Option<&Qdrant> {
        self.qdrant.as_ref()
    }

    /// Whether vectors come from an endpoint.
    pub(crate) fn has_endpoint(&self) -> bool {
        self.embeddings.is_some()
    }

    /// Whose vectors are kept.
    pub(crate) fn embedder(&self) -> &str {
        self.setup.embedder()
    }

    /// Vectors for these texts, in their order.
    pub(crate) async fn embed(&self, texts: &[String]) -> Result<Vec<QuantizedVector>, ServiceError> {
        let vectors = match &self.embeddings {
            Some(endpoint) => endpoint.embed(texts).await?,
            None => texts.iter().map(|text| hashing(text)).collect(),
        };
        Ok(vectors.iter().map(|vector| QuantizedVector::of(vector)).collect())
    }

    /// The point that stands for a text in Qdrant.
    pub(crate) fn point(
        &self,
        (project_id, memory_id): (&str, &str),
        text: &str,
        vector: &QuantizedVector,
    ) -> Point {
        Point {
            project_id: project_id.to_owned(),
            memory_id: memory_id.to_owned(),
            embedder: self.embedder().to_owned(),
            sparse: document(text),
            dense: vector.unpacked(),
        }
    }

    /// What the ledger is to be asked with `memory_scope` before a search of memories, where those outside are asked at all: which
    /// projects may be looked into is the ledger's to say.
    pub(crate) fn scope_query(input: &Value) -> Option<ScopedQuery> {
        // What is wrong with the input is said by the search itself.
        let SearchInput { project, related, query, .. } = SearchInput::deserialize(input).ok()?;
        let asks = check_query(&query).is_ok() && !baton_model::memory::query_words(&query).is_empty();
        asks.then_some(ScopedQuery { query, scope: MemoryScopeInput { project, related } })
    }

    /// The caller of an operation together with what was found for it within the scope. It waits, and not for the ledger:
    /// a database's driver waits in its own way and cannot be asked by a thread that waits here.
    pub(crate) async fn prepare(&self, query: &str, scope: &MemoryScopeOutput, caller: Caller) -> Caller {
        Caller { found: Some(Arc::new(self.search(query, &scope.searched).await)), ..caller }
    }

    async fn search(&self, query: &str, projects: &[String]) -> IndexResult {
        if let Some(why) = self.rests() {
            return IndexResult { why: Some(why), ..IndexResult::default() };
        }
        let answer = tokio::time::timeout(SEARCH_TIMEOUT, self.query_index(query, projects)).await;
        match answer {
            Ok(Ok(found)) => found,
            Ok(Err(trouble)) => self.start_cool_down(trouble.why),
            Err(_) => self.start_cool_down(format!("no answer within {} ms", SEARCH_TIMEOUT.as_millis())),
        }
    }

    async fn query_index(&self, query: &str, projects: &[String]) -> Result<IndexResult, ServiceError> {
        let mut found = IndexResult::default();
        let vector = match &self.embeddings {
            None => Some(hashing(query)),
            // Without its vector a question is still words.
            Some(endpoint) => match endpoint.embed(&[query.to_owned()]).await {
                Ok(vectors) => vectors.into_iter().next(),
                Err(trouble) if self.qdrant.is_some() => {
                    found.why = Some(trouble.why);
                    None
                }
                Err(trouble) => return Err(trouble),
            },
        };
        if let Some(qdrant) = &self.qdrant {
            let floor = (self.embedder() == HASHING).then_some(HASHING_FLOOR_OUTSIDE);
            let dense = vector.as_deref().map(|vector| (self.embedder(), vector, floor));
            found.hits = Some(qdrant.query(projects, &question(query), dense).await?);
        }
        found.vector = vector.map(|vector| (self.embedder().to_owned(), vector));
        Ok(found)
    }

    fn rests(&self) -> Option<String> {
        let resting = self.resting.lock().ok()?;
        let (until, why) = resting.as_ref()?;
        (Instant::now() < *until).then(|| why.clone())
    }

    fn start_cool_down(&self, why: String) -> IndexResult {
        tracing::warn!(%why, "memory search goes on with the ledger's text search");
        if let Ok(mut resting) = self.resting.lock() {
            *resting = Some((Instant::now() + COOL_DOWN, why.clone()));
        }
        IndexResult { why: Some(why), ..IndexResult::default() }
    }
}
