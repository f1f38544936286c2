//! ATIF, the Agent Trajectory Interchange Format: one JSON document for a run of an agent, which Harbor and others write and which
//! Devin CLI keeps its sessions in. It has no folder of its own, so a trajectory is named by its path.
//!
//! Versions 1.0 to 1.8 are known from the Python package `atif` and the documentation of NVIDIA NeMo. The format has no fields for
//! folder, branch and exit code: they are read from `extra`, where Baton's own export puts them.

mod observation;
mod trajectory;

use std::path::Path;

use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::heading;

pub(super) use trajectory::{is_trajectory, read};

/// The format.
#[derive(Debug)]
pub struct Atif;

const ID: &str = "atif";

impl TranscriptReader for Atif {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, _: &TranscriptEnv, _: &mut dyn FnMut(TranscriptFile)) {}

    fn sniff(&self, head: &[u8]) -> bool {
        is_trajectory(head)
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        header(found)
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read(path, &mut None, sink)
    }
}

/// The header of a trajectory.
pub(super) fn header(found: &TranscriptFile) -> Header {
    let mut title = None;
    let mut header = heading::of_whole(found, |sink| read(&found.path, &mut title, sink));
    header.title = title.or(header.title);
    if header.id.is_empty() {
        header.id = heading::stem(found);
    }
    header
}
