-- The identities that a token may act as, as a JSON list; none: the token acts under its own name, and under names that are
-- free. And which token a session was opened with; none: the local user, or before this was written down.
ALTER TABLE access_token ADD COLUMN identities TEXT;
ALTER TABLE session ADD COLUMN opened_by TEXT;
