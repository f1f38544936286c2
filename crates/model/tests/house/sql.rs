//! One SQL text for two engines: where it is written, and what it leaves out.

use crate::layers::reads_others_sqlite;
use crate::source::{Kind, Source, Violation};

/// Search is the declared exception: each engine has its own text. What one engine is asked about itself stands with it.
const TWO_TEXTS: &[&str] = &[
    "crates/store/src/search.rs",
    "crates/store/src/search/",
    "crates/store/src/search_memory.rs",
    "crates/store/src/engine/pg/",
];

/// What is left out, and what is done instead. Matched against the upper-cased text, comments and quoted strings gone; a
/// name is matched as a whole word.
const LEFT_OUT: &[(&str, &str)] = &[
    ("NOW (", "bind the time"),
    ("CURRENT_TIMESTAMP", "bind the time"),
    ("CLOCK_TIMESTAMP", "bind the time"),
    ("DATETIME (", "bind the time"),
    ("STRFTIME (", "bind the time"),
    ("UNIXEPOCH (", "bind the time"),
    ("RANDOM (", "bind the value"),
    ("GEN_RANDOM_UUID", "bind the id"),
    ("OR REPLACE", "use ON CONFLICT … DO UPDATE"),
    ("REPLACE INTO", "use ON CONFLICT … DO UPDATE"),
    ("OR IGNORE", "use ON CONFLICT … DO NOTHING"),
    ("FOR UPDATE", "the project's row is the lock"),
    ("FOR SHARE", "the project's row is the lock"),
    ("SKIP LOCKED", "claim with a compare-and-set on the version"),
    ("PG_ADVISORY_LOCK", "the project's row is the lock"),
    ("PG_ADVISORY_XACT_LOCK", "the project's row is the lock"),
    ("PG_TRY_ADVISORY_LOCK", "the project's row is the lock"),
    ("PG_TRY_ADVISORY_XACT_LOCK", "the project's row is the lock"),
    ("ARRAY [", "write a row for each"),
    ("[ ]", "write a row for each"),
    ("ANY ( $", "write a row for each"),
    ("UNNEST (", "write a row for each"),
    ("JSONB", "what is filtered on is a column"),
    ("JSON_EXTRACT", "what is filtered on is a column"),
    ("- >", "what is filtered on is a column"),
    ("@ >", "what is filtered on is a column"),
    ("CREATE TYPE", "use TEXT"),
    ("SERIAL", "keys are made by us"),
    ("BIGSERIAL", "keys are made by us"),
    ("AUTOINCREMENT", "keys are made by us"),
    ("AS IDENTITY", "keys are made by us"),
    ("NEXTVAL", "keys are made by us"),
    ("AS ( INSERT", "a CTE only reads"),
    ("AS ( UPDATE", "a CTE only reads"),
    ("AS ( DELETE", "a CTE only reads"),
    ("CREATE TRIGGER", "write the change in the operation"),
];

/// Types that mean two things on two engines; looked for where columns are made.
const TYPES: &[&str] =
    &["INTEGER", "INT", "SMALLINT", "BOOLEAN", "TIMESTAMP", "TIMESTAMPTZ", "VARCHAR", "NUMERIC", "REAL"];

/// Whether a string is an SQL statement.
pub(crate) fn is_statement(text: &str) -> bool {
    let words = words(text, false);
    let mut words = words.iter().map(String::as_str);
    let object = [
        "TABLE", "INDEX", "UNIQUE", "VIRTUAL", "VIEW", "TEMP", "TYPE", "TRIGGER", "SEQUENCE", "SCHEMA", "OR",
    ];
    match (words.next().unwrap_or_default(), words.next()) {
        ("SELECT", Some(_)) => true,
        ("INSERT", Some(next)) => next == "INTO" || next == "OR",
        ("REPLACE", Some(next)) => next == "INTO",
        ("DELETE", Some(next)) => next == "FROM",
        ("UPDATE", Some(_)) => words.any(|word| word == "SET"),
        ("WITH", Some(_)) => words.any(|word| word == "AS"),
        ("CREATE" | "ALTER" | "DROP", Some(next)) => object.contains(&next),
        _ => false,
    }
}

