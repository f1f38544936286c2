-- What recall compares with a question: a vector for each memory, a byte for each of its numbers, in base64. `seq` is the
-- ledger's number at its last change: whoever holds the vectors in memory asks for what came after. A vector that was taken
-- away is empty.
CREATE TABLE memory_vector (
    project_id TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    embedder TEXT NOT NULL,
    dimension BIGINT NOT NULL,
    vector TEXT NOT NULL,
    PRIMARY KEY (project_id, memory_id)
);

CREATE INDEX memory_vector_seq ON memory_vector (project_id, seq);

CREATE INDEX outbox_of_adapter ON outbox (adapter, due_at) WHERE state = 'pending';
