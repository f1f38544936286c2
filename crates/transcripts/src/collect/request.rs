//! What the user says: a request, an answer to a question, or a word without content.

use super::builtin::is_builtin;
use super::prose::{self, PacketWords, Passage};
use super::request_weight::{self, RequestWeight, request_weight};
use super::{Collector, Location, Sentence, StandingDecision};
use crate::shared::words::{clip, has_phrase, is_item, one_line};

const MAX_REQUEST: usize = 8 * 1024;
/// The longest question that is told with its answer, in characters.
const MAX_QUESTION: usize = 300;

/// Words that let the work go on and agree to what was offered.
const AGREES: &[&str] = &["go ahead", "proceed", "start", "begin"];
/// Fewer words than these offer nothing.
const MIN_OFFER: usize = 4;

impl Collector<'_> {
    /// A message of the user.
    pub(super) fn user(&mut self, text: &str, at: Location) {
        let whole = self.cleaner.clean_text(text);
        let mended = self.calls.failure.take_if(|failure| failure.is_resolved_by_word(&whole));
        mended.iter().for_each(|failure| self.calls.mended(failure, None));
        let mut recorded = Vec::new();
        for sentence in prose::constraints(&whole) {
            let known = self.constraints.iter().any(|one| one.text == sentence);
            if !known {
                self.constraints.push(Sentence { text: sentence.to_owned(), at: at.clone() });
            }
            recorded.push(PacketWords::new(sentence, true));
        }
        if prose::corrects(&whole) {
            self.take_back(&whole, &at);
        }
        recorded.extend(self.decide("user", &prose::typed(&whole), &at));
        if is_builtin(whole.trim()) {
            self.remember("user", Sentence { text: whole.trim().to_owned(), at });
            return;
        }
        let passages = prose::users_passages(&whole, &recorded);
        for passage in passages.iter().filter(|passage| !prose::only_asks(&passage.text)) {
            self.reopen(&passage.text, &at);
        }
        self.remarks.user(&whole, passages, &at);
        let message = Sentence { text: clip(whole.trim(), MAX_REQUEST), at };
        self.remember("user", message.clone());
        self.request(message);
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

    /// Takes back what the agent decided since the user spoke before, where he corrects it: what it names is in his words too.
    fn take_back(&mut self, words: &str, at: &Location) {
        let since = self.spoke_at;
        let lower = words.to_lowercase();
        let is_named = |held: &StandingDecision| {
            let names = |word: &String| has_phrase(&lower, word);
            held.role == "assistant"
                && held.at.line >= since
                && held.at != *at
                && held.named.iter().any(names)
        };
        while let Some(held) = self.decisions.take(is_named) {
            let before = Passage { text: held.decision.what, weight: u8::MAX };
            self.remarks.attach(held.role, before, &held.at);
            self.superseded += 1;
        }
    }

    /// What was said as a request, if it is one; a word without content leaves the last request as it is.
    fn request(&mut self, sentence: Sentence) {
        let question = self.question_before();
        let line = sentence.at.line;
        let held = request_weight(&sentence.text);
        let proposal = self.proposal_before(&sentence.text).filter(|_| question.is_none());
        match (held, question, self.last_request.is_some()) {
            (RequestWeight::Request, ..) => self.put_request(sentence),
            // The only thing that was said is told, whatever it is.
            (_, _, false) => {
                self.only_courtesy = true;
                self.put_request(sentence);
            }
            (RequestWeight::Courtesy, ..) | (RequestWeight::Praise, None, _) => {
                self.interrupted = None;
                return;
            }
            (_, Some(question), _) => {
                let options =
                    self.last_answer.as_ref().and_then(|answer| picked(&answer.text, &sentence.text));
                let question =
                    options.map_or_else(|| question.clone(), |options| format!("{question} {options}"));
                self.put_request(answer_to(sentence, &question));
            }
            (RequestWeight::Consent | RequestWeight::GoOn, None, _) if proposal.is_some() => {
                self.put_request(consent_to(sentence, &proposal.unwrap_or_default()));
            }
            (RequestWeight::Refusal, None, _) => self.put_request(sentence),
            (RequestWeight::GoOn | RequestWeight::Consent, None, _) => self.go_on = Some(sentence),
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

    /// What the agent offered in its last answer, if nothing was said since and the user's words are an assent or a choice.
    fn proposal_before(&self, words: &str) -> Option<String> {
        let answer = self.last_answer.as_ref().filter(|_| self.replied)?;
        let agrees = match request_weight(words) {
            RequestWeight::Consent => true,
            RequestWeight::GoOn => AGREES.iter().any(|agrees| has_phrase(&words.to_lowercase(), agrees)),
            _ => false,
        };
        offered(&answer.text, words).filter(|offer| agrees && offer.split_whitespace().count() >= MIN_OFFER)
    }

    /// The question with which the agent's last answer ended, if nothing was said since.
    fn question_before(&self) -> Option<String> {
        let answer = self.last_answer.as_ref().filter(|_| self.replied)?;
        prose::asked_at_the_end(&answer.text).pop().filter(|question| question.trim_end().ends_with('?'))
    }
}

/// What the agent's last answer offers, where the user's words choose from it or agree to it: the items that they name by
/// number, else its last paragraph.
fn offered(answer: &str, words: &str) -> Option<String> {
    picked(answer, words).or_else(|| last_words(answer))
}

/// The items of an answer that the user's words name by number.
fn picked(answer: &str, words: &str) -> Option<String> {
    let picks = request_weight::picks(words);
    let lines = answer.lines().map(str::trim);
    let picked: Vec<&str> = lines.filter(|line| picks.iter().any(|pick| is_option(line, pick))).collect();
    (!picked.is_empty()).then(|| picked.join(" / "))
}

fn last_words(answer: &str) -> Option<String> {
    let paragraphs: Vec<&str> = answer.split("\n\n").map(str::trim).filter(|part| !part.is_empty()).collect();
    let (last, before) = paragraphs.split_last()?;
    // A list alone does not say what it is a list of.
    let lead = before.last().filter(|lead| is_item(last) && lead.ends_with(':'));
    Some(lead.map_or_else(|| (*last).to_owned(), |lead| format!("{lead} {last}")))
}

/// `2. …`, `**2)** …`, `Option B: …`
fn is_option(line: &str, pick: &str) -> bool {
    let bare = line.trim_start_matches(['*', '#', '-', ' ', '(']).to_lowercase();
    let bare = bare.strip_prefix("option ").unwrap_or(&bare);
    bare.strip_prefix(pick).is_some_and(|rest| rest.starts_with(['.', ')', ':', '*']))
}

fn consent_to(sentence: Sentence, proposal: &str) -> Sentence {
    let proposal = one_line(proposal, MAX_QUESTION);
    Sentence {
        text: format!("{} — said to the agent's words: “{proposal}”", sentence.text), at: sentence.at
    }
}

fn answer_to(sentence: Sentence, question: &str) -> Sentence {
    let question = one_line(question, MAX_QUESTION);
    Sentence {
        text: format!("{} — the answer to the agent's question: “{question}”", sentence.text),
        at: sentence.at,
    }
}
