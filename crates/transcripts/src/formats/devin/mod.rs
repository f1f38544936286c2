//! Devin CLI: the sessions in `devin/cli/sessions.db`, each of which it also writes as an ATIF trajectory under `transcripts` when
//! it ends. The database is read where both are there: it has what was said since.
//!
//! Known from the notes of entireio/external-agents on 3000.2.17 and from other parsers.

mod read;

use std::collections::HashSet;
use std::path::Path;

use super::atif;
use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::{chunk, heading};
use crate::sqlite;

/// The format.
#[derive(Debug)]
pub struct Devin;

const ID: &str = "devin";

impl TranscriptReader for Devin {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        let folder = env.xdg_data_dir().join("devin/cli");
        let mut in_database = HashSet::new();
        sqlite::devin::SESSIONS.find(ID, &folder.join("sessions.db"), &mut |one| {
            in_database.extend(one.key.clone());
            found(one);
        });
        for entry in chunk::entries(&folder.join("transcripts")) {
            let path = entry.path();
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            if path.extension().is_some_and(|end| end == "json") && !in_database.contains(stem) {
                TranscriptFile::entry(ID, &entry).into_iter().for_each(&mut *found);
            }
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
        match sqlite::is_database(head) {
            true => has("message_nodes") && has("chat_message"),
            false => atif::is_trajectory(head),
        }
    }

    fn lives_at(&self, path: &Path) -> bool {
        path.parent().is_some_and(|folder| folder.ends_with("devin/cli/transcripts"))
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        match &found.key {
            Some(id) => read::header(found, id),
            None => match is_trajectory(&found.path) {
                true => atif::header(found),
                false => heading::of_whole(found, |sink| read::read(&found.path, None, sink)),
            },
        }
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        self.read_session(path, None, sink)
    }

    fn read_session(&self, path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        match is_trajectory(path) {
            true => atif::read(path, &mut None, sink),
            false => read::read(path, key, sink),
        }
    }
}

/// Whether a file is a trajectory and not the database, whatever its name.
fn is_trajectory(path: &Path) -> bool {
    let head = chunk::open(path).and_then(|file| chunk::head(file, 64));
    head.is_ok_and(|head| !sqlite::is_database(&head))
}
