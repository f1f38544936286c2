//! `attention_list`: what needs a person, over all projects.

mod sessions;

use std::collections::BTreeMap;

use baton_model::attention::{
    AttentionItem, RETURNED_FOR, Reason, STARVING_AFTER, STUCK_AFTER, SuggestedCommand,
};
use baton_model::id::identity_key;
use baton_model::lease::Lease;
use baton_model::printable::quotable;
use baton_model::refusal::Refusal;
use baton_model::session::Session;
use baton_model::time::{Millis, Timestamp};
use baton_store::attention::{self as rows, MatterRow, PageRequest, Source};
use baton_store::{Failure, Tx, lease, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Env, Meta, Operation};
use crate::ownership::is_at_work;
use crate::page::{Position, page_size, row_limit};
use crate::project::VisibleProjects;
use sessions::QuietSession;

/// The most characters of a message's text.
const DETAIL: usize = 300;
/// The most matters that are shown apart because they are the caller's.
const OWN: usize = 50;

/// Shows what needs a person.
pub struct Attention;

/// Input of `attention`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttentionInput {
    /// Only in this project; else in all.
    #[serde(default)]
    pub project: Option<String>,
    /// The identity that looks: what is for it, or its own, stands in `mine` as well.
    #[serde(default)]
    pub identity: Option<String>,
    /// Only for this reason: `session_silent`, `baton_starving`, …
    #[serde(default)]
    pub reason: Option<String>,
    /// Batons and hand-offs that were left only a short while ago, too.
    #[serde(default)]
    pub waiting: bool,
    /// At most so many, 200 at the most; 50 when it is left out.
    #[serde(default)]
    pub limit: Option<i64>,
    /// `next` of the page before.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// How many matters there are for a reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReasonCount {
    /// The reason.
    pub reason: Reason,
    /// How many.
    pub count: usize,
}

/// Answer of `attention`.
#[derive(Serialize, Deserialize)]
pub struct AttentionOutput {
    /// The project, where one was named.
    pub project_id: Option<String>,
    /// On the first page: what is for the identity that looks, or its own, the oldest first.
    pub mine: Vec<AttentionItem>,
    /// The matters of this page, the oldest first.
    pub items: Vec<AttentionItem>,
    /// How many there are on all pages.
    pub total: usize,
    /// How many there are for each reason.
    pub counts: Vec<ReasonCount>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<String>,
}

impl Operation for Attention {
    const META: Meta =
        Meta::read("attention_list", "List what needs a person in all projects, the oldest first");
    type Input = AttentionInput;
    type Output = AttentionOutput;

    fn run(input: AttentionInput, cx: &mut Cx<'_>) -> Result<AttentionOutput, Failure> {
        let reason = input.reason.as_deref().map(read_reason).transpose()?;
        let limit = page_size(input.limit, 50, 200);
        let position =
            input.cursor.as_deref().map(Position::parse).transpose()?.unwrap_or_else(Position::oldest);
        let visible = VisibleProjects::read(cx, input.project.as_deref(), input.project.is_none())?;
        let key = input.identity.as_deref().map(identity_key).unwrap_or_default();
        let Cx { store, env } = cx;
        store.read(|tx| {
            let mut scan = Scan::new(env, &visible, (reason, input.waiting));
            scan.count(tx)?;
            let mine = match (key.as_str(), input.cursor.is_none()) {
                ("", _) | (_, false) => Vec::new(),
                (key, true) => scan.page(tx, &Position::oldest(), key, OWN)?,
            };
            let mut items = scan.page(tx, &position, "", limit + 1)?;
            let next = (items.len() > limit).then(|| items.get(limit - 1).map(position_of)).flatten();
            items.truncate(limit);
            let counts: Vec<ReasonCount> =
                scan.counts.iter().map(|(&reason, &count)| ReasonCount { reason, count }).collect();
            let total = counts.iter().map(|row| row.count).sum();
            Ok(AttentionOutput { project_id: visible.only.clone(), mine, items, total, counts, next })
        })
    }
}

fn read_reason(word: &str) -> Result<Reason, Refusal> {
    Reason::from_word(word).ok_or_else(|| {
        let known: Vec<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
        let what = format!("`{}` is no reason for attention", baton_model::id::visible(word));
        Refusal::invalid("reason_unknown", what, format!("use one of {}", known.join(", ")))
    })
}

