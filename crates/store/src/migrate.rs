//! Brings a store's tables up to date.
//!
//! Migrations are plain SQL for both engines, applied in order, each in a transaction of its own together with its row in
//! `migration`, so a half-applied one cannot exist. Row 0 of that table is what migrating processes lock, one after the
//! other. A part that one engine alone understands stands between the lines `-- @sqlite` or `-- @postgres` and `-- @all`.
//!
//! A migration that was changed after it was applied is reported by `Store::check`. Opening does not look for that, except
//! when there is something to add: then a different history is refused, because the new part was written for another ground.

use sha2::{Digest, Sha256};

use crate::engine::{Engine, Fault, FaultKind, Mode, Row};
use crate::{chain, params};

/// Names and texts, in the order in which they are applied.
pub type Migrations = &'static [(&'static str, &'static str)];

/// The migrations of this build.
pub const MIGRATIONS: Migrations = &[
    ("0001_ledger", include_str!("migrations/0001_ledger.sql")),
    ("0002_accounting", include_str!("migrations/0002_accounting.sql")),
    ("0003_access", include_str!("migrations/0003_access.sql")),
    ("0004_tasks", include_str!("migrations/0004_tasks.sql")),
    ("0005_mail", include_str!("migrations/0005_mail.sql")),
    ("0006_cross", include_str!("migrations/0006_cross.sql")),
    ("0007_duty", include_str!("migrations/0007_duty.sql")),
    ("0008_recall", include_str!("migrations/0008_recall.sql")),
    ("0009_request", include_str!("migrations/0009_request.sql")),
    ("0010_bearer", include_str!("migrations/0010_bearer.sql")),
    ("0011_task_clock", include_str!("migrations/0011_task_clock.sql")),
    (CHAIN, include_str!("migrations/0012_chain.sql")),
    ("0013_holder", include_str!("migrations/0013_holder.sql")),
    ("0014_conversation", include_str!("migrations/0014_conversation.sql")),
    ("0015_suggested_tracker", include_str!("migrations/0015_suggested_tracker.sql")),
    ("0016_counter_floor", include_str!("migrations/0016_counter_floor.sql")),
    ("0017_place", include_str!("migrations/0017_place.sql")),
    ("0018_holder_token", include_str!("migrations/0018_holder_token.sql")),
    ("0019_session_commit", include_str!("migrations/0019_session_commit.sql")),
    ("0020_changes", include_str!("migrations/0020_changes.sql")),
    ("0021_transcript_copy", include_str!("migrations/0021_transcript_copy.sql")),
    ("0022_attention", include_str!("migrations/0022_attention.sql")),
    ("0023_merged_project", include_str!("migrations/0023_merged_project.sql")),
    ("0024_session_by_process", include_str!("migrations/0024_session_by_process.sql")),
    ("0025_share", include_str!("migrations/0025_share.sql")),
    ("0026_returned_and_asked", include_str!("migrations/0026_returned_and_asked.sql")),
    ("0027_seen_handoff", include_str!("migrations/0027_seen_handoff.sql")),
    ("0028_assigned_task", include_str!("migrations/0028_assigned_task.sql")),
    ("0029_uploader", include_str!("migrations/0029_uploader.sql")),
    ("0030_conversation_project", include_str!("migrations/0030_conversation_project.sql")),
    ("0031_deferred_task", include_str!("migrations/0031_deferred_task.sql")),
    ("0032_parts_of_deferred", include_str!("migrations/0032_parts_of_deferred.sql")),
    ("0033_open_question", include_str!("migrations/0033_open_question.sql")),
    ("0034_sender_type", include_str!("migrations/0034_sender_type.sql")),
    ("0035_session_host", include_str!("migrations/0035_session_host.sql")),
    ("0036_change_count", include_str!("migrations/0036_change_count.sql")),
    ("0037_copies_of_several", include_str!("migrations/0037_copies_of_several.sql")),
    ("0038_effect_owner", include_str!("migrations/0038_effect_owner.sql")),
    ("0039_issue_conversation", include_str!("migrations/0039_issue_conversation.sql")),
    ("0040_decisions_by_time", include_str!("migrations/0040_decisions_by_time.sql")),
];

/// The migration whose rows the program has to fill in.
const CHAIN: &str = "0012_chain";

const TABLE: &str = "CREATE TABLE IF NOT EXISTS migration (\
    version BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL)";
const LOCK_ROW: &str = "INSERT INTO migration (version, name, checksum, applied_at) VALUES (0, 'lock', '', $1) \
    ON CONFLICT DO NOTHING";
const LOCK: &str = "UPDATE migration SET name = name WHERE version = 0";
const APPLIED: &str = "SELECT version, name, checksum FROM migration WHERE version > 0 ORDER BY version";
const RECORD: &str = "INSERT INTO migration (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)";

/// Applies what is missing. Without a time nothing may be written, and a store that lacks something is a fault.
pub(crate) fn bring_up_to_date(
    engine: &mut dyn Engine,
    migrations: Migrations,
    now_ms: Option<i64>,
    place: &str,
) -> Result<(), Fault> {
    let known = count(migrations);
    let found = engine.version()?;
    match (found, now_ms) {
        (Some(found), _) if found > known => Err(newer(found, known, place)),
        (Some(found), _) if found == known => Ok(()),
        (found, None) => Err(older(found.unwrap_or(0), known, place)),
        (found, Some(now_ms)) => {
            if found.is_none() {
                in_transaction(engine, |engine| create_table(engine, now_ms))?;
            }
            while in_transaction(engine, |engine| apply_next(engine, migrations, now_ms, place))? {}
            match found {
                // A new store has no rows to count, and PostgreSQL counts by itself.
                None | Some(0) => Ok(()),
                Some(_) if engine.kind() == "postgres" => Ok(()),
                Some(_) => in_transaction(engine, |engine| engine.script("ANALYZE")),
            }
        }
    }
}

