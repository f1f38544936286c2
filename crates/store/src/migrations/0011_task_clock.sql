-- When the fields of a task and what hangs on it changed, which is what versions of it are merged by; and the lines that the
-- interchange file had before its last one. Of a task that is there already, nothing is known but its last change.
ALTER TABLE task ADD COLUMN clocks TEXT NOT NULL DEFAULT '{}';

UPDATE task SET clocks = '{"floor":' || updated_at || '}' WHERE updated_at <> 0;

ALTER TABLE task_line ADD COLUMN earlier TEXT NOT NULL DEFAULT '[]';
