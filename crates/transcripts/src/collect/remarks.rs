//! What else was said: passages that no rule has classed, the weightiest of them, in their order.

use super::prose::{Passage, answers, asks_for_one_thing, speaks_of, tells_of_lack, tells_of_removal};
use super::{Sentence, SourceRef};
use crate::shared::words::{is_item, unmarked};

/// How many passages of each side are kept, so that memory does not grow with the session.
const MAX_OF_USER: usize = 60;
const MAX_OF_AGENT: usize = 80;
/// How many passages of one message keep their weight.
const HEAVY_OF_ONE: usize = 4;
/// The longest answer that is kept with its question, in bytes.
const MAX_SHORT_ANSWER: usize = 60;
/// By so much of its beginning a passage is known to be an item of a list, in characters.
const ITEM_BEGIN: usize = 40;

/// Stands between a question of the agent and the user's answer.
const ANSWERED: &str = " — the user: “";

/// A question of the agent with the user's answer, in one remark.
pub(super) fn with_answer(question: &str, answer: &str) -> String {
    format!("{question}{ANSWERED}{answer}”")
}

/// Whether a text is a question of the agent with the user's answer.
pub(super) fn is_assent(text: &str) -> bool {
    text.contains(ANSWERED)
}

/// A passage, and when it was said.
#[derive(Debug, Clone)]
pub(super) struct TimedRemark {
    pub role: &'static str,
    pub said: Sentence,
    pub salience: u8,
    nth: u64,
    /// Whether the agent went on to work right after the message in which it stands.
    pub is_mid_work: bool,
    /// Whether it is an item of what the user asked for.
    pub is_of_order: bool,
    /// Whether it tells of a fault that the agent mended right after.
    pub is_mended: bool,
}

impl TimedRemark {
    fn new(role: &'static str, passage: Passage, at: &SourceRef) -> Self {
        let sentence = Sentence { text: passage.text, at: at.clone() };
        Self {
            role,
            said: sentence,
            salience: passage.salience,
            nth: 0,
            is_mid_work: false,
            is_of_order: false,
            is_mended: false,
        }
    }

    /// Whether it was kept because something else needs it beside it, or is an answer with its question.
    pub(super) fn is_settled(&self) -> bool {
        self.salience == u8::MAX
    }

    /// Whether it is a question of the agent with the user's answer.
    pub(super) fn is_answer(&self) -> bool {
        is_assent(&self.said.text)
    }
}

/// The weightiest passages of either side.
#[derive(Debug, Default)]
pub(super) struct Remarks {
    user: Vec<TimedRemark>,
    agent: Vec<TimedRemark>,
    count: u64,
    /// The passage in which the agent asked last, until something else is said.
    asked: Option<u64>,
    /// Where the agent spoke last.
    spoke_at: Option<SourceRef>,
    /// How many passages were let go.
    pub left_out: u64,
    /// The lines of the last two messages of the user.
    users: (u64, u64),
}

impl Remarks {
    /// The user says something on this line.
    pub(super) fn user_spoke(&mut self, line: u64) {
        self.users = (self.users.1, line);
    }

    /// What the agent said before the user's last words was wrong, by their word or by its own.
    pub(super) fn take_back_answer(&mut self) {
        let (from, to) = self.users;
        self.agent.retain(|entry| entry.is_settled() || !(from..to).contains(&entry.said.at.line));
    }

    /// These names in code are there again: what was said of their removal is of the past.
    pub(super) fn put_back(&mut self, names: &[String]) {
        let is_of_them =
            |text: &str| names.iter().any(|name| text.contains(name.as_str())) && tells_of_removal(text);
        self.agent.retain(|entry| entry.is_settled() || !is_of_them(&entry.said.text));
    }

    /// Adds the passages of one message of the user. A word or two after a question of the agent is added to the
    /// question.
    pub(super) fn user(&mut self, message: &str, passages: Vec<Passage>, at: &SourceRef) {
        let question_nth = self.asked.take();
        let short = message.trim();
        if passages.is_empty() && !short.is_empty() && short.len() <= MAX_SHORT_ANSWER {
            let mut questions = self.agent.iter_mut().filter(|entry| Some(entry.nth) == question_nth);
            if let Some(question) = questions.next().filter(|entry| answers(&entry.said.text, short)) {
                question.said.text = with_answer(&question.said.text, &short.replace('\n', " "));
            }
            return;
        }
        let asks = asks_for_one_thing(message);
        let items: Vec<&str> = message.lines().filter(|line| asks && is_item(line)).map(unmarked).collect();
        for passage in passages {
            let begin: String = passage.text.chars().take(ITEM_BEGIN).collect();
            let is_of_order = items.iter().any(|item| item.starts_with(begin.trim_end_matches('…')));
            self.add(TimedRemark { is_of_order, ..TimedRemark::new("user", passage, at) });
        }
    }

    /// The agent works after what it said last.
    pub(super) fn work_began(&mut self) {
        let Some(at) = self.spoke_at.take() else { return };
        self.agent.iter_mut().filter(|entry| entry.said.at == at).for_each(|entry| entry.is_mid_work = true);
    }

    /// A file was changed right after a message that set out to mend a fault.
    pub(super) fn mended(&mut self, line: u64) {
        self.agent
            .iter_mut()
            .filter(|entry| entry.said.at.line == line)
            .for_each(|entry| entry.is_mended = true);
    }

    /// Whether a message of the agent lists what is missing.
    pub(super) fn tell_of_lack(&self, at: &SourceRef) -> bool {
        self.agent.iter().any(|entry| entry.said.at == *at && tells_of_lack(&entry.said.text))
    }

