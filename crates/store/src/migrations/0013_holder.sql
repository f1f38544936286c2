-- Where the holder of a claim or a lease ran, which tells callers without a name apart; and for how long a session was promised
-- to count as fresh. Of what is there already nothing is known: such holders are told by their identity, such sessions count as
-- fresh for the usual ten minutes.
ALTER TABLE task ADD COLUMN claim_machine TEXT;
ALTER TABLE task ADD COLUMN claim_process TEXT;

ALTER TABLE file_lease ADD COLUMN machine_id TEXT;
ALTER TABLE file_lease ADD COLUMN process TEXT;

ALTER TABLE session ADD COLUMN stale_after BIGINT;
