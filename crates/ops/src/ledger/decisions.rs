//! `decision_list`: what was decided, the newest first, of one project or of all.

use baton_model::delta::{Delta, Row};
use baton_model::refusal::Refusal;
use baton_model::time::Millis;
use baton_store::{Failure, delta};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Meta, Operation};
use crate::page::{page_size, row_limit};
use crate::project::VisibleProjects;

/// Decisions of a page where no number was given, and the most of any.
const PAGE: usize = 50;
const MOST: usize = 200;

/// Lists decisions.
pub struct Decisions;

/// Input of `decision_list`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecisionsInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Those of all projects.
    #[serde(default)]
    pub all: bool,
    /// At most so many, 200 at the most; 50 when it is left out.
    #[serde(default)]
    pub limit: Option<i64>,
    /// `next` of the page before.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// Answer of `decision_list`.
#[derive(Serialize, Deserialize)]
pub struct DecisionsOutput {
    /// The project; none where it is about all.
    pub project_id: Option<String>,
    /// The rows of this page, the newest first, each with its reason and what was rejected.
    pub items: Vec<Row>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<String>,
}

impl Operation for Decisions {
    const META: Meta = Meta::read("decision_list", "List what was decided, in one project or in all");
    type Input = DecisionsInput;
    type Output = DecisionsOutput;

    fn run(input: DecisionsInput, cx: &mut Cx<'_>) -> Result<DecisionsOutput, Failure> {
        let from = input.cursor.as_deref().map_or(Ok(Position::default()), Position::parse)?;
        let limit = page_size(input.limit, PAGE, MOST);
        let visible = VisibleProjects::read(cx, input.project.as_deref(), input.all)?;
        let mut found = cx.store.read(|tx| {
            let mut found = Vec::new();
            for project_id in visible.ids() {
                let before = from.within(project_id);
                found.extend(delta::decisions_before(tx, project_id, before, row_limit(limit + 1))?);
            }
            Ok(found)
        })?;
        found.sort_by(|one, other| Position::of(one).cmp_newest_first(&Position::of(other)));
        let is_more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| is_more).map(|last| Position::of(last).to_string());
        let items = found.iter().map(Delta::row).collect();
        Ok(DecisionsOutput { project_id: visible.only, items, next })
    }
}

/// A place in the list. Of one instant the projects come in the order of their ids.
struct Position {
    at: Millis,
    project_id: String,
    seq: i64,
}

impl Default for Position {
    /// Before all that there is.
    fn default() -> Self {
        Self { at: i64::MAX, project_id: String::new(), seq: i64::MAX }
    }
}

impl Position {
    fn of(delta: &Delta) -> Self {
        Self { at: delta.created_at, project_id: delta.project_id.clone(), seq: delta.seq }
    }

    fn parse(text: &str) -> Result<Self, Refusal> {
        let parts = text.splitn(3, '_').collect::<Vec<_>>();
        let position = match parts.as_slice() {
            [at, seq, project_id] => at.parse().ok().zip(seq.parse().ok()).map(|(at, seq)| Self {
                at,
                project_id: (*project_id).to_owned(),
                seq,
            }),
            _ => None,
        };
        position.ok_or_else(|| {
            let what = format!("`{}` is no cursor", baton_model::id::visible(text));
            Refusal::invalid("cursor_invalid", what, "give `next` of the page before as it came")
        })
    }

    /// Before which instant, and of that instant before which number, a project goes on.
    fn within(&self, project_id: &str) -> (Millis, i64) {
        let seq = match project_id.cmp(self.project_id.as_str()) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => self.seq,
            std::cmp::Ordering::Greater => i64::MAX,
        };
        (self.at, seq)
    }

    fn cmp_newest_first(&self, other: &Self) -> std::cmp::Ordering {
        let by_time = other.at.cmp(&self.at);
        by_time.then_with(|| self.project_id.cmp(&other.project_id)).then_with(|| other.seq.cmp(&self.seq))
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}_{}_{}", self.at, self.seq, self.project_id)
    }
}
