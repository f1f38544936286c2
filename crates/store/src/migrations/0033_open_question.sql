-- A question that was not answered is open, read or not: found among a hundred thousand messages as among ten.
CREATE INDEX message_open_question ON message (project_id, seq) WHERE acked_at IS NULL AND recalled_at IS NULL
    AND kind IN ('Question', 'ReviewRequested', 'Blocker');
