-- What kind of actor sent a message: a login at GitHub, a project whose people have no name, or Baton itself. Absent: an agent.
ALTER TABLE message ADD COLUMN from_type TEXT;