fn position_of(item: &AttentionItem) -> String {
    Position { at: item.since.0, id: item.id.clone() }.to_string()
}

/// A kind of rows, the reasons that its rows have, and the instant that divides them.
struct Part {
    source: Source,
    concern: Reason,
    fresh: Option<Reason>,
    divide: Millis,
    /// Rows since the instant are matters, and not those before it.
    is_recent: bool,
}

/// The kinds of rows in the ledger.
fn parts(now: Millis) -> [Part; 9] {
    let starving = now - STARVING_AFTER;
    let part = |source, concern, fresh, divide| Part { source, concern, fresh, divide, is_recent: false };
    let returned = part(Source::Return, Reason::HandoffReturned, None, now - RETURNED_FOR);
    [
        part(Source::Baton, Reason::BatonStarving, Some(Reason::BatonWaiting), starving),
        part(Source::Offer, Reason::HandoffStarving, Some(Reason::HandoffWaiting), starving),
        part(Source::Stuck, Reason::HandoffStuck, None, now - STUCK_AFTER),
        part(Source::Failure, Reason::HandoffFailed, None, now + 1),
        Part { is_recent: true, ..returned },
        part(Source::Question, Reason::MessageUnread, Some(Reason::MessageWaiting), starving),
        part(Source::Acknowledgement, Reason::AckLate, None, now),
        part(Source::Retry, Reason::TaskRetried, None, now + 1),
        part(Source::Block, Reason::TaskBlocked, None, now + 1),
    ]
}

/// Counts and reads the matters of the visible projects.
struct Scan<'a, 'e> {
    env: &'a Env<'e>,
    visible: &'a VisibleProjects,
    reason: Option<Reason>,
    waiting: bool,
    counts: BTreeMap<Reason, usize>,
    /// The kinds of rows with the projects that have any.
    present: Vec<(Part, Vec<String>)>,
    /// Open sessions that are not at work.
    silent: Vec<Session>,
    /// Sessions that are at work and have written nothing for long.
    quiet: Vec<QuietSession>,
    /// Advisory leases that conflict with an earlier one: the later, and the holder of the earlier.
    conflicts: Vec<(Lease, String)>,
}

impl<'a, 'e> Scan<'a, 'e> {
    fn new(
        env: &'a Env<'e>,
        visible: &'a VisibleProjects,
        (reason, waiting): (Option<Reason>, bool),
    ) -> Self {
        let (counts, present, silent, quiet, conflicts) = Default::default();
        Self { env, visible, reason, waiting, counts, present, silent, quiet, conflicts }
    }

    fn wants(&self, reason: Reason) -> bool {
        self.reason.map_or(self.waiting || !reason.is_fresh(), |only| only == reason)
    }

    fn count(&mut self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        for part in parts(self.env.now) {
            let mut counts = rows::counts(tx, part.source, part.divide, self.env.now)?;
            counts.retain(|count| self.visible.contains(&count.project_id));
            for count in &counts {
                self.add(part.concern, count.old);
                if let Some(fresh) = part.fresh {
                    self.add(fresh, count.all.saturating_sub(count.old));
                }
            }
            self.present.push((part, counts.into_iter().map(|count| count.project_id).collect()));
        }
        let mut open = session::open_everywhere(tx)?;
        open.retain(|of| self.visible.contains(&of.project_id));
        let (working, silent): (Vec<_>, Vec<_>) = open.into_iter().partition(|of| is_at_work(self.env, of));
        self.silent = silent;
        self.quiet = sessions::quiet(tx, working, self.env.now)?;
        for project_id in rows::advisory_lease_projects(tx, self.env.now)? {
            if self.visible.contains(&project_id) {
                self.conflicts.extend(conflicts(&lease::held_leases(tx, &project_id, self.env.now)?));
            }
        }
        self.add(Reason::SessionSilent, self.silent.len());
        self.add(Reason::SessionQuiet, self.quiet.len());
        self.add(Reason::LeaseConflict, self.conflicts.len());
        Ok(())
    }

    fn add(&mut self, reason: Reason, count: usize) {
        if count > 0 && self.wants(reason) {
            *self.counts.entry(reason).or_default() += count;
        }
    }

