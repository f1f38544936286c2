-- Several agents may push a session of one id: each has a copy of its own, so that nobody keeps another's out by pushing its id first.
-- @sqlite
CREATE TABLE transcript_copy_of (
    project_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    transcript_id TEXT NOT NULL,
    identity TEXT NOT NULL,
    identity_key TEXT NOT NULL,
    opened_by TEXT,
    manifest TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, agent, transcript_id, identity_key)
);
INSERT INTO transcript_copy_of (project_id, agent, transcript_id, identity, identity_key, opened_by, manifest, content_hash, created_at)
    SELECT project_id, agent, transcript_id, identity, identity_key, opened_by, manifest, content_hash, created_at FROM transcript_copy;
DROP TABLE transcript_copy;
ALTER TABLE transcript_copy_of RENAME TO transcript_copy;
CREATE INDEX transcript_copy_by_content ON transcript_copy (project_id, content_hash);
-- @postgres
ALTER TABLE transcript_copy DROP CONSTRAINT transcript_copy_pkey;
ALTER TABLE transcript_copy ADD PRIMARY KEY (project_id, agent, transcript_id, identity_key);
-- @all
