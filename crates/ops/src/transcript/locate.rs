//! `transcript_find`: which transcript is meant: its header, and in which manner it ran. Nothing is read beyond that.

use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::find::{header_json, meant};
use crate::op::{Access, Cx, Operation, Reach, Site};

/// Finds a transcript.
pub(crate) struct Find;

/// Input of `transcript_find`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Session id, a unique prefix of one, `latest`, or a path.
    id: String,
    /// The tool that wrote it.
    #[serde(default)]
    agent: Option<String>,
}

/// Answer of `transcript_find`: the header, and what the tool was allowed to do without asking, if it says.
#[derive(Serialize, Deserialize)]
pub(crate) struct Output {
    #[serde(flatten)]
    header: Value,
    mode: Option<baton_transcripts::Manner>,
}

impl Operation for Find {
    const NAME: &'static str = "transcript_find";
    const DOC: &'static str = "Find the one session that an id, a prefix, `latest` or a path means";
    const ACCESS: Access = Access::Write;
    const REACH: Reach = Reach::Everything;
    const SITE: Site = Site::Disk;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let meant = meant(cx, &input.id, input.agent.as_deref(), None, "baton continue")?;
        let mode = baton_transcripts::manner(meant.format.id(), &meant.path);
        let mut header = header_json(&meant.header);
        // A relative path would mean another file in another folder.
        if let Ok(path) = std::path::absolute(&meant.path) {
            header["path"] = path.display().to_string().into();
        }
        Ok(Output { header, mode })
    }
}
