//! Messages that the user broke off to type them again, longer: what was said is the last of them.

use super::{Collector, Sentence, SourceRef};
use crate::shared::words::clip;

/// Shorter words are said twice, too, and each time meant.
const MIN_WORDS: usize = 5;
const MAX_DRAFT: usize = 8 * 1024;

impl Collector<'_> {
    /// Forgets the message before this one where it was a draft of it: the agent did nothing in between.
    pub(super) fn take_back_draft(&mut self, text: &str, at: &SourceRef) {
        let is_open = !self.answered && !self.replied;
        let draft = self.draft.take().filter(|draft| is_open && begins_with(text, &draft.text));
        if let Some(draft) = draft {
            self.forget_message(&draft.at);
        }
        self.draft = Some(Sentence { text: clip(text.trim(), MAX_DRAFT), at: at.clone() });
    }

    /// Takes a message of the user out of all that was gathered of it but the last request, in whose place another one comes.
    pub(super) fn forget_message(&mut self, at: &SourceRef) {
        self.remarks.forget_user(at);
        self.recent.retain(|(role, message)| *role != "user" || message.at != *at);
        self.orders.retain(|order| order.at != *at);
        self.constraints.retain(|constraint| constraint.at != *at);
        self.decisions.retain(|held| held.role != "user" || held.at != *at);
        self.first_request.take_if(|first| first.at == *at);
        self.full_request.take_if(|full| full.at == *at);
        self.request_before.take_if(|before| before.at == *at);
    }
}

/// Whether a text begins with all of another one, whose last word may be cut off.
fn begins_with(text: &str, draft: &str) -> bool {
    let mut words = text.split_whitespace();
    let draft: Vec<&str> = draft.split_whitespace().collect();
    let Some((last, before)) = draft.split_last().filter(|_| draft.len() >= MIN_WORDS) else { return false };
    before.iter().all(|word| words.next() == Some(*word))
        && words.next().is_some_and(|word| word.starts_with(last.trim_end_matches(['.', '…', ':'])))
}

#[cfg(test)]
mod tests {
    use super::super::tests::SessionScript;
    use crate::event::EventKind;

    #[test]
    fn a_message_that_was_broken_off_and_typed_again_is_said_once() {
        let session = |first: &'static str, between: Option<EventKind<'static>>| {
            let script = SessionScript::new().user("change the warning").agent("Done.").user(first);
            let script = script.add(EventKind::Interrupted);
            let script = between.into_iter().fold(script, SessionScript::add);
            let script =
                script.user("Print \"You are in a session\". Never ask twice, and type /exit to end it");
            script.agent("Done: it asks now.").user("add a test").agent("Done.").summary()
        };
        let times = |packet: &super::super::Packet| {
            serde_json::to_string(packet).expect("JSON").matches("You are in a session").count()
        };
        let once = times(&session("Do something else at all now", None));
        for draft in ["Print \"You are in a session\".", "Print \"You are in a session\". Never ask twi"] {
            let packet = session(draft, None);
            assert_eq!(times(&packet), once, "{packet:#?}");
        }
        let answered = EventKind::Assistant("I print it.".into());
        assert!(times(&session("Print \"You are in a session\".", Some(answered))) > once, "it was answered");
        assert!(times(&session("Print \"You are in a session\" now.", None)) > once, "other words");
    }
}
