//! `thread_show`: the sessions that a piece of work went through, as one story.

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_store::{Failure, Tx, baton, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::story::{ThreadSession, story};
use crate::op::{Cx, Meta, Operation};
use crate::page::{Position, page_size};
use crate::project::VisibleProjects;
use crate::resolve;

/// The most sessions in one answer.
const MAX_PAGE: usize = 100;

/// Shows a thread.
pub struct Show;

/// Input of `thread_show`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowInput {
    /// Id of the thread, of one of its sessions or of one of its batons, or a unique prefix of it.
    pub id: String,
    /// Project id; else it is looked for in all that the caller reaches.
    #[serde(default)]
    pub project: Option<String>,
    /// At most so many sessions, the newest, 100 at the most; 30 when it is left out.
    #[serde(default)]
    pub limit: Option<i64>,
    /// `next` of the page before: the sessions before those.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// Answer of `thread_show`.
#[derive(Serialize, Deserialize)]
pub struct ShowOutput {
    /// The project.
    pub project_id: String,
    /// The thread.
    pub thread_id: String,
    /// What it is about: the words of its newest baton, else of its last checkpoint.
    pub title: String,
    /// Its sessions, the earliest first.
    pub sessions: Vec<ThreadSession>,
    /// Cursor for the sessions before these; absent where there is none.
    pub next: Option<String>,
}

impl Operation for Show {
    const META: Meta = Meta::read(
        "thread_show",
        "Show the sessions that a piece of work went through, with what was done in each",
    );
    type Input = ShowInput;
    type Output = ShowOutput;

    fn run(input: ShowInput, cx: &mut Cx<'_>) -> Result<ShowOutput, Failure> {
        let limit = page_size(input.limit, 30, MAX_PAGE);
        let before =
            input.cursor.as_deref().map(Position::parse).transpose()?.unwrap_or_else(Position::newest);
        let visible = VisibleProjects::read(cx, input.project.as_deref(), input.project.is_none())?;
        let Cx { store, env } = cx;
        store.read(|tx| {
            let reaches = |id: &str| env.caller.grant.reaches(id) && visible.contains(id);
            let found = find(tx, &input.id, reaches)?;
            let story = story(tx, env, (&found.project_id, &found.thread_id), (&before, limit))?;
            Ok(ShowOutput {
                project_id: found.project_id,
                thread_id: found.thread_id,
                title: story.title,
                sessions: story.sessions,
                next: story.next,
            })
        })
    }
}

/// What an id names.
pub(crate) struct ThreadRef {
    pub(crate) project_id: String,
    pub(crate) thread_id: String,
    /// The baton, where it is one's id.
    pub(crate) baton_id: Option<String>,
}

/// Finds the thread that an id of a baton, of a session or of the thread itself leads to. A thread has the id of its first
/// session.
pub(crate) fn find(tx: &mut Tx<'_>, id: &str, reaches: impl Fn(&str) -> bool) -> Result<ThreadRef, Failure> {
    let batons =
        resolve::object_by_prefix(tx, ("baton", id), baton::by_prefix_everywhere, &reaches, unknown_refusal);
    let sessions =
        resolve::object_by_prefix(tx, ("session", id), session::by_prefix, &reaches, unknown_refusal);
    match (batons, sessions) {
        (Ok((project_id, baton_id)), Err(_)) => {
            let of = baton::get(tx, &project_id, &baton_id)?.ok_or_else(|| unknown_refusal(id))?;
            Ok(ThreadRef { project_id, thread_id: of.thread_id, baton_id: Some(baton_id) })
        }
        (Err(_), Ok((project_id, session_id))) => {
            let of = session::get(tx, &project_id, &session_id)?.ok_or_else(|| unknown_refusal(id))?;
            Ok(ThreadRef { project_id, thread_id: of.thread_id, baton_id: None })
        }
        (Ok((_, one)), Ok((_, other))) => {
            Err(resolve::ambiguous_id_refusal("object", id, &[one, other]).into())
        }
        // Whichever says more: that several begin so, not that there is none.
        (Err(one), Err(other)) => Err(if is_unknown(&one) { other } else { one }),
    }
}

fn is_unknown(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused(refusal) if refusal.code == "thread_unknown")
}

fn unknown_refusal(id: &str) -> Refusal {
    Refusal::new(
        Kind::NotFound,
        "thread_unknown",
        format!("there is no thread, session or baton `{}`", visible(id)),
        "`baton batons` lists batons, `baton sessions` lists sessions",
    )
}
