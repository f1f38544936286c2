-- The project into which this one was merged: nothing is begun in it any more, wherever its folders are.
ALTER TABLE project ADD COLUMN merged_into TEXT;
