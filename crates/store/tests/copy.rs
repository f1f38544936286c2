//! A copy must take every table and every column along: one that is added and forgotten here would be lost on the way.

use std::collections::BTreeSet;

use baton_store::{Store, Target, ledger_transfer, params};

/// Tables that are not copied, each with its reason.
const LEFT_OUT: [(&str, &str); 7] = [
    ("change_count", "whoever follows a store counts from where it began to follow"),
    ("counter_floor", "a copy gets a floor of its own, above all that was copied"),
    ("duty", "which server does what is settled by those that run"),
    ("effect_owner", "of two stores with one ledger one carries out what goes outside, and that is asked"),
    ("memory_words", "an index, filled when a memory is written"),
    ("migration", "made when the other store is opened"),
    ("transcript_header", "a cache of files that are on one machine"),
];

const TABLES: &str =
    "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'
    AND m.name NOT LIKE 'sqlite_%' AND m.name NOT LIKE 'memory_words_%' ORDER BY m.name, c.cid";

#[test]
fn every_column_of_every_table_is_copied() {
    let mut store = Store::open(&Target::Memory, 0).expect("store");
    let rows = store.read(|tx| Ok(tx.query(TABLES, params![])?)).expect("schema");
    let real: BTreeSet<(String, String)> = rows
        .into_iter()
        .map(|row| {
            let mut r = row.reader();
            (r.text().expect("table"), r.text().expect("column"))
        })
        // Table or column.
        .filter(|(table, column)| !LEFT_OUT.iter().any(|(name, _)| name == table || name == column))
        .collect();
    let copied: BTreeSet<(String, String)> = ledger_transfer::tables()
        .into_iter()
        .flat_map(|(table, select)| {
            let columns = select.trim_start_matches("SELECT ").split(" FROM ").next().unwrap_or_default();
            let columns: Vec<_> =
                columns.split(',').map(|c| (table.to_owned(), c.trim().to_owned())).collect();
            columns
        })
        .collect();
    assert_eq!(real, copied);
}
