-- One row for each project. `seq` numbers the project's ledger, and its row is what a writer takes first.
CREATE TABLE project (
    project_id TEXT PRIMARY KEY,
    seq BIGINT NOT NULL
);
