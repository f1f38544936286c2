//! What a search by words finds in a project: things that a person looks for and then opens.

use baton_model::delta::{Delta, Kind};
use baton_model::time::{Millis, parse_rfc3339};

use crate::engine::{Fault, Row, Tx};
use crate::params;

crate::sql! {
    TASKS = "SELECT task_id, title, description, updated_at, updated_at FROM task WHERE project_id = $1
        AND (LOWER(title) LIKE $2 ESCAPE '!' OR LOWER(description || ' ' || task_id) LIKE $3 ESCAPE '!')
        AND (updated_at < $4 OR (updated_at = $5 AND task_id > $6)) ORDER BY updated_at DESC, task_id LIMIT $7";
    BATONS = "SELECT baton_id, summary, identity, created_at, seq FROM baton WHERE project_id = $1
        AND (LOWER(summary) LIKE $2 ESCAPE '!' OR LOWER(identity) LIKE $3 ESCAPE '!')
        AND (seq < $4 OR (seq = $5 AND baton_id > $6)) ORDER BY seq DESC, baton_id LIMIT $7";
    SESSIONS = "SELECT session_id, identity, surface, started_at, started_at FROM session WHERE project_id = $1
        AND (LOWER(identity) LIKE $2 ESCAPE '!' OR LOWER(surface) LIKE $3 ESCAPE '!')
        AND (started_at < $4 OR (started_at = $5 AND session_id > $6)) ORDER BY started_at DESC, session_id LIMIT $7";
    HANDOFFS = "SELECT handoff_id, subject, from_identity, created_at, created_at FROM handoff WHERE to_project_id = $1
        AND (LOWER(subject) LIKE $2 ESCAPE '!' OR LOWER(from_identity) LIKE $3 ESCAPE '!')
        AND (created_at < $4 OR (created_at = $5 AND handoff_id > $6)) ORDER BY created_at DESC, handoff_id LIMIT $7";
    MESSAGES = "SELECT message_id, subject, CASE from_type WHEN 'github_user' THEN from_identity || ' on GitHub'
        WHEN 'project' THEN 'project ' || from_identity ELSE from_identity END, created_at, seq FROM message WHERE project_id = $1
        AND (LOWER(subject) LIKE $2 ESCAPE '!' OR LOWER(from_identity) LIKE $3 ESCAPE '!')
        AND (seq < $4 OR (seq = $5 AND message_id > $6)) ORDER BY seq DESC, message_id LIMIT $7";
    LEASES = "SELECT lease_id, pattern, identity || ' ' || COALESCE(why, ''), taken_at, taken_at FROM file_lease WHERE project_id = $1
        AND (LOWER(pattern) LIKE $2 ESCAPE '!' OR LOWER(identity || ' ' || COALESCE(why, '')) LIKE $3 ESCAPE '!')
        AND (taken_at < $4 OR (taken_at = $5 AND lease_id > $6)) ORDER BY taken_at DESC, lease_id LIMIT $7";
    COMMENTS = "SELECT t.task_id || ' ' || c.place, t.title, c.body, t.updated_at, t.updated_at FROM task t
        JOIN task_comment c ON c.project_id = t.project_id AND c.task_id = t.task_id WHERE t.project_id = $1
        AND (LOWER(c.body) LIKE $2 ESCAPE '!' OR LOWER(t.title) LIKE $3 ESCAPE '!')
        AND (t.updated_at < $4 OR (t.updated_at = $5 AND t.task_id || ' ' || c.place > $6))
        ORDER BY t.updated_at DESC, t.task_id || ' ' || c.place LIMIT $7";
    NOTES = "SELECT delta_id, kind, identity, body, created_at, seq FROM delta WHERE project_id = $1
        AND kind IN ('note', 'decision', 'research', 'remember', 'methodology', 'checkpoint')
        AND (LOWER(body) LIKE $2 ESCAPE '!' OR LOWER(identity) LIKE $3 ESCAPE '!')
        AND (seq < $4 OR (seq = $5 AND delta_id > $6)) ORDER BY seq DESC, delta_id LIMIT $7";
}

/// Where things are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchTarget {
    /// Tasks, by title, description and id.
    Tasks,
    /// Batons, by summary and who left them.
    Batons,
    /// Sessions, by identity and surface.
    Sessions,
    /// Hand-offs that the project received, by subject and sender.
    Handoffs,
    /// Messages, by subject and sender.
    Messages,
    /// Comments of tasks, by what was said and by whom.
    Comments,
    /// Leases, by their paths, reason and holder.
    Leases,
    /// What was noted, decided and why, found out, remembered, or said at a checkpoint.
    Notes,
}

