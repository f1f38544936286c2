//! How an agent is started on a terminal, and without one.

use baton_transcripts::PermissionMode;

/// The command lines of an agent: words in which `{…}` is filled in (prompt, session, folder, mode).
pub struct Launch {
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
    /// Where it is to be had.
    pub get: &'static str,
    /// What was tried with the real program; empty if nothing was.
    pub tried: &'static str,
    /// What the documentation says beside the command lines.
    pub note: &'static str,
}

/// How a tool does one thing without a terminal, and ends.
pub struct Headless {
    /// Its arguments, filled in by `launch::argv` of the program.
    pub words: &'static [&'static str],
    /// How it takes a session of its own up again with a prompt.
    pub resume: &'static [&'static str],
    /// The flags of permission modes that differ from those on a terminal.
    pub modes: &'static [(PermissionMode, &'static [&'static str])],
    /// What has Baton's tools called where no user confirms a call; none where nothing is needed.
    pub approval: Option<Approval>,
}

/// What a tool needs to call Baton's tools without a user who confirms each call.
pub struct Approval {
    /// Words of its command line of which each is enough.
    pub words: &'static [&'static str],
    /// The flag for people.
    pub flag: &'static str,
}

impl Headless {
    /// Whether a word of a command line asks for a run without a terminal: the subcommand, or the flag of the prompt.
    fn is_marked_by(&self, word: &str) -> bool {
        let subcommand = self.words.first().filter(|first| !first.starts_with(['{', '-']));
        let flags = self.words.iter().filter_map(|own| own.strip_prefix("{prompt:")?.strip_suffix('}'));
        subcommand.is_some_and(|own| *own == word)
            || flags.into_iter().any(|flag| flag == word)
            || matches!(word, "--print" | "--prompt")
    }
}

impl Launch {
    /// The flags that make it run in this permission mode; none where it has no such mode.
    pub fn mode(&self, mode: PermissionMode) -> Option<&'static [&'static str]> {
        if mode == PermissionMode::Ask {
            return Some(&[]);
        }
        self.modes.iter().find(|(own, _)| *own == mode).map(|(_, flags)| *flags)
    }

    /// The arguments of a permission mode without a terminal.
    pub fn headless_mode(&self, mode: PermissionMode) -> Option<&'static [&'static str]> {
        let own = self.headless.as_ref()?.modes.iter().find(|(own, _)| *own == mode);
        own.map(|(_, flags)| *flags).or_else(|| self.mode(mode))
    }

    /// How it runs without a terminal, unless the arguments that a user adds say so already.
    pub fn without_terminal(&self, more: &[String]) -> Option<&Headless> {
        let headless = self.headless.as_ref()?;
        (!more.iter().any(|word| headless.is_marked_by(word))).then_some(headless)
    }

    /// The flag without which a run of this command line has Baton's tools refused, unless settings allow them: no user
    /// is there to confirm a call.
    pub fn missing_approval(&self, args: &[String]) -> Option<&'static str> {
        let headless = self.headless.as_ref()?;
        let approval = headless.approval.as_ref()?;
        let is_headless = args.iter().any(|word| headless.is_marked_by(word));
        let is_given = args.iter().any(|word| {
            let mut parts = word.split('=');
            parts.any(|part| approval.words.contains(&part))
        });
        (is_headless && !is_given).then_some(approval.flag)
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
