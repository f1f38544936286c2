//! What the user says: a request, an answer to a question, or a word without content.

use super::builtin::is_builtin;
use super::prose::{self, PacketWords, Passage};
use super::remarks::with_answer;
use super::request_weight::{self, RequestWeight, request_weight};
use super::{Collector, MAX_ORDER, Sentence, SourceRef, StandingDecision};
use crate::shared::words::{clip, has_phrase, is_item, one_line};

/// A plan is longer than other requests; of what is cut here not even the headings are known.
const MAX_REQUEST: usize = 32 * 1024;
/// The longest question that is told with its answer, in characters.
const MAX_QUESTION: usize = 300;

/// The longest heading that is told with what stands under it, in characters.
const MAX_HEADING: usize = 80;

/// The longest answer that is kept with its question, in bytes, and the fewest words of one that chooses no option.
const MAX_ANSWER_WORDS: usize = 200;
const MIN_ANSWER_WORDS: usize = 3;

/// Words that let the work go on and agree to what was offered.
const AGREES: &[&str] = &["go ahead", "proceed", "start", "begin"];
/// Between the user's words and the question or the offer of the agent to which they were said.
const ANSWERS: &str = " — the answer to the agent's question";
const AGREED: &str = " — said to the agent's words";
/// Fewer words than these offer nothing.
const MIN_OFFER: usize = 4;
/// A request of so few words says little without what was asked for before it.
const SMALL_WORDS: usize = 7;
/// One of so many says by itself what it wants.
const FULL_WORDS: usize = 10;

