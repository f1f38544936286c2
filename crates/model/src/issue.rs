//! A hand-off as a GitHub issue: what is sent, how ours is known again, and what an answer of GitHub's means.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::budget::Budget;
use crate::id::visible;
use crate::markdown::{self, Preset};
use crate::packet::ValidatedPacket;
use crate::refusal::Refusal;
use crate::time::Millis;

/// The longest body of an issue that GitHub takes, in characters.
pub const MAX_BODY: usize = 65_536;
/// What is left for a packet in a body, in bytes.
const PACKET_ROOM: usize = 40_000;
/// The longest title, in characters.
pub const MAX_TITLE: usize = 256;
/// The longest label, in characters.
pub const MAX_LABEL: usize = 50;
/// The label of every hand-off.
pub const LABEL: &str = "handoff";

/// What is asked of a tracker outside.
#[derive(Debug, Clone, PartialEq)]
pub enum TrackerCall {
    /// Make the issue, unless it is there.
    Create(Box<Draft>),
    /// Look whether the issue is there; make none.
    Find(Box<Draft>),
    /// Close an issue with a comment.
    Close {
        /// `owner/repo`.
        repo: String,
        /// Its number.
        number: i64,
        /// What is said.
        comment: String,
        /// `completed` or `not_planned`.
        reason: &'static str,
        /// The comment's own mark, so that it is said once.
        marker: String,
        /// Whether an earlier try may have said it.
        may_exist: bool,
    },
    /// Say something under an issue.
    Comment {
        /// `owner/repo`.
        repo: String,
        /// Its number.
        number: i64,
        /// What is said.
        comment: String,
        /// The comment's own mark, so that it is said once.
        marker: String,
        /// Whether an earlier try may have said it.
        may_exist: bool,
    },
    /// Bring what the receiver changed about the task to its issue.
    Edit {
        /// `owner/repo`.
        repo: String,
        /// Its number.
        number: i64,
        /// What changed.
        edit: Edit,
    },
}

/// Changes to a task that has an issue. Fields of the issue that are not part of them stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Edit {
    /// Whether it is open now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<bool>,
    /// Its new title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Labels that it has now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<String>,
    /// Labels that it has no more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<String>,
}

impl Edit {
    /// Whether there is nothing to bring.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The labels of an issue after the change; GitHub knows no case in them.
    pub fn labels(&self, now: &[String]) -> Vec<String> {
        let among = |all: &[String], one: &str| all.iter().any(|known| known.eq_ignore_ascii_case(one));
        let mut after: Vec<String> =
            now.iter().filter(|label| !among(&self.remove, label)).cloned().collect();
        for label in &self.add {
            if !among(&after, label) {
                after.push(label.clone());
            }
        }
        after
    }
}

impl TrackerCall {
    /// Whether an earlier try may have done it.
    pub fn may_exist(&self) -> bool {
        match self {
            Self::Create(draft) | Self::Find(draft) => draft.may_exist,
            Self::Close { may_exist, .. } | Self::Comment { may_exist, .. } => *may_exist,
            // Done twice it is the same.
            Self::Edit { .. } => false,
        }
    }
}

/// An issue that is to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// `owner/repo`.
    pub repo: String,
    /// One line.
    pub title: String,
    /// Markdown that ends in the marker.
    pub body: String,
    /// Labels.
    pub labels: Vec<String>,
    /// What it is known again by.
    pub marker: String,
    /// It cannot be older than this.
    pub since: Millis,
    /// Whether an earlier try may have made it.
    pub may_exist: bool,
    /// The issue that is known to be ours: every other one is a duplicate.
    pub known: Option<i64>,
}

impl Draft {
    /// Whether a body carries our marker.
    pub fn is_marked(&self, body: &str) -> bool {
        body.contains(&self.marker)
    }

    /// Whether title and body are those that Baton wrote, so that the issue is a duplicate and not one that quotes the
    /// original, hidden marker included.
    pub fn is_ours(&self, title: &str, body: &str) -> bool {
        let lines =
            |text: &str| text.trim().lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
        title.trim() == self.title.trim() && lines(body) == lines(&self.body)
    }
}

/// What a tracker outside did.
#[derive(Debug, Clone, PartialEq)]
pub enum TrackerResult {
    /// The issue is there.
    Issue {
        /// Its number.
        number: i64,
        /// Its page.
        url: String,
        /// Younger duplicates that were found and closed.
        duplicates: Vec<i64>,
    },
    /// There is no such issue.
    Nothing,
    /// The issue is closed.
    Closed(Option<IssueAnswer>),
    /// The comment stands there.
    Commented,
    /// The issue is as the task is.
    Edited(Option<IssueAnswer>),
}

