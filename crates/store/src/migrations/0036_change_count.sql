-- Mail, leases, shares and marks of hand-offs change without an entry of the ledger: a follower of the project sees by this counter that
-- one of them did.
ALTER TABLE project ADD COLUMN change_count BIGINT NOT NULL DEFAULT 0;
