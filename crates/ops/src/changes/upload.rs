//! `changes_upload`: keep a part of the content of changes, before the wrap that names it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_model::changes::{MOST_BYTES, PART_BYTES, check_content_hash, invalid};
use baton_model::refusal::Refusal;
use baton_store::{Failure, changes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Meta, Operation, Retention};
use crate::resolve;

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

/// The bytes of a part.
pub(super) fn decode(content: &str) -> Result<Vec<u8>, Refusal> {
    STANDARD.decode(content).map_err(|_| invalid("a part of the content is not base64"))
}

impl Operation for Upload {
    const META: Meta =
        Meta::write("changes_upload", "Keep a part of the content of changes, before a wrap names it")
            .retention(Retention::Nothing);
    type Input = UploadInput;
    type Output = UploadOutput;

    fn run(input: UploadInput, cx: &mut Cx<'_>) -> Result<UploadOutput, Failure> {
        check_content_hash(&input.content_hash)?;
        let most = i64::try_from(MOST_BYTES.div_ceil(PART_BYTES)).unwrap_or(i64::MAX);
        if !(0..most).contains(&input.part) || decode(&input.content)?.len() as u64 > PART_BYTES {
            return Err(invalid("a part is too long, or there are too many").into());
        }
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let Cx { store, env } = cx;
        store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            let place = (input.content_hash.as_str(), input.part);
            Ok(changes::put_part(tx, &project_id, place, &input.content, env.now)?)
        })?;
        Ok(UploadOutput { project_id, part: input.part })
    }
}
