//! Qdrant, by its REST API: one collection, a point for each memory with a vector of its words and one of what it is about.
//!
//! Which projects a call concerns goes through [`within`] alone, and no call that reads or deletes points goes without it.

use std::sync::Mutex;
use std::time::Duration;

use baton_model::recall::{Sparse, point_id};
use serde_json::{Value, json};

use super::http::{Http, Trouble};
use crate::config;
use crate::error::Ended;

/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(4);
/// Points that each of the two rankings gives, and that come back.
const LIMIT: usize = 200;
/// The vector of the words.
const WORDS: &str = "words";
/// The vector of what a text is about.
const ABOUT: &str = "about";

/// A memory as Qdrant keeps it. Its text stays in the ledger.
pub struct Point {
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
pub struct Qdrant {
    http: Http,
    base: String,
    collection: String,
    /// The dimension for which the collection is known to be there and right.
    ready: Mutex<Option<usize>>,
}

impl Qdrant {
    /// The Qdrant of the settings.
    pub fn new(settings: &config::Qdrant) -> Result<Self, Ended> {
        let http = Http::new("Qdrant", settings.key.clone().map(|key| ("api-key", key)))?;
        let (base, collection) = (settings.url.clone(), settings.collection.clone());
        Ok(Self { http, base, collection, ready: Mutex::new(None) })
    }

    /// Its version.
    pub async fn version(&self) -> Result<String, Trouble> {
        let answer = self.http.send("GET", &format!("{}/", self.base), None, TIMEOUT).await?;
        Ok(answer["version"].as_str().unwrap_or("unknown").to_owned())
    }

    /// Whether the collection, if there is one, can be searched as we do.
    pub async fn check(&self) -> Result<(), Trouble> {
        match self.look(None).await {
            Err(trouble) if trouble.status == Some(404) => Ok(()),
            answer => answer,
        }
    }

    /// Puts points there, in the place of those with the same ids. `at` is the ledger's time, in milliseconds.
    pub async fn upsert(&self, points: &[Point], at: i64) -> Result<(), Trouble> {
        let Some(first) = points.first() else { return Ok(()) };
        self.ensure(first.dense.len()).await?;
        let points: Vec<Value> = points.iter().map(|point| row(point, at)).collect();
        let put = self.call("PUT", "/points?wait=true", &json!({ "points": points })).await;
        if matches!(&put, Err(trouble) if trouble.status == Some(404)) {
            // Somebody has dropped the collection: the next try makes it anew.
            self.set_ready(None);
        }
        done(&put?, "points")
    }

    /// Takes these memories out.
    pub async fn delete(&self, project_id: &str, memory_ids: &[String]) -> Result<(), Trouble> {
        if memory_ids.is_empty() {
            return Ok(());
        }
        self.delete_where(project_id, json!({ "key": "memory_id", "match": { "any": memory_ids } })).await
    }

    /// Takes out what was put there before this time and not since.
    pub async fn forget_before(&self, project_id: &str, at: i64) -> Result<(), Trouble> {
        self.delete_where(project_id, json!({ "key": "at", "range": { "lt": at } })).await
    }

    async fn delete_where(&self, project_id: &str, which: Value) -> Result<(), Trouble> {
        let filter = within(&[project_id.to_owned()], vec![which]);
        match self.call("POST", "/points/delete?wait=true", &json!({ "filter": filter })).await {
            // Where there is no collection there is nothing to take out.
            Err(trouble) if trouble.status == Some(404) => Ok(()),
            answer => done(&answer?, "a deletion"),
        }
    }

    /// How many points there are of these projects.
    pub async fn count(&self, projects: &[String]) -> Result<i64, Trouble> {
        let body = json!({ "filter": within(projects, Vec::new()), "exact": true });
        match self.call("POST", "/points/count", &body).await {
            Err(trouble) if trouble.status == Some(404) => Ok(0),
            answer => answer?["result"]["count"].as_i64().ok_or_else(|| odd("a count that is no number")),
        }
    }

