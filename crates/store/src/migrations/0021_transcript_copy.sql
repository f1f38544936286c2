-- Sessions of coding agents that were pushed to the ledger of a project, so that they are continued on another machine: a manifest
-- for each, and content in parts, which is redacted and may be encrypted. A project takes none before that was said of it.
ALTER TABLE project ADD COLUMN takes_transcripts BIGINT NOT NULL DEFAULT 0;

CREATE TABLE transcript_copy (
    project_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    transcript_id TEXT NOT NULL,
    identity TEXT NOT NULL,
    identity_key TEXT NOT NULL,
    opened_by TEXT,
    manifest TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, agent, transcript_id)
);

CREATE INDEX transcript_copy_by_content ON transcript_copy (project_id, content_hash);

CREATE TABLE transcript_copy_part (
    project_id TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    part BIGINT NOT NULL,
    content TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, content_hash, part)
);
