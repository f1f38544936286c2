-- Addresses under which one baton or one thread is read without a token: the secret itself is never kept, only its hash.
CREATE TABLE share (
    share_id TEXT PRIMARY KEY,
    hash TEXT NOT NULL,
    project_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    object_id TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT
);

CREATE UNIQUE INDEX share_by_hash ON share (hash);

CREATE INDEX share_by_project ON share (project_id, created_at, share_id);

-- A thread is read by its id.
CREATE INDEX session_by_thread ON session (project_id, thread_id, started_at, session_id);