impl Collector<'_> {
    /// A message of the user.
    pub(super) fn user(&mut self, text: &str, at: SourceRef) {
        let whole = self.cleaner.clean_text(text);
        if self.is_pasted_line(&whole, &at) {
            return;
        }
        self.take_back_draft(&whole, &at);
        let mended = self.calls.failure.take_if(|failure| failure.is_resolved_by_word(&whole));
        mended.iter().for_each(|failure| self.calls.mended(failure, None));
        if let Some(answer) = self.last_answer.as_ref().map(|answer| answer.at.clone()) {
            self.questions.retain(|(question, at)| *at != answer || !prose::is_put_to_the_user(question));
        }
        if whole.len() <= MAX_ORDER {
            self.orders.push(Sentence { text: whole.clone(), at: at.clone() });
        }
        self.note_removal(&whole, &at);
        self.note_offer(&whole);
        let mut recorded = Vec::new();
        let own = without_command(&whole);
        for found in prose::constraints(own) {
            let heading = found.heading.map(|heading| one_line(heading, MAX_HEADING));
            let scope = heading.map(|heading| format!(" — under “{heading}”")).unwrap_or_default();
            let text = format!("{}{scope}", found.sentence);
            if !self.constraints.iter().any(|one| one.text == text) {
                self.constraints.push(Sentence { text, at: at.clone() });
            }
            recorded.push(PacketWords::new(found.sentence, true));
        }
        self.remarks.user_spoke(at.line);
        self.sets_out_at = None;
        self.calls.git.user_spoke();
        self.remarks.put_back(&prose::put_back(&whole));
        if prose::rejects_all(&whole) {
            self.remarks.take_back_answer();
        }
        if let Some(request) = self.last_request.as_ref().filter(|_| prose::takes_request_back(&whole)) {
            self.remarks.forget_user(&request.at);
        }
        if prose::corrects(&whole) {
            self.take_back(&whole, &at, prose::rejects_all(&whole));
        }
        recorded.extend(self.decide("user", &prose::typed(own), &at));
        if is_builtin(whole.trim()) {
            self.remember("user", Sentence { text: whole.trim().to_owned(), at });
            return;
        }
        if self.answered_question(&whole, &at) {
            let message = Sentence { text: clip(whole.trim(), MAX_REQUEST), at };
            self.remember("user", message.clone());
            return self.request(message);
        }
        let passages = prose::users_passages(&prose::typed(own), &recorded);
        for passage in passages.iter().filter(|passage| !prose::only_asks(&passage.text)) {
            self.reopen(&passage.text, &at);
        }
        self.remarks.user(&whole, passages, &at);
        let pasted = prose::told_as_pasted(&whole);
        let message = Sentence { text: pasted.unwrap_or_else(|| clip(whole.trim(), MAX_REQUEST)), at };
        self.remember("user", message.clone());
        self.request(message);
    }

    /// Keeps a short answer with the question to which it is the answer, in place of what the agent offered there. Whether the
    /// words are one.
    fn answered_question(&mut self, words: &str, at: &SourceRef) -> bool {
        let Some(question) = self.question_before().filter(|_| words.len() <= MAX_ANSWER_WORDS) else {
            return false;
        };
        let answer = self.last_answer.as_ref();
        let option = answer.and_then(|answer| picked(&answer.text, words));
        let tells = prose::is_telling_answer(&question, words);
        if option.is_none() && (!tells || words.split_whitespace().count() < MIN_ANSWER_WORDS) {
            return false;
        }
        let asked_at = answer.map(|answer| answer.at.clone());
        let option =
            option.map(|option| format!(" → {}", one_line(&option, MAX_QUESTION))).unwrap_or_default();
        let question = one_line(&question, MAX_QUESTION);
        let text = with_answer(&format!("{question}{option}"), &one_line(words, MAX_ANSWER_WORDS));
        self.remarks.settle(asked_at.as_ref(), Passage { text, salience: u8::MAX }, at);
        true
    }

    /// What the user says while rejecting a call; it is told with the call, which it is about.
    pub(super) fn rejected(&mut self, words: &str, call: Option<&str>, at: SourceRef) {
        let before = self.last_request.clone().filter(|request| !prose::only_questions(&request.text));
        let before = before.or_else(|| self.full_request.clone());
        // One rejection after another corrects one request.
        let corrected = self.corrected.take().or(before);
        // Why a call is rejected is not what the session began with.
        let first = self.first_request.clone();
        self.user(words, at.clone());
        (self.first_request, self.has_begun) = (first.or(self.first_request.take()), true);
        self.corrected = corrected;
        let Some(call) = call.filter(|call| !call.is_empty()) else { return };
        let scope =
            format!(" — said by the user, who rejected this call: `{}`", one_line(call, MAX_QUESTION));
        let request = self.last_request.as_mut().filter(|request| request.at == at);
        let constraints = self.constraints.items_mut().filter(|constraint| constraint.at == at);
        request.into_iter().chain(constraints).for_each(|sentence| sentence.text.push_str(&scope));
    }

    /// Takes back what the agent decided since the user spoke before, where he corrects it: what it names is in his words
    /// too, or he rejects it as a whole.
    fn take_back(&mut self, words: &str, at: &SourceRef, all: bool) {
        // Questions may stand between what was asked for and the word that throws out what came of it.
        let asked_at = self.full_request.as_ref().map_or(self.spoke_at, |request| request.at.line);
        let since = if all { self.spoke_at.min(asked_at) } else { self.spoke_at };
        let lower = words.to_lowercase();
        let is_named = |held: &StandingDecision| {
            let names = |word: &String| has_phrase(&lower, word);
            held.role == "assistant"
                && held.at.line >= since
                && held.at != *at
                && (all || held.named.iter().any(names))
        };
        while let Some(held) = self.decisions.take(is_named) {
            let before = Passage { text: held.decision.what, salience: u8::MAX };
            self.remarks.attach(held.role, before, &held.at);
            self.superseded += 1;
        }
    }

    /// What was said as a request, if it is one; a word without content leaves the last request as it is.
    fn request(&mut self, sentence: Sentence) {
        let question = self.question_before();
        let line = sentence.at.line;
        let held = request_weight(&sentence.text);
        if held == RequestWeight::Request {
            self.plan_was_passed_over(&sentence.text);
        }
        let proposal = self.proposal_before(&sentence.text).filter(|_| question.is_none());
        self.agreed(held, question.as_deref().or(proposal.as_deref()), &sentence);
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
        self.findings.retain(|_| false);
        self.work_went_on = true;
        (self.answered, self.replied, self.interrupted, self.at_work) = (false, false, None, None);
    }

    fn put_request(&mut self, request: Sentence) {
        let courtesy = self.first_request.is_some() && std::mem::take(&mut self.only_courtesy);
        let replaces = |first: &Sentence| {
            let is_begun = !self.has_begun && is_bare_command(&first.text);
            courtesy || is_begun || is_said_anew(&first.text, &request.text)
        };
        if self.first_request.as_ref().is_none_or(replaces) {
            self.first_request = Some(request.clone());
        }
        // What a word agrees to is the agent's.
        let own = [ANSWERS, AGREED]
            .iter()
            .fold(request.text.as_str(), |text, mark| text.split_once(mark).map_or(text, |(own, _)| own));
        let asks = prose::only_questions(own) && !prose::asks_for_work(own);
        if own.split_whitespace().count() >= FULL_WORDS && !asks && !prose::is_told_as_pasted(own) {
            self.full_request = Some(request.clone());
        }
        self.running.follow(self.last_request.as_ref());
        // A log says little without what was asked for before it.
        let needs_more = |text: &str| says_again(text) || prose::is_told_as_pasted(text);
        if needs_more(own) {
            let before = self.last_request.take().filter(|before| !needs_more(&before.text));
            self.request_before = before.or(self.request_before.take());
        }
        if let Some(before) = self.last_request.as_ref().filter(|one| is_said_anew(&one.text, &request.text))
        {
            self.remarks.forget_user(&before.at);
        }
        self.go_on = None;
        self.corrected = self.corrected.take().filter(|_| prose::only_questions(&request.text));
        self.requests_since_plan += 1;
        self.last_request = Some(request);
    }

    /// The last request; one of a few words, such as `commit this`, with the last before it that says more.
    pub(super) fn request_to_tell(&self) -> Option<Sentence> {
        let last = self.last_request.as_ref()?;
        if let Some(text) = self.running.text_with(last) {
            return Some(Sentence { text, at: last.at.clone() });
        }
        // What is done again is what was asked for last.
        let needs_more = says_again(&last.text) || prose::is_told_as_pasted(&last.text);
        let again = self.request_before.as_ref().filter(|_| needs_more);
        let small = again.map_or(&last.text, |before| &before.text);
        let full = self.full_request.as_ref().filter(|_| points_back(small));
        let before = self.corrected.as_ref().or(full).filter(|full| full.at.line < last.at.line);
        let mut earlier: Vec<&Sentence> = again.into_iter().chain(before).collect();
        earlier.dedup_by_key(|sentence| sentence.at.line);
        let parts = earlier.iter().map(|one| format!("“{}”", one_line(&one.text, MAX_QUESTION)));
        let parts = parts.collect::<Vec<_>>().join(", and before that: ");
        let text = match parts.is_empty() {
            true => last.text.clone(),
            false => format!("{} — asked for before it: {parts}", last.text),
        };
        Some(Sentence { text, at: last.at.clone() })
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

/// Whether a request is of a few words, and those are about what was done before: `commit this`, `push, raise a PR`.
fn points_back(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "this", "that", "it", "these", "those", "same", "again", "just", "commit", "push", "merge", "stage",
        "pr", "so far",
    ];
    is_small(text, WORDS)
}

