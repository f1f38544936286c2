//! What a search by words finds in a project: things that a person looks for and then opens.

use baton_model::delta::{Delta, Kind};
use baton_model::time::Millis;

use crate::engine::{Fault, Row, Tx};
use crate::params;

crate::sql! {
    TASKS = "SELECT task_id, title, description, updated_at FROM task WHERE project_id = $1
        AND (LOWER(title) LIKE $2 ESCAPE '!' OR LOWER(description) LIKE $3 ESCAPE '!' OR LOWER(task_id) LIKE $4 ESCAPE '!')
        ORDER BY updated_at DESC, task_id LIMIT $5";
    BATONS = "SELECT baton_id, summary, identity, created_at FROM baton WHERE project_id = $1
        AND (LOWER(summary) LIKE $2 ESCAPE '!' OR LOWER(identity) LIKE $3 ESCAPE '!') ORDER BY seq DESC LIMIT $4";
    SESSIONS = "SELECT session_id, identity, surface, started_at FROM session WHERE project_id = $1
        AND (LOWER(identity) LIKE $2 ESCAPE '!' OR LOWER(surface) LIKE $3 ESCAPE '!') ORDER BY started_at DESC, session_id LIMIT $4";
    HANDOFFS = "SELECT handoff_id, subject, from_identity, created_at FROM handoff WHERE to_project_id = $1
        AND (LOWER(subject) LIKE $2 ESCAPE '!' OR LOWER(from_identity) LIKE $3 ESCAPE '!')
        ORDER BY created_at DESC, handoff_id LIMIT $4";
    MESSAGES = "SELECT message_id, subject, from_identity, created_at FROM message WHERE project_id = $1
        AND (LOWER(subject) LIKE $2 ESCAPE '!' OR LOWER(from_identity) LIKE $3 ESCAPE '!') ORDER BY seq DESC LIMIT $4";
    SAID = "SELECT delta_id, kind, identity, body, created_at FROM delta WHERE project_id = $1
        AND kind IN ('note', 'decision', 'research', 'remember', 'methodology')
        AND (LOWER(body) LIKE $2 ESCAPE '!' OR LOWER(identity) LIKE $3 ESCAPE '!') ORDER BY seq DESC LIMIT $4";
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// `task`, `baton`, `session`, `handoff`, `message`, or the kind of a delta.
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

/// Everything in a project whose text may hold this word, which is in lower case, the newest of each kind first and at most so
/// many of each. A word that is not ASCII finds everything: engines do not agree on its case.
pub fn holding(tx: &mut Tx<'_>, project_id: &str, word: &str, limit: i64) -> Result<Vec<Hit>, Fault> {
    let like = pattern(word);
    let mut found = Vec::new();
    for (kind, sql) in
        [("baton", BATONS), ("session", SESSIONS), ("handoff", HANDOFFS), ("message", MESSAGES)]
    {
        for row in tx.query(sql, params![project_id, &like, &like, limit])? {
            found.push(named(kind, row)?);
        }
    }
    for row in tx.query(TASKS, params![project_id, &like, &like, &like, limit])? {
        found.push(named("task", row)?);
    }
    for row in tx.query(SAID, params![project_id, &like, &like, limit])? {
        found.push(said(row)?);
    }
    Ok(found)
}

fn named(kind: &str, row: Row) -> Result<Hit, Fault> {
    let mut r = row.reader();
    Ok(Hit { kind: kind.to_owned(), id: r.text()?, title: r.text()?, about: r.text()?, at: r.int()? })
}

fn said(row: Row) -> Result<Hit, Fault> {
    let mut r = row.reader();
    let (id, kind, identity) = (r.text()?, Kind::from_word(&r.text()?), r.text()?);
    let (body, created_at) = (r.text()?, r.int()?);
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
    Ok(Hit {
        kind: kind.as_str().to_owned(),
        id: delta.delta_id,
        title,
        about: delta.identity,
        at: created_at,
    })
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
