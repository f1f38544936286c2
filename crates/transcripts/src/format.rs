//! Registry of the transcript formats: one module under `formats`, one line in [`ALL`]. `baton-tools` describes the tool that
//! writes each.

use std::path::Path;

use crate::event::{Event, EventKind};
use crate::formats::{
    aider, amp, antigravity, atif, auggie, claude, cline, cn, codebuff, codex, copilot, crush, cursor, devin,
    droid, external, gemini, goose, grok, hermes, kimi, kimi_cli, kiro, opencode, openhands, pi, qoder, qwen,
    vibe, vscode, windsurf, zed,
};
use crate::header::{Header, TranscriptFile};
use crate::permission_mode::LineMode;
use crate::places::TranscriptEnv;
use crate::report::{Complaints, Report, kind};

/// How one tool keeps its conversations. Reading never fails: it gives what it got, and says what it could not use.
pub trait TranscriptReader: Sync {
    /// The id of the tool: `claude`, `codex`, ….
    fn id(&self) -> &'static str;

    /// Gives out every transcript of this machine, unopened.
    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile));

    /// Whether a file that begins like this is of this format.
    fn sniff(&self, head: &[u8]) -> bool;

    /// Whether a file at this path is this tool's, of those that share the format.
    fn lives_at(&self, path: &Path) -> bool {
        let _ = path;
        false
    }

    /// What a listing shows. Reads only beginning and end of the file.
    fn header(&self, found: &TranscriptFile) -> Header;

    /// Gives out the conversation as it stands: what was rewound is left out, what was compacted away is not.
    /// Of a file that holds several conversations it is the newest.
    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report;

    /// Reads from a line with how much freedom the session ran; none where the tool does not write it down.
    fn permission_mode(&self) -> Option<LineMode> {
        None
    }

    /// Gives out the conversation of this key, see [`TranscriptFile::key`]. Where a file is one conversation, there are no keys.
    fn read_session(&self, path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        let _ = key;
        self.read(path, sink)
    }
}

/// Every format, in the order in which [`detect`] tries them.
pub static ALL: &[&dyn TranscriptReader] = &[
    &claude::Claude,
    &codex::Codex,
    &gemini::Gemini,
    &copilot::Copilot,
    &qwen::Qwen,
    &kimi::Kimi,
    &kimi_cli::KimiCli,
    &pi::Pi,
    &cursor::Cursor,
    &droid::Droid,
    &antigravity::Antigravity,
    &grok::Grok,
    &vscode::VsCodeCopilot,
    &openhands::OpenHands,
    &cn::Continue,
    &qoder::Qoder,
    &hermes::Hermes,
    &auggie::Auggie,
    &codebuff::Codebuff,
    &windsurf::Windsurf,
    &opencode::OPENCODE,
    &opencode::KILO,
    &cline::CLINE,
    &cline::ROO,
    &cline::KILO_CODE,
    &crush::Crush,
    &goose::Goose,
    &zed::Zed,
    &amp::Amp,
    &aider::Aider,
    &kiro::Kiro,
    &vibe::Vibe,
    &atif::Atif,
    &devin::Devin,
    &external::External,
];

/// The format of this id.
pub fn by_id(id: &str) -> Option<&'static dyn TranscriptReader> {
    ALL.iter().copied().find(|format| format.id() == id)
}

/// The format of a file, by its content; by its place where several tools write the same.
pub fn detect(path: &Path) -> Option<&'static dyn TranscriptReader> {
    let head = crate::shared::chunk::open(path)
        .and_then(|reader| crate::shared::chunk::head(reader, 256 * 1024))
        .ok()?;
    // The schema of a database may stand anywhere in it.
    let head = if crate::sqlite::is_database(&head) { crate::sqlite::schema(path)? } else { head };
    let fits = |format: &&dyn TranscriptReader| format.sniff(&head);
    // To look at the place costs nothing, to look into the file does: few formats share theirs.
    let mut at_home = ALL.iter().copied().filter(|format| format.lives_at(path));
    at_home.find(fits).or_else(|| ALL.iter().copied().find(fits))
}

/// What a reader writes to: counts the turns that it gives out.
pub(crate) struct Output<'s> {
    sink: &'s mut dyn FnMut(&Event<'_>),
    pub(crate) report: Report,
    pub(crate) complaints: Complaints,
}

impl<'s> Output<'s> {
    pub(crate) fn new(sink: &'s mut dyn FnMut(&Event<'_>)) -> Self {
        Self { sink, report: Report::default(), complaints: Complaints::default() }
    }

    pub(crate) fn send(&mut self, event: &Event<'_>) {
        let is_turn = matches!(
            event.what,
            EventKind::User(_) | EventKind::Assistant(_) | EventKind::Call(_) | EventKind::Compaction(_)
        );
        self.report.events += u64::from(is_turn);
        (self.sink)(event);
    }

    pub(crate) fn finish(mut self) -> Report {
        if self.report.events == 0 {
            self.complaints.add(kind::EMPTY, 0);
        }
        (self.report.complaints, self.report.unknown_types) = self.complaints.into_parts();
        self.report
    }
}