/// Whether a request is to do what was asked for before once more: `sorry, can you do it again`.
fn says_again(text: &str) -> bool {
    is_small(text, &["again", "redo", "once more", "the same", "repeat"])
}

/// Whether a request is of a few words and has one of these; an apology before it does not count.
fn is_small(text: &str, words: &[&str]) -> bool {
    const EXCUSES: &[&str] =
        &["sorry", "oops", "apologies", "my bad", "my mistake", "my fault", "i messed up", "whoops"];
    let lower = text.to_lowercase();
    let parts = lower.split([',', ';', '.', '!', '—']).map(str::trim);
    let own: Vec<&str> =
        parts.filter(|part| !EXCUSES.iter().any(|excuse| part.starts_with(excuse))).collect();
    let count: usize = own.iter().map(|part| part.split_whitespace().count()).sum();
    count <= SMALL_WORDS && own.iter().any(|part| words.iter().any(|word| has_phrase(part, word)))
}

/// `/brainstorm`: what for is said next.
fn is_bare_command(text: &str) -> bool {
    without_command(text).trim().is_empty()
}

/// Whether a request is another with a word or two put right, `look at MCP-108` and `look at ENT-108`, or with more at its end.
pub(super) fn is_said_anew(before: &str, text: &str) -> bool {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_whitespace().collect(), text.split_whitespace().collect());
    let changed = old.iter().zip(&new).filter(|(old, new)| old != new).count();
    let is_longer = new.len() > old.len() && text.trim_start().starts_with(before.trim());
    old.len() >= 5 && (is_longer || (old.len() == new.len() && changed * 4 <= old.len()))
}

/// What stands behind the name of a command of the tool, `/review only the parser`; a path is no such name.
fn without_command(text: &str) -> &str {
    let Some(rest) = text.trim_start().strip_prefix('/') else { return text };
    let (name, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if name.is_empty() || name.contains('/') { text } else { rest }
}

/// What the agent's last answer offers, where the user's words choose from it or agree to it: the items that they name by
/// number, else its last paragraph.
fn offered(answer: &str, words: &str) -> Option<String> {
    picked(answer, words).or_else(|| last_words(answer))
}

/// The items of an answer that the user's words name by number.
fn picked(answer: &str, words: &str) -> Option<String> {
    let mut picks = request_weight::picks(words);
    if picks.is_empty() && words.len() <= MAX_ANSWER_WORDS {
        // `I think 2 is the right approach.`
        let apart = |c: char| c.is_whitespace() || matches!(c, ',' | '.' | ')' | ':' | ';');
        picks = words
            .split(apart)
            .filter(|word| word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_digit()))
            .map(str::to_owned)
            .collect();
    }
    // An answer may number more than once; what is offered stands last.
    let lines: Vec<&str> = answer.lines().map(str::trim).collect();
    let named = |pick: &String| lines.iter().rposition(|line| is_option(line, pick));
    let mut places: Vec<usize> = picks.iter().filter_map(named).collect();
    places.sort_unstable();
    places.dedup();
    let picked: Vec<&str> = places.into_iter().map(|at| lines[at].trim_start_matches(['#', ' '])).collect();
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
    Sentence { text: format!("{}{AGREED}: “{proposal}”", sentence.text), at: sentence.at }
}

fn answer_to(sentence: Sentence, question: &str) -> Sentence {
    let question = one_line(question, MAX_QUESTION);
    Sentence { text: format!("{}{ANSWERS}: “{question}”", sentence.text), at: sentence.at }
}
