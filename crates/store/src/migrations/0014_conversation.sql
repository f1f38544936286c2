-- Which baton was left for which session of a tool: its agent's own wrap, a hook's capture and an import find each other here.
CREATE TABLE conversation (
    project_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    native_id TEXT NOT NULL,
    session_id TEXT,
    baton_id TEXT,
    bytes BIGINT NOT NULL,
    last_entry_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, tool, native_id)
);

CREATE INDEX conversation_by_session ON conversation (project_id, session_id) WHERE session_id IS NOT NULL;