/// The text in words and signs, without comments and the insides of quotes.
fn words(text: &str, upper: bool) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut joined = false;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let in_word = c.is_alphanumeric() || c == '_';
        match c {
            '-' if rest.peek() == Some(&'-') => while rest.next().is_some_and(|c| c != '\n') {},
            '\'' => while rest.next().is_some_and(|c| c != '\'') {},
            _ if in_word && joined => words.last_mut().into_iter().for_each(|word| word.push(c)),
            _ if !c.is_whitespace() => words.push(c.to_string()),
            _ => {}
        }
        // `$` starts the word of a placeholder.
        joined = in_word || c == '$';
    }
    if upper { words.iter().map(|word| word.to_uppercase()).collect() } else { words }
}

pub(crate) fn placement(source: &Source) -> Vec<Violation> {
    let outside = source.krate().is_some_and(|krate| krate != "store") && !reads_others_sqlite(&source.path);
    let statements = source
        .production()
        .filter(|(_, token)| outside && token.kind == Kind::Text && is_statement(&token.text));
    let what = "SQL text outside crates/store: give it a function there, next to its noun's other statements";
    statements.map(|(_, token)| Violation::new(&source.path, token.line, what)).collect()
}

pub(crate) fn dialect(source: &Source) -> Vec<Violation> {
    let exempt = TWO_TEXTS
        .iter()
        .any(|place| source.path == *place || (place.ends_with('/') && source.path.starts_with(place)));
    if source.krate() != Some("store") || exempt {
        return Vec::new();
    }
    let strings =
        source.production().filter(|(_, token)| token.kind == Kind::Text && is_statement(&token.text));
    strings
        .flat_map(|(_, token)| {
            broken(&token.text).into_iter().map(|what| Violation::new(&source.path, token.line, what))
        })
        .collect()
}

/// A file of statements, for instance a migration.
pub(crate) fn script(path: &str, text: &str) -> Vec<Violation> {
    let mut line = 1;
    let mut found = Vec::new();
    for statement in text.split(';') {
        let start = line + statement.chars().take_while(|c| c.is_whitespace()).filter(|c| *c == '\n').count();
        found.extend(broken(statement).into_iter().map(|what| Violation::new(path, start, what)));
        line += statement.matches('\n').count();
    }
    found
}

/// Every rule that one statement breaks.
fn broken(statement: &str) -> Vec<String> {
    let words = words(statement, true);
    let text = format!(" {} ", words.join(" "));
    let makes_columns =
        text.contains(" CREATE TABLE ") || (text.contains(" ALTER TABLE ") && text.contains(" ADD "));
    // A trigger that does nothing but refuse writes nothing.
    let only_refuses = text.contains(" BEGIN SELECT RAISE ( ABORT ");
    let left_out = LEFT_OUT
        .iter()
        .filter(|(name, _)| text.contains(&format!(" {name}")) && whole(&text, name))
        .filter(|(name, _)| !(only_refuses && *name == "CREATE TRIGGER"));
    let mut found: Vec<String> =
        left_out.map(|(name, instead)| format!("{} is not portable: {instead}", spelled(name))).collect();
    let types = TYPES.iter().filter(|name| makes_columns && text.contains(&format!(" {name} ")));
    found
        .extend(types.map(|name| format!("{name} differs between the engines: columns are BIGINT and TEXT")));
    found.extend(out_of_order(&words));
    found
}

/// As somebody would write it.
fn spelled(name: &str) -> String {
    let signs = |c: char| !c.is_alphanumeric() && c != ' ' && c != '_';
    if name.contains(signs) { name.replace(' ', "") } else { name.to_owned() }
}

fn whole(text: &str, name: &str) -> bool {
    let open_ended = name.ends_with(['$', '(', '[']);
    open_ended || text.contains(&format!(" {name} "))
}