impl SearchTarget {
    /// Every place.
    pub const ALL: [Self; 8] = [
        Self::Batons,
        Self::Sessions,
        Self::Handoffs,
        Self::Messages,
        Self::Tasks,
        Self::Comments,
        Self::Leases,
        Self::Notes,
    ];

    fn sql(self) -> (&'static str, &'static str) {
        match self {
            Self::Tasks => ("task", TASKS),
            Self::Batons => ("baton", BATONS),
            Self::Sessions => ("session", SESSIONS),
            Self::Handoffs => ("handoff", HANDOFFS),
            Self::Messages => ("message", MESSAGES),
            Self::Comments => ("comment", COMMENTS),
            Self::Leases => ("lease", LEASES),
            Self::Notes => ("", NOTES),
        }
    }
}

/// A place in what is found, newest first: whatever comes after it is older.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    key: i64,
    id: String,
}

impl Default for Cursor {
    /// Before the newest.
    fn default() -> Self {
        Self { key: i64::MAX, id: String::new() }
    }
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// `task`, `baton`, `session`, `handoff`, `message`, `comment`, `lease`, or the kind of a delta.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// Its name in one line.
    pub title: String,
    /// What else was looked at.
    pub about: String,
    /// When it was made or changed last.
    pub at: Millis,
}

/// A page of what is among these things in a project and may hold this word, which is in lower case: newest first, after the
/// cursor, which moves on. A word that is not ASCII finds everything: engines do not agree on its case.
pub fn holding(
    tx: &mut Tx<'_>,
    project_id: &str,
    among: SearchTarget,
    word: &str,
    (cursor, limit): (&mut Cursor, i64),
) -> Result<Vec<Hit>, Fault> {
    let like = pattern(word);
    let (kind, sql) = among.sql();
    let rows =
        tx.query(sql, params![project_id, &like, &like, cursor.key, cursor.key, cursor.id.clone(), limit])?;
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let (hit, key) = match among {
            SearchTarget::Notes => message_hit(row)?,
            _ => named_hit(kind, row)?,
        };
        *cursor = Cursor { key, id: hit.id.clone() };
        found.push(if among == SearchTarget::Comments { with_words(hit) } else { hit });
    }
    Ok(found)
}

fn named_hit(kind: &str, row: Row) -> Result<(Hit, i64), Fault> {
    let mut r = row.reader();
    let hit = Hit { kind: kind.to_owned(), id: r.text()?, title: r.text()?, about: r.text()?, at: r.int()? };
    Ok((hit, r.int()?))
}

/// A comment as it is told: with its words, under the id of its task, to which it leads.
fn with_words(hit: Hit) -> Hit {
    let body: serde_json::Value = serde_json::from_str(&hit.about).unwrap_or_default();
    let word = |key: &str| body.get(key).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
    let at = parse_rfc3339(&word("created_at")).unwrap_or(hit.at);
    let task_id = hit.id.split_once(' ').map_or(hit.id.as_str(), |(task_id, _)| task_id).to_owned();
    Hit { id: task_id, about: format!("{} · {}", word("author"), word("text")), at, ..hit }
}

fn message_hit(row: Row) -> Result<(Hit, i64), Fault> {
    let mut r = row.reader();
    let (id, kind, identity) = (r.text()?, Kind::from_word(&r.text()?), r.text()?);
    let (body, created_at, key) = (r.text()?, r.int()?, r.int()?);
    let delta = Delta {
        project_id: String::new(),
        seq: 0,
        delta_id: id,
        kind,
        session_id: None,
        identity,
        created_at,
        inherited_from: None,
        thread_id: None,
        body,
    };
    let title = delta.headline();
    let about = match delta.body_json().get("why").and_then(serde_json::Value::as_str) {
        Some(why) => format!("{} · {why}", delta.identity),
        None => delta.identity,
    };
    let hit = Hit { kind: kind.as_str().to_owned(), id: delta.delta_id, title, about, at: created_at };
    Ok((hit, key))
}

fn pattern(word: &str) -> String {
    if !word.is_ascii() {
        return "%".to_owned();
    }
    let mut like = String::from("%");
    for c in word.chars() {
        if matches!(c, '%' | '_' | '!') {
            like.push('!');
        }
        like.push(c);
    }
    like.push('%');
    like
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_of_the_pattern_is_looked_for_as_itself() {
        assert_eq!(pattern("50%_!"), "%50!%!_!!%");
        assert_eq!(pattern("straße"), "%");
    }
}
