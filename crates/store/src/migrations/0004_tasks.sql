-- The task ledger: parts of tasks, what a hand-off carries, claims under leases, dependencies, comments, and the line of
-- the interchange file that each task was last read from or written to. The columns from blocked on are worked out
-- whenever something changes, so that asking what is ready costs the same in a large project.
ALTER TABLE task ADD COLUMN parent_id TEXT;

ALTER TABLE task ADD COLUMN defer_until BIGINT;

ALTER TABLE task ADD COLUMN estimated_minutes BIGINT;

ALTER TABLE task ADD COLUMN specialist_tags TEXT NOT NULL DEFAULT '[]';

ALTER TABLE task ADD COLUMN agent_context TEXT NOT NULL DEFAULT '{}';

ALTER TABLE task ADD COLUMN handoff_instructions TEXT NOT NULL DEFAULT '{}';

ALTER TABLE task ADD COLUMN previous_agent TEXT;

ALTER TABLE task ADD COLUMN attempts BIGINT NOT NULL DEFAULT 0;

ALTER TABLE task ADD COLUMN result TEXT;

ALTER TABLE task ADD COLUMN pending_type TEXT;

ALTER TABLE task ADD COLUMN woken BIGINT NOT NULL DEFAULT 0;

ALTER TABLE task ADD COLUMN claim_token BIGINT NOT NULL DEFAULT 0;

ALTER TABLE task ADD COLUMN claim_by TEXT;

ALTER TABLE task ADD COLUMN claim_session_id TEXT;

ALTER TABLE task ADD COLUMN claim_lease BIGINT;

ALTER TABLE task ADD COLUMN claim_until BIGINT;

ALTER TABLE task ADD COLUMN blocked BIGINT NOT NULL DEFAULT 0;

ALTER TABLE task ADD COLUMN passes BIGINT NOT NULL DEFAULT 0;

ALTER TABLE task ADD COLUMN ready BIGINT NOT NULL DEFAULT 0;

ALTER TABLE task ADD COLUMN wait_until BIGINT NOT NULL DEFAULT 0;

UPDATE task SET ready = 1 WHERE status = 'open';

UPDATE task SET result = 'pass' WHERE status = 'closed';

DROP INDEX task_open;

CREATE INDEX task_open ON task (project_id, priority, created_at, task_id) WHERE status <> 'closed';

CREATE INDEX task_ready ON task (project_id, priority, created_at, task_id) WHERE ready = 1;

CREATE INDEX task_blocked ON task (project_id, priority, created_at, task_id) WHERE blocked = 1;

CREATE INDEX task_children ON task (project_id, parent_id, task_id) WHERE parent_id IS NOT NULL;

CREATE INDEX task_claimed ON task (project_id, claim_until) WHERE claim_until IS NOT NULL;

CREATE TABLE task_dependency (
    project_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    depends_on_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    gate TEXT NOT NULL,
    place BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (project_id, task_id, depends_on_id, kind)
);

CREATE INDEX task_dependency_on ON task_dependency (project_id, depends_on_id, task_id);

CREATE TABLE task_comment (
    project_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    place BIGINT NOT NULL,
    number BIGINT,
    body TEXT NOT NULL,
    PRIMARY KEY (project_id, task_id, place)
);

CREATE INDEX task_comment_number ON task_comment (project_id, number) WHERE number IS NOT NULL;

-- How many children a task was given, so that no number comes twice; under '' how many tasks a project was given.
CREATE TABLE task_counter (
    project_id TEXT NOT NULL,
    parent_id TEXT NOT NULL,
    last BIGINT NOT NULL,
    PRIMARY KEY (project_id, parent_id)
);

INSERT INTO task_counter (project_id, parent_id, last) SELECT project_id, '', COUNT(*) FROM task GROUP BY project_id;

-- The line of a task as the file had it last. It is stale when the task has changed since.
CREATE TABLE task_line (
    project_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    line TEXT NOT NULL,
    stale BIGINT NOT NULL,
    PRIMARY KEY (project_id, task_id)
);

-- Lines of the file that are no tasks: kept as they stand.
CREATE TABLE task_other_line (
    project_id TEXT NOT NULL,
    place BIGINT NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (project_id, place)
);