/// What GitHub says of an issue in its answer to a change of ours, by its own clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueAnswer {
    /// When it was changed last: by this change.
    pub updated_at: Millis,
    /// When it was closed; none where it is open.
    pub closed_at: Option<Millis>,
    /// Whether this change has closed it. Else a person had before.
    pub is_own_close: bool,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum TrackerOutcome {
    /// As wished.
    Completed(TrackerResult),
    /// Failed for now.
    Retry {
        /// What went wrong.
        why: String,
        /// Pause that GitHub asked for.
        after: Option<Millis>,
        /// Whether it may have been done all the same.
        unknown: bool,
    },
    /// Failed for good.
    Final {
        /// What went wrong, and what a person can do.
        why: String,
        /// Whether an earlier try may have done it all the same.
        unknown: bool,
    },
}

impl TrackerOutcome {
    /// This outcome with the id of the hand-off in the command that its reason names, and with the repository that was asked.
    #[must_use]
    pub fn with_names(&self, id: &str, repo: Option<&str>) -> Self {
        let mut named = self.clone();
        if let Self::Retry { why, .. } | Self::Final { why, .. } = &mut named {
            *why = why.replace("`baton handoff retry ID", &format!("`baton handoff retry {id}"));
            if let (Some(repo), false) = (repo, repo.is_some_and(|repo| why.contains(repo))) {
                *why = format!("{}: {why}", visible(repo));
            }
        }
        named
    }
}

/// The hidden line that an issue is known again by: a hash of the hand-off's id, so that it tells nothing and cannot be guessed.
pub fn marker(handoff_id: &str) -> String {
    format!("<!-- baton:handoff:{} -->", hash(&format!("handoff:{handoff_id}")))
}

/// The hidden line of a hand-off in a body, if there is one.
pub fn marker_in(body: &str) -> Option<&str> {
    let from = body.find("<!-- baton:handoff:")?;
    let rest = body.get(from..)?;
    rest.get(..rest.find("-->")? + 3)
}

/// The hidden line of a comment of ours.
pub fn comment_marker(handoff_id: &str, what: &str) -> String {
    format!("<!-- baton:{what}:{} -->", hash(&format!("{what}:{handoff_id}")))
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The body: description, packet, links, marker. A packet that does not fit is shortened, with a note in the body.
pub fn body(
    description: &str,
    packet: &str,
    links: &Map<String, Value>,
    handoff_id: &str,
) -> Result<String, Refusal> {
    let mut parts = Vec::new();
    if !description.trim().is_empty() {
        parts.push(description.trim_end().to_owned());
    }
    if let Ok(sealed) = ValidatedPacket::parse_stored(packet.to_owned()) {
        let more = format!("baton handoff show {handoff_id}");
        let options = markdown::Options {
            preset: Preset::Full,
            budget: Some(Budget::Bytes(PACKET_ROOM)),
            more_hint: Some(&more),
            ..markdown::Options::default()
        };
        parts.push(markdown::render(sealed.view(), &options).text.trim_end().to_owned());
    }
    if !links.is_empty() {
        let lines: Vec<String> =
            links.iter().map(|(key, value)| format!("- {key}: {}", plain(value))).collect();
        parts.push(format!("## Links\n\n{}", lines.join("\n")));
    }
    parts.push(marker(handoff_id));
    let body = parts.join("\n\n");
    if body.chars().count() <= MAX_BODY {
        return Ok(body);
    }
    Err(Refusal::invalid(
        "description_too_long",
        "the description does not fit into an issue of GitHub's",
        "shorten it; keep large things in files and name them in the links",
    ))
}

/// A link's value on one line.
pub fn plain(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    };
    crate::id::visible(&text)
}

/// The labels: tags, `handoff`, priority.
pub fn labels(tags: &[String], priority: i64) -> Vec<String> {
    let name = ["critical", "high", "normal", "low", "some-day"];
    let word = usize::try_from(priority).ok().and_then(|p| name.get(p)).copied().unwrap_or("normal");
    let mut all: Vec<String> = tags.to_vec();
    for label in [LABEL.to_owned(), format!("priority:{word}")] {
        if !all.iter().any(|known| known.eq_ignore_ascii_case(&label)) {
            all.push(label);
        }
    }
    all
}

