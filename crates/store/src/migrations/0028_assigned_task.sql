-- What is assigned to whoever asks comes first among what can be worked on: found at once among a hundred thousand.
CREATE INDEX task_ready_assigned ON task (project_id, LOWER(assignee)) WHERE ready = 1 AND assignee IS NOT NULL;
