//! Goose: one database for all sessions, in older versions a file of lines for each.

mod content;
mod read;

use std::path::{Path, PathBuf};

use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::{Os, TranscriptEnv};
use crate::report::Report;
use crate::shared::chunk;
use crate::shared::json::Json;
use crate::sqlite;

/// The format.
#[derive(Debug)]
pub struct Goose;

const ID: &str = "goose";

impl TranscriptReader for Goose {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        let sessions = data_dir(env).join("sessions");
        let mut in_database = std::collections::HashSet::new();
        sqlite::goose::SESSIONS.find(ID, &sessions.join("sessions.db"), &mut |one| {
            in_database.extend(one.key.clone());
            found(one);
        });
        // Files that were taken over into the database stay where they were.
        for entry in chunk::entries(&sessions) {
            let path = entry.path();
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            if path.extension().is_some_and(|end| end == "jsonl") && !in_database.contains(stem) {
                TranscriptFile::entry(ID, &entry).into_iter().for_each(&mut *found);
            }
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
        if sqlite::is_database(head) {
            return has("content_json") && has("working_dir");
        }
        let first = chunk::lines(head).next().and_then(|line| std::str::from_utf8(line).ok());
        let json = first.and_then(|line| Json::parse(line).ok()).unwrap_or(Json::Null);
        !json.get("working_dir").is_null() && json.get("role").is_null()
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        read::header(found)
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, None, sink)
    }

    fn read_session(&self, path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, key, sink)
    }
}

fn data_dir(env: &TranscriptEnv) -> PathBuf {
    let usual = || match env.os {
        Os::Linux | Os::MacOs => env.xdg_data_dir().join("goose"),
        Os::Windows => env.data_dir().join("Block/goose/data"),
    };
    env.dir("GOOSE_PATH_ROOT").map_or_else(usual, |root| root.join("data"))
}
