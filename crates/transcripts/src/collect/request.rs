//! What the user says: a request, an answer to a question, or a word without content.

use super::builtin::is_builtin;
use super::prose::{self, PacketWords};
use super::request_weight::{RequestWeight, request_weight};
use super::{Collector, Location, Sentence};
use crate::shared::words::{clip, one_line};

const MAX_REQUEST: usize = 8 * 1024;
/// The longest question that is told with its answer, in characters.
const MAX_QUESTION: usize = 300;

impl Collector<'_> {
    /// A message of the user.
    pub(super) fn user(&mut self, text: &str, at: Location) {
        let whole = self.cleaner.clean_text(text);
        self.calls.failure.take_if(|failure| failure.is_resolved_by_word(&whole));
        let mut told = Vec::new();
        for sentence in prose::constraints(&whole) {
            let known = self.constraints.iter().any(|one| one.text == sentence);
            if !known {
                self.constraints.push(Sentence { text: sentence.to_owned(), at: at.clone() });
            }
            told.push(PacketWords::new(sentence, true));
        }
        told.extend(self.decide("user", &whole, &at));
        if is_builtin(whole.trim()) {
            self.remember("user", Sentence { text: whole.trim().to_owned(), at });
            return;
        }
        let passages = prose::users_passages(&whole, &told);
        for passage in passages.iter().filter(|passage| !prose::only_asks(&passage.text)) {
            self.reopen(&passage.text, &at);
        }
        self.remarks.user(&whole, passages, &at);
        let said = Sentence { text: clip(whole.trim(), MAX_REQUEST), at };
        self.remember("user", said.clone());
        self.request(said);
    }

    /// What the user says while rejecting a call; it is told with the call, which it is about.
    pub(super) fn rejected(&mut self, words: &str, call: Option<&str>, at: Location) {
        self.user(words, at.clone());
        let request = self.last_request.as_mut().filter(|request| request.at == at);
        if let (Some(request), Some(call)) = (request, call.filter(|call| !call.is_empty())) {
            let call = one_line(call, MAX_QUESTION);
            request.text = format!("{} — said by the user, who rejected this call: `{call}`", request.text);
        }
    }

    /// What was said as a request, if it is one; a word without content leaves the last request as it is.
    fn request(&mut self, said: Sentence) {
        let question = self.question_before();
        let line = said.at.line;
        let held = request_weight(&said.text);
        match (held, question, self.last_request.is_some()) {
            (RequestWeight::Request, ..) => self.put_request(said),
            // The only thing that was said is told, whatever it is.
            (_, _, false) => {
                self.only_courtesy = true;
                self.put_request(said);
            }
            (RequestWeight::Courtesy, ..) | (RequestWeight::Praise, None, _) => {
                self.interrupted = None;
                return;
            }
            (_, Some(question), _) => self.put_request(answer_to(said, &question)),
            (RequestWeight::Refusal, None, _) => self.put_request(said),
            (RequestWeight::GoOn | RequestWeight::Consent, None, _) => self.go_on = Some(said),
        }
        self.spoke_at = line;
        (self.answered, self.replied, self.interrupted, self.at_work) = (false, false, None, None);
    }

    fn put_request(&mut self, request: Sentence) {
        let replaces = self.first_request.is_some() && std::mem::take(&mut self.only_courtesy);
        if replaces || self.first_request.is_none() {
            self.first_request = Some(request.clone());
        }
        self.go_on = None;
        self.requests_since_plan += 1;
        self.last_request = Some(request);
    }

    /// The question with which the agent's last answer ended, if nothing was said since.
    fn question_before(&self) -> Option<String> {
        let answer = self.last_answer.as_ref().filter(|_| self.replied)?;
        prose::asked_at_the_end(&answer.text).pop().filter(|question| question.trim_end().ends_with('?'))
    }
}

fn answer_to(said: Sentence, question: &str) -> Sentence {
    let question = one_line(question, MAX_QUESTION);
    Sentence {
        text: format!("{} — the answer to the agent's question: “{question}”", said.text),
        at: said.at,
    }
}
