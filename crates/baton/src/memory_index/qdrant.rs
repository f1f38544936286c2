//! Qdrant, by its REST API: one collection, a point for each memory with a vector of its words and one of what it is about.
//!
//! Which projects a call concerns goes through [`project_filter`] alone, and no call that reads or deletes points goes without it.

use std::sync::Mutex;
use std::time::Duration;

use baton_model::memory_index::Sparse;
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::http::{Http, ServiceError};
use super::qdrant_json::{
    CollectionInfo, Condition, CountResult, Counting, Deletion, DenseParams, FieldIndex, Filter, Fusion, Hit,
    Index, Match, NewCollection, PerVector, PointRow, Points, Prefetch, Query, Reply, Search, SparseParams,
    Test, Upsert, Version, Written,
};
use crate::config;
use crate::error::AppError;

/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(4);
/// Points that each of the two rankings gives, and that come back.
const LIMIT: usize = 200;
/// The vector of the words.
const WORDS: &str = "words";
/// The vector of what a text is about.
const ABOUT: &str = "about";

/// A memory as Qdrant keeps it. Its text stays in the ledger.
pub(crate) struct Point {
    /// Its project.
    pub project_id: String,
    /// Its id there.
    pub memory_id: String,
    /// Who made the dense vector.
    pub embedder: String,
    /// The vector of its words.
    pub sparse: Sparse,
    /// The vector of what it is about.
    pub dense: Vec<f32>,
}

/// The client.
pub(crate) struct Qdrant {
    http: Http,
    base: String,
    collection: String,
    /// The dimension for which the collection is known to be there and right.
    ready: Mutex<Option<usize>>,
}

impl Qdrant {
    /// The Qdrant of the settings.
    pub(crate) fn new(settings: &config::Qdrant) -> Result<Self, AppError> {
        let http = Http::new("Qdrant", settings.key.clone().map(|key| ("api-key", key)))?;
        let (base, collection) = (settings.url.clone(), settings.collection.clone());
        Ok(Self { http, base, collection, ready: Mutex::new(None) })
    }

    /// Its version.
    pub(crate) async fn version(&self) -> Result<String, ServiceError> {
        let answer = self.http.send("GET", &format!("{}/", self.base), None, TIMEOUT).await?;
        let version: Version = serde_json::from_value(answer).unwrap_or_default();
        Ok(version.version.unwrap_or_else(|| "unknown".to_owned()))
    }

    /// Whether the collection, if there is one, can be searched as we do.
    pub(crate) async fn check(&self) -> Result<(), ServiceError> {
        match self.check_collection(None).await {
            Err(trouble) if trouble.status == Some(404) => Ok(()),
            answer => answer,
        }
    }

    /// Puts points there, in the place of those with the same ids. `at` is the ledger's time, in milliseconds.
    pub(crate) async fn upsert(&self, points: &[Point], at: i64) -> Result<(), ServiceError> {
        let Some(first) = points.first() else { return Ok(()) };
        self.ensure(first.dense.len()).await?;
        let points = points.iter().map(|point| PointRow::of(point, at)).collect();
        let put = self.call::<Written>("PUT", "/points?wait=true", &Upsert { points }).await;
        if matches!(&put, Err(trouble) if trouble.status == Some(404)) {
            // The collection has been deleted: the next attempt creates it again.
            self.set_ready(None);
        }
        check_status(put?, "points")
    }

    /// Takes these memories out.
    pub(crate) async fn delete(&self, project_id: &str, memory_ids: &[String]) -> Result<(), ServiceError> {
        if memory_ids.is_empty() {
            return Ok(());
        }
        let any = Test::Match(Match::Any(memory_ids));
        self.delete_where(project_id, Condition { key: "memory_id", test: any }).await
    }

    /// Takes out what was put there before this time and not since.
    pub(crate) async fn forget_before(&self, project_id: &str, at: i64) -> Result<(), ServiceError> {
        self.delete_where(project_id, Condition { key: "at", test: Test::Range { lt: at } }).await
    }

    async fn delete_where(&self, project_id: &str, which: Condition<'_>) -> Result<(), ServiceError> {
        let project = [project_id.to_owned()];
        let filter = project_filter(&project, vec![which]);
        match self.call::<Written>("POST", "/points/delete?wait=true", &Deletion { filter }).await {
            // Where there is no collection there is nothing to take out.
            Err(trouble) if trouble.status == Some(404) => Ok(()),
            answer => check_status(answer?, "a deletion"),
        }
    }

    /// How many points there are of these projects.
    pub(crate) async fn count(&self, projects: &[String]) -> Result<i64, ServiceError> {
        let body = Counting { filter: project_filter(projects, Vec::new()), exact: true };
        match self.call::<CountResult>("POST", "/points/count", &body).await {
            Err(trouble) if trouble.status == Some(404) => Ok(0),
            answer => answer?.map(|counted| counted.count).ok_or_else(|| odd("a count that is no number")),
        }
    }

