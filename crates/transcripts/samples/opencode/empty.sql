CREATE TABLE project (id TEXT PRIMARY KEY, worktree TEXT NOT NULL);
CREATE TABLE workspace (id TEXT PRIMARY KEY, branch TEXT, directory TEXT);
CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, workspace_id TEXT, parent_id TEXT, slug TEXT, directory TEXT NOT NULL, title TEXT NOT NULL, version TEXT NOT NULL, revert TEXT, model TEXT, time_created BIGINT NOT NULL, time_updated BIGINT NOT NULL, time_archived BIGINT);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created BIGINT NOT NULL, time_updated BIGINT NOT NULL, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created BIGINT NOT NULL, time_updated BIGINT NOT NULL, data TEXT);
CREATE TABLE todo (session_id TEXT NOT NULL, content TEXT NOT NULL, status TEXT NOT NULL, priority TEXT NOT NULL, position BIGINT NOT NULL, time_created BIGINT NOT NULL, time_updated BIGINT NOT NULL);
INSERT INTO session (id, project_id, workspace_id, parent_id, slug, directory, title, version, revert, model, time_created, time_updated) VALUES ('ses_dd01', 'p1', NULL, NULL, 'calm-fox', '/home/you/shop', 'New session - 2026-11-20T10:00:00.000Z', '1.18.33', NULL, '{"id":"glm-5","providerID":"zai"}', 1795000000000, 1795000090000);