/// What an answer of GitHub's means for trying again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RetryDecision {
    /// It was done.
    Good,
    /// Not now; wait so long if a time is given. It was not done.
    Later(Option<Millis>),
    /// Not now, and it may have been done.
    Unknown,
    /// Never.
    Never,
}

/// The headers of an answer that matter.
#[derive(Debug, Clone, Default)]
pub struct ResponseHeaders<'a> {
    /// `retry-after`, in seconds.
    pub retry_after: Option<i64>,
    /// `x-ratelimit-remaining`
    pub remaining: Option<i64>,
    /// `x-ratelimit-reset`, in seconds of the epoch.
    pub reset: Option<i64>,
    /// The body's `message`.
    pub message: &'a str,
}

/// Reads an answer's status and marks. A 403 counts as a limit only with one of a limit's marks.
pub fn retry_decision(status: u16, marks: &ResponseHeaders<'_>, now: Millis) -> RetryDecision {
    let retry_after = marks.retry_after.map(|seconds| seconds.clamp(0, 86_400) * 1_000);
    let reset = || {
        let until = marks.reset.map(|seconds| seconds.saturating_mul(1_000).saturating_sub(now));
        until.filter(|_| marks.remaining == Some(0)).map(|pause| pause.clamp(1_000, 86_400_000))
    };
    let message = marks.message.to_ascii_lowercase();
    let limited = retry_after.is_some()
        || marks.remaining == Some(0)
        || message.contains("rate limit")
        || message.contains("abuse detection");
    match status {
        200..=299 | 304 => RetryDecision::Good,
        429 => RetryDecision::Later(retry_after.or_else(reset).or(Some(60_000))),
        403 if limited => RetryDecision::Later(retry_after.or_else(reset).or(Some(60_000))),
        408 | 425 | 500..=599 => RetryDecision::Unknown,
        _ => RetryDecision::Never,
    }
}

/// What a person mends after a final answer. The caller adds the command that tries again.
pub fn advice(status: u16) -> &'static str {
    match status {
        401 => "the token is not valid: set another one",
        403 => "the token may not do this: give it access to the issues",
        404 => {
            "there is no such repository for this token: give the token access and try again, or name the right one: `baton handoff retry ID --repo OWNER/NAME`"
        }
        410 => "issues are switched off there: switch them on, or use another tracker",
        301 | 302 | 307 | 308 => {
            "the repository has moved to another host: `baton handoff retry ID --repo OWNER/NAME` names its new place"
        }
        _ => "mend what GitHub objects to",
    }
}

/// The statuses with an advice of their own, and one of all others.
const ADVISED: [u16; 6] = [401, 403, 404, 410, 301, 422];

