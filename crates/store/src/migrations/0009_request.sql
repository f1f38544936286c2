-- A kept answer belongs to one caller, project and operation, and knows what was asked. The rows of before do not say whose
-- they are: those of callers are left behind, because handing them out is the fault that this ends; a retry across the
-- upgrade is a new request. Those under keys made of a transcript's content belong to no caller and are carried over: without
-- them the same transcript would be imported twice.
ALTER TABLE request RENAME TO request_of_verb;

CREATE TABLE request (
    project_id TEXT NOT NULL,
    caller TEXT NOT NULL,
    verb TEXT NOT NULL,
    request_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    answer TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    PRIMARY KEY (project_id, caller, verb, request_id)
);

INSERT INTO request (project_id, caller, verb, request_id, fingerprint, answer, created_at)
SELECT project_id, '', verb, request_id, '', answer, created_at FROM request_of_verb
WHERE verb IN ('transcript_capture', 'transcript_import', 'transcript_continue');

DROP TABLE request_of_verb;

CREATE INDEX request_by_expiry ON request (expires_at);
