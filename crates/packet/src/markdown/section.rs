//! The parts of the document in their order, and the entries that fill them.

/// A part of the document. The order of the variants is the order on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    Overview,
    Summary,
    Start,
    Plan,
    Files,
    Verify,
    Constraints,
    Decisions,
    Attempts,
    Pending,
    Questions,
    Notes,
    Issues,
    Git,
    Commands,
    Earlier,
    Done,
    Activity,
    References,
    Searched,
    Requests,
    Remarks,
    Turns,
    Diffs,
    Other,
    Provenance,
}

impl Section {
    pub(super) const ALL: [Self; 26] = [
        Self::Overview,
        Self::Summary,
        Self::Start,
        Self::Plan,
        Self::Files,
        Self::Verify,
        Self::Constraints,
        Self::Decisions,
        Self::Attempts,
        Self::Pending,
        Self::Questions,
        Self::Notes,
        Self::Issues,
        Self::Git,
        Self::Commands,
        Self::Earlier,
        Self::Done,
        Self::Activity,
        Self::References,
        Self::Searched,
        Self::Requests,
        Self::Remarks,
        Self::Turns,
        Self::Diffs,
        Self::Other,
        Self::Provenance,
    ];

    /// The heading as it stands on the page.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Overview => "Session Overview",
            Self::Summary => "Summary",
            Self::Start => "Start Here",
            Self::Plan => "Plan",
            Self::Constraints => "Constraints",
            Self::Decisions => "Key Decisions",
            Self::Attempts => "Failed Attempts",
            Self::Files => "Files",
            Self::Pending => "Pending Tasks",
            Self::Questions => "Open Questions",
            Self::Notes => "Notes",
            Self::Issues => "Known Issues",
            Self::Verify => "Checks",
            Self::Git => "Git State",
            Self::Commands => "Commands",
            Self::Earlier => "Earlier Work",
            Self::Done => "Work Completed",
            Self::Activity => "Tool Activity",
            Self::References => "References",
            Self::Searched => "Names",
            Self::Requests => "Earlier Requests",
            Self::Remarks => "Also Said in the Conversation",
            Self::Turns => "Recent Turns",
            Self::Diffs => "Last Edits",
            Self::Other => "Other Fields",
            Self::Provenance => "Provenance",
        }
    }

    /// Everything above the first entry.
    pub(super) fn head(self) -> String {
        let opening = match self {
            Self::Overview => "| Field | Value |\n|-------|-------|\n",
            Self::Requests => WORKED_ON,
            Self::Remarks => UNSORTED,
            _ => "",
        };
        format!("\n## {}\n\n{opening}", self.title())
    }
}

/// What a reader has to know of requests before the last one.
const WORKED_ON: &str = "*Oldest first, each from before the last changes of files: none of them is open by being listed here.*\n\n";

/// What a reader has to know of remarks.
const UNSORTED: &str = "*Not sorted, oldest first: what comes later may take back what comes before, here or above. Without a \
name it is the agent's.*\n\n";

/// How much a form is worth: the lower, the earlier it gets space. This table is the order of value.
pub(super) mod rank {
    /// The summary in a sentence or two.
    pub(crate) const SKELETON: u8 = 0;
    /// The next action, the last request, the last failure.
    pub(crate) const STOPPED: u8 = 1;
    /// What the user insisted on.
    pub(crate) const CONSTRAINT: u8 = 2;
    /// The files that matter most, and what was done to each.
    pub(crate) const FILE: u8 = 3;
    /// The last state of what is run most.
    pub(crate) const CHECK: u8 = 4;
    /// Items in progress and open, questions, further steps.
    pub(crate) const OPEN: u8 = 5;
    /// More files, and every one that was changed.
    pub(crate) const MORE_FILES: u8 = 6;
    /// More of the last request and the next step, the essence of the last failure and of the last answer.
    pub(crate) const GIST: u8 = 7;
    /// Commands that failed, and the names that were searched for last.
    pub(crate) const FAILED_COMMAND: u8 = 8;
    /// Git and drift.
    pub(crate) const STATE: u8 = 9;
    /// Items done, known issues, the first request.
    pub(crate) const PLAN: u8 = 10;
    /// What was decided, and what did not work.
    pub(crate) const DECISION: u8 = 11;
    /// Why it was decided or failed, and what was rejected.
    pub(crate) const REASON: u8 = 12;
    /// Up to here no part of the document may crowd out the others.
    pub(crate) const CORE: u8 = REASON;
    /// The last turns, more of the last answer, which session it was.
    pub(crate) const LAST_TURN: u8 = 13;
    /// Enough of the summary, the requests and the failure's output to understand them; names that were searched for.
    pub(crate) const CLEAR: u8 = 14;
    /// The other commands.
    pub(crate) const COMMAND: u8 = 15;
    /// Up to here everything is wanted before line marks are.
    pub(crate) const FACT: u8 = COMMAND;
    /// More of the last answer, and the turns before the last few.
    pub(crate) const ANSWER: u8 = 16;
    /// Files that were only read and matter less.
    pub(crate) const READ: u8 = 17;
    /// What else the user said, of late first.
    pub(crate) const USER_REMARK: u8 = 18;
    /// What else the agent said.
    pub(crate) const REMARK: u8 = 19;
    /// What the line marks mean, the rest of the overview, what is done, references, tool calls.
    pub(crate) const DETAIL: u8 = 20;
    /// The last edits, and more of what was said.
    pub(crate) const DIFF: u8 = 21;
    /// Older turns.
    pub(crate) const TURN: u8 = 22;
    /// Everything in full length: facts first, then diffs, prose, and what we do not know the meaning of.
    pub(crate) const WHOLE: u8 = 23;
    pub(crate) const WHOLE_DIFF: u8 = 24;
    pub(crate) const WHOLE_PROSE: u8 = 25;
    pub(crate) const OTHER: u8 = 26;
}

