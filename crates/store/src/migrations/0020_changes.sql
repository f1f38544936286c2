-- What was not committed in the working copy of a baton: a manifest, which names its content by a hash. Content lies in parts, since
-- a whole one would be too long for a request; two batons with the same content share it.
CREATE TABLE changes (
    project_id TEXT NOT NULL,
    baton_id TEXT NOT NULL,
    identity TEXT NOT NULL,
    manifest TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, baton_id)
);

CREATE INDEX changes_by_content ON changes (project_id, content_hash);

CREATE TABLE changes_part (
    project_id TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    part BIGINT NOT NULL,
    content TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, content_hash, part)
);
