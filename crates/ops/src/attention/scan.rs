//! Counts and reads what needs a person in the visible projects.

use std::collections::{BTreeMap, BTreeSet};

use baton_model::attention::{
    AttentionItem, RETURNED_FOR, Reason, STARVING_AFTER, STUCK_AFTER, Section, SuggestedCommand,
};
use baton_model::id::identity_key;
use baton_model::lease::FileLease;
use baton_model::printable::excerpt;
use baton_model::session::Session;
use baton_model::time::{Millis, Timestamp};
use baton_store::attention::{self as rows, AttentionRow, PageRequest, Source};
use baton_store::{Failure, Tx, lease, session};

use super::leases::{conflict, conflicts};
use super::place::Place;
use super::sessions::{self, HeldWork, QuietSession};
use super::tasks::{self, TaskItems};
use super::{AttentionInput, SectionCounts, actions, read_reason, read_section};
use crate::op::Env;
use crate::ownership::is_at_work;
use crate::page::{Position, row_limit};
use crate::project::VisibleProjects;

/// The most characters of a message's text.
const DETAIL: usize = 300;
/// Maximum number of attention items marked as the viewer's own.
pub const MOST_OWN: usize = 500;

/// A kind of rows, the reasons that its rows have, and the instant that divides them.
struct Part {
    source: Source,
    concern: Reason,
    fresh: Option<Reason>,
    divide: Millis,
    /// Rows since the instant are attention items, and not those before it.
    is_recent: bool,
}

/// Which items of one rank are read.
#[derive(Clone, Copy)]
struct RankRequest<'a> {
    rank: u8,
    after: &'a Position,
    /// Only those of the identity with this key; empty for all.
    key: &'a str,
    limit: usize,
}

/// The kinds of rows in the ledger.
fn parts(now: Millis) -> [Part; 8] {
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
        part(Source::Unanswered, Reason::AnswerLate, Some(Reason::AnswerWaiting), starving),
        part(Source::Acknowledgement, Reason::AckLate, None, now),
    ]
}

/// Counts and reads the attention items of the visible projects.
pub(super) struct Scan<'a, 'e> {
    env: &'a Env<'e>,
    visible: &'a VisibleProjects,
    reason: Option<Reason>,
    waiting: bool,
    /// Only the attention items of this section are read, while those of all are counted.
    pub(super) section: Option<Section>,
    /// Key of the identity that looks; empty where none does.
    pub(super) viewer: String,
    pub(super) counts: BTreeMap<Reason, usize>,
    /// The kinds of rows with the projects that have any.
    present: Vec<(Part, Vec<String>)>,
    /// Open sessions that are not at work.
    silent: Vec<Session>,
    /// Sessions that are at work and have written nothing for long.
    quiet: Vec<QuietSession>,
    /// Advisory leases that conflict with an earlier one: the later, and the holder of the earlier.
    conflicts: Vec<(FileLease, String)>,
    /// Hand-offs of the identity that looks that came back long ago, and that it has not opened since.
    returned: Vec<AttentionItem>,
    /// Agents at work in one working copy.
    shared: Vec<AttentionItem>,
    /// What the silent ones hold.
    held: BTreeMap<String, HeldWork>,
    /// Tasks that were tried again and again since they were last opened, and those that cannot go on.
    tasks: TaskItems,
}

impl<'a, 'e> Scan<'a, 'e> {
    pub(super) fn new(
        env: &'a Env<'e>,
        visible: &'a VisibleProjects,
        input: &AttentionInput,
        viewer: Option<&str>,
    ) -> Result<Self, Failure> {
        let (counts, present, silent, quiet, conflicts, returned) = Default::default();
        let (shared, held, tasks) = Default::default();
        let reason = input.reason.as_deref().map(read_reason).transpose()?;
        let section = input.section.as_deref().map(read_section).transpose()?;
        let waiting = input.waiting || section == Some(Section::Waiting);
        let viewer = viewer.map(identity_key).unwrap_or_default();
        Ok(Self {
            env,
            visible,
            reason,
            waiting,
            section,
            viewer,
            counts,
            present,
            silent,
            quiet,
            conflicts,
            returned,
            shared,
            held,
            tasks,
        })
    }

    /// Whether the attention items of a reason are read.
    fn shows(&self, reason: Reason) -> bool {
        self.wants(reason) && self.section.is_none_or(|section| section.has(reason))
    }

    fn wants(&self, reason: Reason) -> bool {
        self.reason.map_or(self.waiting || !reason.is_fresh(), |only| only == reason)
    }

