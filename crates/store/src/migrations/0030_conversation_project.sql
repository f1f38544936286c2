-- In which projects the hooks of a tool's conversation spoke. The end of the conversation is kept in the first, and one that is isolated
-- keeps its words from every other.
CREATE TABLE conversation_project (
    tool TEXT NOT NULL,
    native_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    noted_at BIGINT NOT NULL,
    PRIMARY KEY (tool, native_id, project_id)
);
