-- The issue tracker that a repository's own file names and that the user has not confirmed: no hand-off goes there.
ALTER TABLE project ADD COLUMN suggested_repo TEXT;
