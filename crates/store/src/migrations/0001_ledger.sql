CREATE TABLE project (
    project_id TEXT PRIMARY KEY,
    seq BIGINT NOT NULL,
    issues_provider TEXT,
    issues_github_repo TEXT,
    vcs_provider TEXT,
    vcs_remote_url TEXT,
    is_isolated BIGINT NOT NULL,
    is_placeholder BIGINT NOT NULL,
    phase TEXT,
    focus TEXT NOT NULL,
    webhook_url TEXT,
    last_wrapped_at BIGINT,
    last_wrapped_by TEXT,
    last_wrapped_session_id TEXT,
    last_wrapped_delta_id TEXT,
    last_wrapped_summary TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE project_root (
    project_id TEXT NOT NULL,
    machine_id TEXT NOT NULL,
    path TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (machine_id, path)
);

CREATE TABLE session (
    project_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    identity TEXT NOT NULL,
    identity_key TEXT NOT NULL,
    surface TEXT NOT NULL,
    machine_id TEXT NOT NULL,
    process TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    heartbeat_at BIGINT NOT NULL,
    last_verb TEXT NOT NULL,
    released_at BIGINT,
    release_reason TEXT,
    released_by TEXT,
    successor_session_id TEXT,
    thread_id TEXT NOT NULL,
    inherited_from TEXT,
    picked_up_session_id TEXT,
    baton_id TEXT,
    PRIMARY KEY (project_id, session_id)
);

CREATE INDEX session_open ON session (project_id, started_at, session_id) WHERE released_at IS NULL;

CREATE INDEX session_by_identity ON session (project_id, identity_key, started_at);

CREATE INDEX session_by_id ON session (session_id);

CREATE INDEX session_by_start ON session (project_id, started_at);

CREATE TABLE session_state (
    project_id TEXT NOT NULL,
    identity_key TEXT NOT NULL,
    task_key TEXT NOT NULL,
    session_id TEXT NOT NULL,
    version BIGINT NOT NULL,
    body TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, identity_key, task_key)
);

CREATE TABLE delta (
    project_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    delta_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    session_id TEXT,
    identity TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    inherited_from TEXT,
    thread_id TEXT,
    body TEXT NOT NULL,
    PRIMARY KEY (project_id, seq)
);

CREATE UNIQUE INDEX delta_by_id ON delta (project_id, delta_id);

CREATE INDEX delta_by_kind ON delta (project_id, kind, seq);

CREATE INDEX delta_by_session ON delta (project_id, session_id, seq);

CREATE TABLE baton (
    project_id TEXT NOT NULL,
    baton_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    session_id TEXT NOT NULL,
    identity TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    summary TEXT NOT NULL,
    to_identity TEXT,
    to_role TEXT,
    holder_session_id TEXT,
    held_at BIGINT,
    spent_by TEXT,
    version BIGINT NOT NULL,
    PRIMARY KEY (project_id, baton_id)
);

CREATE INDEX baton_unspent ON baton (project_id, seq) WHERE spent_by IS NULL;

CREATE INDEX baton_by_session ON baton (project_id, session_id, seq);

CREATE TABLE request (
    project_id TEXT NOT NULL,
    request_id TEXT NOT NULL,
    verb TEXT NOT NULL,
    answer TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, request_id)
);

CREATE TABLE message (
    project_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    kind TEXT NOT NULL,
    from_identity TEXT NOT NULL,
    to_identity TEXT NOT NULL,
    to_key TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    delivered_at BIGINT,
    recalled_at BIGINT,
    PRIMARY KEY (project_id, message_id)
);

CREATE INDEX message_pending ON message (project_id, to_key, seq) WHERE delivered_at IS NULL AND recalled_at IS NULL;

CREATE TABLE task (
    project_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    status TEXT NOT NULL,
    priority BIGINT NOT NULL,
    issue_type TEXT NOT NULL,
    assignee TEXT,
    agent_role TEXT,
    labels TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    closed_at BIGINT,
    close_reason TEXT,
    extra TEXT NOT NULL,
    PRIMARY KEY (project_id, task_id)
);

CREATE INDEX task_open ON task (project_id, priority, created_at) WHERE status <> 'closed';

CREATE TABLE handoff (
    handoff_id TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    subject TEXT NOT NULL,
    from_project_id TEXT NOT NULL,
    to_project_id TEXT NOT NULL,
    from_identity TEXT NOT NULL,
    to_identity TEXT,
    to_role TEXT,
    packet TEXT NOT NULL,
    task_id TEXT,
    result TEXT,
    last_error TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE INDEX handoff_to ON handoff (to_project_id, created_at);

CREATE INDEX handoff_from ON handoff (from_project_id, created_at);

CREATE TABLE outbox (
    project_id TEXT NOT NULL,
    effect_id TEXT NOT NULL,
    adapter TEXT NOT NULL,
    payload TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    last_error TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, effect_id)
);

CREATE INDEX outbox_due ON outbox (due_at) WHERE state = 'pending';

CREATE TABLE transcript_header (
    machine_id TEXT NOT NULL,
    path TEXT NOT NULL,
    size BIGINT NOT NULL,
    mtime_ns BIGINT NOT NULL,
    inode BIGINT NOT NULL,
    header TEXT NOT NULL,
    PRIMARY KEY (machine_id, path)
);
