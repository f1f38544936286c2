-- What servers on one ledger do by themselves: each has one holder, who beats. No clock is compared.
CREATE TABLE duty (
    duty_id TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    machine_id TEXT NOT NULL,
    process TEXT NOT NULL,
    fence BIGINT NOT NULL,
    beat BIGINT NOT NULL,
    taken_at BIGINT NOT NULL
);