    /// Passages of one message of the agent.
    pub(super) fn agent(&mut self, message: &str, mut passages: Vec<Passage>, at: &SourceRef) {
        lighten(&mut passages);
        self.spoke_at = Some(at.clone());
        for passage in passages {
            self.add(TimedRemark::new("assistant", passage, at));
        }
        let asks = |entry: &&TimedRemark| entry.said.at == *at && entry.said.text.ends_with('?');
        let last = self.agent.last().filter(asks).filter(|_| message.trim_end().ends_with('?'));
        self.asked = last.map(|entry| entry.nth);
    }

    /// What was classed, and of which something was also said in words that no rule knows: the two must stand together.
    pub(super) fn attach(&mut self, role: &'static str, passage: Passage, at: &SourceRef) {
        self.push(TimedRemark::new(role, passage, at));
    }

    /// The user's answer with its question takes the place of what the agent said where it asked.
    pub(super) fn settle(&mut self, asked_at: Option<&SourceRef>, passage: Passage, at: &SourceRef) {
        self.asked = None;
        self.agent.retain(|entry| entry.is_settled() || Some(&entry.said.at) != asked_at);
        self.attach("user", passage, at);
    }

    /// Whether something that the agent said is about the matter of a decision.
    pub(super) fn is_about(&self, named: &[String]) -> bool {
        self.agent.iter().any(|entry| speaks_of(&entry.said.text, named))
    }

    fn add(&mut self, entry: TimedRemark) {
        self.count += 1;
        self.push(TimedRemark { nth: self.count, ..entry });
    }

    /// What the user said there, and says anew in other words.
    pub(super) fn forget_user(&mut self, at: &SourceRef) {
        self.user.retain(|entry| entry.said.at != *at);
    }

    fn push(&mut self, mut entry: TimedRemark) {
        // Of a text that was cut out of another one, the mark of emphasis at one end may be left.
        if entry.said.text.matches("**").count() % 2 == 1 {
            entry.said.text = entry.said.text.replace("**", "");
        }
        let (list, max) = match entry.role {
            "user" => (&mut self.user, MAX_OF_USER),
            _ => (&mut self.agent, MAX_OF_AGENT),
        };
        if list.iter().any(|known| known.said.text == entry.said.text) {
            return;
        }
        list.push(entry);
        // The lightest goes, among equals the oldest.
        let lightest =
            list.iter().enumerate().min_by_key(|(at, entry)| (entry.salience, *at)).map(|(at, _)| at);
        if let Some(at) = lightest.filter(|_| list.len() > max) {
            list.remove(at);
            self.left_out += 1;
        }
    }

    /// All of them in the order in which they were said.
    pub(super) fn in_order(&self) -> Vec<&TimedRemark> {
        let mut all: Vec<&TimedRemark> = self.user.iter().chain(&self.agent).collect();
        all.sort_by_key(|entry| (entry.said.at.line, entry.nth));
        all
    }
}

/// No message may crowd out the others: all but its heaviest passages weigh half.
fn lighten(passages: &mut [Passage]) {
    let mut saliences: Vec<u8> = passages.iter().map(|passage| passage.salience).collect();
    saliences.sort_unstable_by(|one, other| other.cmp(one));
    let Some(&least) = saliences.get(HEAVY_OF_ONE - 1) else { return };
    let mut heavy = 0;
    for passage in passages {
        let full = passage.salience >= least && heavy < HEAVY_OF_ONE;
        heavy += usize::from(full);
        passage.salience /= if full { 1 } else { 2 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(text: &str, salience: u8) -> Vec<Passage> {
        vec![Passage { text: text.to_owned(), salience }]
    }

    fn at(line: u64) -> SourceRef {
        SourceRef { line, subagent: None }
    }

    #[test]
    fn the_weightiest_are_kept_in_their_order() {
        let mut remarks = Remarks::default();
        for line in 1..=1000 {
            let salience = if line % 20 == 0 { 40 } else { 15 };
            remarks.agent("", passage(&format!("said {line}"), salience), &at(line));
        }
        let entries = remarks.in_order();
        assert_eq!((entries.len(), remarks.left_out), (MAX_OF_AGENT, 1000 - MAX_OF_AGENT as u64));
        assert_eq!(entries.iter().filter(|entry| entry.salience == 40).count(), 50);
        assert!(entries.windows(2).all(|pair| pair[0].said.at.line < pair[1].said.at.line));
    }

    #[test]
    fn one_message_does_not_crowd_out_the_others() {
        let mut many: Vec<Passage> = (0..6).flat_map(|nth| passage("so", 20 + nth)).collect();
        lighten(&mut many);
        let saliences: Vec<u8> = many.iter().map(|passage| passage.salience).collect();
        assert_eq!(saliences, [10, 10, 22, 23, 24, 25]);
    }

    #[test]
    fn half_of_a_mark_of_emphasis_is_left_out() {
        let mut remarks = Remarks::default();
        remarks.agent("", passage("The problem with the second:** it is late, **not** wrong", 22), &at(1));
        remarks.agent("", passage("**Cheap:** it compares lists", 22), &at(2));
        let texts: Vec<&str> = remarks.in_order().iter().map(|entry| entry.said.text.as_str()).collect();
        assert_eq!(
            texts,
            ["The problem with the second: it is late, not wrong", "**Cheap:** it compares lists"]
        );
    }

    #[test]
    fn a_short_answer_stands_with_its_question() {
        let mut remarks = Remarks::default();
        remarks.agent("Shall I drop the old column?", passage("Shall I drop the old column?", 22), &at(1));
        remarks.user("No, not yet.", Vec::new(), &at(2));
        remarks.user("ok", Vec::new(), &at(3));
        let texts: Vec<&str> = remarks.in_order().iter().map(|entry| entry.said.text.as_str()).collect();
        assert_eq!(texts, ["Shall I drop the old column? — the user: “No, not yet.”"]);
    }
}
