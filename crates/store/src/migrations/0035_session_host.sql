-- The name of the host on which a session works, for people: the id of a machine says nothing to them. Absent where it is not known.
ALTER TABLE session ADD COLUMN copy_host TEXT;
