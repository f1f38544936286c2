//! Reminders and warnings about unfinished work; they never block.
//!
//! Everything here is a pure function of facts that an operation has counted. The kinds of a [`Remark`] are stable.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::delta::{Delta, Kind};
use crate::id::{short, visible};
use crate::message::ROLE;
use crate::packet::{Packet, ValidatedPacket};
use crate::session::{Limits, ReleaseReason, Session};
use crate::shell::shell_word;
use crate::time::{Millis, ago};

/// How far back the wrap rate looks: 30 days. A session that began exactly so long ago counts.
pub const WINDOW: Millis = 30 * 86_400_000;

/// A wrap rate below this is remarked on, in percent; exactly this is good enough.
const WRAP_RATE: usize = 60;

/// What a [`Remark`] is about: a stable word for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemarkKind {
    /// Tasks of the project are open.
    OpenTasks,
    /// When the last session wrapped, and who it was.
    LastWrap,
    /// A conversation of the project since the last wrap that left no baton.
    UnwrappedTranscript,
    /// A conversation of the project that is open and has no session of Baton.
    OpenConversation,
    /// What sessions saved that left no baton comes with the next pickup.
    RecoverableWork,
    /// What was done in a conversation after its baton was taken.
    LateWords,
    /// Sessions that went silent without a wrap.
    UnwrappedSessions,
    /// Messages whose acknowledgement is overdue.
    OverdueAcknowledgements,
    /// Few of the recent sessions wrapped.
    WrapRate,
    /// Mail waits for the caller.
    MailWaits,
    /// The project was merged, and its work goes on in another one.
    ProjectMerged,
    /// A baton left as a file that no session is known to have picked up.
    ExportedBaton,
    /// Another session at work has the same working copy.
    SharedWorkingCopy,
    /// A hand-off from another project that was accepted and has no result yet.
    AcceptedHandoff,
    /// A packet tells less than the session did.
    NoAccounting,
    /// A packet does not mention a focus that the session began with.
    FocusUntouched,
}

/// A reminder or a warning: a stable kind for programs, a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// What it is about.
    pub kind: RemarkKind,
    /// One sentence.
    pub message: String,
}

/// How recent sessions ended. Those that are still at work count nowhere: they may yet wrap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// Sessions that are over, or that went silent.
    pub sessions: usize,
    /// Of these, those that wrapped.
    pub wraps: usize,
}

impl Outcomes {
    /// Counts what was released of the sessions that began since an instant, and the open ones. One that went silent is
    /// open work at any age, but counts in the rate of its own time only.
    pub fn count(
        released: &[(ReleaseReason, usize)],
        open: &[Session],
        since: Millis,
        now: Millis,
        limits: Limits,
    ) -> Self {
        let silent = open.iter().filter(|session| unwrapped(session, now, limits).is_some());
        let recent = silent.filter(|session| session.started_at >= since).count();
        let of = |wanted: &[ReleaseReason]| -> usize {
            released.iter().filter(|(reason, _)| wanted.contains(reason)).map(|(_, n)| n).sum()
        };
        Self {
            sessions: released.iter().map(|(_, n)| n).sum::<usize>() + recent,
            wraps: of(&[ReleaseReason::Wrapped]),
        }
    }

    /// The wrap rate in whole percent, rounded down; unknown as long as no session is over.
    pub fn percent(&self) -> Option<usize> {
        (self.wraps * 100).checked_div(self.sessions)
    }

    /// Whether too few sessions wrapped.
    pub fn is_low(&self) -> bool {
        self.wraps * 100 < self.sessions * WRAP_RATE
    }
}

/// How many silent agents a reminder names.
const SILENT_NAMED: usize = 3;
/// How many messages a reminder names whose acknowledgement is late.
const OVERDUE_NAMED: usize = 2;

/// An open session of which nothing was heard for long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SilentSession {
    /// Who it is.
    pub identity: String,
    /// Its id.
    pub session_id: String,
    /// When it was heard of last.
    pub since: Millis,
}

/// What reminders are made of.
#[derive(Debug, Clone, Default)]
pub struct ReminderFacts {
    /// Now.
    pub now: Millis,
    /// Tasks that are not closed.
    pub open_tasks: usize,
    /// When the last wrap was, and whose.
    pub last_wrap: Option<(Millis, String)>,
    /// How recent sessions ended.
    pub outcomes: Outcomes,
    /// Open sessions that are silent; the longest silent first.
    pub silent: Vec<SilentSession>,
    /// Messages whose acknowledgement is late, the oldest first.
    pub overdue: Vec<OverdueAck>,
}

