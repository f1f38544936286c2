//! A conversation as it is given out by readers of records: databases and documents.

use std::borrow::Cow;
use std::path::Path;

use crate::event::{Call, Event, Outcome, Place, PlanItem, Session, Usage, What};
use crate::format::Output;
use crate::report::{Report, kind};
use crate::shared::json::{Fault, Json};
use crate::shared::lines::{self, Lines};
use crate::shared::{chunk, whole};

/// Gives events out and keeps count of where they stand.
pub struct Talk<'s> {
    out: Output<'s>,
    place: Place,
    /// Time of the record.
    pub at_ms: Option<i64>,
    /// The sub-agent whose records are read; none on the main line.
    pub agent: Option<String>,
    usage: Usage,
    plan: Vec<PlanItem>,
}

impl<'s> Talk<'s> {
    /// Nothing said yet.
    pub fn new(sink: &'s mut dyn FnMut(&Event<'_>)) -> Self {
        Self {
            out: Output::new(sink),
            place: Place::default(),
            at_ms: None,
            agent: None,
            usage: Usage::default(),
            plan: Vec::new(),
        }
    }

    /// Goes to the next record, of so many bytes.
    pub fn record(&mut self, bytes: usize, at_ms: Option<i64>) {
        self.out.report.lines += 1;
        self.out.report.bytes += bytes as u64;
        self.place.line += 1;
        self.at_ms = at_ms;
    }

    /// Begins to count the records of a sub-agent's own session, and gives back where the count stood.
    pub fn enter(&mut self, agent: &str) -> (Option<String>, Place) {
        (self.agent.replace(agent.to_owned()), std::mem::take(&mut self.place))
    }

    /// Goes on where the count stood.
    pub fn leave(&mut self, outer: (Option<String>, Place)) {
        (self.agent, self.place) = outer;
    }

    /// Goes to a line of this number, of so many bytes.
    pub fn line(&mut self, number: u64, bytes: usize) {
        self.place.line = number;
        self.out.report.bytes += bytes as u64;
        self.out.report.lines += u64::from(bytes > 0);
    }

    /// Counts a fault of the record.
    pub fn complain(&mut self, kind: &str) {
        self.out.complaints.add(kind, self.place.line);
    }

    /// The value of a record; a fault is counted.
    pub fn json<'t>(&mut self, text: &'t str) -> Option<Json<'t>> {
        let fault = match Json::parse(text) {
            Ok(json) => return Some(json),
            Err(fault) => fault,
        };
        self.complain(if fault == Fault::Huge { kind::OVERSIZED } else { kind::BAD_RECORD });
        None
    }

    /// The text of a file that is one document, which can be parsed: what is damaged is left out and counted.
    pub fn document(&mut self, path: &Path) -> String {
        let (text, fault) = match whole::text(path) {
            Ok(text) => {
                self.out.report.bytes += text.len() as u64;
                whole::mended(text)
            }
            Err(fault) => (String::new(), Some(fault)),
        };
        fault.into_iter().for_each(|fault| self.complain(fault));
        text
    }

    /// Reads a file of lines; what is no JSON is counted.
    pub fn lines(&mut self, path: &Path, each: &mut dyn FnMut(&mut Self, &Json<'_>)) {
        let Ok(file) = chunk::open(path) else { return self.complain(kind::UNREADABLE) };
        let mut reader = Lines::new(file);
        while let Some(line) = reader.next_line() {
            (self.place, self.at_ms) = (line.place, None);
            self.out.report.lines += 1;
            let Some(text) = lines::text(&line, &mut self.out.complaints) else { continue };
            let Some(json) = lines::value(&text, &line, &mut self.out.complaints) else { continue };
            each(self, &json);
        }
        self.out.report.bytes += reader.position();
        if reader.failed() {
            self.complain(kind::UNREADABLE);
        }
    }

    /// Gives an event out.
    pub fn say(&mut self, what: What<'_>) {
        let agent = self.agent.as_deref().map(|agent| Cow::Owned(agent.to_owned()));
        self.out.send(&Event { place: self.place, at_ms: self.at_ms, agent, what });
    }

    /// Facts about the session.
    pub fn session(&mut self, session: Session<'_>) {
        self.say(What::Session(session));
    }

    /// The user said something, unless it is blank.
    pub fn user(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.say(What::User(Cow::Borrowed(text)));
        }
    }

    /// The agent said something, unless it is blank.
    pub fn assistant(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.say(What::Assistant(Cow::Borrowed(text)));
        }
    }

    /// The agent thought something, unless it is blank.
    pub fn thinking(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.say(What::Thinking(Cow::Borrowed(text)));
        }
    }

    /// The model that answers.
    pub fn model(&mut self, model: Option<&str>) {
        if model.is_some() {
            self.session(Session { model: model.map(Cow::Borrowed), ..Session::default() });
        }
    }

    /// A tool is called; a call that writes down the plan changes it.
    pub fn call(&mut self, call: Call<'_>, input: &Json<'_>) {
        let plan = super::record_call::plan(&call, input);
        self.say(What::Call(call));
        self.plan(plan);
    }

    /// A call ended.
    pub fn outcome(&mut self, outcome: Outcome<'_>) {
        self.say(What::Outcome(outcome));
    }

    /// The plan as it stands now, unless it is the same as before or none.
    pub fn plan(&mut self, plan: Vec<PlanItem>) {
        if !plan.is_empty() && plan != self.plan {
            if self.agent.is_none() {
                self.plan.clone_from(&plan);
            }
            self.say(What::Plan(plan));
        }
    }

    /// More tokens were used on the main line.
    pub fn spend(&mut self, more: Usage) {
        if more != Usage::default() && self.agent.is_none() {
            self.usage = self.usage.plus(more);
            self.say(What::Usage(self.usage));
        }
    }

    /// Ends the reading.
    pub fn finish(self) -> Report {
        self.out.finish()
    }
}