/// One length in which an entry can appear.
#[derive(Debug)]
pub(super) struct EntryForm {
    pub rank: u8,
    pub text: String,
    /// What this form leaves out, in the plural; `None` for the whole.
    pub lacks: Option<&'static str>,
    /// How many of the things that the entry says at once it does not show.
    pub short_of: usize,
}

/// What is counted when a text is shown with a `…`.
pub(super) const SHORTENED: &str = "texts shortened (`…`)";
/// What is counted when something that was said is not shown.
pub(super) const REMARKS: &str = "remarks";
/// What is counted when places in the transcript are not shown.
pub(super) const LINE_MARKS: &str = "line marks";

/// What is counted when it is not shown how many tasks are done.
pub(super) const FINISHED_TASKS: &str = "finished tasks";

/// `1 file`, `12 files`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    match (count, noun) {
        (1, SHORTENED) => "1 text shortened (`…`)".into(),
        (1, "summaries") => "the summary".into(),
        (1, _) if noun.ends_with("ies") => format!("1 {}y", &noun[..noun.len() - 3]),
        (1, _) => format!("1 {}", noun.strip_suffix('s').unwrap_or(noun)),
        _ => format!("{count} {noun}"),
    }
}

/// One thing to say: a list item, a table row, a quoted block. It is left out or appears in one of its forms.
#[derive(Debug)]
pub(super) struct Entry {
    pub section: Section,
    /// What it is called in the line that says what was left out, in the plural.
    pub noun: &'static str,
    /// Among entries of one rank, the lower is packed first; on the page they keep the order of the list.
    pub order: i64,
    /// How many things it says at once.
    pub count: usize,
    /// From short to whole.
    pub forms: Vec<EntryForm>,
}

impl Entry {
    pub(super) fn new(section: Section, noun: &'static str) -> Self {
        Self { section, noun, order: 0, count: 1, forms: Vec::new() }
    }

    /// An entry with only one form.
    pub(super) fn unshortened(section: Section, noun: &'static str, rank: u8, text: String) -> Self {
        Self::new(section, noun).form(rank, None, text)
    }

    /// A further, longer form. One that says no more than the form before it takes that form's place.
    pub(super) fn form(mut self, rank: u8, lacks: Option<&'static str>, text: String) -> Self {
        match self.forms.last_mut() {
            Some(last) if last.text == text => last.lacks = lacks,
            _ => self.forms.push(EntryForm { rank, text, lacks, short_of: 0 }),
        }
        self
    }

    /// A further form that does not show so many of the things which the entry says at once.
    pub(super) fn partial(self, rank: u8, lacks: &'static str, short_of: usize, text: String) -> Self {
        let mut entry = self.form(rank, Some(lacks), text);
        entry.forms.last_mut().into_iter().for_each(|form| form.short_of = short_of);
        entry
    }

    /// How many things are missing where it appears in this form.
    pub(super) fn missing(&self, form: Option<usize>) -> usize {
        form.map_or(self.count, |form| self.forms.get(form).map_or(0, |form| form.short_of))
    }

    /// Forms of one text at several lengths: `limits` in characters, and at last the whole.
    pub(super) fn lengths(self, limits: &[(u8, usize)], whole: u8, show: impl Fn(usize) -> String) -> Self {
        let short =
            |entry: Self, (rank, limit): &(u8, usize)| entry.form(*rank, Some(SHORTENED), show(*limit));
        limits.iter().fold(self, short).form(whole, None, show(usize::MAX))
    }

    pub(super) fn order(mut self, order: i64) -> Self {
        self.order = order;
        self
    }
}
