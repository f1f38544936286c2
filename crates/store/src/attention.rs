//! What needs a person, over all projects: light rows from the indexes of what is open.

use baton_model::time::Millis;

use crate::engine::{Fault, Row, Tx};
use crate::params;

crate::sql! {
    BATON_COUNT = "SELECT b.project_id, COUNT(*), CAST(SUM(CASE WHEN b.created_at < $1 THEN 1 ELSE 0 END) AS BIGINT) FROM baton b
        WHERE b.spent_by IS NULL AND NOT EXISTS (SELECT 1 FROM session s WHERE s.project_id = b.project_id
            AND s.session_id = b.holder_session_id AND s.released_at IS NULL) GROUP BY b.project_id";
    BATON_PAGE = "SELECT b.project_id, b.baton_id, b.summary, b.identity, COALESCE(b.to_identity, 'role:' || b.to_role, ''),
        b.created_at, '' FROM baton b WHERE b.project_id = $1 AND b.spent_by IS NULL AND (b.created_at, b.baton_id) > ($2, $3)
        AND b.created_at < $4 AND ($5 = '' OR LOWER(COALESCE(b.to_identity, '')) = $5
            OR (b.to_identity IS NOT NULL AND LOWER(b.identity) = $5)) AND NOT EXISTS (SELECT 1 FROM session s
            WHERE s.project_id = b.project_id AND s.session_id = b.holder_session_id AND s.released_at IS NULL)
        ORDER BY b.created_at, b.baton_id LIMIT $6";
    OFFER_COUNT = "SELECT h.to_project_id, COUNT(*), CAST(SUM(CASE WHEN h.created_at < $1 THEN 1 ELSE 0 END) AS BIGINT) FROM handoff h
        WHERE h.state = 'offered' GROUP BY h.to_project_id";
    OFFER_PAGE = "SELECT h.to_project_id, h.handoff_id, h.subject, h.from_project_id || '/' || h.from_identity,
        COALESCE(h.to_identity, 'role:' || h.to_role, ''), h.created_at, '' FROM handoff h
        WHERE h.to_project_id = $1 AND h.state = 'offered' AND (h.created_at, h.handoff_id) > ($2, $3) AND h.created_at < $4
        AND ($5 = '' OR LOWER(COALESCE(h.to_identity, '')) = $5 OR LOWER(h.from_identity) = $5) ORDER BY h.created_at, h.handoff_id LIMIT $6";
    STUCK_COUNT = "SELECT found.from_project_id, COUNT(*), COUNT(*) FROM (SELECT h.from_project_id FROM handoff h
        WHERE h.state IN ('planned', 'pending') AND (h.created_at < $1 OR h.last_error IS NOT NULL OR EXISTS (SELECT 1 FROM handoff_step t
            WHERE t.handoff_id = h.handoff_id AND t.last_error IS NOT NULL))
        UNION ALL SELECT h.from_project_id FROM handoff h WHERE h.state IN ('offered', 'accepted')
        AND h.plan LIKE '%\"repository_missing\":true%') found GROUP BY found.from_project_id";
    STUCK_PAGE = "SELECT found.from_project_id, found.handoff_id, found.subject, found.from_identity, found.to_project_id, found.created_at,
        found.why FROM (SELECT h.from_project_id, h.handoff_id, h.subject, h.from_identity, h.to_project_id, h.created_at,
            COALESCE(h.last_error, (SELECT MAX(t.last_error) FROM handoff_step t WHERE t.handoff_id = h.handoff_id), '') AS why
        FROM handoff h WHERE h.from_project_id = $1 AND h.state IN ('planned', 'pending')
        AND (h.created_at, h.handoff_id) > ($2, $3) AND (h.created_at < $4 OR h.last_error IS NOT NULL
            OR EXISTS (SELECT 1 FROM handoff_step t WHERE t.handoff_id = h.handoff_id AND t.last_error IS NOT NULL))
        AND ($5 = '' OR LOWER(h.from_identity) = $5)
        UNION ALL SELECT h.from_project_id, h.handoff_id, h.subject, h.from_identity, h.to_project_id, h.created_at,
            COALESCE(h.last_error, '') AS why
        FROM handoff h WHERE h.handoff_id IN (SELECT m.handoff_id FROM handoff m WHERE m.state IN ('offered', 'accepted')
            AND m.plan LIKE '%\"repository_missing\":true%')
        AND h.from_project_id = $1 AND (h.created_at, h.handoff_id) > ($2, $3)
        AND ($5 = '' OR LOWER(h.from_identity) = $5)) found
        ORDER BY found.created_at, found.handoff_id LIMIT $6";
    FAILURE_COUNT = "SELECT h.from_project_id, COUNT(*), COUNT(*) FROM handoff h WHERE h.state = 'failed' AND h.created_at < $1
        GROUP BY h.from_project_id";
    FAILURE_PAGE = "SELECT h.from_project_id, h.handoff_id, h.subject, h.from_identity, h.to_project_id, h.created_at,
        COALESCE(h.last_error, (SELECT MAX(t.last_error) FROM handoff_step t WHERE t.handoff_id = h.handoff_id), '')
        FROM handoff h WHERE h.from_project_id = $1 AND h.state = 'failed' AND (h.created_at, h.handoff_id) > ($2, $3)
        AND h.created_at < $4 AND ($5 = '' OR LOWER(h.from_identity) = $5) ORDER BY h.created_at, h.handoff_id LIMIT $6";
    RETURN_COUNT = "SELECT h.from_project_id, COUNT(*), COUNT(*) FROM handoff h WHERE h.state IN ('declined', 'expired')
        AND h.seen_at IS NULL AND h.updated_at >= $1 AND NOT EXISTS (SELECT 1 FROM handoff n WHERE n.from_project_id = h.from_project_id
            AND n.to_project_id = h.to_project_id AND n.subject = h.subject AND n.created_at >= h.updated_at AND n.handoff_id <> h.handoff_id)
        GROUP BY h.from_project_id";
    RETURN_PAGE = "SELECT h.from_project_id, h.handoff_id, h.subject, h.from_identity, h.to_project_id, h.updated_at,
        CASE WHEN h.state = 'declined' THEN COALESCE('declined: ' || h.result, 'declined')
            ELSE 'expired: it was not accepted in time' END FROM handoff h
        WHERE h.from_project_id = $1 AND h.state IN ('declined', 'expired') AND h.seen_at IS NULL
        AND (h.updated_at, h.handoff_id) > ($2, $3) AND h.updated_at < $4 AND ($5 = '' OR LOWER(h.from_identity) = $5)
        AND NOT EXISTS (SELECT 1 FROM handoff n WHERE n.from_project_id = h.from_project_id
            AND n.to_project_id = h.to_project_id AND n.subject = h.subject AND n.created_at >= h.updated_at AND n.handoff_id <> h.handoff_id)
        ORDER BY h.updated_at, h.handoff_id LIMIT $6";
    RETURN_OWN = "SELECT h.from_project_id, h.handoff_id, h.subject, h.from_identity, h.to_project_id, h.updated_at,
        CASE WHEN h.state = 'declined' THEN COALESCE('declined: ' || h.result, 'declined')
            ELSE 'expired: it was not accepted in time' END FROM handoff h
        WHERE LOWER(h.from_identity) = $1 AND h.state IN ('declined', 'expired') AND h.seen_at IS NULL
        AND (h.updated_at, h.handoff_id) > ($2, $3) AND h.updated_at < $4
        AND NOT EXISTS (SELECT 1 FROM handoff n WHERE n.from_project_id = h.from_project_id
            AND n.to_project_id = h.to_project_id AND n.subject = h.subject AND n.created_at >= h.updated_at AND n.handoff_id <> h.handoff_id)
        ORDER BY h.updated_at, h.handoff_id LIMIT $5";
    QUESTION_COUNT = "SELECT m.project_id, COUNT(*), CAST(SUM(CASE WHEN m.created_at < $1 THEN 1 ELSE 0 END) AS BIGINT) FROM message m
        WHERE m.delivered_at IS NULL AND m.acked_at IS NULL AND m.recalled_at IS NULL AND m.to_project_id IS NULL
        AND (m.kind IN ('Question', 'Blocker') OR m.importance = 'critical')
        AND (m.ack_by IS NULL OR m.ack_by >= $2) AND (m.expires_at IS NULL OR m.expires_at >= $2) GROUP BY m.project_id";
    QUESTION_PAGE = "SELECT m.project_id, m.message_id, CASE WHEN m.importance = 'critical' THEN 'critical: ' ELSE m.kind || ': ' END || m.subject,
        m.from_identity, m.to_identity, m.created_at, CASE WHEN m.readers IS NULL THEN m.body ELSE '' END FROM message m
        WHERE m.project_id = $1 AND m.delivered_at IS NULL AND m.acked_at IS NULL AND m.recalled_at IS NULL AND m.to_project_id IS NULL
        AND (m.kind IN ('Question', 'Blocker') OR m.importance = 'critical') AND (m.created_at, m.message_id) > ($2, $3)
        AND m.created_at < $4 AND ($5 = '' OR m.to_key = $5 OR LOWER(m.from_identity) = $5) AND (m.ack_by IS NULL OR m.ack_by >= $6)
        AND (m.expires_at IS NULL OR m.expires_at >= $6) ORDER BY m.created_at, m.message_id LIMIT $7";
    UNANSWERED_COUNT = "SELECT m.project_id, COUNT(*), CAST(SUM(CASE WHEN m.delivered_at < $1 THEN 1 ELSE 0 END) AS BIGINT) FROM message m
        WHERE m.acked_at IS NULL AND m.recalled_at IS NULL AND m.kind IN ('Question', 'ReviewRequested', 'Blocker')
        AND m.kind <> 'ReviewRequested' AND m.delivered_at IS NOT NULL AND m.to_project_id IS NULL
        AND (m.ack_by IS NULL OR m.ack_by >= $2) AND (m.expires_at IS NULL OR m.expires_at >= $2)
        AND NOT EXISTS (SELECT 1 FROM project p WHERE p.project_id = m.project_id AND p.merged_into IS NOT NULL) GROUP BY m.project_id";
    UNANSWERED_PAGE = "SELECT m.project_id, m.message_id, m.kind || ': ' || m.subject, m.from_identity, m.to_identity, m.delivered_at,
        CASE WHEN m.readers IS NULL THEN m.body ELSE '' END FROM message m
        WHERE m.project_id = $1 AND m.acked_at IS NULL AND m.recalled_at IS NULL AND m.kind IN ('Question', 'ReviewRequested', 'Blocker')
        AND m.kind <> 'ReviewRequested' AND m.delivered_at IS NOT NULL AND m.to_project_id IS NULL
        AND (m.delivered_at, m.message_id) > ($2, $3) AND m.delivered_at < $4
        AND ($5 = '' OR m.to_key = $5 OR LOWER(m.from_identity) = $5) AND (m.ack_by IS NULL OR m.ack_by >= $6)
        AND (m.expires_at IS NULL OR m.expires_at >= $6) ORDER BY m.delivered_at, m.message_id LIMIT $7";
    ACK_COUNT = "SELECT m.project_id, COUNT(*), COUNT(*) FROM message m WHERE m.ack_by IS NOT NULL AND m.acked_at IS NULL
        AND m.recalled_at IS NULL AND m.ack_by < $1 AND m.to_project_id IS NULL AND (m.expires_at IS NULL OR m.expires_at >= $1)
        GROUP BY m.project_id";
    ACK_PAGE = "SELECT m.project_id, m.message_id, m.subject, m.from_identity, m.to_identity, m.ack_by, '' FROM message m
        WHERE m.project_id = $1 AND m.ack_by IS NOT NULL AND m.acked_at IS NULL AND m.recalled_at IS NULL
        AND (m.ack_by, m.message_id) > ($2, $3) AND m.ack_by < $4 AND m.to_project_id IS NULL
        AND (m.expires_at IS NULL OR m.expires_at >= $4) AND ($5 = '' OR m.to_key = $5) ORDER BY m.ack_by, m.message_id LIMIT $6";
    RETRY_PROJECTS = "SELECT DISTINCT project_id FROM task WHERE attempts >= 3 AND status <> 'closed' ORDER BY project_id";
    RETRIED = "SELECT t.task_id FROM task t WHERE t.project_id = $1 AND t.attempts >= 3 AND t.status <> 'closed'
        AND t.status <> 'tombstone' ORDER BY t.created_at, t.task_id";
    BLOCKED_PROJECTS = "SELECT DISTINCT t.project_id FROM task t WHERE t.priority = 0 AND t.status <> 'closed'
        AND t.status <> 'tombstone' AND (t.blocked = 1 OR t.status = 'blocked') ORDER BY t.project_id";
    BLOCKED = "SELECT t.task_id FROM task t WHERE t.project_id = $1 AND t.priority = 0 AND t.status <> 'closed'
        AND t.status <> 'tombstone' AND (t.blocked = 1 OR t.status = 'blocked') ORDER BY t.created_at, t.task_id";
    LEASE_PROJECTS = "SELECT DISTINCT project_id FROM file_lease WHERE released_at IS NULL AND expires_at >= $1 AND advisory = 1
        ORDER BY project_id";
}

