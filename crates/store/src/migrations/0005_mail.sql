-- Agents that registered, mail in the store of messages, leases on files, public keys.
CREATE TABLE agent (
    project_id TEXT NOT NULL,
    identity_key TEXT NOT NULL,
    identity TEXT NOT NULL,
    program TEXT,
    model TEXT,
    roles TEXT NOT NULL,
    skills TEXT NOT NULL,
    max_tasks BIGINT,
    registered_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, identity_key)
);

ALTER TABLE message ADD COLUMN importance TEXT;

ALTER TABLE message ADD COLUMN thread_id TEXT;

ALTER TABLE message ADD COLUMN reply_to TEXT;

ALTER TABLE message ADD COLUMN to_role TEXT;

ALTER TABLE message ADD COLUMN from_project_id TEXT;

ALTER TABLE message ADD COLUMN to_project_id TEXT;

ALTER TABLE message ADD COLUMN readers TEXT;

CREATE INDEX message_thread ON message (project_id, thread_id, seq) WHERE thread_id IS NOT NULL;

CREATE INDEX message_read ON message (project_id, to_key, seq) WHERE delivered_at IS NOT NULL;

CREATE INDEX message_newest ON message (project_id, seq);

CREATE TABLE file_lease (
    project_id TEXT NOT NULL,
    lease_id TEXT NOT NULL,
    pattern TEXT NOT NULL,
    mode TEXT NOT NULL,
    advisory BIGINT NOT NULL,
    identity TEXT NOT NULL,
    identity_key TEXT NOT NULL,
    session_id TEXT,
    why TEXT,
    taken_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    released_at BIGINT,
    PRIMARY KEY (project_id, lease_id)
);

CREATE INDEX file_lease_held ON file_lease (project_id, expires_at) WHERE released_at IS NULL;

CREATE TABLE public_key (
    project_id TEXT NOT NULL,
    identity_key TEXT NOT NULL,
    identity TEXT NOT NULL,
    recipient TEXT NOT NULL,
    added_by TEXT NOT NULL,
    added_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, identity_key)
);
