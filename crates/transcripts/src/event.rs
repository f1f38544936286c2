//! The one shape into which every transcript is read: a stream of events, borrowed from the line they stand on.

use std::borrow::Cow;
use std::sync::Arc;

/// Where an event stands in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourcePosition {
    /// Line number, from 1; in a database or a document the number of the message.
    pub line: u64,
    /// Byte offset of the line.
    pub offset: u64,
}

/// Something that happened in the conversation.
#[derive(Debug, Clone)]
pub struct Event<'a> {
    /// Where it stands.
    pub position: SourcePosition,
    /// Timestamp in epoch milliseconds, if the line has one.
    pub at_ms: Option<i64>,
    /// The sub-agent that did it; absent on the main line.
    pub subagent: Option<Cow<'a, str>>,
    /// What it is.
    pub what: EventKind<'a>,
}

/// What happened.
#[derive(Debug, Clone)]
pub enum EventKind<'a> {
    /// Facts about the session; later ones win, absent ones say nothing.
    Session(TranscriptInfo<'a>),
    /// The user said something.
    User(Cow<'a, str>),
    /// The agent said something.
    Assistant(Cow<'a, str>),
    /// The agent thought something, as far as the transcript shows it.
    Thinking(Cow<'a, str>),
    /// A tool was called.
    Call(Call<'a>),
    /// A tool call ended, or reported more about itself.
    Outcome(Outcome<'a>),
    /// The plan as a whole, as it stands now.
    Plan(Vec<PlanItem>),
    /// The conversation was compacted to this summary.
    Compaction(Cow<'a, str>),
    /// Tokens used so far.
    Usage(Usage),
    /// The user stopped the agent.
    Interrupted,
    /// What the user says next was said into the running turn: the agent is at work on an earlier request, and goes on with it.
    Steering,
    /// The provider refused a request or failed: a limit, an overload, a rejected request. The tool writes it where an answer
    /// would stand; no model said it.
    ProviderError(Cow<'a, str>),
}

/// Facts about the session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranscriptInfo<'a> {
    /// The tool's own id of the session.
    pub id: Option<Cow<'a, str>>,
    /// Working directory.
    pub cwd: Option<Cow<'a, str>>,
    /// Git branch.
    pub branch: Option<Cow<'a, str>>,
    /// Git commit.
    pub commit: Option<Cow<'a, str>>,
    /// The model that answers.
    pub model: Option<Cow<'a, str>>,
    /// Version of the tool.
    pub version: Option<Cow<'a, str>>,
}

/// A tool call.
#[derive(Debug, Clone, Default)]
pub struct Call<'a> {
    /// Id by which its outcome refers to it.
    pub id: Cow<'a, str>,
    /// Name of the tool.
    pub name: Cow<'a, str>,
    /// What kind of work it is.
    pub category: Category,
    /// What it works on: the command line, path, pattern, address or description.
    pub target: Cow<'a, str>,
    /// Lines that it reads, such as `120-180`, where it reads a part of a file.
    pub lines: Option<String>,
    /// Files that it changes if it succeeds.
    pub edits: Vec<Edit>,
    /// The plan in prose that it puts before the user; empty where that stands in a file which was written before.
    pub proposal: Option<Cow<'a, str>>,
}

/// The name of a call that is a command which the user ran in the tool. It is no work of the agent.
pub const TYPED_COMMAND: &str = "typed_command";

/// A sub-agent, or one of several, without a name and a file of its own: it stands among the lines of the session.
pub const SIDECHAIN: &str = "sidechain";

/// How a tool call ended.
#[derive(Debug, Clone, Default)]
pub struct Outcome<'a> {
    /// Id of the call.
    pub id: Cow<'a, str>,
    /// Whether it succeeded; absent where the transcript does not say (yet).
    pub ok: Option<bool>,
    /// Exit code of a command.
    pub exit_code: Option<i64>,
    /// What it returned.
    pub output: Cow<'a, str>,
    /// Files that it changed; where empty, those of the call hold.
    pub edits: Vec<Edit>,
}

/// Kinds of tool calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// Commands.
    Shell,
    /// Changes to existing files.
    Edit,
    /// New files.
    Write,
    /// Files read.
    Read,
    /// Searches in files.
    Search,
    /// Things read from the web.
    Fetch,
    /// Plans and sub-agents.
    Task,
    /// Questions to the user.
    Ask,
    /// Tools of an MCP server.
    Mcp(String),
    /// Anything else.
    #[default]
    Other,
}

/// A change of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edit {
    /// Path as the tool gave it.
    pub path: String,
    /// What was done.
    pub change: Change,
    /// The path before a rename.
    pub from: Option<String>,
    /// Lines added, where known.
    pub added: Option<u64>,
    /// Lines removed, where known.
    pub removed: Option<u64>,
    /// The change as the body of a unified diff, where known.
    pub diff: Option<String>,
    /// Whether all that the file holds was written.
    pub is_whole: bool,
    /// The file before and after it, where the tool tells both.
    pub whole: Option<Arc<FileStates>>,
}

/// A file before and after a change.
#[derive(Debug, PartialEq, Eq)]
pub struct FileStates {
    /// Its text before.
    pub before: String,
    /// Its text after.
    pub after: String,
}

/// What was done to a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Change {
    /// It did not exist before.
    Created,
    /// It existed and was changed.
    #[default]
    Modified,
    /// It was removed.
    Deleted,
    /// It was moved.
    Renamed,
}

/// An item of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanItem {
    /// The item.
    pub title: String,
    /// `pending`, `in_progress`, `completed` or the tool's own word.
    pub status: String,
    /// Id in the tool's own list.
    pub id: Option<String>,
}

/// Tokens used, over the whole session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Fresh input.
    pub input: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Input written to the cache.
    pub cache_write: u64,
    /// Output, reasoning included.
    pub output: u64,
}

impl Usage {
    /// What is left without the other.
    pub(crate) fn minus(self, less: Usage) -> Usage {
        Usage {
            input: self.input.saturating_sub(less.input),
            cache_read: self.cache_read.saturating_sub(less.cache_read),
            cache_write: self.cache_write.saturating_sub(less.cache_write),
            output: self.output.saturating_sub(less.output),
        }
    }

    /// Both together.
    pub(crate) fn plus(self, more: Usage) -> Usage {
        Usage {
            input: self.input.saturating_add(more.input),
            cache_read: self.cache_read.saturating_add(more.cache_read),
            cache_write: self.cache_write.saturating_add(more.cache_write),
            output: self.output.saturating_add(more.output),
        }
    }
}

impl Category {
    /// Its name in a packet.
    pub fn name(&self) -> String {
        let name = match self {
            Category::Shell => "shell",
            Category::Edit => "edit",
            Category::Write => "write",
            Category::Read => "read",
            Category::Search => "search",
            Category::Fetch => "fetch",
            Category::Task => "task",
            Category::Ask => "ask",
            Category::Mcp(server) => return format!("mcp:{server}"),
            Category::Other => "other",
        };
        name.to_owned()
    }
}

impl Change {
    /// Its name in a packet.
    pub fn name(self) -> &'static str {
        match self {
            Change::Created => "created",
            Change::Modified => "modified",
            Change::Deleted => "deleted",
            Change::Renamed => "renamed",
        }
    }
}