/// Of what kind the rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Batons that no session holds, by the time they were left.
    Baton,
    /// Hand-offs that wait for their receiver.
    Offer,
    /// Hand-offs that do not reach their receiver: of the sender's project.
    Stuck,
    /// Hand-offs that failed: of the sender's project.
    Failure,
    /// Hand-offs that were declined or expired, by the time they were: of the sender's project.
    Return,
    /// Questions, blockers and critical messages that are not read.
    Question,
    /// Questions and blockers that were read and are not answered, by the time they were read.
    Unanswered,
    /// Messages that were to be acknowledged, by that time.
    Acknowledgement,
}

impl Source {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::Baton,
        Self::Offer,
        Self::Stuck,
        Self::Failure,
        Self::Return,
        Self::Question,
        Self::Unanswered,
        Self::Acknowledgement,
    ];

    fn statements(self) -> (&'static str, &'static str) {
        match self {
            Self::Baton => (BATON_COUNT, BATON_PAGE),
            Self::Offer => (OFFER_COUNT, OFFER_PAGE),
            Self::Stuck => (STUCK_COUNT, STUCK_PAGE),
            Self::Failure => (FAILURE_COUNT, FAILURE_PAGE),
            Self::Return => (RETURN_COUNT, RETURN_PAGE),
            Self::Question => (QUESTION_COUNT, QUESTION_PAGE),
            Self::Unanswered => (UNANSWERED_COUNT, UNANSWERED_PAGE),
            Self::Acknowledgement => (ACK_COUNT, ACK_PAGE),
        }
    }
}

