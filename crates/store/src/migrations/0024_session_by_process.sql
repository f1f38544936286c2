-- A caller that names nobody is the agent whose sessions began in its process.
CREATE INDEX session_by_process ON session (machine_id, process, started_at) WHERE process <> '';
