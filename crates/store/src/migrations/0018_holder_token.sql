-- The access token, by its id, with which a claim was made or a lease was taken: another token is refused what was taken under a name
-- that it does not own. Of what the local user holds, and of what is there already, none is known.
ALTER TABLE task ADD COLUMN claim_bearer TEXT;

ALTER TABLE file_lease ADD COLUMN bearer TEXT;