    /// Points of these projects that fit, best first: project, memory, score. The vector of what is asked about is compared only
    /// with those of its own embedder, and only from the floor up.
    pub async fn query(
        &self,
        projects: &[String],
        words: &Sparse,
        about: Option<(&str, &[f32], Option<f32>)>,
    ) -> Result<Vec<(String, String, f64)>, Trouble> {
        let mut rankings = Vec::new();
        if !words.indices.is_empty() {
            let query = json!({ "indices": words.indices, "values": words.values });
            let filter = within(projects, Vec::new());
            rankings.push(json!({ "query": query, "using": WORDS, "filter": filter, "limit": LIMIT }));
        }
        if let Some((embedder, vector, floor)) =
            about.filter(|(_, vector, _)| vector.iter().any(|v| *v != 0.0))
        {
            let filter = within(projects, vec![json!({ "key": "embedder", "match": { "value": embedder } })]);
            let mut ranking = json!({ "query": vector, "using": ABOUT, "filter": filter, "limit": LIMIT });
            if let Some(floor) = floor {
                ranking["score_threshold"] = json!(floor);
            }
            rankings.push(ranking);
        }
        if rankings.is_empty() || projects.is_empty() {
            return Ok(Vec::new());
        }
        let body = json!({
            "prefetch": rankings, "query": { "fusion": "rrf" }, "filter": within(projects, Vec::new()),
            "limit": LIMIT, "with_payload": ["project_id", "memory_id"],
        });
        let answer = self.call("POST", "/points/query", &body).await;
        let answer = answer.map_err(|trouble| match trouble.status {
            Some(404) => self.missing(),
            _ => trouble,
        })?;
        hits(&answer)
    }

    /// Throws the collection away, if it is one of Baton's: what was in it is gone.
    pub async fn drop_collection(&self) -> Result<(), Trouble> {
        self.set_ready(None);
        match self.look(None).await {
            Err(trouble) if trouble.status == Some(404) => return Ok(()),
            seen => seen?,
        }
        match self.http.send("DELETE", &self.path(""), None, TIMEOUT).await {
            Err(trouble) if trouble.status == Some(404) => Ok(()),
            answer => answer.map(drop),
        }
    }

    /// Sees to it that the collection is there, for vectors of this dimension.
    async fn ensure(&self, dimension: usize) -> Result<(), Trouble> {
        if self.ready.lock().is_ok_and(|ready| *ready == Some(dimension)) {
            return Ok(());
        }
        if let Err(trouble) = self.look(Some(dimension)).await {
            if trouble.status != Some(404) {
                return Err(trouble);
            }
            match self.create(dimension).await {
                // Another server was faster: what it made is looked at.
                Err(trouble) if matches!(trouble.status, Some(400 | 409)) => {
                    self.look(Some(dimension)).await?
                }
                made => made?,
            }
        }
        // Both are there already where the collection is; saying so again changes nothing.
        for (field, kind) in [
            ("project_id", json!({ "type": "keyword", "is_tenant": true })),
            ("memory_id", json!("keyword")),
            ("at", json!("integer")),
        ] {
            let body = json!({ "field_name": field, "field_schema": kind });
            self.call("PUT", "/index?wait=true", &body).await?;
        }
        self.set_ready(Some(dimension));
        Ok(())
    }

    async fn create(&self, dimension: usize) -> Result<(), Trouble> {
        let body = json!({
            "vectors": { ABOUT: { "size": dimension, "distance": "Cosine" } },
            "sparse_vectors": { WORDS: { "modifier": "idf" } },
        });
        self.call("PUT", "", &body).await.map(drop)
    }

