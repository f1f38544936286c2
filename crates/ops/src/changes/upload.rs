//! `changes_upload`: keep a part of the content of changes, before the wrap that names it.

use baton_model::changes::{check_content_hash, invalid_refusal};
use baton_store::Failure;
use baton_store::content::{CHANGES, UploadedPart};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::content;
use crate::op::{Cx, Meta, Operation, Retention};
use crate::{resolve, token_rights};

/// Uploads a part.
pub struct Upload;

/// Input of `changes_upload`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UploadInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// The SHA-256 of the whole content, in hex.
    pub content_hash: String,
    /// The number of the part, from 0. Every part but the last has 786,432 bytes.
    pub part: i64,
    /// The bytes of the part in base64.
    pub content: String,
}

/// Answer of `changes_upload`.
#[derive(Serialize, Deserialize)]
pub struct UploadOutput {
    /// The project.
    pub project_id: String,
    /// The number of the part.
    pub part: i64,
}

impl Operation for Upload {
    const META: Meta =
        Meta::write("changes_upload", "Keep a part of the content of changes, before a wrap names it")
            .retention(Retention::Nothing);
    type Input = UploadInput;
    type Output = UploadOutput;

    fn run(input: UploadInput, cx: &mut Cx<'_>) -> Result<UploadOutput, Failure> {
        check_content_hash(&input.content_hash)?;
        content::check_part(input.part, &input.content, invalid_refusal)?;
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let Cx { store, env } = cx;
        store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            let by = token_rights::token_id(env).unwrap_or_default();
            let (content_hash, content) = (input.content_hash.as_str(), input.content.as_str());
            let part = UploadedPart { content_hash, number: input.part, content, at: env.now, by: &by };
            content::put_part(tx, &CHANGES, &project_id, &part)
        })?;
        Ok(UploadOutput { project_id, part: input.part })
    }
}
