CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB);
INSERT INTO ItemTable (key, value) VALUES ('composer.composerData', '{"allComposers": [{"composerId": "old"}]}');
