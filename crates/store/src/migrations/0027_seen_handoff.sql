-- When its sender opened a hand-off that came back: until then it is a matter for them. Those that came back long before there was
-- such a mark are none.
ALTER TABLE handoff ADD COLUMN seen_at BIGINT;

UPDATE handoff SET seen_at = updated_at WHERE state IN ('declined', 'expired')
    AND updated_at < (SELECT MAX(h.updated_at) FROM handoff h) - 604800000;

DROP INDEX handoff_returned;

CREATE INDEX handoff_returned ON handoff (updated_at, handoff_id) WHERE state IN ('declined', 'expired') AND seen_at IS NULL;

CREATE INDEX handoff_unseen ON handoff (LOWER(from_identity), updated_at, handoff_id)
    WHERE state IN ('declined', 'expired') AND seen_at IS NULL;