    /// Points of these projects that fit, best first: project, memory, score. The vector of what is asked about is compared only
    /// with those of its own embedder, and only from the floor up.
    pub(crate) async fn query(
        &self,
        projects: &[String],
        words: &Sparse,
        about: Option<(&str, &[f32], Option<f32>)>,
    ) -> Result<Vec<(String, String, f64)>, ServiceError> {
        let mut rankings = Vec::new();
        if !words.indices.is_empty() {
            let (query, filter) = (Query::Sparse(words.into()), project_filter(projects, Vec::new()));
            rankings.push(Prefetch { query, using: WORDS, filter, limit: LIMIT, score_threshold: None });
        }
        if let Some((embedder, vector, floor)) =
            about.filter(|(_, vector, _)| vector.iter().any(|v| *v != 0.0))
        {
            let own = Condition { key: "embedder", test: Test::Match(Match::Value(embedder)) };
            let (query, filter) = (Query::Dense(vector), project_filter(projects, vec![own]));
            rankings.push(Prefetch { query, using: ABOUT, filter, limit: LIMIT, score_threshold: floor });
        }
        if rankings.is_empty() || projects.is_empty() {
            return Ok(Vec::new());
        }
        let body = Search {
            prefetch: rankings,
            query: Fusion { fusion: "rrf" },
            filter: project_filter(projects, Vec::new()),
            limit: LIMIT,
            with_payload: ["project_id", "memory_id"],
        };
        let answer = self.call::<Points>("POST", "/points/query", &body).await;
        let answer = answer.map_err(|trouble| match trouble.status {
            Some(404) => self.collection_missing(),
            _ => trouble,
        })?;
        hits(answer)
    }

    /// Throws the collection away, if it is one of Baton's: what was in it is gone.
    pub(crate) async fn drop_collection(&self) -> Result<(), ServiceError> {
        self.set_ready(None);
        match self.check_collection(None).await {
            Err(trouble) if trouble.status == Some(404) => return Ok(()),
            seen => seen?,
        }
        match self.http.send("DELETE", &self.path(""), None, TIMEOUT).await {
            Err(trouble) if trouble.status == Some(404) => Ok(()),
            answer => answer.map(drop),
        }
    }

    /// Sees to it that the collection is there, for vectors of this dimension.
    async fn ensure(&self, dimension: usize) -> Result<(), ServiceError> {
        if self.ready.lock().is_ok_and(|ready| *ready == Some(dimension)) {
            return Ok(());
        }
        if let Err(trouble) = self.check_collection(Some(dimension)).await {
            if trouble.status != Some(404) {
                return Err(trouble);
            }
            match self.create(dimension).await {
                // Another server was faster: what it made is looked at.
                Err(trouble) if matches!(trouble.status, Some(400 | 409)) => {
                    self.check_collection(Some(dimension)).await?
                }
                made => made?,
            }
        }
        // Both are there already where the collection is; saying so again changes nothing.
        for (field_name, field_schema) in [
            ("project_id", Index::Tenant { kind: "keyword", is_tenant: true }),
            ("memory_id", Index::Of("keyword")),
            ("at", Index::Of("integer")),
        ] {
            let body = FieldIndex { field_name, field_schema };
            self.call::<IgnoredAny>("PUT", "/index?wait=true", &body).await?;
        }
        self.set_ready(Some(dimension));
        Ok(())
    }

    async fn create(&self, dimension: usize) -> Result<(), ServiceError> {
        let size = u64::try_from(dimension).ok();
        let about = DenseParams { size, distance: Some("Cosine".to_owned()) };
        let words = SparseParams { modifier: Some("idf".to_owned()) };
        let body = NewCollection {
            vectors: PerVector { about: Some(about), words: None },
            sparse_vectors: PerVector { about: None, words: Some(words) },
        };
        self.call::<IgnoredAny>("PUT", "", &body).await.map(drop)
    }

    /// Whether the collection is one that we would have made, for vectors of this dimension where one is wanted.
    async fn check_collection(&self, dimension: Option<usize>) -> Result<(), ServiceError> {
        let answer = self.http.send("GET", &self.path(""), None, TIMEOUT).await?;
        // A collection of another shape was not created by Baton.
        let reply: Reply<CollectionInfo> = serde_json::from_value(answer).unwrap_or_default();
        let params = reply.result.map(|collection| collection.config.params).unwrap_or_default();
        let about = params.vectors.and_then(|all| all.about).unwrap_or_default();
        let words = params.sparse_vectors.and_then(|all| all.words).unwrap_or_default();
        let size = about.size;
        let is_ours = about.distance.as_deref() == Some("Cosine") && words.modifier.as_deref() == Some("idf");
        let (what, hint) = if size.is_none() || !is_ours {
            // The owner of the collection is unknown: the advice must not lead to the loss of foreign data.
            ("was not made by Baton".to_owned(), "set BATON_QDRANT_COLLECTION to a name that nobody uses")
        } else if let (Some(size), Some(dimension)) = (size, dimension)
            && u64::try_from(dimension) != Ok(size)
        {
            let what = format!("holds vectors of {size} numbers, and the embedder gives {dimension}");
            (
                what,
                "`baton memory reindex --fresh` makes the collection anew; BATON_QDRANT_COLLECTION names another",
            )
        } else {
            return Ok(());
        };
        Err(ServiceError {
            hint: Some(hint),
            ..ServiceError::new(format!("Qdrant's collection `{}` {what}", self.collection))
        })
    }

