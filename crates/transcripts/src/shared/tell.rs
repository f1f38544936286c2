//! What most readers do alike: go through lines, tell events with their place, and what has changed of the session.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::event::{Call, Category, Edit, Event, Outcome, Place, PlanItem, Session, Usage, What};
use crate::format::Output;
use crate::report::{Complaints, Report, kind};
use crate::shared::chain::{self, Chain, Links};
use crate::shared::json::Json;
use crate::shared::lines::{self, Lines};
use crate::shared::shell;

/// So many calls may wait for their result at once.
const MAX_OPEN: usize = 256;

/// What a record is given to.
pub type Work<'w, 's> = &'w mut dyn FnMut(&mut Teller<'s>, &Json<'_>);

/// Tells what a reader finds.
pub struct Teller<'s> {
    out: Output<'s>,
    /// Where the record stands that is read.
    pub place: Place,
    /// Its time.
    pub at_ms: Option<i64>,
    /// The sub-agent whose transcript is read.
    pub agent: Option<String>,
    seen: Session<'static>,
    usage: Usage,
    open: VecDeque<Open>,
    pieces: Option<Pieces>,
}

/// Who says something that is written down in pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The user.
    User,
    /// The agent, aloud.
    Assistant,
    /// The agent, to itself.
    Thinking,
}

/// What has come of it so far, and where it began.
#[derive(Debug)]
struct Pieces {
    who: Who,
    key: String,
    text: String,
    place: Place,
    at_ms: Option<i64>,
}

/// A call that has no result yet.
#[derive(Debug, Clone)]
pub struct Open {
    /// Its id.
    pub id: String,
    /// What kind of work it is.
    pub category: Category,
    /// The file that it changes.
    pub path: Option<String>,
}

/// How a call ended, as far as its format says.
#[derive(Debug, Default)]
pub struct Ended<'a> {
    /// Id of the call.
    pub id: &'a str,
    /// Whether it succeeded.
    pub ok: Option<bool>,
    /// Exit code, where the format has a place for it.
    pub code: Option<i64>,
    /// What it returned.
    pub output: Cow<'a, str>,
    /// Files that it changed.
    pub edits: Vec<Edit>,
}

