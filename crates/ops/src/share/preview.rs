//! `share_preview`: what a share would show, before there is one; and for a file in its place.

use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::view::{SharedView, subject, view};
use crate::op::{Cx, Meta, Operation};

/// Shows what would be shared.
pub struct Preview;

/// Input of `share_preview`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewInput {
    /// Id of a baton, a session or a thread, or a unique prefix of it.
    pub id: String,
    /// `baton` or `thread`; without it a baton where the id is one's, else the thread.
    #[serde(default)]
    pub kind: Option<String>,
    /// Project id; else it is looked for in all that the caller reaches.
    #[serde(default)]
    pub project: Option<String>,
}

impl Operation for Preview {
    const META: Meta = Meta::read("share_preview", "Show what a share of a baton or a thread would show");
    type Input = PreviewInput;
    type Output = SharedView;

    fn run(input: PreviewInput, cx: &mut Cx<'_>) -> Result<SharedView, Failure> {
        let found = subject(cx, input.project.as_deref(), (&input.id, input.kind.as_deref()))?;
        let Cx { store, env } = cx;
        store.read(|tx| view(tx, env, found, None))
    }
}
