-- What accounting reads: sessions by how they ended, signals that wait for an acknowledgement, sessions that went silent.
ALTER TABLE session ADD COLUMN stale_at BIGINT;

ALTER TABLE message ADD COLUMN ack_by BIGINT;

ALTER TABLE message ADD COLUMN acked_at BIGINT;

DROP INDEX session_by_start;

CREATE INDEX session_by_start ON session (project_id, started_at, release_reason);

CREATE INDEX session_unmarked ON session (project_id, session_id) WHERE released_at IS NULL AND stale_at IS NULL;

CREATE INDEX message_unacked ON message (project_id, ack_by) WHERE ack_by IS NOT NULL AND acked_at IS NULL AND recalled_at IS NULL;
