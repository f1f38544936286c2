//! Notifications outside the terminal, and quiet hours.

use crate::handoff_message::Urgency;
use crate::message::View;
use crate::refusal::Refusal;

/// What a notification is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// A baton waits.
    Baton,
    /// Work from another project waits, or what was sent there was taken, declined, done, or got stuck.
    Handoff,
    /// An agent stopped at its limit, or failed.
    Limit,
    /// A message wants an answer.
    Question,
}

impl Topic {
    /// Every topic.
    pub const ALL: [Self; 4] = [Self::Baton, Self::Handoff, Self::Limit, Self::Question];

    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Baton => "baton",
            Self::Handoff => "handoff",
            Self::Limit => "limit",
            Self::Question => "question",
        }
    }

    /// Reads a list of words: `baton, limit`.
    pub fn list(text: &str) -> Result<Vec<Self>, Refusal> {
        let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
        let read = |word: &str| {
            Self::ALL.into_iter().find(|topic| topic.as_str() == word).ok_or_else(|| {
                let known = Self::ALL.map(Self::as_str).join(", ");
                let what = format!("`notify.topics` has `{}`", crate::id::visible(word));
                Refusal::invalid(
                    "config_invalid",
                    what,
                    format!("use some of {known}, with commas between them"),
                )
            })
        };
        words.map(read).collect()
    }
}

/// The types of messages that put a question to whom they are for, whatever else they carry.
pub const QUESTIONS: [&str; 3] = ["ReviewRequested", "Question", "Blocker"];

/// Whether a message waits for an answer of whom it is for: it is to be acknowledged and is not, or it is a question, a blocker, a request
/// for a review or critical, and was not read.
pub fn wants_answer(message: &View) -> bool {
    let is_question = QUESTIONS.contains(&message.kind.as_str()) || message.importance == Urgency::Critical;
    message.acked_at.is_none()
        && (message.ack_by.is_some() || (is_question && message.delivered_at.is_none()))
}

/// Something that a person is told, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// What it is about.
    pub topic: Topic,
    /// The project.
    pub project_id: String,
    /// What it is known by: the same is told once.
    pub key: String,
    /// In a few words.
    pub title: String,
    /// What to know and what to do, in a sentence or two.
    pub text: String,
}

/// Minutes in a day.
const DAY: u16 = 24 * 60;

/// The hours in which nothing is told; what came up is told after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuietHours {
    from: u16,
    to: u16,
}

impl QuietHours {
    /// Reads `22:00-07:00`, by the clock of the machine.
    pub fn read(text: &str) -> Result<Self, Refusal> {
        let hours = text.trim().split_once('-').and_then(|(from, to)| Some((minute(from)?, minute(to)?)));
        match hours {
            Some((from, to)) if from != to => Ok(Self { from, to }),
            _ => {
                let what = format!("`notify.quiet` is `{}`", crate::id::visible(text));
                Err(Refusal::invalid("config_invalid", what, "write it as two times of the day: 22:00-07:00"))
            }
        }
    }

    /// Whether a minute of the day is one of these.
    pub fn contains(self, minute: u16) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&minute)
        } else {
            minute >= self.from || minute < self.to
        }
    }
}

/// The minute of the day of `7:05`.
fn minute(text: &str) -> Option<u16> {
    let (hour, minute) = text.trim().split_once(':')?;
    let is_plain = |part: &str, digits: std::ops::RangeInclusive<usize>| {
        digits.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !is_plain(hour, 1..=2) || !is_plain(minute, 2..=2) {
        return None;
    }
    let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute).filter(|all| *all < DAY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;
    use crate::time::Timestamp;

    #[test]
    fn a_question_wants_an_answer_until_it_is_read_and_what_is_to_be_acknowledged_until_it_is() {
        let message = |kind: &str| View::head(&Message { kind: kind.to_owned(), ..Message::default() });
        for kind in ["Question", "Blocker", "ReviewRequested"] {
            assert!(wants_answer(&message(kind)), "{kind}");
            let read = View { delivered_at: Some(Timestamp(1)), ..message(kind) };
            assert!(!wants_answer(&read), "{kind}");
            assert!(wants_answer(&View { ack_by: Some(Timestamp(9)), ..read }), "{kind}");
        }
        for kind in ["message", "StatusUpdate", "TaskAssigned", "ReviewCompleted"] {
            assert!(!wants_answer(&message(kind)), "{kind}");
            assert!(wants_answer(&View { importance: Urgency::Critical, ..message(kind) }), "{kind}");
            let asks = View { ack_by: Some(Timestamp(9)), ..message(kind) };
            assert!(wants_answer(&asks) && !wants_answer(&View { acked_at: Some(Timestamp(2)), ..asks }));
        }
    }

    #[test]
    fn quiet_hours_reach_over_midnight_and_end_at_their_minute() {
        let night = QuietHours::read(" 22:00-7:00").expect("hours");
        for (at, is_quiet) in
            [(22 * 60, true), (0, true), (7 * 60 - 1, true), (7 * 60, false), (21 * 60 + 59, false)]
        {
            assert_eq!(night.contains(at), is_quiet, "{at}");
        }
        let noon = QuietHours::read("12:00-13:30").expect("hours");
        assert!(noon.contains(12 * 60) && noon.contains(13 * 60 + 29) && !noon.contains(13 * 60 + 30));
        for bad in [
            "",
            "22:00",
            "22-7",
            "24:00-07:00",
            "22:60-07:00",
            "22:00-22:00",
            "-1:00-07:00",
            "+2:00-07:00",
            "22:0-07:00",
        ] {
            assert_eq!(QuietHours::read(bad).expect_err(bad).code, "config_invalid");
        }
    }

    #[test]
    fn topics_are_read_from_a_list_and_a_slip_is_named() {
        assert_eq!(Topic::list("limit, baton,").expect("topics"), [Topic::Limit, Topic::Baton]);
        let refusal = Topic::list("batons").expect_err("a slip");
        assert!(refusal.hint.contains("baton, handoff, limit, question"), "{}", refusal.hint);
    }
}