/// Where the migrations of a store differ from this build's.
pub(crate) fn differences(engine: &mut dyn Engine, migrations: Migrations) -> Result<Vec<String>, Fault> {
    let applied = applied(engine)?;
    let mut found = changed(&applied, migrations);
    if applied.len() < migrations.len() {
        found.push(format!("{} of {} migrations are applied", applied.len(), migrations.len()));
    }
    Ok(found)
}

fn create_table(engine: &mut dyn Engine, now_ms: i64) -> Result<(), Fault> {
    engine.script(TABLE)?;
    engine.execute(LOCK_ROW, params![now_ms])?;
    // Another process may have gone all the way since we looked.
    let version = applied(engine)?.len();
    engine.set_version(i64::try_from(version).unwrap_or(i64::MAX))
}

/// Applies the first missing migration; false when there is none left.
fn apply_next(
    engine: &mut dyn Engine,
    migrations: Migrations,
    now_ms: i64,
    place: &str,
) -> Result<bool, Fault> {
    engine.execute(LOCK, &[])?;
    let applied = applied(engine)?;
    let version = i64::try_from(applied.len()).unwrap_or(i64::MAX);
    if version > count(migrations) {
        return Err(newer(version, count(migrations), place));
    }
    let Some((name, sql)) = migrations.get(applied.len()) else { return Ok(false) };
    if let Some(difference) = changed(&applied, migrations).first() {
        let message = format!("{place} cannot be brought up to date: {difference}");
        return Err(Fault::new(FaultKind::Corrupt, message));
    }
    engine.script(&part_for(sql, engine.kind()))?;
    if *name == CHAIN {
        chain::compute_chain(engine)?;
    }
    engine.execute(RECORD, params![version + 1, *name, checksum(sql), now_ms])?;
    engine.set_version(version + 1)?;
    Ok(true)
}

/// One applied migration: version, name, checksum.
struct AppliedMigration {
    version: i64,
    name: String,
    checksum: String,
}

fn applied(engine: &mut dyn Engine) -> Result<Vec<AppliedMigration>, Fault> {
    let read = |row: Row| {
        let mut row = row.reader();
        Ok(AppliedMigration { version: row.int()?, name: row.text()?, checksum: row.text()? })
    };
    engine.query(APPLIED, &[])?.into_iter().map(read).collect()
}

fn changed(applied: &[AppliedMigration], migrations: Migrations) -> Vec<String> {
    let differs = |(at, row): (usize, &AppliedMigration)| match migrations.get(at) {
        Some((name, sql)) if row.checksum == checksum(sql) && row.name == *name => None,
        Some((name, _)) if row.name == *name => {
            Some(format!("migration {name} is not the one that this build carries"))
        }
        _ => Some(format!("migration {} ({}) is unknown to this build", row.version, row.name)),
    };
    applied.iter().enumerate().filter_map(differs).collect()
}

fn in_transaction<T>(
    engine: &mut dyn Engine,
    f: impl Fn(&mut dyn Engine) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let mut tries = 0;
    loop {
        let result = engine.begin(Mode::Write, &[]).and_then(|_| f(engine)).and_then(|value| {
            engine.commit()?;
            Ok(value)
        });
        match result {
            // Two processes that make the first table at the same time collide in the catalogue.
            Err(fault) if fault.kind == FaultKind::Retry && tries < 5 => tries += 1,
            result => return result.inspect_err(|_| drop(engine.rollback())),
        }
    }
}

/// The lines of a migration that are meant for an engine.
fn part_for(sql: &str, kind: &str) -> String {
    let own = if kind == "postgres" { "postgres" } else { "sqlite" };
    let mut applies = true;
    let mut part = String::with_capacity(sql.len());
    for line in sql.lines() {
        match line.trim().strip_prefix("-- @") {
            Some(mark) => applies = mark == "all" || mark == own,
            None if applies => {
                part.push_str(line);
                part.push('\n');
            }
            None => {}
        }
    }
    part
}

fn count(migrations: Migrations) -> i64 {
    i64::try_from(migrations.len()).unwrap_or(i64::MAX)
}

fn checksum(sql: &str) -> String {
    Sha256::digest(sql.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn newer(found: i64, known: i64, place: &str) -> Fault {
    let message =
        format!("{place} was written by a newer Baton: it has {found} migrations, this build knows {known}");
    Fault::new(FaultKind::Newer { found, known }, message)
}

fn older(found: i64, known: i64, place: &str) -> Fault {
    let message = format!("{place} is not up to date: it has {found} of {known} migrations");
    Fault::new(FaultKind::Older { found, known }, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_engine_gets_its_own_part() {
        let sql = "a;\n-- @sqlite\nb;\n-- @postgres\nc;\n-- @all\nd;\n";
        assert_eq!(part_for(sql, "sqlite"), "a;\nb;\nd;\n");
        assert_eq!(part_for(sql, "memory"), "a;\nb;\nd;\n");
        assert_eq!(part_for(sql, "postgres"), "a;\nc;\nd;\n");
    }

    #[test]
    fn checksums_are_sha256_in_hex() {
        assert_eq!(checksum(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
