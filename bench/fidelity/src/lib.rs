//! How much of a session survives in a hand-off document.
//!
//! Sessions are made up from a seed: facts of the nine kinds of the specification are planted in the noise of real work,
//! and written in the record shapes of real tools. A scorer counts which of them a document still tells.

pub mod fact;
mod noise;
mod passage;
mod phrase;
pub mod phrases;
mod plant;
mod random;
pub mod score;
pub mod secrets;
pub mod story;
mod work;
mod worlds;
pub mod write;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use baton_model::budget::Budget;
use baton_model::markdown::{self, render};
use baton_model::packet::ValidatedPacket;
use baton_transcripts::{Options, by_id, summarize};

use crate::story::Story;
use crate::write::Tool;

pub use plant::story;

/// Writes a story as a tool would, below a root. Gives the file's path.
pub fn put(root: &Path, tool: &Tool, story: &Story) -> Result<PathBuf> {
    let path = root.join((tool.file)(story));
    let folder = path.parent().context("a file lies in a folder")?;
    fs::create_dir_all(folder)?;
    fs::write(&path, (tool.write)(story))?;
    Ok(path)
}

/// The packet of a transcript, as `baton handoff from-transcript` makes it.
pub fn packet(path: &Path, tool: &Tool) -> Result<ValidatedPacket> {
    let format = by_id(tool.id).context("a known format")?;
    let options = Options { home: Some("/home/you".to_owned()), ..Options::default() };
    let text = serde_json::to_string(&summarize(path, format, &options))?;
    ValidatedPacket::parse(text).map_err(|refusal| anyhow::anyhow!("{refusal:?}"))
}

/// The document of a packet under a budget of tokens.
pub fn document(packet: &ValidatedPacket, tokens: usize) -> String {
    let hint = Some("baton handoff from-transcript latest --preset full");
    let options =
        markdown::Options { budget: Some(Budget::Tokens(tokens)), more_hint: hint, ..Default::default() };
    render(packet.view(), &options).text
}
