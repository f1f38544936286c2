//! What people say and change under the issue of a hand-off, as the ledger keeps it: their words are data, never instructions.

use crate::time::Millis;

/// The most that is kept of a comment, and of what people wrote into the issue itself, in bytes.
pub const MAX_TEXT_BYTES: usize = 16 * 1024;
/// The most comments of an issue whose words are kept: the newest.
pub const MAX_COMMENTS: usize = 200;

/// How the hidden marks of Baton's own texts begin.
const OWN_MARK: &str = "<!-- baton:";

/// What became of a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommentStanding {
    /// A person wrote it.
    Shown,
    /// Baton wrote it; its words are in the ledger already.
    Own,
    /// It was deleted.
    Deleted,
    /// It is older than the newest that are kept.
    Dropped,
}

impl CommentStanding {
    /// Every standing.
    const ALL: [Self; 4] = [Self::Shown, Self::Own, Self::Deleted, Self::Dropped];

    /// As it is written down.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shown => "shown",
            Self::Own => "own",
            Self::Deleted => "deleted",
            Self::Dropped => "dropped",
        }
    }

    /// The standing of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|standing| standing.as_str() == word)
    }

    /// Whether the tracker has it, as far as is known.
    pub fn is_there(self) -> bool {
        self != Self::Deleted
    }
}

/// A comment under an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueComment {
    /// Its id on the tracker.
    pub comment_id: i64,
    /// What became of it.
    pub standing: CommentStanding,
    /// Who wrote it.
    pub author: Option<String>,
    /// Its words, as far as they are kept.
    pub body: String,
    /// How long it is on the tracker.
    pub bytes: i64,
    /// When it was written, by the tracker's clock.
    pub created_at: Millis,
    /// When it was changed last, by the tracker's clock.
    pub updated_at: Millis,
}

impl IssueComment {
    /// The same without its words.
    pub fn without_words(self, standing: CommentStanding) -> Self {
        Self { standing, body: String::new(), ..self }
    }

    /// What is to be written where this is seen of a comment that stands so; none where it says nothing new. What is deleted stays so:
    /// the tracker gives no id out twice. An event that is older than another overwrites nothing.
    pub fn over(self, before: Option<&Self>) -> Option<Self> {
        let Some(before) = before else { return Some(self) };
        let is_final = matches!(before.standing, CommentStanding::Deleted)
            || before.standing == CommentStanding::Dropped && self.standing.is_there();
        let is_old = self.updated_at < before.updated_at && self.standing.is_there();
        (!is_final && !is_old && self != *before).then_some(self)
    }

    /// Whether its words are not all that the tracker has.
    pub fn is_shortened(&self) -> bool {
        i64::try_from(self.body.len()).unwrap_or(i64::MAX) < self.bytes
    }
}

/// The comments that lose their words, because newer ones are more than are kept. The list is newest first.
pub fn beyond_limit(newest_first: &[IssueComment]) -> Vec<IssueComment> {
    let shown = newest_first.iter().filter(|comment| comment.standing == CommentStanding::Shown);
    shown.skip(MAX_COMMENTS).map(|comment| comment.clone().without_words(CommentStanding::Dropped)).collect()
}

/// How an issue was seen last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IssueText {
    /// Its title; none until it was seen.
    pub title: Option<String>,
    /// Its labels.
    pub labels: Vec<String>,
    /// Every label that it was seen with.
    pub labels_ever: Vec<String>,
    /// The lines of its body that Baton has not written.
    pub body_added: String,
    /// How many of the lines that Baton has written are gone.
    pub body_removed: i64,
    /// The body as Baton has sent it; of an older issue, as it was seen first.
    pub sent_body: Option<String>,
    /// Who changed title, labels or body last, where the tracker says so.
    pub edited_by: Option<String>,
    /// When that was, by the tracker's clock.
    pub edited_at: Millis,
    /// When it was changed last in any way, also by a comment, by the tracker's clock.
    pub updated_at: Millis,
}

impl IssueText {
    /// Whether people have changed something since it was seen as `before`, where the task has this title and these labels. What Baton
    /// brings to the issue from the task is no change of theirs.
    pub fn has_new_edits(&self, before: &Self, title: &str, of_task: &[String]) -> bool {
        let has_new_title =
            self.title != before.title && self.title.as_deref().map(str::trim) != Some(title.trim());
        let (added, removed) = self.label_changes(of_task);
        let (added_before, removed_before) = before.label_changes(of_task);
        has_new_title
            || added.iter().any(|label| !added_before.contains(label))
            || removed.iter().any(|label| !removed_before.contains(label))
            || (&self.body_added, self.body_removed) != (&before.body_added, before.body_removed)
    }

    /// The labels that people have put to it and those that they have taken away, where the task has these. GitHub knows no case in them,
    /// and drops those that a token may not set: what was never there was not taken away.
    pub fn label_changes(&self, of_task: &[String]) -> (Vec<String>, Vec<String>) {
        let among = |all: &[String], one: &str| all.iter().any(|known| known.eq_ignore_ascii_case(one));
        let added = self.labels.iter().filter(|label| !among(of_task, label)).cloned().collect();
        let removed = of_task
            .iter()
            .filter(|label| among(&self.labels_ever, label) && !among(&self.labels, label))
            .cloned()
            .collect();
        (added, removed)
    }
}

/// Whether Baton wrote a text: a line of its own is a mark of Baton's. A quotation of one is a person's.
pub fn is_own(text: &str) -> bool {
    text.lines().any(|line| line.trim().starts_with(OWN_MARK))
}

