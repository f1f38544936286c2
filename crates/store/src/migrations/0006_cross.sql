-- Hand-offs that cross projects: their steps, what they leave in memory and in session states, and what is known of trackers.
ALTER TABLE project ADD COLUMN default_owner TEXT;

CREATE TABLE project_relation (
    project_id TEXT NOT NULL,
    other_project_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, other_project_id)
);

ALTER TABLE session_state ADD COLUMN identity TEXT;

ALTER TABLE session_state ADD COLUMN handoff_id TEXT;

ALTER TABLE session_state ADD COLUMN claimed_at BIGINT;

CREATE TABLE memory (
    project_id TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    tags TEXT NOT NULL,
    importance BIGINT NOT NULL,
    identity TEXT NOT NULL,
    handoff_id TEXT,
    created_at BIGINT NOT NULL,
    withdrawn_at BIGINT,
    withdrawn_by TEXT,
    withdrawn_why TEXT,
    PRIMARY KEY (project_id, memory_id)
);

CREATE INDEX memory_recent ON memory (project_id, created_at) WHERE withdrawn_at IS NULL;

CREATE INDEX memory_by_id ON memory (memory_id);

-- @sqlite
CREATE VIRTUAL TABLE memory_words USING fts5(project_id UNINDEXED, memory_id UNINDEXED, words, tokenize = 'unicode61 remove_diacritics 2');
-- @postgres
CREATE INDEX memory_words ON memory USING gin (to_tsvector('simple', text || ' ' || tags));
-- @all

ALTER TABLE handoff ADD COLUMN tracker TEXT;

ALTER TABLE handoff ADD COLUMN issues_repo TEXT;

ALTER TABLE handoff ADD COLUMN issue_number BIGINT;

ALTER TABLE handoff ADD COLUMN memory_id TEXT;

ALTER TABLE handoff ADD COLUMN session_id TEXT;

ALTER TABLE handoff ADD COLUMN agent_id TEXT;

ALTER TABLE handoff ADD COLUMN seed_task_id TEXT;

ALTER TABLE handoff ADD COLUMN plan TEXT;

ALTER TABLE handoff ADD COLUMN expires_at BIGINT;

CREATE INDEX handoff_expiry ON handoff (expires_at) WHERE expires_at IS NOT NULL AND state = 'offered';

CREATE INDEX handoff_by_issue ON handoff (issues_repo, issue_number) WHERE issue_number IS NOT NULL;

CREATE TABLE handoff_step (
    handoff_id TEXT NOT NULL,
    step_no BIGINT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    holder_machine TEXT NOT NULL,
    holder_process TEXT NOT NULL,
    is_unknown BIGINT NOT NULL,
    last_error TEXT,
    result TEXT,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (handoff_id, step_no)
);

CREATE INDEX handoff_step_due ON handoff_step (due_at) WHERE state IN ('pending', 'running');

CREATE TABLE tracker_poll (
    repo TEXT PRIMARY KEY,
    etag TEXT,
    since_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL
);
