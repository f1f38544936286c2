-- Access tokens of the server: the secret itself is never kept, only its hash.
CREATE TABLE access_token (
    token_id TEXT PRIMARY KEY,
    hash TEXT NOT NULL,
    name TEXT NOT NULL,
    scope TEXT NOT NULL,
    projects TEXT,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT
);

CREATE UNIQUE INDEX access_token_by_hash ON access_token (hash);