impl<'s> Teller<'s> {
    /// Nothing told yet.
    pub fn new(sink: &'s mut dyn FnMut(&Event<'_>)) -> Self {
        Self {
            out: Output::new(sink),
            place: Place::default(),
            at_ms: None,
            agent: None,
            seen: Session::default(),
            usage: Usage::default(),
            open: VecDeque::new(),
            pieces: None,
        }
    }

    /// Works on every line of a file.
    pub fn each_line(&mut self, path: &Path, work: Work<'_, 's>) {
        let done = self.lines(path, &Chain::all(), &|_| false, work);
        self.check(done);
    }

    /// Works on the lines that belong to the conversation as it stands, and on all of types that are not linked.
    pub fn each_linked(&mut self, path: &Path, links: Links, work: Work<'_, 's>) {
        let is_link = |json: &Json<'_>| (links.of)(json.get("type").str().unwrap_or_default());
        let done = File::open(path)
            .and_then(|mut file| {
                let size = file.metadata()?.len();
                chain::trace(&mut file, size, links, &mut self.out.complaints)
            })
            .and_then(|chain| self.lines(path, &chain, &is_link, work));
        self.check(done);
    }

    fn lines(
        &mut self,
        path: &Path,
        chain: &Chain,
        is_link: &dyn Fn(&Json<'_>) -> bool,
        work: Work<'_, 's>,
    ) -> io::Result<()> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let mut lines = Lines::new(file.take(size));
        while let Some(line) = lines.next_line() {
            self.out.report.lines += 1;
            let Some(text) = lines::text(&line, &mut self.out.complaints) else { continue };
            let Some(json) = lines::value(&text, &line, &mut self.out.complaints) else { continue };
            if chain.contains(line.place.line) || !is_link(&json) {
                self.enter(line.place, &json);
                work(self, &json);
            }
        }
        self.out.report.bytes += lines.position();
        if lines.failed() { Err(io::ErrorKind::Other.into()) } else { Ok(()) }
    }

    /// Goes over to a sub-agent.
    pub fn switch(&mut self, agent: String) {
        self.flush();
        self.agent = Some(agent);
    }

    /// Takes place and time of a record.
    pub fn enter(&mut self, place: Place, json: &Json<'_>) {
        let time = ["timestamp", "time", "created_at"].iter().find_map(|key| json.get(key).time());
        (self.place, self.at_ms) = (place, time);
    }

    /// Counts what was read where a format has no lines.
    pub fn count(&mut self, lines: u64, bytes: u64) {
        self.out.report.lines += lines;
        self.out.report.bytes += bytes;
    }

    /// Takes complaints over.
    pub fn merge(&mut self, complaints: Complaints) {
        self.out.complaints.merge(complaints.into_vec());
    }

    /// Complains if reading failed.
    pub fn check(&mut self, done: io::Result<()>) {
        if done.is_err() {
            self.out.complaints.add(kind::UNREADABLE, 0);
        }
    }

    /// Complains about the record that is read.
    pub fn complain(&mut self, kind: &str) {
        self.out.complaints.add(kind, self.place.line);
    }

    /// Takes a piece of what is said; pieces of one key that follow each other are told as one.
    pub fn piece(&mut self, who: Who, key: &str, text: &str) {
        let goes_on = |open: &Pieces| open.who == who && open.key == key && open.text.len() < lines::MAX_LINE;
        match self.pieces.as_mut().filter(|open| goes_on(open)) {
            Some(open) => open.text.push_str(text),
            None => {
                self.flush();
                let (place, at_ms) = (self.place, self.at_ms);
                self.pieces = Some(Pieces { who, key: key.to_owned(), text: text.to_owned(), place, at_ms });
            }
        }
    }

    /// Tells what was said in pieces.
    fn flush(&mut self) {
        let Some(said) = self.pieces.take() else { return };
        let now = (self.place, self.at_ms);
        (self.place, self.at_ms) = (said.place, said.at_ms);
        match said.who {
            Who::User => self.user(&said.text),
            Who::Assistant => self.assistant(&said.text),
            Who::Thinking => self.thinking(&said.text),
        }
        (self.place, self.at_ms) = now;
    }

    /// Tells an event.
    pub fn send(&mut self, what: What<'_>) {
        self.flush();
        let agent = self.agent.as_deref().map(|agent| Cow::Owned(agent.to_owned()));
        self.out.send(&Event { place: self.place, at_ms: self.at_ms, agent, what });
    }

    /// Tells what the user said, if it is something.
    pub fn user(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.send(What::User(Cow::Borrowed(text)));
        }
    }

    /// Tells what the agent said, if it is something.
    pub fn assistant(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.send(What::Assistant(Cow::Borrowed(text)));
        }
    }

    /// Tells what the agent thought, if it is something.
    pub fn thinking(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.send(What::Thinking(Cow::Borrowed(text)));
        }
    }

    /// Tells a summary, if it is one.
    pub fn compaction(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.send(What::Compaction(Cow::Borrowed(text)));
        }
    }

    /// Tells a plan, if there is one.
    pub fn plan(&mut self, items: Option<Vec<PlanItem>>) {
        if let Some(items) = items {
            self.send(What::Plan(items));
        }
    }

    /// Tells a call.
    pub fn call(&mut self, call: Call<'_>) {
        self.open.push_back(Open {
            id: call.id.clone().into_owned(),
            category: call.category.clone(),
            path: call.edits.first().map(|edit| edit.path.clone()),
        });
        if self.open.len() > MAX_OPEN {
            self.open.pop_front();
        }
        self.send(What::Call(call));
    }

    /// The oldest call that has no result yet.
    pub fn waiting(&self) -> Option<&Open> {
        self.open.front()
    }

    /// A call that has no result yet.
    pub fn open(&self, id: &str) -> Option<&Open> {
        self.open.iter().rev().find(|open| open.id == id)
    }

    /// Tells how a call ended. Only of a command is an exit code looked for in what it returned.
    pub fn ended(&mut self, ended: Ended<'_>) {
        let at = self.open.iter().rposition(|open| open.id == ended.id);
        let open = at.and_then(|at| self.open.remove(at));
        let shell = open.is_some_and(|open| open.category == Category::Shell);
        let told = shell::told_exit(&ended.output).filter(|_| shell && ended.code.is_none());
        let exit_code = ended.code.or(told);
        let ok = exit_code.map(|code| code == 0).or(ended.ok);
        let output = match told {
            Some(_) => Cow::Borrowed(shell::without_exit(&ended.output)),
            None => Cow::Borrowed(ended.output.as_ref()),
        };
        self.send(What::Outcome(Outcome {
            id: Cow::Borrowed(ended.id),
            ok,
            exit_code,
            output,
            edits: ended.edits,
        }));
    }

    /// Tells of the session what has not been told yet.
    pub fn session(&mut self, news: Session<'_>) {
        if self.agent.is_some() {
            return;
        }
        let fresh = |seen: &mut Option<Cow<'static, str>>, new: Option<Cow<'_, str>>| {
            let new = new.filter(|new| !new.is_empty() && seen.as_deref() != Some(new.as_ref()))?;
            *seen = Some(Cow::Owned(new.into_owned()));
            seen.clone()
        };
        let id = news.id.filter(|_| self.seen.id.is_none());
        let news = Session {
            id: fresh(&mut self.seen.id, id),
            cwd: fresh(&mut self.seen.cwd, news.cwd),
            branch: fresh(&mut self.seen.branch, news.branch),
            commit: fresh(&mut self.seen.commit, news.commit),
            model: fresh(&mut self.seen.model, news.model),
            version: fresh(&mut self.seen.version, news.version),
        };
        if news != Session::default() {
            self.send(What::Session(news));
        }
    }

    /// Adds tokens used, and tells the total.
    pub fn spent(&mut self, more: Usage) {
        if self.agent.is_some() || more == Usage::default() {
            return;
        }
        let total = &mut self.usage;
        total.input = total.input.saturating_add(more.input);
        total.cache_read = total.cache_read.saturating_add(more.cache_read);
        total.cache_write = total.cache_write.saturating_add(more.cache_write);
        total.output = total.output.saturating_add(more.output);
        self.send(What::Usage(self.usage));
    }

    /// What it all came to.
    pub fn finish(mut self) -> Report {
        self.flush();
        self.out.finish()
    }
}
