-- With which token a part was uploaded, empty for the local user: what waits to be named is counted for each by itself.
ALTER TABLE changes_part ADD COLUMN uploaded_by TEXT NOT NULL DEFAULT '';

ALTER TABLE transcript_copy_part ADD COLUMN uploaded_by TEXT NOT NULL DEFAULT '';