/// A reason without the [`advice`] that it ends with: in a hand-off that is over nothing is tried again.
pub fn without_advice(why: &str) -> &str {
    // Behind the command stand the id and the option.
    let begins = |status: u16| format!("; {}", advice(status).split('`').next().unwrap_or_default());
    let cut = ADVISED.into_iter().find_map(|status| why.rfind(&begins(status)));
    cut.and_then(|at| why.get(..at)).unwrap_or(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_gives_no_advice() {
        for status in [301, 401, 403, 404, 410, 422] {
            let end = TrackerOutcome::Final {
                why: format!("GitHub answered {status}: no; {}", advice(status)),
                unknown: false,
            };
            let TrackerOutcome::Final { why, .. } = end.with_names("01a2217d-2e47", Some("acme/webb")) else {
                panic!("another end")
            };
            assert_eq!(without_advice(&why), format!("acme/webb: GitHub answered {status}: no"));
        }
        assert_eq!(without_advice("it cannot be reached"), "it cannot be reached");
    }

    #[test]
    fn a_reason_names_the_hand_off_in_its_command() {
        for status in [404, 301] {
            let end = TrackerOutcome::Final { why: advice(status).to_owned(), unknown: false };
            let TrackerOutcome::Final { why, .. } = end.with_names("01a2217d-2e47", Some("acme/webb")) else {
                panic!("another end")
            };
            assert!(why.starts_with("acme/webb: "), "{why}");
            assert!(why.contains("`baton handoff retry 01a2217d-2e47 --repo OWNER/NAME`"), "{why}");
        }
    }

    #[test]
    fn advice_leaves_the_command_that_tries_again_to_who_shows_it() {
        for status in [401, 403, 404, 410, 422] {
            assert!(!advice(status).contains("and `baton handoff retry`"), "{status}: {}", advice(status));
        }
    }

    #[test]
    fn a_marker_is_of_one_handoff_and_tells_nothing() {
        let one = marker("019a-1");
        assert_ne!(one, marker("019a-2"));
        assert!(!one.contains("019a-1") && one.starts_with("<!-- baton:handoff:") && one.ends_with(" -->"));
        assert_ne!(comment_marker("019a-1", "result"), comment_marker("019a-1", "undo"));
    }

    #[test]
    fn only_what_we_made_ourselves_is_a_double() {
        let body = format!("Do it.\n\n{}", marker("h"));
        let draft = Draft {
            repo: "o/r".into(),
            title: "a title".into(),
            body: body.clone(),
            labels: Vec::new(),
            marker: marker("h"),
            since: 0,
            may_exist: true,
            known: None,
        };
        assert!(draft.is_ours("a title", &body) && draft.is_ours("a title ", &body.replace('\n', "\r\n")));
        assert!(!draft.is_ours("a title", &format!("> {body}\n\nI have this, too")), "a quotation");
        assert!(!draft.is_ours("another", &body) && !draft.is_ours("a title", ""));
        assert_eq!(marker_in(&format!("x {body} y")), Some(marker("h").as_str()));
        assert_eq!((marker_in("nothing"), marker_in("<!-- baton:handoff:cut")), (None, None));
    }

    #[test]
    fn a_body_ends_in_its_marker_and_fits() {
        let links = serde_json::from_str(r#"{"source_ref":"abc","docs":["a.md","b.md"]}"#).expect("json");
        let packet = format!(r#"{{"summary":"s","next_steps":["{}"]}}"#, "x ".repeat(60_000));
        let text = body("Do it.", &packet, &links, "h").expect("fits");
        assert!(text.starts_with("Do it.\n\n") && text.ends_with(&marker("h")), "{text}");
        assert!(text.contains("- source_ref: abc\n- docs: a.md, b.md"), "{text}");
        assert!(text.chars().count() <= MAX_BODY);
        assert_eq!(
            body(&"x".repeat(MAX_BODY), "", &Map::new(), "h").expect_err("long").code,
            "description_too_long"
        );
        assert_eq!(body("", "", &Map::new(), "h"), Ok(marker("h")));
    }

    #[test]
    fn labels_are_tags_handoff_and_priority() {
        assert_eq!(labels(&["api".into()], 1), ["api", "handoff", "priority:high"]);
        assert_eq!(labels(&["Handoff".into()], 4), ["Handoff", "priority:some-day"]);
    }

    #[test]
    fn labels_of_others_stay_when_ours_change() {
        let edit = Edit {
            add: vec!["api".into(), "New".into()],
            remove: vec!["Priority:Low".into()],
            ..Edit::default()
        };
        let now = ["theirs", "API", "priority:low"].map(str::to_owned);
        assert_eq!(edit.labels(&now), ["theirs", "API", "New"]);
        assert!(!edit.is_empty() && Edit::default().is_empty());
        assert_eq!(Edit::default().labels(&now), now);
    }

    #[test]
    fn what_an_answer_means() {
        let none = ResponseHeaders::default();
        let spent = ResponseHeaders { remaining: Some(0), reset: Some(100), ..ResponseHeaders::default() };
        let wait = ResponseHeaders { retry_after: Some(30), ..ResponseHeaders::default() };
        let headers = ResponseHeaders {
            message: "You have exceeded a secondary rate limit",
            ..ResponseHeaders::default()
        };
        let left = ResponseHeaders { remaining: Some(12), reset: Some(100), ..ResponseHeaders::default() };
        for (status, marks, expected) in [
            (201, &none, RetryDecision::Good),
            (304, &none, RetryDecision::Good),
            (403, &none, RetryDecision::Never),
            (403, &left, RetryDecision::Never),
            (403, &spent, RetryDecision::Later(Some(90_000))),
            (403, &wait, RetryDecision::Later(Some(30_000))),
            (403, &headers, RetryDecision::Later(Some(60_000))),
            (429, &none, RetryDecision::Later(Some(60_000))),
            (429, &wait, RetryDecision::Later(Some(30_000))),
            (500, &none, RetryDecision::Unknown),
            (502, &none, RetryDecision::Unknown),
            (503, &wait, RetryDecision::Unknown),
            (401, &none, RetryDecision::Never),
            (404, &none, RetryDecision::Never),
            (410, &none, RetryDecision::Never),
            (422, &none, RetryDecision::Never),
            (301, &none, RetryDecision::Never),
        ] {
            assert_eq!(retry_decision(status, marks, 10_000), expected, "{status} {marks:?}");
        }
    }
}
