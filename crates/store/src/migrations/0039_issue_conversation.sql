-- What people say and change under the issues of hand-offs, as far as the tracker has told. A comment that was deleted, that Baton
-- wrote, or that is older than what is kept has a row without its words: it is not taken for a new one.
CREATE TABLE issue_comment (
    handoff_id TEXT NOT NULL,
    comment_id BIGINT NOT NULL,
    standing TEXT NOT NULL,
    author TEXT,
    body TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (handoff_id, comment_id)
);

-- How an issue stands: its title and labels, and what of its body is not Baton's.
CREATE TABLE issue_text (
    handoff_id TEXT PRIMARY KEY,
    title TEXT,
    labels TEXT NOT NULL,
    labels_ever TEXT NOT NULL,
    body_added TEXT NOT NULL,
    body_removed BIGINT NOT NULL,
    sent_body TEXT,
    edited_by TEXT,
    edited_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- How far the comments of a repository were read.
ALTER TABLE tracker_poll ADD COLUMN comments_etag TEXT;

ALTER TABLE tracker_poll ADD COLUMN comments_since_at BIGINT NOT NULL DEFAULT 0;

-- A session is read with the state that it saved, or that is seeded for it.
CREATE INDEX session_state_by_session ON session_state (session_id, project_id);
