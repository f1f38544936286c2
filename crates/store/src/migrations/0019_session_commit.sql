-- Which commits were made in the working copy of a session while it was open. A commit has two sessions where two agents shared a
-- working copy.
CREATE TABLE session_commit (
    project_id TEXT NOT NULL,
    commit_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    made_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, commit_id, session_id)
);

CREATE INDEX session_commit_by_session ON session_commit (project_id, session_id, made_at);
