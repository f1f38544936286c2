//! What a listing shows of a Claude Code session, from beginning and end of its file.

use std::fs::File;
use std::io::{self, Seek};

use memchr::memmem;

use super::line::{self, Kind, is_summary, kind_of};
use crate::header::{Header, TranscriptFile};
use crate::report::{Complaint, kind};
use crate::shared::chunk;
use crate::shared::json::Json;
use crate::shared::lines::leading_type;
use crate::shared::time;
use crate::shared::words::unclean_line;

const HEAD: usize = 32 * 1024;
const WIDEST: usize = 4 * 1024 * 1024;
const TAIL: usize = 32 * 1024;
/// The type of the line in which the tool says that it works in a worktree.
const WORKTREE: &str = "worktree-state";
const TITLE: usize = 120;
const PROMPT: usize = 300;

/// Reads a header.
pub(super) fn header(found: &TranscriptFile) -> Header {
    let mut header = found.header();
    header.id = found.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
    if fill(&mut header, found).is_err() {
        header.empty = true;
        header.complaints.push(Complaint { kind: kind::UNREADABLE.to_owned(), count: 1, first_line: 0 });
    } else if header.empty {
        header.complaints.push(Complaint { kind: kind::EMPTY.to_owned(), count: 1, first_line: 0 });
    }
    header
}

fn fill(header: &mut Header, found: &TranscriptFile) -> io::Result<()> {
    let mut file = File::open(&found.path)?;
    let mut start = HeadFacts::default();
    let mut limit = HEAD;
    let read = loop {
        file.rewind()?;
        let head = chunk::head(&file, limit)?;
        start.scan(&head);
        if start.prompt.is_some() || limit as u64 >= found.stamp.size || limit >= WIDEST {
            break head;
        }
        limit = (limit * 8).min(WIDEST);
    };
    // A cut of the head in the middle of a line leaves that line to the tail.
    let has_end = |tail: &[u8]| TailFacts::of(tail).at_ms.is_some();
    let tail = chunk::last_lines(&mut file, found.stamp.size, read.len() as u64, (TAIL, WIDEST), has_end)?;
    let chunks = [tail.as_slice(), read.as_slice()];
    let title = titles(&tail, &chunks).or_else(|| titles(&read, &chunks));
    let end = TailFacts::of(&tail).or(TailFacts::of(&read));
    header.empty = !start.has_turn && end.model.is_none() && end.branch.is_none();
    header.title = title.or_else(|| start.prompt.as_deref().map(|text| unclean_line(text, TITLE)));
    header.first_prompt = start.prompt.map(|text| unclean_line(&text, PROMPT));
    header.id = start.id.unwrap_or_else(|| std::mem::take(&mut header.id));
    header.cwd = start.cwd.or(start.worktree_of);
    header.created_at_ms = start.at_ms;
    header.branch = end.branch;
    header.model = end.model;
    header.updated_at_ms = end.at_ms.or(header.updated_at_ms);
    Ok(())
}

/// What the first lines say.
#[derive(Debug, Default)]
struct HeadFacts {
    id: Option<String>,
    cwd: Option<String>,
    at_ms: Option<i64>,
    prompt: Option<String>,
    /// The folder from which the session went into a worktree.
    worktree_of: Option<String>,
    has_turn: bool,
}

impl HeadFacts {
    /// Looks at lines until the first prompt has been found.
    fn scan(&mut self, head: &[u8]) {
        for line in chunk::lines(head).filter(|line| {
            leading_type(line).is_none_or(|name| kind_of(name) == Kind::Turn || name == WORKTREE)
        }) {
            let text = String::from_utf8_lossy(line);
            let Ok(json) = Json::parse(&text) else { continue };
            self.take(&json);
            if self.prompt.is_some() {
                return;
            }
        }
    }

