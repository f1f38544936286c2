CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, model_config TEXT, system_prompt TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, message_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0, cache_write_tokens INTEGER DEFAULT 0, cwd TEXT, git_branch TEXT, git_repo_root TEXT, title TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, finish_reason TEXT, reasoning TEXT, reasoning_content TEXT, active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0, display_kind TEXT);
CREATE TABLE session_model_usage (session_id TEXT NOT NULL, model TEXT NOT NULL, input_tokens INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (session_id, model));

INSERT INTO sessions (id, source, model, started_at, cwd, git_branch, title, ended_at, end_reason, input_tokens) VALUES ('20261120_120000_9e0010', 'cli', 'hermes-4-405b', 1795172800.0, '/home/you/shop', 'main', 'Port', 1795172850.0, 'compression', 10);
INSERT INTO messages (session_id, role, content, timestamp) VALUES ('20261120_120000_9e0010', 'user', 'Port the parser', 1795172805.0);
INSERT INTO messages (session_id, role, content, timestamp, tool_calls) VALUES ('20261120_120000_9e0010', 'assistant', 'Porting.', 1795172810.0, '[{"id": "p1", "type": "function", "function": {"name": "write_file", "arguments": "{\"path\": \"/home/you/shop/parser.rs\", \"content\": \"x\\n\"}"}}]');
INSERT INTO messages (session_id, role, content, timestamp, tool_call_id) VALUES ('20261120_120000_9e0010', 'tool', '{"bytes_written": 2, "note": "long"}', 1795172815.0, 'p1');
INSERT INTO messages (session_id, role, content, timestamp, tool_calls) VALUES ('20261120_120000_9e0010', 'assistant', '', 1795172820.0, '[{"id": "p2", "type": "function", "function": {"name": "terminal", "arguments": "{\"command\": \"cargo build\"}"}}]');
INSERT INTO messages (session_id, role, content, timestamp, tool_call_id) VALUES ('20261120_120000_9e0010', 'tool', '{"output": "ok", "exit_code": 0}', 1795172825.0, 'p2');
INSERT INTO sessions (id, source, model, started_at, cwd, git_branch, title, parent_session_id, input_tokens) VALUES ('20261120_121000_9e0011', 'cli', 'hermes-4-405b', 1795172825.0, '/home/you/shop', 'main', 'Port (2)', '20261120_120000_9e0010', 5);
INSERT INTO messages (session_id, role, content, timestamp, active, compacted) VALUES ('20261120_121000_9e0011', 'user', 'Port the parser', 1795172830.0, 0, 1);
INSERT INTO messages (session_id, role, content, timestamp, active, compacted) VALUES ('20261120_121000_9e0011', 'user', '[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below:
Parser half ported; lexer is next.

--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---', 1795172835.0, 0, 1);
INSERT INTO messages (session_id, role, content, timestamp, tool_calls, active, compacted) VALUES ('20261120_121000_9e0011', 'assistant', '', 1795172840.0, '[{"id": "p2", "type": "function", "function": {"name": "terminal", "arguments": "{\"command\": \"cargo build\"}"}}]', 0, 1);
INSERT INTO messages (session_id, role, content, timestamp, tool_call_id, active, compacted) VALUES ('20261120_121000_9e0011', 'tool', '[Old tool output cleared]', 1795172845.0, 'p2', 0, 1);
INSERT INTO messages (session_id, role, content, timestamp, active, compacted) VALUES ('20261120_121000_9e0011', 'user', 'Now the lexer', 1795172850.0, 0, 1);
INSERT INTO messages (session_id, role, content, timestamp, tool_calls, active, compacted) VALUES ('20261120_121000_9e0011', 'assistant', '', 1795172855.0, '[{"id": "p3", "type": "function", "function": {"name": "terminal", "arguments": "{\"command\": \"cargo test\"}"}}]', 0, 1);
INSERT INTO messages (session_id, role, content, timestamp, tool_call_id, active, compacted) VALUES ('20261120_121000_9e0011', 'tool', '{"output": "", "exit_code": -1, "error": "blocked"}', 1795172860.0, 'p3', 0, 1);
INSERT INTO messages (session_id, role, content, timestamp) VALUES ('20261120_121000_9e0011', 'user', 'Port the parser', 1795172865.0);
INSERT INTO messages (session_id, role, content, timestamp) VALUES ('20261120_121000_9e0011', 'user', '[PRIOR CONTEXT — for reference only; not a new message]
Now the lexer

[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]

[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below:
Parser ported; lexer half.

--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---', 1795172870.0);
INSERT INTO messages (session_id, role, content, timestamp, tool_calls) VALUES ('20261120_121000_9e0011', 'assistant', '', 1795172875.0, '[{"id": "p3", "type": "function", "function": {"name": "terminal", "arguments": "{\"command\": \"cargo test\"}"}}]');
INSERT INTO messages (session_id, role, content, timestamp, tool_call_id) VALUES ('20261120_121000_9e0011', 'tool', '{"output": "", "exit_code": -1, "error": "blocked"}', 1795172880.0, 'p3');
INSERT INTO messages (session_id, role, content, timestamp) VALUES ('20261120_121000_9e0011', 'user', 'Go on', 1795172885.0);
INSERT INTO sessions (id, source, model, started_at, cwd, git_branch, title, parent_session_id, model_config, ended_at) VALUES ('20261120_130000_9e0012', 'cli', 'hermes-4-405b', 1795172885.0, '/home/you/shop', 'main', 'Port (branch)', '20261120_121000_9e0011', '{"_branched_from": "20261120_121000_9e0011"}', 1795172890.0);
INSERT INTO messages (session_id, role, content, timestamp) VALUES ('20261120_130000_9e0012', 'user', 'Another way', 1795172890.0);
