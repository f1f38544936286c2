//! Every statement of every noun is prepared on SQLite and on PostgreSQL, and the migrations make what they name.

#![allow(clippy::expect_used, clippy::print_stderr, reason = "a test fails by panicking, and says where")]

#[path = "support/database_server.rs"]
mod database_server;

use std::collections::BTreeSet;

use baton_store::{MIGRATIONS, Store, Target, search_memory, statements};

const NOW: i64 = 1_700_000_000_000;

/// Names of all statements that the engine refuses, with its reason.
fn refused(store: &mut Store) -> Vec<String> {
    let search = if store.kind() == "postgres" { search_memory::POSTGRES } else { search_memory::SQLITE };
    let search = search.iter().map(|(name, sql)| ("search_memory", *name, *sql));
    let prepare = |(noun, name, sql)| match store.prepare_only(sql) {
        Ok(()) => None,
        Err(fault) => Some(format!("{noun}::{name}: {fault}")),
    };
    statements().into_iter().chain(search).filter_map(prepare).collect()
}

#[test]
fn names_are_unique_within_a_noun_and_texts_are_not_repeated() {
    let all = statements();
    assert!(all.len() > 40, "only {} statements were found", all.len());
    let names: BTreeSet<_> = all.iter().map(|(noun, name, _)| (noun, name)).collect();
    assert_eq!(names.len(), all.len());
    let texts: BTreeSet<_> = all.iter().map(|(_, _, sql)| sql).collect();
    assert_eq!(texts.len(), all.len());
}

#[test]
fn migrations_are_named_in_order() {
    let number = |name: &str| name.split('_').next().and_then(|digits| digits.parse::<u32>().ok());
    for (name, _) in MIGRATIONS {
        assert!(number(name).is_some_and(|n| n > 0) && name.as_bytes()[4] == b'_', "{name}");
    }
    assert!(MIGRATIONS.iter().is_sorted_by(|(a, _), (b, _)| number(a) < number(b)));
}

/// A file that is not in the list is never applied, and nothing else would say so.
#[test]
fn every_migration_in_the_folder_is_in_the_list() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/migrations");
    let files = std::fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
    let mut named: Vec<String> =
        files.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    named.sort();
    assert_eq!(named, MIGRATIONS.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>());
}

#[test]
fn every_statement_is_prepared_on_sqlite() {
    let mut store = Store::open(&Target::Memory, NOW).expect("migrations apply");
    assert_eq!(refused(&mut store), Vec::<String>::new());
    assert_eq!(store.check().expect("checked"), Vec::<String>::new());
}

#[test]
fn every_statement_is_prepared_on_postgres() {
    let Some(url) = server() else {
        eprintln!("\n!! BATON_TEST_POSTGRES is not set: no statement was prepared on PostgreSQL\n");
        return;
    };
    let schema = format!("s_{}", std::process::id());
    admin(&url, &format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}"));
    let sign = if url.contains('?') { '&' } else { '?' };
    let target = Target::parse(&format!("{url}{sign}options=-csearch_path%3D{schema}"));
    let mut store = Store::open(&target, NOW).expect("migrations apply");
    let found = (refused(&mut store), store.check().expect("checked"));
    drop(store);
    admin(&url, &format!("DROP SCHEMA {schema} CASCADE"));
    assert_eq!(found, (Vec::new(), Vec::new()));
}

#[allow(clippy::disallowed_methods, reason = "a test asks its environment for a server")]
fn server() -> Option<String> {
    std::env::var("BATON_TEST_POSTGRES").ok().filter(|url| !url.is_empty())
}

fn admin(url: &str, sql: &str) {
    database_server::DatabaseServer::connect(url).execute(sql).expect("a schema of its own");
}

#[test]
fn every_statement_of_the_search_index_is_prepared_on_it() {
    let mut index = baton_store::search::open(&Target::Memory, 0, NOW).expect("its schema applies");
    let all = baton_store::search::statements();
    assert!(all.len() > 15, "only {} statements were found", all.len());
    let refused: Vec<String> = all
        .iter()
        .filter_map(|(name, sql)| index.prepare_only(sql).err().map(|fault| format!("{name}: {fault}")))
        .collect();
    assert_eq!(refused, Vec::<String>::new());
}