    fn take(&mut self, json: &Json<'_>) {
        let keep = |slot: &mut Option<String>, key| {
            *slot = slot.take().or_else(|| json.get(key).str().map(str::to_owned))
        };
        keep(&mut self.id, "sessionId");
        keep(&mut self.cwd, "cwd");
        self.at_ms = self.at_ms.or_else(|| json.get("timestamp").str().and_then(time::parse));
        let kind = json.get("type").str();
        if kind == Some(WORKTREE) {
            let project = json.at_path(&["worktreeSession", "originalCwd"]).str();
            self.worktree_of = project.map(str::to_owned).or_else(|| self.worktree_of.take());
        }
        self.has_turn |= matches!(kind, Some("user" | "assistant"));
        if kind == Some("system") && json.get("subtype").str() == Some("local_command") {
            self.prompt = line::slash_command(&json.get("content").text());
        }
        let real =
            kind == Some("user") && !json.get("isMeta").is_true() && !json.get("isCompactSummary").is_true();
        if real && !json.get("isSidechain").is_true() {
            let text = json.at_path(&["message", "content"]).text();
            let own = line::own_words(&text).filter(|own| !is_summary(own) && !line::is_foreign(json));
            self.prompt = own.map(str::to_owned);
        }
    }
}

/// The name that the session was given, else the title that the user gave, else the tool's, else that of a summary; of each the last.
fn titles(chunk: &[u8], all: &[&[u8]]) -> Option<String> {
    const TITLES: &[(&str, &str)] = &[
        ("\"agent-name\"", "agentName"),
        ("\"custom-title\"", "customTitle"),
        ("\"ai-title\"", "aiTitle"),
        ("\"summary\"", "summary"),
    ];
    TITLES.iter().find_map(|(kind, field)| title(chunk, kind, field, all))
}

fn title(chunk: &[u8], kind: &str, field: &str, all: &[&[u8]]) -> Option<String> {
    memmem::find(chunk, kind.as_bytes())?;
    let name = kind.trim_matches('"');
    let named = chunk::lines(chunk).rev().filter(|line| {
        leading_type(line).is_none_or(|leading| leading == name)
            && memmem::find(line, kind.as_bytes()).is_some()
    });
    named.into_iter().find_map(|line| {
        let text = String::from_utf8_lossy(line);
        let json = Json::parse(&text).ok()?;
        json.first(&[field, "title"])
            .filter(|_| json.get("type").str() == Some(name) && !is_foreign(&json, all))
            .map(|text| unclean_line(text, TITLE))
    })
}

/// Whether a line is about another session: some versions write summaries of others into a file, whose leaf is not in it.
fn is_foreign(json: &Json<'_>, chunks: &[&[u8]]) -> bool {
    let Some(leaf) = json.get("leafUuid").str() else { return false };
    let own = |spaced: &str| {
        let own = format!("\"uuid\":{spaced}\"{leaf}\"");
        chunks.iter().any(|chunk| memmem::find(chunk, own.as_bytes()).is_some())
    };
    !own("") && !own(" ")
}

/// What the last lines say.
#[derive(Debug, Default)]
struct TailFacts {
    at_ms: Option<i64>,
    branch: Option<String>,
    model: Option<String>,
}

impl TailFacts {
    /// Looks at lines from the last until all is known.
    fn of(chunk: &[u8]) -> Self {
        let mut end = Self::default();
        let has_turn = chunk::lines(chunk)
            .rev()
            .filter(|line| leading_type(line).is_none_or(|name| kind_of(name) == Kind::Turn));
        for line in has_turn.take(40) {
            let text = String::from_utf8_lossy(line);
            let Ok(json) = Json::parse(&text) else { continue };
            end.at_ms = end.at_ms.or_else(|| json.get("timestamp").str().and_then(time::parse));
            end.branch = end.branch.take().or_else(|| json.get("gitBranch").str().map(str::to_owned));
            let model = json.at_path(&["message", "model"]).str().filter(|model| !model.starts_with('<'));
            end.model = end.model.take().or_else(|| model.map(str::to_owned));
            if end.at_ms.is_some() && end.branch.is_some() && end.model.is_some() {
                break;
            }
        }
        end
    }

    fn or(self, other: Self) -> Self {
        Self {
            at_ms: self.at_ms.or(other.at_ms),
            branch: self.branch.or(other.branch),
            model: self.model.or(other.model),
        }
    }
}