    fn collection_missing(&self) -> ServiceError {
        let what = format!("Qdrant has no collection `{}`", self.collection);
        ServiceError {
            hint: Some("`baton memory reindex --all` fills it from the ledger"),
            ..ServiceError::new(what)
        }
    }

    fn path(&self, rest: &str) -> String {
        format!("{}/collections/{}{rest}", self.base, self.collection)
    }

    /// Sends a body, and reads the result of the answer: nothing where it has another shape.
    async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        rest: &str,
        body: &impl Serialize,
    ) -> Result<Option<T>, ServiceError> {
        let body = serde_json::to_value(body).map_err(|error| ServiceError::new(error.to_string()))?;
        let answer = self.http.send(method, &self.path(rest), Some(&body), TIMEOUT).await?;
        Ok(serde_json::from_value::<Reply<T>>(answer).ok().and_then(|reply| reply.result))
    }

    fn set_ready(&self, dimension: Option<usize>) {
        if let Ok(mut ready) = self.ready.lock() {
            *ready = dimension;
        }
    }
}

/// The filter of every call: these projects and no other, and what else is wanted.
fn project_filter<'a>(projects: &'a [String], more: Vec<Condition<'a>>) -> Filter<'a> {
    let mut must = vec![Condition { key: "project_id", test: Test::Match(Match::Any(projects)) }];
    must.extend(more);
    Filter { must }
}

fn hits(points: Option<Points>) -> Result<Vec<(String, String, f64)>, ServiceError> {
    let points = points.ok_or_else(|| odd("no list of points"))?.points;
    // A point without our payload is none of ours.
    let hit = |point: Hit| {
        let payload = point.payload?;
        let score = point.score.filter(|score| score.is_finite())?;
        Some((payload.project_id?, payload.memory_id?, score))
    };
    Ok(points.into_iter().filter_map(hit).collect())
}

/// Whether a write was carried out.
fn check_status(written: Option<Written>, what: &str) -> Result<(), ServiceError> {
    match written {
        Some(Written { status }) if status == "completed" => Ok(()),
        _ => Err(odd(&format!("{what} not carried out"))),
    }
}

fn odd(what: &str) -> ServiceError {
    ServiceError::new(format!("Qdrant answers with {what}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn result<T: DeserializeOwned>(answer: Value) -> Option<T> {
        serde_json::from_value::<Reply<T>>(answer).ok().and_then(|reply| reply.result)
    }

    #[test]
    fn a_filter_always_begins_with_the_projects() {
        let projects = ["p".to_owned()];
        let filter = project_filter(&projects, vec![Condition { key: "at", test: Test::Range { lt: 1 } }]);
        let expected = json!({ "must": [
            { "key": "project_id", "match": { "any": ["p"] } }, { "key": "at", "range": { "lt": 1 } },
        ] });
        assert_eq!(json!(filter), expected);
    }

    #[test]
    fn a_point_has_a_vector_of_each_kind_that_says_something() {
        let sparse = Sparse { indices: vec![7], values: vec![0.5] };
        let (project_id, memory_id, embedder) = ("p".to_owned(), "m".to_owned(), "e".to_owned());
        let point = Point { project_id, memory_id, embedder, sparse, dense: vec![0.0, 0.0] };
        let row = json!(PointRow::of(&point, 3));
        assert_eq!(row["vector"], json!({ "words": { "indices": [7], "values": [0.5] } }));
        let expected = json!({ "project_id": "p", "memory_id": "m", "embedder": "e", "at": 3 });
        assert_eq!(row["payload"], expected);
    }

    #[test]
    fn what_is_no_point_of_ours_is_no_hit() {
        let answer = json!({ "result": { "points": [
            { "score": 0.5, "payload": { "project_id": "p", "memory_id": "m" } },
            { "score": 0.9, "payload": { "memory_id": "m" } }, { "score": 0.9 },
            { "payload": { "project_id": "p", "memory_id": "n" } },
        ] } });
        assert_eq!(hits(result(answer)).expect("hits"), [("p".to_owned(), "m".to_owned(), 0.5)]);
        assert!(hits(result(json!({ "result": 1 }))).is_err());
        assert!(check_status(result(json!({ "result": { "status": "acknowledged" } })), "points").is_err());
        assert!(check_status(result(json!({ "result": { "status": "completed" } })), "points").is_ok());
    }
}
