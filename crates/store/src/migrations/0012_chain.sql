-- Each delta carries `chain`: a hash of its fields and of the `chain` of the delta before it. The project's row carries the
-- newest one. Deltas from before this migration are sealed by the program, in this transaction (`chain::seal`): the engines
-- have no SHA-256 in common. A program that knows nothing of the chain cannot append any more.
ALTER TABLE delta ADD COLUMN chain TEXT NOT NULL DEFAULT '';

ALTER TABLE project ADD COLUMN chain_head TEXT NOT NULL DEFAULT '';

-- @sqlite
CREATE TRIGGER delta_is_chained BEFORE INSERT ON delta WHEN NEW.chain = ''
BEGIN SELECT RAISE(ABORT, 'this delta has no hash, since a newer Baton keeps this store: restart this one'); END;
-- @postgres
ALTER TABLE delta ADD CONSTRAINT delta_is_chained CHECK (chain <> '') NOT VALID;
-- @all
