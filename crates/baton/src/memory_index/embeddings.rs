//! Vectors from an endpoint that speaks as OpenAI's `/v1/embeddings` does.

use std::time::Duration;

use reqwest::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::http::{Http, ServiceError};
use crate::config;
use crate::error::AppError;

/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(8);
/// The beginning of a text that is sent, in bytes. Models take about 8,000 tokens; what a longer text is about stands in its
/// beginning, and all its words are in the index of words.
const BEGINNING: usize = 16 * 1024;

/// The endpoint.
pub(super) struct Embeddings {
    http: Http,
    url: String,
    model: String,
}

impl Embeddings {
    /// The endpoint of the settings.
    pub(super) fn new(settings: &config::Embeddings) -> Result<Self, AppError> {
        let key = settings.key.as_ref().map(|key| ("authorization", format!("Bearer {key}")));
        let http = Http::new("the embeddings endpoint", key)?;
        Ok(Self { http, url: settings.url.clone(), model: settings.model.clone() })
    }

    /// A vector for each text, in their order, all of one dimension, from one request. No answer in time is trouble with the
    /// status that HTTP has for it.
    pub(super) async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ServiceError> {
        let input: Vec<&str> = texts.iter().map(|text| beginning(text)).collect();
        let request = Request { model: &self.model, input, encoding_format: "float" };
        let body = serde_json::to_value(request).map_err(|error| ServiceError::new(error.to_string()))?;
        let response = self.http.send("POST", &self.url, Some(&body), TIMEOUT * 2);
        let Ok(answer) = tokio::time::timeout(TIMEOUT, response).await else {
            let why = "the embeddings endpoint does not answer in time";
            return Err(ServiceError {
                status: Some(StatusCode::REQUEST_TIMEOUT.as_u16()),
                ..ServiceError::new(why)
            });
        };
        let all = vectors(&answer?, texts.len())?;
        let dimension = all.first().map_or(0, Vec::len);
        if all.iter().any(|vector| vector.len() != dimension) {
            return Err(odd("vectors of different lengths"));
        }
        Ok(all)
    }
}

fn beginning(text: &str) -> &str {
    let end = (0..=text.len().min(BEGINNING)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    // An empty input is refused by some.
    text.get(..end).filter(|text| !text.trim().is_empty()).unwrap_or("-")
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: Vec<&'a str>,
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Response {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    index: Option<usize>,
    embedding: Vec<f64>,
}

/// The vectors of an answer by the place that each names.
fn vectors(answer: &Value, wanted: usize) -> Result<Vec<Vec<f32>>, ServiceError> {
    let Ok(Response { data }) = Response::deserialize(answer) else { return Err(odd("no list of vectors")) };
    let mut all: Vec<Option<Vec<f32>>> = vec![None; wanted];
    for (place, one) in data.into_iter().enumerate() {
        let place = one.index.unwrap_or(place);
        let numbers: Option<Vec<f32>> = one.embedding.into_iter().map(number).collect();
        let whole = numbers.filter(|numbers| !numbers.is_empty());
        match (all.get_mut(place), whole) {
            (Some(free @ None), Some(vector)) => *free = Some(vector),
            _ => return Err(odd("vectors that do not belong to the texts")),
        }
    }
    all.into_iter().collect::<Option<Vec<_>>>().ok_or_else(|| odd("fewer vectors than texts"))
}

#[allow(clippy::cast_possible_truncation, reason = "a vector's numbers need no more than f32 has")]
fn number(value: f64) -> Option<f32> {
    Some(value as f32).filter(|number| number.is_finite())
}

fn odd(what: &str) -> ServiceError {
    ServiceError::new(format!("the embeddings endpoint answers with {what}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn vectors_come_in_the_order_of_the_texts() {
        let answer =
            json!({ "data": [{ "index": 1, "embedding": [0.0, 1] }, { "index": 0, "embedding": [1, 0.5] }] });
        assert_eq!(vectors(&answer, 2).expect("vectors"), [vec![1.0, 0.5], vec![0.0, 1.0]]);
    }

    #[test]
    fn an_odd_answer_is_trouble_and_nothing_is_guessed() {
        for answer in [
            json!({}),
            json!({ "data": [] }),
            json!({ "data": [{ "index": 0, "embedding": [] }] }),
            json!({ "data": [{ "index": 0, "embedding": [1, null] }] }),
            json!({ "data": [{ "index": 7, "embedding": [1] }] }),
            json!({ "data": [{ "index": 0, "embedding": [1] }, { "index": 0, "embedding": [1] }] }),
            json!({ "data": [{ "index": 0, "embedding": "AAAA" }] }),
        ] {
            assert!(vectors(&answer, 1).is_err(), "{answer}");
        }
    }

    #[test]
    fn a_long_text_is_sent_up_to_a_whole_sign() {
        assert_eq!(beginning(&"ä".repeat(20_000)).len(), BEGINNING);
        assert_eq!(
            (beginning(&format!("a{}", "ä".repeat(20_000))).len(), beginning(" ")),
            (BEGINNING - 1, "-")
        );
    }
}
