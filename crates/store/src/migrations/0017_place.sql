-- Where a project's folders are: which repository lies there, so that its worktrees are found by their common git folder and a
-- folder that moved by its repository's id; and which of them are worktrees, in which an agent worked once. Of the folders that are
-- there already nothing is known: those are found by their path alone.
ALTER TABLE project_root ADD COLUMN repository_id TEXT;
ALTER TABLE project_root ADD COLUMN common_dir TEXT;
ALTER TABLE project_root ADD COLUMN is_worktree BIGINT NOT NULL DEFAULT 0;

CREATE INDEX project_root_by_repository ON project_root (repository_id);

CREATE INDEX project_root_by_common_dir ON project_root (machine_id, common_dir);

-- The working copy in which a session works: its top folder, and what was checked out there when it last said so.
ALTER TABLE session ADD COLUMN copy_root TEXT;
ALTER TABLE session ADD COLUMN copy_branch TEXT;
ALTER TABLE session ADD COLUMN copy_commit TEXT;
ALTER TABLE session ADD COLUMN copy_is_worktree BIGINT;
