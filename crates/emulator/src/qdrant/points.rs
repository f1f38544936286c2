//! A collection: points in memory, and how they rank.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// A point: its vectors by name and its payload.
#[derive(Debug, Clone)]
struct Point {
    vector: Value,
    payload: Map<String, Value>,
}

/// A collection with the vectors that it was made for.
#[derive(Debug, Clone)]
pub struct Collection {
    /// What it was made with.
    made: Value,
    points: BTreeMap<String, Point>,
}

impl Collection {
    /// A collection created with these parameters.
    pub fn new(made: &Value) -> Self {
        Self { made: made.clone(), points: BTreeMap::new() }
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Inserts a point without any validation, as another client with the key could.
    pub fn plant(&mut self, id: &str, vector: Value, payload: Map<String, Value>) {
        self.points.insert(id.to_owned(), Point { vector, payload });
    }

    /// The payload of every point.
    pub fn payloads(&self) -> Vec<Map<String, Value>> {
        self.points.values().map(|point| point.payload.clone()).collect()
    }

    pub(super) fn info(&self) -> Value {
        json!({
            "status": "green", "optimizer_status": "ok", "segments_count": 1, "points_count": self.points.len(),
            "payload_schema": {},
            "config": {
                "params": { "vectors": self.made["vectors"], "sparse_vectors": self.made["sparse_vectors"] },
                "hnsw_config": { "m": 16, "ef_construct": 100, "full_scan_threshold": 10_000 },
                "optimizer_config": { "default_segment_number": 0, "flush_interval_sec": 5 },
            },
        })
    }

    pub(super) fn upsert(&mut self, body: &Value) -> Result<(), String> {
        let points = body["points"].as_array().ok_or("only lists of points are understood here")?;
        for point in points {
            for (name, vector) in point["vector"].as_object().into_iter().flatten() {
                self.check(name, vector)?;
            }
        }
        for point in points {
            let id = point["id"].as_str().ok_or("only UUIDs are understood here")?;
            let payload = point["payload"].as_object().cloned().unwrap_or_default();
            self.points.insert(id.to_owned(), Point { vector: point["vector"].clone(), payload });
        }
        Ok(())
    }

    fn check(&self, name: &str, vector: &Value) -> Result<(), String> {
        if let Some(numbers) = vector.as_array() {
            let wanted = self.made["vectors"][name]["size"].as_u64();
            let wanted = wanted.ok_or(format!("Wrong input: Not existing vector name error: {name}"))?;
            if u64::try_from(numbers.len()) != Ok(wanted) {
                return Err(format!(
                    "Wrong input: Vector dimension error: expected dim: {wanted}, got {}",
                    numbers.len()
                ));
            }
            return Ok(());
        }
        if self.made["sparse_vectors"].get(name).is_none() {
            return Err(format!("Wrong input: Not existing vector name error: {name}"));
        }
        let (indices, values) = (numbers(&vector["indices"]), numbers(&vector["values"]));
        let mut sorted = indices.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        if indices.len() != values.len() || sorted.len() != indices.len() {
            return Err(
                "Wrong input: Validation error: sparse indices are not unique, or not as many as values"
                    .into(),
            );
        }
        Ok(())
    }

    pub(super) fn delete(&mut self, body: &Value) -> Result<(), String> {
        let filter = &body["filter"];
        if !filter.is_object() {
            return Err("only deletion by filter is understood here".into());
        }
        self.points.retain(|_, point| !fits(filter, point));
        Ok(())
    }

    pub(super) fn count(&self, body: &Value) -> Result<usize, String> {
        Ok(self.points.values().filter(|point| fits(&body["filter"], point)).count())
    }

    pub(super) fn query(&self, body: &Value) -> Result<Value, String> {
        if body["query"]["fusion"] != "rrf" {
            return Err("only fusion by rank is understood here".into());
        }
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        for wanted in body["prefetch"].as_array().into_iter().flatten() {
            for (place, (id, _)) in self.ranking(wanted)?.into_iter().enumerate() {
                #[allow(clippy::cast_precision_loss, reason = "places are few")]
                let share = 1.0 / (place as f64 + 2.0);
                *sums.entry(id).or_default() += share;
            }
        }
        let mut all: Vec<(&str, f64)> = sums.into_iter().collect();
        all.retain(|(id, _)| self.points.get(*id).is_some_and(|point| fits(&body["filter"], point)));
        all.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        all.truncate(limit(body));
        let row = |(id, score): (&str, f64)| json!({ "id": id, "version": 1, "score": score, "payload": self.view(id, &body["with_payload"]) });
        Ok(json!({ "points": all.into_iter().map(row).collect::<Vec<_>>() }))
    }

    fn view(&self, id: &str, wanted: &Value) -> Value {
        let keys = wanted.as_array().into_iter().flatten().filter_map(Value::as_str);
        let payload = self.points.get(id).map(|point| &point.payload);
        keys.filter_map(|key| Some((key.to_owned(), payload?.get(key)?.clone())))
            .collect::<Map<_, _>>()
            .into()
    }

    fn ranking(&self, wanted: &Value) -> Result<Vec<(&str, f64)>, String> {
        let name = wanted["using"].as_str().unwrap_or_default();
        self.check(name, &wanted["query"])?;
        let query = vector(&wanted["query"]);
        let rarity = self.rarity(name);
        let floor = wanted["score_threshold"].as_f64().unwrap_or(f64::MIN);
        let mut all = Vec::new();
        for (id, point) in self.points.iter().filter(|(_, point)| fits(&wanted["filter"], point)) {
            let Some(stored) = point.vector.get(name).filter(|stored| !stored.is_null()) else { continue };
            let score = if wanted["query"].is_array() {
                cosine(&query, &vector(stored))
            } else {
                let stored = vector(stored);
                let both = query.iter().filter_map(|(at, a)| Some((at, a * stored.get(at)?)));
                let shared: Vec<f64> =
                    both.map(|(at, product)| product * rarity.get(at).copied().unwrap_or(1.0)).collect();
                if shared.is_empty() {
                    continue;
                }
                shared.into_iter().sum()
            };
            if score >= floor {
                all.push((id.as_str(), score));
            }
        }
        all.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        all.truncate(limit(wanted));
        Ok(all)
    }

    /// How rare each term is among all points of the collection, where the vector asks for that.
    #[allow(clippy::cast_precision_loss, reason = "points are few")]
    fn rarity(&self, name: &str) -> BTreeMap<u64, f64> {
        if self.made["sparse_vectors"][name]["modifier"] != "idf" {
            return BTreeMap::new();
        }
        let matching: Vec<_> =
            self.points.values().filter_map(|point| point.vector.get(name)).map(vector).collect();
        let mut counts: BTreeMap<u64, f64> = BTreeMap::new();
        matching.iter().flat_map(BTreeMap::keys).for_each(|at| *counts.entry(*at).or_default() += 1.0);
        let all = matching.len() as f64;
        counts.into_iter().map(|(at, count)| (at, ((all - count + 0.5) / (count + 0.5) + 1.0).ln())).collect()
    }
}

fn limit(body: &Value) -> usize {
    body["limit"].as_u64().and_then(|limit| usize::try_from(limit).ok()).unwrap_or(10)
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

/// A vector as place and number.
fn vector(value: &Value) -> BTreeMap<u64, f64> {
    if value.is_array() {
        return (0..).zip(numbers(value)).collect();
    }
    let places = value["indices"].as_array().into_iter().flatten().filter_map(Value::as_u64);
    places.zip(numbers(&value["values"])).collect()
}

fn cosine(a: &BTreeMap<u64, f64>, b: &BTreeMap<u64, f64>) -> f64 {
    let length = |v: &BTreeMap<u64, f64>| v.values().map(|x| x * x).sum::<f64>().sqrt();
    let dot: f64 = a.iter().filter_map(|(at, x)| Some(x * b.get(at)?)).sum();
    let lengths = length(a) * length(b);
    if lengths > 0.0 { dot / lengths } else { 0.0 }
}

/// Whether every condition of a filter holds; without a filter, all fit.
fn fits(filter: &Value, point: &Point) -> bool {
    filter["must"].as_array().into_iter().flatten().all(|condition| {
        let field = condition["key"].as_str().and_then(|key| point.payload.get(key)).unwrap_or(&Value::Null);
        let any = condition["match"]["any"].as_array().is_none_or(|any| any.contains(field));
        let value = condition["match"].get("value").is_none_or(|value| value == field);
        let below =
            condition["range"]["lt"].as_f64().is_none_or(|lt| field.as_f64().is_some_and(|at| at < lt));
        any && value && below
    })
}
