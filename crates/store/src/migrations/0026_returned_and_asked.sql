-- Hand-offs that came back, and questions that nobody has read, are found by what is recent or open: as fast among a hundred
-- thousand as among ten.
CREATE INDEX handoff_returned ON handoff (updated_at, handoff_id) WHERE state IN ('declined', 'expired');

CREATE INDEX message_question ON message (project_id, created_at, message_id) WHERE delivered_at IS NULL AND acked_at IS NULL
    AND recalled_at IS NULL AND to_project_id IS NULL AND (kind IN ('Question', 'Blocker') OR importance = 'critical');