/// How many of a kind are in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The project.
    pub project_id: String,
    /// All of them.
    pub all: usize,
    /// Those from before the instant that was asked for.
    pub old: usize,
}

/// How many there are in each project, and how many of them are from before an instant. For those that need no attention before
/// it, both are the same. Of hand-offs that came back only those since that instant are counted.
pub fn counts(tx: &mut Tx<'_>, source: Source, before: Millis, now: Millis) -> Result<Vec<Count>, Fault> {
    let read = |row: Row| {
        let mut r = row.reader();
        let number = |count: i64| usize::try_from(count).unwrap_or_default();
        Ok(Count { project_id: r.text()?, all: number(r.int()?), old: number(r.int()?) })
    };
    let statement = source.statements().0;
    let rows = match source {
        Source::Question | Source::Unanswered => tx.query(statement, params![before, now])?,
        _ => tx.query(statement, params![before])?,
    };
    rows.into_iter().map(read).collect()
}

/// A row of any kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttentionRow {
    /// The project.
    pub project_id: String,
    /// Its id.
    pub id: String,
    /// Its words.
    pub subject: String,
    /// Whose it is; empty where that is not known.
    pub from: String,
    /// For whom it is; empty where any agent may take it.
    pub to: String,
    /// Since when.
    pub since: Millis,
    /// What is known besides.
    pub detail: String,
}