    pub(super) fn count(&mut self, tx: &mut Tx<'_>) -> Result<(), Failure> {
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
        self.held = sessions::held_by(tx, &silent, self.env.now)?;
        self.silent = silent;
        self.shared = sessions::shared_copies(&working);
        self.tasks = tasks::task_items(tx, self.visible, self.wants(Reason::TaskRetried))?;
        self.quiet = sessions::quiet(tx, working, self.env.now)?;
        for project_id in rows::advisory_lease_projects(tx, self.env.now)? {
            if self.visible.contains(&project_id) {
                self.conflicts.extend(conflicts(&lease::held_leases(tx, &project_id, self.env.now)?));
            }
        }
        self.count_returned(tx)?;
        self.add(Reason::SessionSilent, self.silent.len());
        self.add(Reason::SessionQuiet, self.quiet.len());
        self.add(Reason::LeaseConflict, self.conflicts.len());
        self.add(Reason::WorkingCopyShared, self.shared.len());
        self.add(Reason::TaskRetried, self.tasks.retried.len());
        self.add(Reason::TaskBlocked, self.tasks.blocked.len());
        self.counts.retain(|_, count| *count > 0);
        Ok(())
    }

    /// A hand-off that was returned long ago stays an attention item of its sender until the sender opens it.
    fn count_returned(&mut self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        let part = parts(self.env.now).into_iter().find(|part| part.source == Source::Return);
        let Some(part) = part.filter(|_| !self.viewer.is_empty() && self.wants(Reason::HandoffReturned))
        else {
            return Ok(());
        };
        let request = PageRequest {
            after: (i64::MIN, ""),
            before: part.divide,
            identity_key: &self.viewer,
            now: self.env.now,
            limit: row_limit(MOST_OWN),
        };
        let mut rows = rows::returned_to(tx, &request)?;
        rows.retain(|row| self.visible.contains(&row.project_id));
        self.returned = rows.into_iter().map(|row| part.item(row)).collect();
        self.add(Reason::HandoffReturned, self.returned.len());
        Ok(())
    }

    fn add(&mut self, reason: Reason, count: usize) {
        if count > 0 && self.wants(reason) {
            *self.counts.entry(reason).or_default() += count;
        }
    }

    /// Counts what is for the viewer and is not an attention item for all: a message that has just come.
    pub(super) fn count_own(&mut self, mine: &[AttentionItem]) {
        let apart: Vec<Reason> =
            mine.iter().map(|one| one.reason).filter(|reason| !self.wants(*reason)).collect();
        for reason in apart {
            *self.counts.entry(reason).or_default() += 1;
        }
    }

    /// How many there are in each section, where these are of the identity that looks.
    pub(super) fn sections(&self, mine: &[AttentionItem]) -> SectionCounts {
        let count = |section: Section| {
            let all = self.counts.iter().filter(|(reason, _)| section.has(**reason)).map(|(_, count)| count);
            let own = mine.iter().filter(|one| section.has(one.reason)).count();
            all.sum::<usize>().saturating_sub(own)
        };
        SectionCounts { mine: mine.len(), concern: count(Section::Concern), waiting: count(Section::Waiting) }
    }

    /// What is for the identity that looks, or its own, in the order of all pages. What it sent is its own once it waits for long.
    pub(super) fn own_items(&self, tx: &mut Tx<'_>) -> Result<Vec<AttentionItem>, Failure> {
        match self.viewer.as_str() {
            "" => Ok(Vec::new()),
            key => self.page(tx, &Place::first(), key, MOST_OWN),
        }
    }

    /// Matters of a section that are not among those of the identity that looks, after a position.
    pub(super) fn others(
        &self,
        tx: &mut Tx<'_>,
        after: &Place,
        mine: &[AttentionItem],
        limit: usize,
    ) -> Result<Vec<AttentionItem>, Failure> {
        let own: BTreeSet<(Reason, &str)> = mine.iter().map(|one| (one.reason, one.id.as_str())).collect();
        let mut found = self.page(tx, after, "", limit + own.len())?;
        found.retain(|one| !own.contains(&(one.reason, one.id.as_str())));
        found.truncate(limit);
        Ok(found)
    }

    /// The attention items after a place, the worst first, and of these the oldest; with a key of an identity, only its own.
    pub(super) fn page(
        &self,
        tx: &mut Tx<'_>,
        after: &Place,
        key: &str,
        limit: usize,
    ) -> Result<Vec<AttentionItem>, Failure> {
        let mut found = Vec::new();
        for rank in after.rank..=AttentionItem::LAST_RANK {
            let oldest = Position::oldest();
            let after = if rank == after.rank { &after.position } else { &oldest };
            let wanted = RankRequest { rank, after, key, limit: limit.saturating_sub(found.len()) };
            found.extend(self.page_of_rank(tx, &wanted)?);
            if found.len() >= limit {
                break;
            }
        }
        sessions::name_handoffs(tx, &mut found)?;
        found
            .iter_mut()
            .filter(|item| item.is_sent_by(&self.viewer))
            .for_each(|item| item.suggest_to_sender(&self.viewer));
        found.iter_mut().for_each(|item| item.actions = actions::of_item(item, &self.viewer));
        Ok(found)
    }

