-- What is put off until a time is found when that has come, on every read.
CREATE INDEX task_deferred ON task (project_id, defer_until) WHERE status = 'deferred' AND defer_until IS NOT NULL;
