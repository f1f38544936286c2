//! A story in the record shapes of real tools.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod opencode;

use serde_json::Value;

use crate::story::Story;

/// A tool's way of writing a session down.
pub struct Tool {
    /// Its id among the transcripts' formats.
    pub id: &'static str,
    /// The name of the shape in the report.
    pub name: &'static str,
    /// The file's name below a root.
    pub file: fn(&Story) -> String,
    /// The file's text.
    pub write: fn(&Story) -> String,
}

/// All of them.
pub const TOOLS: &[Tool] =
    &[claude::TOOL, codex::PAGED, codex::LEGACY, gemini::TOOL, copilot::TOOL, opencode::TOOL];

/// Times and ids, one after the other.
struct Counter {
    seed: u64,
    count: u64,
}

impl Counter {
    fn new(story: &Story) -> Self {
        Self { seed: story.seed, count: 0 }
    }

    /// The next number.
    fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// An id of this session.
    fn id(&mut self) -> String {
        let count = self.next();
        uuid(self.seed, count)
    }

    /// The time of now, in the format of RFC 3339.
    fn time(&self) -> String {
        let second = self.count * 7;
        format!("2026-11-20T{:02}:{:02}:{:02}.000Z", 6 + second / 3600 % 16, second / 60 % 60, second % 60)
    }
}

fn uuid(seed: u64, count: u64) -> String {
    format!("{:08x}-0000-4000-8000-{count:012x}", (seed as u32) ^ 0xbee0_0000)
}

fn session(story: &Story) -> String {
    uuid(story.seed, 0)
}

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// A diff as tools print it.
fn diff(old: &str, new: &str) -> String {
    let side =
        |sign: char, text: &str| text.lines().map(|line| format!("{sign}{line}\n")).collect::<String>();
    format!(
        "@@ -1,{} +1,{} @@\n{}{}",
        old.lines().count(),
        new.lines().count(),
        side('-', old),
        side('+', new)
    )
}
