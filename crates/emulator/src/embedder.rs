//! An endpoint for embeddings as OpenAI's is, in one process. Words that mean the same have the same vector, so that a test can tell
//! meaning from spelling.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::answer::{Answer, ok};
use crate::http::Request;
use crate::service::Service;
use crate::{Script, lock};

/// Words of one meaning each; a text points to the meanings of its words.
const MEANINGS: [&[&str]; 4] = [
    &["car", "automobile", "vehicle"],
    &["doctor", "physician", "medic"],
    &["begin", "start", "commence"],
    &["money", "cash", "funds"],
];

struct Shared {
    asked: Mutex<Vec<Value>>,
    dimension: usize,
}

/// A running endpoint; it ends when it is dropped.
pub struct Embedder {
    shared: Arc<Shared>,
    service: Service,
}

impl Embedder {
    /// Starts one on a free port of this machine, whose vectors have so many numbers, at least five.
    pub fn start(dimension: usize) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let dimension = dimension.max(MEANINGS.len() + 1);
        let shared = Arc::new(Shared { asked: Mutex::default(), dimension });
        let serving = Arc::clone(&shared);
        let service =
            Service::start(listener, (Duration::ZERO, None), move |request| answered(request, &serving))?;
        Ok(Self { shared, service })
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.service.address())
    }

    /// The body of every request.
    pub fn requests(&self) -> Vec<Value> {
        lock(&self.shared.asked).clone()
    }

    /// Replaces the scripted failures.
    pub fn script(&self, script: Option<Script>) {
        self.service.script(script);
    }
}

fn answered(request: &Request, shared: &Shared) -> Answer {
    lock(&shared.asked).push(request.body.clone());
    let (model, input) = (&request.body["model"], request.body["input"].as_array());
    let texts: Option<Vec<&str>> = input.map(|list| list.iter().filter_map(Value::as_str).collect());
    match (request.method.as_str(), request.path.as_str(), texts) {
        ("POST", "/v1/embeddings", Some(texts)) if model.is_string() && !texts.is_empty() => {
            let row = |(index, text): (usize, &&str)| json!({ "object": "embedding", "index": index, "embedding": meaning(text, shared.dimension) });
            let data: Vec<Value> = texts.iter().enumerate().map(row).collect();
            ok(
                200,
                json!({ "object": "list", "data": data, "model": model, "usage": { "prompt_tokens": 1, "total_tokens": 1 } }),
            )
        }
        _ => ok(
            400,
            json!({ "error": { "message": "that is no request for embeddings", "type": "invalid_request_error" } }),
        ),
    }
}

fn meaning(text: &str, dimension: usize) -> Vec<f64> {
    let mut vector = vec![0.0; dimension];
    for word in text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase) {
        let known = MEANINGS.iter().position(|same| same.contains(&word.as_str()));
        // What has no meaning here is all one.
        if let Some(value) = vector.get_mut(known.unwrap_or(dimension - 1)) {
            *value += if known.is_some() { 1.0 } else { 0.1 };
        }
    }
    vector
}
