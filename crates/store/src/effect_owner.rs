//! The store that carries out what goes outside, by its place: every copy of the file has the row, too.

use baton_model::store_place::StorePlace;
use baton_model::time::Millis;

use crate::engine::{Fault, Tx};
use crate::params;

crate::sql! {
    GET = "SELECT place, machine_id, store_key, is_database FROM effect_owner WHERE owner_id = 1";
    PUT = "INSERT INTO effect_owner (owner_id, place, machine_id, store_key, is_database, since) VALUES (1, $1, $2, $3, $4, $5)
        ON CONFLICT (owner_id) DO UPDATE SET place = excluded.place, machine_id = excluded.machine_id,
        store_key = excluded.store_key, is_database = excluded.is_database, since = excluded.since";
    PUT_FIRST = "INSERT INTO effect_owner (owner_id, place, machine_id, store_key, is_database, since)
        VALUES (1, $1, $2, $3, $4, $5) ON CONFLICT (owner_id) DO NOTHING";
}

/// The store that is noted; none before anything went outside.
pub fn get(tx: &mut Tx<'_>) -> Result<Option<StorePlace>, Fault> {
    let row = tx.query_opt(GET, params![])?;
    row.map(|row| {
        let mut r = row.reader();
        Ok(StorePlace { place: r.text()?, machine_id: r.text()?, key: r.text()?, is_database: r.int()? != 0 })
    })
    .transpose()
}

/// Notes this store, whichever was noted before.
pub fn put(tx: &mut Tx<'_>, own: &StorePlace, now: Millis) -> Result<(), Fault> {
    write(tx, PUT, own, now)
}

/// Notes this store, unless one is noted.
pub fn put_first(tx: &mut Tx<'_>, own: &StorePlace, now: Millis) -> Result<(), Fault> {
    write(tx, PUT_FIRST, own, now)
}

fn write(tx: &mut Tx<'_>, sql: &'static str, own: &StorePlace, now: Millis) -> Result<(), Fault> {
    let is_database = i64::from(own.is_database);
    tx.execute(sql, params![&own.place, &own.machine_id, &own.key, is_database, now])?;
    Ok(())
}
