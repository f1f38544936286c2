CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, model_config TEXT, system_prompt TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, message_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0, cache_write_tokens INTEGER DEFAULT 0, cwd TEXT, git_branch TEXT, git_repo_root TEXT, title TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, finish_reason TEXT, reasoning TEXT, reasoning_content TEXT, active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0, display_kind TEXT);
CREATE TABLE session_model_usage (session_id TEXT NOT NULL, model TEXT NOT NULL, input_tokens INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (session_id, model));

INSERT INTO sessions (id, source, model, started_at, cwd, git_branch, title) VALUES ('h3', 'cli', 'hermes-4-405b', 1795172800.0, '/home/you/shop', 'main', NULL);
INSERT INTO messages (session_id, role, content, timestamp) VALUES ('h3', 'user', 'Clean up the logs', 1795172805.0);
INSERT INTO messages (session_id, role, content, timestamp, tool_calls) VALUES ('h3', 'assistant', 'x', 1795172810.0, '[{"id":"br');
INSERT INTO messages (session_id, role, content, timestamp) VALUES ('h3', 'oracle', '?', 1795172815.0);
INSERT INTO sessions (id, source, model, started_at, cwd, git_branch, parent_session_id, ended_at, end_reason) VALUES ('h5', 'cli', 'hermes-4-405b', 1795172815.0, '/home/you/shop', 'main', 'h6', 1795172815.0, 'compression');
INSERT INTO sessions (id, source, model, started_at, cwd, git_branch, parent_session_id, ended_at, end_reason) VALUES ('h6', 'cli', 'hermes-4-405b', 1795172815.0, '/home/you/shop', 'main', 'h5', 1795172815.0, 'compression');
INSERT INTO messages (session_id, role, content, timestamp) VALUES ('h6', 'user', 'Round and round', 1795172820.0);
INSERT INTO messages (session_id, role, content, timestamp) VALUES ('h3', 'assistant', 'Still here.', 1795172825.0);
INSERT INTO sessions (id, source, model, started_at, cwd, git_branch, ended_at) VALUES ('h4', 'cli', 'hermes-4-405b', 1795172825.0, '/home/you/shop', 'main', 1795172825.0);
