//! The samples of a format: files as they are, and databases made from SQL, of which one cell is damaged at a time.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::mutate::{self, Dice};

/// Samples that are databases: format, sample, key of a session in it.
const DATABASES: &[(&str, &str, &str)] = &[
    ("opencode", "opencode/normal.sql", "ses_aa01"),
    ("opencode", "opencode/v2.sql", "ses_dd01"),
    ("opencode", "opencode/v2-copied.sql", "ses_df01"),
    ("kilo", "kilo/normal.sql", "ses_ee01"),
    ("crush", "crush/normal.sql", "5c0f6a1e-0000-4000-8000-000000000001"),
    ("antigravity", "antigravity/conversation.sql", "x"),
    ("pi", "pi/openclaw.sql", "91000000-0000-4000-8000-000000000005"),
    ("goose", "goose/normal.sql", "20261118_1"),
    ("hermes", "hermes/normal.sql", "20261120_110640_9e0001"),
    ("devin", "devin/normal.sql", "brave-otter"),
    ("zed", "zed/normal.sql", "z1"),
    ("kiro", "kiro/normal.sql", "k1"),
    ("cursor", "cursor/ide.sql", "c0000000-0000-4000-8000-000000000001"),
];

/// Formats whose reader is another's, for samples.
const BORROWED: &[(&str, &str)] = &[("roo", "cline"), ("kilo_code", "cline")];

/// Every sample of SQL is damaged: those of the tests are all here.
#[test]
fn every_database_of_the_tests_is_a_seed() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/transcripts/tests/it/databases.rs");
    let tests = std::fs::read_to_string(tests).expect("the tests");
    let (_, list) = tests.split_once("const SAMPLES").expect("a list");
    let (list, _) = list.split_once("];").expect("an end");
    for line in list.lines().filter(|line| line.contains(".sql")) {
        let names = |(format, sql, key): &(&str, &str, &str)| {
            line.contains(&format!("\"{format}\", \"{sql}\", \"{key}\""))
        };
        assert!(DATABASES.iter().any(names), "no seed: {line}");
    }
}

/// Something to damage.
pub enum Seed {
    /// A file.
    File { name: String, bytes: Vec<u8> },
    /// A database: where it lies, its cells that hold text, the session that is read.
    Database { file: PathBuf, cells: Vec<Cell>, key: String, _home: tempfile::TempDir },
}

/// Where a text of a database stands.
pub struct Cell {
    table: String,
    column: String,
    row: i64,
    bytes: Vec<u8>,
    is_text: bool,
}

/// A damaged sample.
pub struct SeedInput {
    /// Where it lies.
    pub path: PathBuf,
    /// The session in it.
    pub key: Option<String>,
}

impl Seed {
    /// A damaged copy of it in this folder.
    pub fn damaged(&self, dice: &mut Dice, dir: &Path) -> anyhow::Result<SeedInput> {
        match self {
            Self::File { name, bytes } => {
                let path = dir.join(name);
                std::fs::write(&path, mutate::damaged(dice, bytes))?;
                Ok(SeedInput { path, key: None })
            }
            Self::Database { file, cells, key, .. } => {
                let path = dir.join("made.db");
                std::fs::copy(file, &path)?;
                let connection = Connection::open(&path)?;
                connection.pragma_update(None, "synchronous", "off")?;
                connection.pragma_update(None, "journal_mode", "memory")?;
                for _ in 0..=dice.below(3) {
                    let cell = &cells[dice.below(cells.len())];
                    let made = mutate::damaged(dice, &cell.bytes);
                    let value = match (cell.is_text, String::from_utf8(made)) {
                        (true, Ok(text)) => Value::Text(text),
                        (true, Err(error)) => Value::Blob(error.into_bytes()),
                        (false, Ok(text)) => Value::Blob(text.into_bytes()),
                        (false, Err(error)) => Value::Blob(error.into_bytes()),
                    };
                    let sql =
                        format!("UPDATE \"{}\" SET \"{}\" = ?1 WHERE rowid = ?2", cell.table, cell.column);
                    // A constraint of the tool's schema may forbid it.
                    let _ = connection.execute(&sql, rusqlite::params![value, cell.row]);
                }
                Ok(SeedInput { path, key: Some(key.clone()) })
            }
        }
    }
}

/// Removes a damaged sample, with what a database has beside it.
pub fn clear(path: &Path) {
    let _ = std::fs::remove_file(path);
}

/// The session that is read in a database of this format.
pub fn key_of(format: &str) -> Option<&'static str> {
    DATABASES.iter().find(|(of, ..)| *of == format).map(|(_, _, key)| *key)
}

/// The samples of a format, and those of `BATON_SAMPLES`, where real ones lie.
pub fn of(format: &str) -> anyhow::Result<Vec<Seed>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/transcripts/samples");
    let folder = BORROWED.iter().find(|(of, _)| *of == format).map_or(format, |(_, from)| from);
    let mut seeds = Vec::new();
    let mut roots = vec![root.join(folder), root.join(format)];
    if let Some(real) = std::env::var_os("BATON_SAMPLES") {
        roots.push(PathBuf::from(real).join(format));
    }
    roots.dedup();
    for folder in roots {
        files(&folder, &mut seeds)?;
    }
    for (_, sql, key) in DATABASES.iter().filter(|(of, ..)| *of == format) {
        seeds.push(database(&root.join(sql), key)?);
    }
    Ok(seeds)
}

fn files(folder: &Path, seeds: &mut Vec<Seed>) -> anyhow::Result<()> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    let mut entries: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            files(&path, seeds)?;
        } else if ["jsonl", "json", "md"].iter().any(|ext| name.ends_with(ext)) {
            let bytes = std::fs::read(&path)?;
            // Large ones would be damaged too seldom for their time.
            if bytes.len() <= 512 * 1024 {
                seeds.push(Seed::File { name, bytes });
            }
        }
    }
    Ok(())
}

fn database(sql: &Path, key: &str) -> anyhow::Result<Seed> {
    let home = tempfile::tempdir()?;
    let file = home.path().join("sample.db");
    let connection = Connection::open(&file)?;
    connection.execute_batch(&std::fs::read_to_string(sql)?).with_context(|| sql.display().to_string())?;
    let mut cells = Vec::new();
    let tables: Vec<String> = connection
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for table in tables {
        let mut statement = match connection.prepare(&format!("SELECT rowid, * FROM \"{table}\"")) {
            Ok(statement) => statement,
            // A table without row ids.
            Err(_) => continue,
        };
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let number: i64 = row.get(0)?;
            for (at, column) in columns.iter().enumerate().skip(1) {
                let (bytes, is_text) = match row.get::<_, Value>(at)? {
                    Value::Text(text) => (text.into_bytes(), true),
                    Value::Blob(bytes) => (bytes, false),
                    _ => continue,
                };
                cells.push(Cell {
                    table: table.clone(),
                    column: column.clone(),
                    row: number,
                    bytes,
                    is_text,
                });
            }
        }
    }
    drop(connection);
    Ok(Seed::Database { file, cells, key: key.to_owned(), _home: home })
}