/// A message whose acknowledgement is late.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverdueAck {
    /// Its id.
    pub message_id: String,
    /// Who sent it.
    pub from: String,
    /// Who is to acknowledge it: a name, or the address of a role.
    pub to: String,
    /// What it is about, cleaned and shortened; none where the reader is not told subjects.
    pub subject: Option<String>,
}

impl OverdueAck {
    fn text(&self) -> String {
        let (from, to, id) = (visible(&self.from), visible(&self.to), visible(&self.message_id));
        let subject = self.subject.as_ref().map(|subject| format!(" \"{subject}\"")).unwrap_or_default();
        // Every agent of the project reads the reminder, also the sender, who cannot acknowledge it.
        let (who, option) = match self.to.starts_with(ROLE) {
            true => ("whoever takes it".to_owned(), String::new()),
            false => (to.clone(), format!(" --as {}", shell_word(&self.to))),
        };
        let command = format!("baton mail ack {}{option}", short(&id));
        format!("{to} has not acknowledged{subject} of {from} ({who} does so with `{command}`)")
    }
}

/// Reminders of the status card.
pub fn reminders(facts: &ReminderFacts) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut say = |kind, message| remarks.push(Remark { kind, message });
    if facts.open_tasks > 0 {
        say(RemarkKind::OpenTasks, format!("{} open {}", facts.open_tasks, plural(facts.open_tasks, "task")));
    }
    if let Some((at, by)) = &facts.last_wrap {
        say(RemarkKind::LastWrap, format!("last wrap {} by {by}", ago(facts.now, *at)));
    }
    let silent = facts.silent.len();
    if silent > 0 {
        let named = facts.silent.iter().take(SILENT_NAMED);
        let mut named: Vec<String> = named
            .map(|one| {
                let id = visible(&one.session_id);
                format!("{} ({}), {}", visible(&one.identity), short(&id), ago(facts.now, one.since))
            })
            .collect();
        if let Some(more @ 1..) = silent.checked_sub(SILENT_NAMED) {
            named.push(format!("{more} more: `baton sessions` lists them"));
        }
        let id = match facts.silent.as_slice() {
            [one] => short(&one.session_id).to_owned(),
            _ => "ID".to_owned(),
        };
        let message = format!(
            "{silent} {} went silent without a wrap: {}; `baton sessions show {id}` tells what was done in it, \
             `baton reassign {id} --to NAME` gives it to somebody",
            plural(silent, "session"),
            named.join("; ")
        );
        say(RemarkKind::UnwrappedSessions, message);
    }
    if !facts.overdue.is_empty() {
        let count = facts.overdue.len();
        let mut named: Vec<String> = facts.overdue.iter().take(OVERDUE_NAMED).map(OverdueAck::text).collect();
        if count > OVERDUE_NAMED {
            named.push(format!("{} more: `baton audit` lists them", count - OVERDUE_NAMED));
        }
        let message = format!("{count} overdue {}: {}", plural(count, "acknowledgement"), named.join("; "));
        say(RemarkKind::OverdueAcknowledgements, message);
    }
    remarks
}

/// The word, in the number that goes with the count.
pub fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

/// What a session did, as its deltas tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionActivity {
    /// It began with a start or a pickup.
    pub began: bool,
    /// Checkpoints that saved a state.
    pub states: usize,
    /// Checkpoints.
    pub checkpoints: usize,
    /// Notes, remembered facts, findings, ways of working.
    pub notes: usize,
    /// Decisions.
    pub decisions: usize,
    /// The tasks that it created or changed.
    pub tasks: Vec<String>,
}

impl SessionActivity {
    /// Reads it from the session's deltas. What came too late, after its release, is not work of the session.
    pub fn read(deltas: &[Delta]) -> Self {
        let mut did = Self::default();
        for delta in deltas {
            match delta.kind {
                Kind::Start | Kind::Pickup => did.began = true,
                Kind::Checkpoint => {
                    did.checkpoints += 1;
                    did.states += usize::from(field(delta, "state").is_some_and(|state| state.is_object()));
                }
                Kind::Note if came_late(delta) => {}
                Kind::Note | Kind::Remember | Kind::Research | Kind::Methodology => did.notes += 1,
                Kind::Decision => did.decisions += 1,
                Kind::Other => {
                    did.tasks.extend(field(delta, "task_id").and_then(|id| Some(id.as_str()?.to_owned())))
                }
                Kind::Wrap | Kind::Handoff | Kind::Release => {}
            }
        }
        did.tasks.sort();
        did.tasks.dedup();
        did
    }

