CREATE TABLE sessions (id TEXT PRIMARY KEY, title TEXT, working_directory TEXT, created_at INTEGER, last_activity_at INTEGER);
CREATE TABLE message_nodes (session_id TEXT, node_id INTEGER, parent_node_id INTEGER, chat_message TEXT);
INSERT INTO sessions VALUES ('d1','Odd','/home/you/shop',1795000000,1795000000);
INSERT INTO message_nodes VALUES ('d1',1,NULL,'{"role":"user","content":"Go on"}');
INSERT INTO message_nodes VALUES ('d1',2,1,'{"role":"assist');
INSERT INTO message_nodes VALUES ('d1',3,2,'{"role":"x-new","content":"?"}');
INSERT INTO message_nodes VALUES ('d1',4,99,'{"role":"assistant","content":"An orphan."}');
INSERT INTO message_nodes VALUES ('d1',5,3,'{"role":"assistant","content":"Still here."}');
