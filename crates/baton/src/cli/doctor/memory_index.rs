//! Checks of the memory index: whether the external services answer, and whether they have what the ledger has.

use std::fmt;

use baton_model::effect::Adapter;
use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};

use baton_store::{memory, outbox, project, vector};
use serde::Serialize;

use crate::app::App;
use crate::error::AppError;
use crate::memory_index::{IndexServices, ServiceError};

/// How the memory index stands.
#[derive(Serialize)]
pub(crate) struct Report {
    embedder: String,
    memories: i64,
    /// Memories that have no vector yet.
    without_vector: i64,
    /// Changes that wait to be indexed.
    to_do: i64,
    /// Why the last try failed.
    trouble: Option<String>,
    /// The endpoint that makes vectors, where one is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    embeddings: Option<Embeddings>,
    /// The vector database: `null` where none is set, left out where nothing outside is.
    #[serde(skip_serializing_if = "Option::is_none")]
    qdrant: Option<Option<Qdrant>>,
}

/// Whether the endpoint that makes vectors answers.
#[derive(Serialize)]
#[serde(untagged)]
enum Embeddings {
    Well { answers: bool, dimension: Option<usize> },
    IndexFault(IndexFault),
}

/// Whether the vector database answers, and has what the ledger has.
#[derive(Serialize)]
#[serde(untagged)]
enum Qdrant {
    Well { answers: bool, version: String, points: i64, agrees: bool },
    IndexFault(IndexFault),
}

/// What does not answer, and what to do about it.
#[derive(Serialize)]
struct IndexFault {
    answers: bool,
    trouble: String,
    hint: Option<&'static str>,
}

impl From<ServiceError> for IndexFault {
    fn from(trouble: ServiceError) -> Self {
        Self { answers: false, trouble: trouble.why, hint: trouble.hint }
    }
}

impl fmt::Display for IndexFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.trouble))?;
        self.hint.map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

/// How the memory index stands. Behind a server it is the server's, and nothing is said of it.
pub(crate) fn report(app: &mut App) -> Result<Option<Report>, AppError> {
    if app.config.server.is_some() {
        return Ok(None);
    }
    let embedder = app.config.memory_index.setup().embedder().to_owned();
    let (projects, memories, without_vector, to_do, trouble) = app.store()?.read(|tx| {
        let projects: Vec<String> = project::list(tx)?.into_iter().map(|p| p.project_id).collect();
        let (memories, lacking) = (memory::count(tx)?, vector::lack_count(tx, &embedder)?);
        Ok((
            projects,
            memories,
            lacking,
            outbox::pending(tx, Adapter::MemoryIndex)?,
            outbox::last_error(tx, Adapter::MemoryIndex)?,
        ))
    })?;
    let mut report =
        Report { embedder, memories, without_vector, to_do, trouble, embeddings: None, qdrant: None };
    let Some(outside) = app.machine.index_services()? else { return Ok(Some(report)) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if outside.has_endpoint() {
        report.embeddings = Some(match runtime.block_on(outside.embed(&["baton".to_owned()])) {
            Ok(vectors) => {
                let dimension = vectors.first().map(baton_model::memory_index::QuantizedVector::dimension);
                Embeddings::Well { answers: true, dimension }
            }
            Err(trouble) => Embeddings::IndexFault(trouble.into()),
        });
    }
    report.qdrant = Some(runtime.block_on(qdrant(&outside, &projects, memories)));
    Ok(Some(report))
}

async fn qdrant(outside: &IndexServices, projects: &[String], memories: i64) -> Option<Qdrant> {
    let qdrant = outside.qdrant()?;
    let counted = async {
        Ok::<_, ServiceError>((qdrant.version().await?, qdrant.check().await?, qdrant.count(projects).await?))
    };
    Some(match counted.await {
        Ok((version, (), points)) => {
            Qdrant::Well { answers: true, version, points, agrees: points == memories }
        }
        Err(trouble) => Qdrant::IndexFault(trouble.into()),
    })
}

impl Report {
    /// Whether neither service needs attention.
    pub(crate) fn is_well(&self) -> bool {
        !matches!(self.embeddings, Some(Embeddings::IndexFault(_)))
            && !matches!(self.qdrant, Some(Some(Qdrant::IndexFault(_) | Qdrant::Well { agrees: false, .. })))
    }

    /// Lines of the report; none with the default settings and no finding.
    pub(crate) fn text(&self) -> String {
        let mut lines = Vec::new();
        let (lacking, memories) = (self.without_vector, self.memories);
        if lacking > 0 {
            lines.push(format!(
                "{lacking} of {memories} memories have no vector yet: `baton memory reindex --all`"
            ));
        }
        if self.to_do > 0 {
            let why = self.trouble.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
            lines.push(format!("{} changes wait to be indexed{why}", self.to_do));
        }
        lines.extend(self.embeddings.as_ref().map(|endpoint| match endpoint {
            Embeddings::Well { dimension, .. } => {
                let numbers = dimension.unwrap_or_default();
                format!("embeddings: {} answers, {numbers} numbers", visible(&self.embedder))
            }
            Embeddings::IndexFault(amiss) => amiss.to_string(),
        }));
        lines.extend(self.qdrant.iter().flatten().map(|qdrant| match qdrant {
            Qdrant::Well { version, points, agrees: true, .. } => {
                format!("Qdrant {}: {points} points, as many as memories", visible(version))
            }
            Qdrant::Well { version, points, .. } => format!(
                "Qdrant {}: {points} points for {memories} memories: `baton memory reindex --all`",
                visible(version)
            ),
            Qdrant::IndexFault(amiss) => amiss.to_string(),
        }));
        let lines: Vec<String> = lines.into_iter().map(|line| format!("  {line}\n")).collect();
        if lines.is_empty() { String::new() } else { format!("recall\n{}", lines.concat()) }
    }
}

/// Throws the collection away, so that it can be filled anew.
pub(crate) fn drop_collection(app: &App) -> Result<(), AppError> {
    let outside = app.machine.index_services()?;
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