    /// Those that are rows of the ledger.
    fn rows_of_rank(&self, tx: &mut Tx<'_>, wanted: &RankRequest<'_>) -> Result<Vec<AttentionItem>, Failure> {
        let RankRequest { rank, after, key, limit } = *wanted;
        let mut found = Vec::new();
        for (part, projects) in &self.present {
            let Some((from, before)) = self.span(part, rank, !key.is_empty()) else { continue };
            let after = (after.at, after.id.as_str()).max((from, ""));
            let now = self.env.now;
            let request = PageRequest { after, before, identity_key: key, now, limit: row_limit(limit) };
            for project_id in projects {
                let rows = rows::page(tx, part.source, project_id, &request)?;
                found.extend(rows.into_iter().map(|row| part.item(row)));
            }
        }
        // What the viewer sent to others is under "for you" once it has waited for long.
        found.retain(|item| key.is_empty() || !item.reason.is_fresh() || item.is_for(key));
        Ok(found)
    }

    fn page_of_rank(&self, tx: &mut Tx<'_>, wanted: &RankRequest<'_>) -> Result<Vec<AttentionItem>, Failure> {
        let mut found = self.rows_of_rank(tx, wanted)?;
        let RankRequest { rank, after, key, limit } = *wanted;
        let is_own = |name: &str| key.is_empty() || identity_key(name) == key;
        if self.shows(Reason::HandoffReturned) {
            found.extend(self.returned.iter().cloned());
        }
        if self.shows(Reason::SessionSilent) {
            let own = self.silent.iter().filter(|of| is_own(&of.identity));
            found.extend(own.map(|of| sessions::silent_item(self.env, of, self.held.get(&of.session_id))));
        }
        if self.shows(Reason::SessionQuiet) {
            let own = self.quiet.iter().filter(|of| is_own(&of.session.identity));
            found.extend(own.map(QuietSession::item));
        }
        if self.shows(Reason::LeaseConflict) {
            let own = self.conflicts.iter().filter(|(of, other)| is_own(&of.identity) || is_own(other));
            found.extend(own.map(conflict));
        }
        if self.shows(Reason::WorkingCopyShared) {
            let is_of = |one: &&AttentionItem| one.agents.iter().any(|name| is_own(name));
            found.extend(self.shared.iter().filter(is_of).cloned());
        }
        let of_tasks =
            [(Reason::TaskRetried, &self.tasks.retried), (Reason::TaskBlocked, &self.tasks.blocked)];
        for (_, items) in of_tasks.into_iter().filter(|(reason, _)| self.shows(*reason)) {
            let owner =
                |one: &AttentionItem| one.to.clone().or_else(|| one.made_by.clone()).unwrap_or_default();
            let is_of = |one: &&AttentionItem| is_own(&owner(one));
            found.extend(items.iter().filter(is_of).cloned());
        }
        let place = |item: &AttentionItem| (item.since.0, item.id.clone());
        found.retain(|item| item.rank() == rank && place(item) > (after.at, after.id.clone()));
        found.sort_by_key(place);
        found.truncate(limit);
        Ok(found)
    }

    /// From when on and before when rows of a kind are wanted; nothing where none is. A message needs the attention of the one
    /// that it is for from the first minute on.
    fn span(&self, part: &Part, rank: u8, is_own: bool) -> Option<(Millis, Millis)> {
        let is_asked =
            is_own && self.reason.is_none() && matches!(part.source, Source::Question | Source::Unanswered);
        let fresh = part.fresh.filter(|fresh| fresh.rank() == rank);
        let fresh = fresh.is_some_and(|fresh| is_asked || self.shows(fresh));
        match (self.shows(part.concern) && part.concern.rank() == rank, fresh) {
            (true, _) if part.is_recent => Some((part.divide, i64::MAX)),
            (true, true) => Some((i64::MIN, i64::MAX)),
            (true, false) => Some((i64::MIN, part.divide)),
            (false, true) => Some((part.divide, i64::MAX)),
            (false, false) => None,
        }
    }
}

impl Part {
    fn item(&self, row: AttentionRow) -> AttentionItem {
        let reason = self.fresh.filter(|_| row.since >= self.divide).unwrap_or(self.concern);
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        let detail = match self.source {
            Source::Question | Source::Unanswered => excerpt(&row.detail, DETAIL),
            _ => row.detail,
        };
        let AttentionRow { project_id, id, subject, from, to, since, .. } = row;
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
            blocked: false,
            agents: Vec::new(),
            blocker: None,
            made_by: None,
            holds_work: false,
            actions: Vec::new(),
        }
    }
}
