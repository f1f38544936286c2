-- Decisions of all projects are read by their time, a page at once.
CREATE INDEX delta_decision_at ON delta (project_id, created_at, seq) WHERE kind = 'decision';