/// The first placeholder that is used before its predecessor.
fn out_of_order(words: &[String]) -> Option<String> {
    let mut seen = 0;
    for number in words.iter().filter_map(|word| word.strip_prefix('$')?.parse::<usize>().ok()) {
        if number > seen + 1 {
            return Some(format!(
                "${number} is used before ${}: number placeholders in the order of first use",
                seen + 1
            ));
        }
        seen = seen.max(number);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(statement: &str, expected: &str) {
        assert!(is_statement(statement), "not seen as SQL: {statement}");
        let found = broken(statement).join("; ");
        assert!(
            if expected.is_empty() { found.is_empty() } else { found.contains(expected) },
            "{statement}: {found}"
        );
    }

    #[test]
    fn a_trigger_that_only_refuses_may_stand() {
        check("CREATE TRIGGER t BEFORE INSERT ON a WHEN NEW.b = '' BEGIN SELECT RAISE(ABORT, 'no')", "");
        check("CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE b SET c = 1", "CREATE TRIGGER");
    }

    #[test]
    fn statements_are_told_from_sentences() {
        for sql in [
            "SELECT 1",
            "\n  -- why\n  INSERT INTO a",
            "WITH a AS (SELECT 1) SELECT 2",
            "UPDATE a SET b=1",
            "CREATE TABLE a",
        ] {
            assert!(is_statement(sql), "{sql}");
        }
        for text in
            ["Select a task", "CREATE", "UPDATE the row", "WITH care", "DELETE /api/v1/x", "SELECTED x", ""]
        {
            assert!(!is_statement(text), "{text}");
        }
    }

    #[test]
    fn portable_statements_pass() {
        check("INSERT INTO a (b, c) VALUES ($1, $2) ON CONFLICT (b) DO UPDATE SET c = $2 RETURNING b", "");
        check("SELECT replace(a, $1, '') FROM b -- FOR UPDATE would lock\n WHERE c = 'now()' AND d < $2", "");
        check("CREATE TABLE a (id TEXT NOT NULL, at BIGINT, body TEXT, serial_no TEXT)", "");
    }

    #[test]
    fn what_is_left_out_is_found() {
        check("SELECT now()", "NOW( is not portable: bind the time");
        check("INSERT OR REPLACE INTO a VALUES (1)", "OR REPLACE is");
        check("SELECT 1 FROM a FOR UPDATE SKIP LOCKED", "SKIP LOCKED");
        check("SELECT 1 FROM a FOR\n  UPDATE", "FOR UPDATE");
        check("SELECT 1 FROM a WHERE id = ANY($1)", "ANY($");
        check("SELECT a::text[] FROM a", "[]");
        check("SELECT body->>'x' FROM a", "->");
        check("CREATE TABLE a (b JSONB)", "JSONB");
        check("SELECT pg_advisory_xact_lock(1)", "PG_ADVISORY");
        check("CREATE TABLE a (id BIGSERIAL)", "BIGSERIAL");
        check("CREATE TABLE a (id BIGINT AUTOINCREMENT)", "AUTOINCREMENT");
        check("CREATE TABLE a (done BOOLEAN)", "BOOLEAN differs");
        check("WITH a AS (DELETE FROM b RETURNING c) SELECT c FROM a", "AS(DELETE");
    }

    #[test]
    fn placeholders_out_of_order_are_found() {
        check("SELECT 1 FROM a WHERE b = $2 AND c = $1", "$2 is used before $1");
        check("SELECT 1 FROM a WHERE b = $1 AND c = $3", "$3 is used before $2");
        check("SELECT 1 FROM a WHERE b = $1 AND c = $2 AND d = $1", "");
    }

    #[test]
    fn the_place_decides() {
        let text =
            "const A: &str = \"SELECT now()\"; #[cfg(test)] mod tests { const B: &str = \"SELECT now()\"; }";
        let count =
            |path: &str| (placement(&Source::new(path, text)).len(), dialect(&Source::new(path, text)).len());
        assert_eq!(count("crates/ops/src/a.rs"), (1, 0));
        assert_eq!(count("crates/store/src/task.rs"), (0, 1));
        assert_eq!(count("crates/store/src/search.rs"), (0, 0));
        assert_eq!(count("crates/transcripts/src/sqlite.rs"), (0, 0));
        assert_eq!(count("crates/store/tests/a.rs"), (0, 0));
    }

    #[test]
    fn a_statement_in_parts_is_read_whole() {
        let text = "const A: &str = concat!(\"SELECT \", columns!(), \" FROM a WHERE b = $2 AND c = $1\");";
        assert_eq!(dialect(&Source::new("crates/store/src/task.rs", text)).len(), 1);
    }

    #[test]
    fn a_script_is_checked_statement_by_statement() {
        let found = script("a.sql", "CREATE TABLE a (b TEXT);\n\nCREATE TABLE c (\n  d SERIAL\n);\n");
        assert_eq!(found.iter().map(|violation| violation.line).collect::<Vec<_>>(), [3]);
    }
}
