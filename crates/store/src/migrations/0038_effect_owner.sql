-- Of two stores with one ledger (a copy, a restored backup, the clone of a machine) one carries out what goes outside: issues and
-- webhooks. The row names it by its place, and travels with every copy of the file. The table has one row, or none before anything
-- went outside.
CREATE TABLE effect_owner (
    owner_id BIGINT PRIMARY KEY,
    place TEXT NOT NULL,
    machine_id TEXT NOT NULL,
    store_key TEXT NOT NULL,
    is_database BIGINT NOT NULL,
    since BIGINT NOT NULL
);
