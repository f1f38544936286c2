-- A restore, an import or a copy goes back to an earlier state, and the numbers that were given out since then must not be
-- given out again: positions of the ledger, tokens of claims, versions of session states. Those counters go on above a floor.
-- The table has one row; a project that is made later begins at its floor.
CREATE TABLE counter_floor (
    floor_id BIGINT PRIMARY KEY,
    floor BIGINT NOT NULL
);

ALTER TABLE project ADD COLUMN counter_floor BIGINT NOT NULL DEFAULT 0;