/// What people changed about a body: the lines that are not ours, and how many of ours are gone. Marks are no words.
pub fn body_changes(ours: &str, present: &str) -> (String, i64) {
    let lines = |text: &str| -> Vec<String> {
        text.lines()
            .map(|line| line.trim_end().to_owned())
            .filter(|line| !line.trim().is_empty() && !line.trim().starts_with(OWN_MARK))
            .collect()
    };
    let mut ours = lines(ours);
    let mut added = Vec::new();
    for line in lines(present) {
        match ours.iter().position(|own| *own == line) {
            Some(at) => drop(ours.remove(at)),
            None => added.push(line),
        }
    }
    (added.join("\n"), i64::try_from(ours.len()).unwrap_or(i64::MAX))
}

/// The beginning of a text that is at most so long, in bytes.
pub fn head(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment(id: i64, updated_at: Millis, body: &str) -> IssueComment {
        let bytes = i64::try_from(body.len()).expect("short");
        IssueComment {
            comment_id: id,
            standing: CommentStanding::Shown,
            author: Some("carol".into()),
            body: body.into(),
            bytes,
            created_at: 1,
            updated_at,
        }
    }

    #[test]
    fn an_older_event_overwrites_nothing_and_what_is_deleted_stays_so() {
        let first = comment(1, 10, "one");
        assert_eq!(first.clone().over(None), Some(first.clone()));
        assert_eq!(first.clone().over(Some(&first)), None, "the same twice is once");
        let edited = comment(1, 20, "two");
        assert_eq!(edited.clone().over(Some(&first)), Some(edited.clone()));
        assert_eq!(first.clone().over(Some(&edited)), None);
        assert!(comment(1, 20, "in the same second").over(Some(&edited)).is_some());
        let deleted = first.clone().without_words(CommentStanding::Deleted);
        assert_eq!(deleted.clone().over(Some(&edited)), Some(deleted.clone()), "whatever its time says");
        assert_eq!(comment(1, 30, "late").over(Some(&deleted)), None);
        let dropped = first.without_words(CommentStanding::Dropped);
        assert_eq!(comment(1, 30, "late").over(Some(&dropped)), None);
        assert!(deleted.over(Some(&dropped)).is_some());
    }

    #[test]
    fn the_oldest_lose_their_words_first() {
        let all: Vec<IssueComment> = (0..=200).rev().map(|id| comment(id, id, "x")).collect();
        let dropped = beyond_limit(&all);
        assert_eq!(dropped.iter().map(|one| one.comment_id).collect::<Vec<_>>(), [0]);
        assert!(dropped[0].body.is_empty() && dropped[0].is_shortened());
        assert!(beyond_limit(&all[1..]).is_empty());
    }

    #[test]
    fn a_text_is_ours_by_its_mark_alone() {
        assert!(is_own("done\n\n<!-- baton:handoff:1:result -->"));
        for theirs in
            ["done", "> <!-- baton:handoff:1 -->\n\nwhat is this?", "see `<!-- baton:handoff:1 -->`", ""]
        {
            assert!(!is_own(theirs), "{theirs}");
        }
    }

    #[test]
    fn what_people_write_into_a_body_is_told_from_what_we_sent() {
        let ours = "Half up\n\n- one\n- two\n\n<!-- baton:handoff:1 -->";
        assert_eq!(body_changes(ours, &ours.replace('\n', "\r\n")), (String::new(), 0));
        assert_eq!(body_changes(ours, "Half up\n- one\n- three\n- one"), ("- three\n- one".into(), 1));
        assert_eq!(body_changes(ours, ""), (String::new(), 3));
    }

    #[test]
    fn labels_are_compared_with_those_of_the_task() {
        let of = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        let seen = IssueText {
            labels: of(&["Handoff", "urgent"]),
            labels_ever: of(&["handoff", "api", "urgent"]),
            ..IssueText::default()
        };
        let (added, removed) = seen.label_changes(&of(&["handoff", "api", "priority:normal"]));
        assert_eq!((added, removed), (of(&["urgent"]), of(&["api"])));
    }

    #[test]
    fn what_baton_brings_to_an_issue_is_no_edit_of_peoples() {
        let of = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        let seen = |title: &str, labels: &[&str], body_added: &str| IssueText {
            title: Some(title.into()),
            labels: of(labels),
            labels_ever: of(&["api", "urgent"]),
            body_added: body_added.into(),
            ..IssueText::default()
        };
        let before = seen("One", &["api", "urgent"], "theirs");
        let is_edit = |after: &IssueText, title: &str, of_task: &[&str]| {
            after.has_new_edits(&before, title, &of(of_task))
        };
        assert!(!is_edit(&before, "One", &["api"]), "the same");
        assert!(!is_edit(&seen("Two", &["urgent"], "theirs"), "Two", &[]), "the task has them so");
        assert!(is_edit(&seen("Two", &["api", "urgent"], "theirs"), "One", &["api"]));
        assert!(is_edit(&seen("One", &["urgent"], "theirs"), "One", &["api"]));
        assert!(is_edit(&seen("One", &["api", "urgent", "x"], "theirs"), "One", &["api"]));
        assert!(is_edit(&seen("One", &["api", "urgent"], "theirs, too"), "One", &["api"]));
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!((head("äö", 3), head("äö", 9), head("", 2)), ("ä", "äö", ""));
    }
}