/// Which rows are read.
#[derive(Debug, Clone, Copy)]
pub struct PageRequest<'a> {
    /// Only after this instant and id.
    pub after: (Millis, &'a str),
    /// Only from before this instant.
    pub before: Millis,
    /// Only those for the identity with this key, or that it sent; empty for all.
    pub identity_key: &'a str,
    /// What has expired by now is left out.
    pub now: Millis,
    /// At most so many.
    pub limit: i64,
}

/// The rows of a kind in a project, the oldest first.
pub fn page(
    tx: &mut Tx<'_>,
    source: Source,
    project_id: &str,
    request: &PageRequest<'_>,
) -> Result<Vec<AttentionRow>, Fault> {
    let PageRequest { after, before, identity_key, now, limit } = *request;
    let statement = source.statements().1;
    let rows = match source {
        Source::Question | Source::Unanswered => {
            tx.query(statement, params![project_id, after.0, after.1, before, identity_key, now, limit])?
        }
        _ => tx.query(statement, params![project_id, after.0, after.1, before, identity_key, limit])?,
    };
    rows.into_iter().map(read).collect()
}

/// The hand-offs of all projects that an identity sent and that came back before an instant, which it has not opened since, the
/// oldest first.
pub fn returned_to(tx: &mut Tx<'_>, request: &PageRequest<'_>) -> Result<Vec<AttentionRow>, Fault> {
    let PageRequest { after, before, identity_key, limit, .. } = *request;
    let rows = tx.query(RETURN_OWN, params![identity_key, after.0, after.1, before, limit])?;
    rows.into_iter().map(read).collect()
}

