//! Cursor. Its agent on the command line keeps transcripts in `~/.cursor/projects/<slug>/agent-transcripts`.

mod transcript;

use std::path::Path;

use crate::event::Event;
use crate::format::Format;
use crate::header::{Found, Header};
use crate::places::Env;
use crate::report::Report;

/// The format.
#[derive(Debug)]
pub struct Cursor;

const ID: &str = "cursor";

impl Format for Cursor {
    fn id(&self) -> &'static str {
        ID
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["cursor_cli", "cursor_agent"]
    }

    fn title(&self) -> &'static str {
        "Cursor"
    }

    fn find(&self, env: &Env, found: &mut dyn FnMut(Found)) {
        transcript::find(env, found);
    }

    fn sniff(&self, head: &[u8]) -> bool {
        transcript::sniff(head)
    }

    fn header(&self, found: &Found) -> Header {
        transcript::header(found)
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        transcript::read(path, sink)
    }
}
