-- What is put off until a time does not block its parts: they wait for that time. In a store of before they count as blocked,
-- and nothing would work them out anew when the time has come. They are opened as far as nothing else can hold them back.
WITH RECURSIVE freed (project_id, task_id, passes) AS (
    SELECT project_id, task_id, CAST(0 AS BIGINT) FROM task
    WHERE status = 'deferred' AND defer_until IS NOT NULL AND passes = 1 AND blocked = 0
    UNION
    SELECT part.project_id, part.task_id, CAST(CASE WHEN part.status = 'blocked'
        OR (part.status = 'deferred' AND part.defer_until IS NULL) THEN 1 ELSE 0 END AS BIGINT)
    FROM freed JOIN task part ON part.project_id = freed.project_id AND part.parent_id = freed.task_id
    WHERE freed.passes = 0 AND part.blocked = 1 AND NOT EXISTS (
        SELECT 1 FROM task_dependency d JOIN task other ON other.project_id = d.project_id AND other.task_id = d.depends_on_id
        WHERE d.project_id = part.project_id AND d.task_id = part.task_id AND d.gate <> ''
        AND NOT (d.gate = 'closed' AND other.status IN ('closed', 'tombstone')))
)
UPDATE task SET blocked = 0,
    passes = CASE WHEN status = 'blocked' OR (status = 'deferred' AND defer_until IS NULL) THEN 1 ELSE 0 END,
    ready = CASE WHEN status = 'open'
        AND issue_type NOT IN ('merge-request', 'gate', 'molecule', 'message', 'agent', 'role', 'rig')
        AND extra NOT LIKE '%"pinned":%' AND extra NOT LIKE '%"ephemeral":%' AND extra NOT LIKE '%"wisp":%'
        AND extra NOT LIKE '%"is_template":%' THEN 1 ELSE ready END
WHERE (project_id, task_id) IN (SELECT project_id, task_id FROM freed);
