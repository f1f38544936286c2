-- What needs a person, and what a list shows, is found by the index of what is open: as fast among a hundred thousand as among ten.
CREATE INDEX baton_waiting ON baton (project_id, created_at, baton_id) WHERE spent_by IS NULL;

CREATE INDEX baton_spent ON baton (project_id, created_at, baton_id) WHERE spent_by IS NOT NULL;

CREATE INDEX baton_by_id ON baton (baton_id);

CREATE INDEX handoff_offered ON handoff (to_project_id, created_at, handoff_id) WHERE state = 'offered';

CREATE INDEX handoff_stuck ON handoff (from_project_id, created_at, handoff_id) WHERE state IN ('planned', 'pending');

CREATE INDEX handoff_failed ON handoff (from_project_id, created_at, handoff_id) WHERE state = 'failed';

CREATE INDEX handoff_by_state ON handoff (state, created_at, handoff_id);

CREATE INDEX handoff_by_age ON handoff (created_at, handoff_id);

CREATE INDEX task_retried ON task (project_id, created_at, task_id) WHERE attempts >= 3 AND status <> 'closed';
