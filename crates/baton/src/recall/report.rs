//! What `baton doctor` says of recall: whether those outside answer, and whether they have what the ledger has.

use baton_model::refusal::{Kind, Refusal};
use baton_ops::recall::ADAPTER;
use baton_store::{memory, outbox, project, vector};
use serde_json::{Value, json};

use super::{Outside, Trouble};
use crate::app::App;
use crate::error::Ended;
use crate::render;

/// How recall stands. Behind a server it is the server's, and nothing is said of it.
pub fn report(app: &mut App) -> Result<Option<Value>, Ended> {
    if app.config.server.is_some() {
        return Ok(None);
    }
    let embedder = app.config.recall.setup().embedder().to_owned();
    let (projects, memories, lacking, to_do, why) = app.store()?.read(|tx| {
        let projects: Vec<String> = project::list(tx)?.into_iter().map(|p| p.project_id).collect();
        let (memories, lacking) = (memory::count(tx)?, vector::lack_count(tx, &embedder)?);
        Ok((projects, memories, lacking, outbox::pending(tx, ADAPTER)?, outbox::trouble(tx, ADAPTER)?))
    })?;
    let mut report = json!({
        "embedder": embedder, "memories": memories, "without_vector": lacking, "to_do": to_do, "trouble": why,
    });
    let Some(outside) = app.machine.outside()? else { return Ok(Some(report)) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if outside.has_endpoint() {
        let asked = runtime.block_on(outside.embed(&["baton".to_owned()]));
        report["embeddings"] = match asked {
            Ok(vectors) => {
                json!({ "answers": true, "dimension": vectors.first().map(baton_model::recall::QuantizedVector::dimension) })
            }
            Err(trouble) => told(&trouble),
        };
    }
    report["qdrant"] = runtime.block_on(qdrant(&outside, &projects, memories));
    Ok(Some(report))
}

async fn qdrant(outside: &Outside, projects: &[String], memories: i64) -> Value {
    let Some(qdrant) = outside.qdrant() else { return Value::Null };
    let counted = async {
        Ok::<_, Trouble>((qdrant.version().await?, qdrant.check().await?, qdrant.count(projects).await?))
    };
    match counted.await {
        Ok((version, (), points)) => {
            json!({ "answers": true, "version": version, "points": points, "agrees": points == memories })
        }
        Err(trouble) => told(&trouble),
    }
}

fn told(trouble: &Trouble) -> Value {
    json!({ "answers": false, "trouble": trouble.why, "hint": trouble.hint })
}

/// Whether there is nothing for anybody to do about it.
pub fn is_well(report: Option<&Value>) -> bool {
    let Some(report) = report else { return true };
    report["qdrant"]["answers"] != false
        && report["qdrant"]["agrees"] != false
        && report["embeddings"]["answers"] != false
}

/// The lines of a report; none where recall is as it comes and all is well.
pub fn show(report: &Value) -> String {
    let number = |key: &str| report[key].as_i64().unwrap_or_default();
    let mut lines = Vec::new();
    let lacking = number("without_vector");
    if lacking > 0 {
        lines.push(format!(
            "{lacking} of {} memories have no vector yet: `baton memory reindex --all`",
            number("memories")
        ));
    }
    if number("to_do") > 0 {
        let why = report["trouble"].as_str().map(|why| format!(" ({why})")).unwrap_or_default();
        lines.push(format!("{} changes wait to be indexed{why}", number("to_do")));
    }
    let part = |key: &str| Some(&report[key]).filter(|part| part.is_object());
    if let Some(endpoint) = part("embeddings") {
        lines.push(match endpoint["dimension"].as_i64() {
            Some(numbers) => {
                format!("embeddings: {} answers, {numbers} numbers", render::text(report, "embedder"))
            }
            None => amiss(endpoint),
        });
    }
    if let Some(qdrant) = part("qdrant") {
        lines.push(match (qdrant["points"].as_i64(), qdrant["agrees"] == true) {
            (Some(points), true) => {
                format!("Qdrant {}: {points} points, as many as memories", render::text(qdrant, "version"))
            }
            (Some(points), false) => format!(
                "Qdrant {}: {points} points for {} memories: `baton memory reindex --all`",
                render::text(qdrant, "version"),
                number("memories")
            ),
            (None, _) => amiss(qdrant),
        });
    }
    let lines: Vec<String> = lines.into_iter().map(|line| format!("  {line}\n")).collect();
    if lines.is_empty() { String::new() } else { format!("recall\n{}", lines.concat()) }
}

fn amiss(part: &Value) -> String {
    let hint = part["hint"].as_str().map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("{}{hint}", render::text(part, "trouble"))
}

/// Throws the collection away, so that it can be filled anew.
pub fn drop_collection(app: &App) -> Result<(), Ended> {
    let outside = app.machine.outside()?;
    let Some(qdrant) = outside.as_ref().and_then(|outside| outside.qdrant()) else {
        let what = "no Qdrant is set, so there is no collection to make anew";
        let hint = "set BATON_QDRANT_URL, or leave --fresh away";
        return Err(Refusal::new(Kind::Refused, "qdrant_unconfigured", what, hint).into());
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(qdrant.drop_collection()).map_err(|trouble| {
        let hint = trouble.hint.unwrap_or("`baton doctor` says whether it answers");
        Refusal::new(Kind::Outside, "qdrant_unreachable", trouble.why, hint).into()
    })
}