    /// Whether the collection is one that we would have made, for vectors of this dimension where one is wanted.
    async fn look(&self, dimension: Option<usize>) -> Result<(), Trouble> {
        let answer = self.http.send("GET", &self.path(""), None, TIMEOUT).await?;
        let params = &answer["result"]["config"]["params"];
        let (about, words) = (&params["vectors"][ABOUT], &params["sparse_vectors"][WORDS]);
        let size = about["size"].as_u64();
        let (what, hint) = if size.is_none() || words["modifier"] != "idf" || about["distance"] != "Cosine" {
            // Whose it is nobody knows: the advice must not cost somebody else's data.
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
        Err(Trouble {
            hint: Some(hint),
            ..Trouble::new(format!("Qdrant's collection `{}` {what}", self.collection))
        })
    }

    fn missing(&self) -> Trouble {
        let what = format!("Qdrant has no collection `{}`", self.collection);
        Trouble { hint: Some("`baton memory reindex --all` fills it from the ledger"), ..Trouble::new(what) }
    }

    fn path(&self, rest: &str) -> String {
        format!("{}/collections/{}{rest}", self.base, self.collection)
    }

    async fn call(&self, method: &str, rest: &str, body: &Value) -> Result<Value, Trouble> {
        self.http.send(method, &self.path(rest), Some(body), TIMEOUT).await
    }

    fn set_ready(&self, dimension: Option<usize>) {
        if let Ok(mut ready) = self.ready.lock() {
            *ready = dimension;
        }
    }
}

/// The filter of every call: these projects and no other, and what else is wanted.
fn within(projects: &[String], more: Vec<Value>) -> Value {
    let mut must = vec![json!({ "key": "project_id", "match": { "any": projects } })];
    must.extend(more);
    json!({ "must": must })
}

fn row(point: &Point, at: i64) -> Value {
    let mut vector = serde_json::Map::new();
    if !point.sparse.indices.is_empty() {
        vector
            .insert(WORDS.into(), json!({ "indices": point.sparse.indices, "values": point.sparse.values }));
    }
    // A vector of nothing but zeros points nowhere.
    if point.dense.iter().any(|value| *value != 0.0) {
        vector.insert(ABOUT.into(), json!(point.dense));
    }
    json!({
        "id": point_id(&point.project_id, &point.memory_id),
        "vector": vector,
        "payload": {
            "project_id": point.project_id, "memory_id": point.memory_id, "embedder": point.embedder, "at": at,
        },
    })
}

fn hits(answer: &Value) -> Result<Vec<(String, String, f64)>, Trouble> {
    let points = answer["result"]["points"].as_array().ok_or_else(|| odd("no list of points"))?;
    // A point without our payload is none of ours.
    let hit = |point: &Value| {
        let text = |key: &str| point["payload"][key].as_str().map(str::to_owned);
        Some((
            text("project_id")?,
            text("memory_id")?,
            point["score"].as_f64().filter(|score| score.is_finite())?,
        ))
    };
    Ok(points.iter().filter_map(hit).collect())
}

/// Whether a write was carried out.
fn done(answer: &Value, what: &str) -> Result<(), Trouble> {
    if answer["result"]["status"] == "completed" {
        Ok(())
    } else {
        Err(odd(&format!("{what} not carried out")))
    }
}

fn odd(what: &str) -> Trouble {
    Trouble::new(format!("Qdrant answers with {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_always_begins_with_the_projects() {
        let more = json!({ "key": "at", "range": { "lt": 1 } });
        let filter = within(&["p".into()], vec![more.clone()]);
        assert_eq!(filter, json!({ "must": [{ "key": "project_id", "match": { "any": ["p"] } }, more] }));
    }

    #[test]
    fn what_is_no_point_of_ours_is_no_hit() {
        let answer = json!({ "result": { "points": [
            { "score": 0.5, "payload": { "project_id": "p", "memory_id": "m" } },
            { "score": 0.9, "payload": { "memory_id": "m" } }, { "score": 0.9 },
            { "payload": { "project_id": "p", "memory_id": "n" } },
        ] } });
        assert_eq!(hits(&answer).expect("hits"), [("p".to_owned(), "m".to_owned(), 0.5)]);
        assert!(hits(&json!({ "result": 1 })).is_err());
        assert!(done(&json!({ "result": { "status": "acknowledged" } }), "points").is_err());
    }
}