    fn recorded(&self) -> bool {
        self.notes + self.decisions > 0
    }
}

fn field(delta: &Delta, name: &str) -> Option<Value> {
    serde_json::from_str::<Value>(&delta.body).ok()?.get_mut(name).map(Value::take)
}

/// A note that keeps what a released session sent.
fn came_late(delta: &Delta) -> bool {
    ["late_packet", "late_checkpoint", "late_note"].iter().any(|name| field(delta, name).is_some())
}

/// Input of the wrap warnings.
pub struct WrapFacts<'a> {
    /// What it leaves.
    pub packet: &'a ValidatedPacket,
    /// What it did.
    pub did: &'a SessionActivity,
    /// The tags of the baton that it had picked up.
    pub focus: &'a [String],
    /// The labels of the tasks that it touched.
    pub labels: &'a [String],
}

/// What a wrap is warned of.
pub fn warnings(wrapping: &WrapFacts<'_>) -> Vec<Remark> {
    let WrapFacts { packet, did, focus, labels } = wrapping;
    let view = packet.view();
    let changed = !view.files_modified.is_empty() || did.states > 0;
    let mut remarks = Vec::new();
    if changed && did.tasks.is_empty() && !did.recorded() && !tells(view) {
        let message = "work was done, but no task was touched, nothing was noted or decided, and the packet names \
            nothing done, no next step and no open loop";
        remarks.push(Remark { kind: RemarkKind::NoAccounting, message: message.into() });
    }
    let touched = |tag: &String| labels.iter().any(|label| same(label, tag)) || mentions(packet, tag);
    if !focus.is_empty() && !focus.iter().any(touched) {
        let message = format!(
            "the baton that was picked up is about {}, but no task with such a label changed and the packet says nothing of it",
            focus.join(", ")
        );
        remarks.push(Remark { kind: RemarkKind::FocusUntouched, message });
    }
    remarks
}

/// Whether a packet says more than its summary: what was done or decided, what is next, what is open, or that it is done.
fn tells(view: &Packet) -> bool {
    !view.work_completed.is_empty() || !view.decisions.is_empty() || has_continuation(view)
}

/// Whether a packet says how it goes on: next steps, open loops, open items of the plan, or that nothing is left to do.
pub fn has_continuation(view: &Packet) -> bool {
    names_more(view) || says_done(view)
}

/// Whether a packet says that nothing is left to do, and names nothing that is.
pub fn is_finished(view: &Packet) -> bool {
    says_done(view) && !names_more(view)
}

fn names_more(view: &Packet) -> bool {
    !(view.next_steps.is_empty() && view.open_loops.is_empty() && view.pending_tasks.is_empty())
}

fn says_done(view: &Packet) -> bool {
    let is_true = |value: Option<&Value>| value == Some(&Value::Bool(true));
    is_true(view.other.get("done")) || is_true(view.metadata.get("done"))
}

fn same(label: &str, tag: &str) -> bool {
    label.to_lowercase() == tag.to_lowercase()
}

/// Whether the packet has the tag among its own or names it as a word.
fn mentions(packet: &ValidatedPacket, tag: &str) -> bool {
    if packet.view().focus.iter().any(|own| same(own, tag)) {
        return true;
    }
    let (text, tag) = (packet.text().to_lowercase(), tag.to_lowercase());
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(&tag).any(|(at, found)| {
        !inside(text[..at].chars().next_back()) && !inside(text[at + found.len()..].chars().next())
    })
}

/// How a session ended without a wrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnwrappedReason {
    /// It went silent.
    Silent,
    /// It went silent and was replaced.
    Stale,
    /// Its identity came back from another process.
    Reconnect,
}

/// How a session ended without a wrap, if that is how it stands: it went silent, or was released because it had.
pub fn unwrapped(session: &Session, now: Millis, limits: Limits) -> Option<UnwrappedReason> {
    match &session.release {
        None if session.is_fresh(now, limits) => None,
        None => Some(UnwrappedReason::Silent),
        Some(release) => match release.reason {
            ReleaseReason::Reconnect => Some(UnwrappedReason::Reconnect),
            ReleaseReason::Stale => Some(UnwrappedReason::Stale),
            _ => None,
        },
    }
}

#[cfg(test)]
#[path = "accounting_tests.rs"]
mod tests;
