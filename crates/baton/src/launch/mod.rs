//! Starting another tool with a hand-off: the tools that can be started, one file each under `tools`, one line in [`ALL`].

mod argv;
mod deliver;
pub mod native;
mod start;
mod tools;

pub use argv::{Call, argv, check_session, quoted as shell_word, shell_line, vars_as_flags};
pub use deliver::{Prompt, deliver};
pub use start::{Launch, installed, not_installed, start};

use baton_transcripts::PermissionMode;

/// A tool that can be started on a terminal. Command lines are words in which `{…}` is filled in, see [`argv`].
pub struct Tool {
    /// Its id, the same as that of its transcripts.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The program.
    pub program: &'static str,
    /// The surface that its sessions are registered under.
    pub surface: &'static str,
    /// How a new session begins with a prompt. Empty where only a session of its own can be taken up again.
    pub start: &'static [&'static str],
    /// How a session of its own is taken up again. Empty where it cannot.
    pub resume: &'static [&'static str],
    /// What makes it ask less, or do less, than it does by itself.
    pub modes: &'static [(PermissionMode, &'static [&'static str])],
    /// How it runs without a terminal; none where that is not known.
    pub headless: Option<Headless>,
    /// The flag, and the word after it, that hands a variable to the commands it runs, where its own environment does not
    /// reach them; `{name}` and `{value}` (quoted) are filled in.
    pub vars: Option<(&'static str, &'static str)>,
    /// How a session is written that it takes for one of its own; none where that is not known, or not possible.
    pub native: Option<&'static native::Native>,
    /// Where it is to be had.
    pub get: &'static str,
}

/// How a tool does one thing without a terminal, and ends.
pub struct Headless {
    /// Its words, see [`argv`].
    pub words: &'static [&'static str],
    /// The flags of manners that are others here than on a terminal.
    pub modes: &'static [(PermissionMode, &'static [&'static str])],
}

/// Every tool that can be started: what `--in` takes.
pub static ALL: &[&Tool] = &[
    &tools::claude::TOOL,
    &tools::codex::TOOL,
    &tools::gemini::TOOL,
    &tools::copilot::TOOL,
    &tools::opencode::TOOL,
    &tools::kilo::TOOL,
    &tools::cursor::TOOL,
    &tools::amp::TOOL,
    &tools::droid::TOOL,
    &tools::cline::TOOL,
    &tools::kiro::TOOL,
    &tools::crush::TOOL,
    &tools::antigravity::TOOL,
    &tools::qwen::TOOL,
    &tools::kimi::TOOL,
    &tools::kimi_cli::TOOL,
    &tools::pi::TOOL,
    &tools::aider::TOOL,
    &tools::goose::TOOL,
];

/// The tool of this id or other name.
pub fn by_name(name: &str) -> Option<&'static Tool> {
    let id = baton_transcripts::by_name(name)?.id();
    ALL.iter().copied().find(|tool| tool.id == id)
}

/// The tool that a program is, by the program's name.
pub fn by_program(program: &str) -> Option<&'static Tool> {
    let name = std::path::Path::new(program).file_stem()?;
    ALL.iter().copied().find(|tool| name == tool.program)
}

/// The tools that run without a terminal.
pub fn headless() -> impl Iterator<Item = &'static Tool> {
    ALL.iter().copied().filter(|tool| tool.headless.is_some())
}

impl Tool {
    /// The flags that make it run in this manner; none where it has no such thing.
    pub fn mode(&self, manner: PermissionMode) -> Option<&'static [&'static str]> {
        if manner == PermissionMode::Ask {
            return Some(&[]);
        }
        self.modes.iter().find(|(own, _)| *own == manner).map(|(_, flags)| *flags)
    }

    /// The same without a terminal.
    pub fn headless_mode(&self, manner: PermissionMode) -> Option<&'static [&'static str]> {
        let own = self.headless.as_ref()?.modes.iter().find(|(own, _)| *own == manner);
        own.map(|(_, flags)| *flags).or_else(|| self.mode(manner))
    }

    /// Whether a new session can be begun with a prompt.
    pub fn starts(&self) -> bool {
        !self.start.is_empty()
    }

    /// Whether it reads the document from a file by itself.
    pub fn wants_file(&self) -> bool {
        self.start.iter().any(|word| word.starts_with("{file"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_known_by_its_transcripts_and_can_do_something() {
        for tool in ALL {
            let found = by_name(tool.id).map(|found| found.program);
            assert_eq!(found, Some(tool.program), "{}", tool.id);
            assert!(tool.starts() || !tool.resume.is_empty(), "{}", tool.id);
            for words in [tool.start, tool.resume] {
                let flags = words.iter().filter(|word| **word == "{mode}").count();
                assert!(words.is_empty() || tool.modes.is_empty() || flags == 1, "{}: {words:?}", tool.id);
            }
            if let Some(headless) = &tool.headless {
                let count = |hole: &str| headless.words.iter().filter(|word| word.starts_with(hole)).count();
                assert_eq!([count("{prompt"), count("{mode}"), count("{more}")], [1; 3], "{}", tool.id);
                assert!(headless.words.last().is_some_and(|word| word.starts_with("{prompt")), "{}", tool.id);
            }
            let id = tool.resume.iter().any(|word| word.contains("{id}"));
            assert!(tool.resume.is_empty() || id, "{}", tool.id);
        }
    }

    #[test]
    fn a_tool_is_known_by_its_program() {
        let id = |program| by_program(program).map(|tool| tool.id);
        assert_eq!(id("claude"), Some("claude"));
        assert_eq!(id("/opt/bin/cursor-agent"), Some("cursor"));
        assert_eq!((id("vim"), id("")), (None, None));
    }

    #[test]
    fn every_transcript_belongs_to_a_tool_or_to_an_editor() {
        let without: Vec<&str> = baton_transcripts::ALL
            .iter()
            .map(|format| format.id())
            .filter(|id| by_name(id).is_none())
            .collect();
        assert_eq!(without, ["grok", "roo", "kilo_code", "zed"]);
    }
}
