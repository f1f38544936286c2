//! Qdrant in one process, as much of it as Baton calls: collections, points with a sparse and a dense vector, filters, fusion. Every
//! request is held against Qdrant's own description, and so is every answer; what is not as described is refused and remembered.

mod described;
mod points;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::{Value, json};

use crate::answer::{Answer, ok};
use crate::http::Request;
use crate::service::Service;
use crate::{Script, lock};
use described::ApiDescription;
pub use points::Collection;

/// What it holds.
#[derive(Default)]
pub struct Points {
    /// Collections by name.
    pub collections: BTreeMap<String, Collection>,
    /// What was not as Qdrant's description says, in a sentence each.
    pub complaints: Vec<String>,
    /// Every request, as method and path.
    pub calls: Vec<(String, String)>,
}

struct Shared {
    points: Mutex<Points>,
    described: ApiDescription,
    key: Option<String>,
}

/// A running stand-in for Qdrant; it ends when it is dropped.
pub struct Qdrant {
    shared: Arc<Shared>,
    service: Service,
}

impl Qdrant {
    /// Starts an empty one on a free port of this machine, which takes only calls with this key, if there is one.
    pub fn start(key: Option<&str>) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let shared = Arc::new(Shared {
            points: Mutex::default(),
            described: ApiDescription::read(),
            key: key.map(str::to_owned),
        });
        let serving = Arc::clone(&shared);
        let service =
            Service::start(listener, (Duration::ZERO, None), move |request| answered(request, &serving))?;
        Ok(Self { shared, service })
    }

    /// Where it listens, as a URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.service.address())
    }

    /// What it holds.
    pub fn points(&self) -> MutexGuard<'_, Points> {
        lock(&self.shared.points)
    }

    /// Replaces the scripted failures.
    pub fn script(&self, script: Option<Script>) {
        self.service.script(script);
    }
}

fn answered(request: &Request, shared: &Shared) -> Answer {
    let mut points = lock(&shared.points);
    points.calls.push((request.method.clone(), request.path.clone()));
    if shared.key.is_some() && request.headers.get("api-key") != shared.key.as_ref() {
        return refused(401, "Must provide an API key or an Authorization bearer token");
    }
    let Some(operation) = shared.described.operation(&request.method, &request.path) else {
        points.complaints.push(format!("{} {} is not described", request.method, request.path));
        return refused(404, "no such path");
    };
    let complaints = shared.described.of_request(operation, request);
    if !complaints.is_empty() {
        let message = complaints.join("; ");
        points.complaints.extend(complaints);
        return refused(400, &message);
    }
    let answer = call(request, &mut points);
    if answer.status == 200 {
        let complaints = shared.described.of_answer(operation, &answer.body);
        points.complaints.extend(complaints);
    }
    answer
}

fn call(request: &Request, points: &mut Points) -> Answer {
    let parts: Vec<&str> = request.path.split('/').filter(|part| !part.is_empty()).collect();
    let body = &request.body;
    match (request.method.as_str(), parts.as_slice()) {
        ("GET", []) => {
            ok(200, json!({ "title": "qdrant - vector search engine", "version": "0.0.0-stand-in" }))
        }
        ("PUT", ["collections", name]) if points.collections.contains_key(*name) => {
            refused(409, &format!("Wrong input: Collection `{name}` already exists!"))
        }
        ("PUT", ["collections", name]) => {
            points.collections.insert((*name).to_owned(), Collection::new(body));
            acknowledged(json!(true))
        }
        ("DELETE", ["collections", name]) => acknowledged(json!(points.collections.remove(*name).is_some())),
        (method, ["collections", name, rest @ ..]) => match points.collections.get_mut(*name) {
            None => refused(404, &format!("Not found: Collection `{name}` doesn't exist!")),
            Some(collection) => of_collection(method, rest, body, collection),
        },
        _ => refused(404, "no such path"),
    }
}

fn of_collection(method: &str, rest: &[&str], body: &Value, collection: &mut Collection) -> Answer {
    let written = json!({ "operation_id": 1, "status": "completed" });
    let result = match (method, rest) {
        ("GET", []) => Ok(collection.info()),
        ("PUT", ["index"]) => Ok(written),
        ("PUT", ["points"]) => collection.upsert(body).map(|()| written),
        ("POST", ["points", "delete"]) => collection.delete(body).map(|()| written),
        ("POST", ["points", "count"]) => collection.count(body).map(|count| json!({ "count": count })),
        ("POST", ["points", "query"]) => collection.query(body),
        _ => return refused(404, "no such path"),
    };
    match result {
        Ok(result) => acknowledged(result),
        Err(why) => refused(400, &why),
    }
}

fn acknowledged(result: Value) -> Answer {
    ok(200, json!({ "result": result, "status": "ok", "time": 0.001 }))
}

/// A refusal as Qdrant words it.
fn refused(status: u16, why: &str) -> Answer {
    ok(status, json!({ "status": { "error": why }, "time": 0.001 }))
}