    /// The matters after a position, the oldest first; with a key of an identity, only its own.
    fn page(
        &self,
        tx: &mut Tx<'_>,
        after: &Position,
        key: &str,
        limit: usize,
    ) -> Result<Vec<AttentionItem>, Failure> {
        let mut found = Vec::new();
        for (part, projects) in &self.present {
            let Some((from, before)) = self.span(part, !key.is_empty()) else { continue };
            let after = (after.at, after.id.as_str()).max((from, ""));
            let now = self.env.now;
            let request = PageRequest { after, before, identity_key: key, now, limit: row_limit(limit) };
            for project_id in projects {
                let rows = rows::page(tx, part.source, project_id, &request)?;
                found.extend(rows.into_iter().map(|row| part.item(row)));
            }
        }
        let is_own = |name: &str| key.is_empty() || identity_key(name) == key;
        if self.wants(Reason::SessionSilent) {
            found.extend(self.silent.iter().filter(|of| is_own(&of.identity)).map(sessions::silent_item));
        }
        if self.wants(Reason::SessionQuiet) {
            let own = self.quiet.iter().filter(|of| is_own(&of.session.identity));
            found.extend(own.map(QuietSession::item));
        }
        if self.wants(Reason::LeaseConflict) {
            let own = self.conflicts.iter().filter(|(of, other)| is_own(&of.identity) || is_own(other));
            found.extend(own.map(conflict));
        }
        let place = |item: &AttentionItem| (item.since.0, item.id.clone());
        found.retain(|item| place(item) > (after.at, after.id.clone()));
        found.sort_by_key(place);
        found.truncate(limit);
        let is_session =
            |item: &&mut AttentionItem| matches!(item.reason, Reason::SessionSilent | Reason::SessionQuiet);
        for item in found.iter_mut().filter(is_session) {
            item.subject = sessions::last_words(tx, &item.project_id, &item.id)?;
        }
        Ok(found)
    }

    /// From when on and before when rows of a kind are wanted; nothing where none is. A message is a matter for the one
    /// that it is for from the first minute on.
    fn span(&self, part: &Part, is_own: bool) -> Option<(Millis, Millis)> {
        let is_asked = is_own && self.reason.is_none() && part.source == Source::Question;
        let fresh = is_asked || part.fresh.is_some_and(|fresh| self.wants(fresh));
        match (self.wants(part.concern), fresh) {
            (true, _) if part.is_recent => Some((part.divide, i64::MAX)),
            (true, true) => Some((i64::MIN, i64::MAX)),
            (true, false) => Some((i64::MIN, part.divide)),
            (false, true) => Some((part.divide, i64::MAX)),
            (false, false) => None,
        }
    }
}

impl Part {
    fn item(&self, row: MatterRow) -> AttentionItem {
        let reason = self.fresh.filter(|_| row.since >= self.divide).unwrap_or(self.concern);
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        let detail = if self.source == Source::Question { quotable(&row.detail, DETAIL) } else { row.detail };
        let MatterRow { project_id, id, subject, from, to, since, .. } = row;
        let (from, to) = (some(from), some(to));
        let suggestion = SuggestedCommand {
            reason,
            project_id: &project_id,
            id: &id,
            subject: &subject,
            to: to.as_deref(),
        };
        let help = suggestion.command();
        AttentionItem {
            reason,
            project_id,
            id,
            subject,
            from,
            to,
            since: Timestamp(since),
            detail: some(detail),
            help,
        }
    }
}

fn conflict((of, other): &(Lease, String)) -> AttentionItem {
    let reason = Reason::LeaseConflict;
    let suggestion = SuggestedCommand {
        reason,
        project_id: &of.project_id,
        id: &of.lease_id,
        subject: &of.pattern,
        to: None,
    };
    AttentionItem {
        reason,
        help: suggestion.command(),
        project_id: of.project_id.clone(),
        id: of.lease_id.clone(),
        subject: of.pattern.clone(),
        from: Some(of.identity.clone()),
        to: Some(other.clone()),
        since: Timestamp(of.taken_at),
        detail: of.why.clone(),
    }
}

/// The leases, given from the oldest on, that conflict with an earlier one, each with that one's holder.
fn conflicts(leases: &[Lease]) -> Vec<(Lease, String)> {
    let with_earlier = |(index, of): (usize, &Lease)| {
        let earlier = leases.iter().take(index).find(|earlier| of.conflicts(earlier))?;
        Some((of.clone(), earlier.identity.clone()))
    };
    leases.iter().enumerate().filter_map(with_earlier).collect()
}