fn read(row: Row) -> Result<AttentionRow, Fault> {
    let mut r = row.reader();
    Ok(AttentionRow {
        project_id: r.text()?,
        id: r.text()?,
        subject: r.text()?,
        from: r.text()?,
        to: r.text()?,
        since: r.int()?,
        detail: r.text()?,
    })
}

/// The projects that have open tasks which were tried three times or more.
pub fn retry_projects(tx: &mut Tx<'_>) -> Result<Vec<String>, Fault> {
    tx.query(RETRY_PROJECTS, params![])?.into_iter().map(|row| row.reader().text()).collect()
}

/// Ids of a project's open tasks that were tried three times or more since they exist.
pub fn retried(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<String>, Fault> {
    tx.query(RETRIED, params![project_id])?.into_iter().map(|row| row.reader().text()).collect()
}

/// Project and id of every open task of the highest priority that cannot go on.
pub fn blocked(tx: &mut Tx<'_>) -> Result<Vec<(String, String)>, Fault> {
    let mut found = Vec::new();
    for row in tx.query(BLOCKED_PROJECTS, params![])? {
        let project_id = row.reader().text()?;
        for row in tx.query(BLOCKED, params![&project_id])? {
            found.push((project_id.clone(), row.reader().text()?));
        }
    }
    Ok(found)
}

/// The projects in which advisory leases hold, which may conflict.
pub fn advisory_lease_projects(tx: &mut Tx<'_>, now: Millis) -> Result<Vec<String>, Fault> {
    tx.query(LEASE_PROJECTS, params![now])?.into_iter().map(|row| row.reader().text()).collect()
}
