:begin
CREATE CONSTRAINT UNIQUE_IMPORT_NAME FOR (node:`UNIQUE IMPORT LABEL`) REQUIRE (node.`UNIQUE IMPORT ID`) IS UNIQUE;
:commit
CALL db.awaitIndexes(300);
:begin
UNWIND [{_id:0, properties:{rule_id:"SQL-LOCK-ORDER-001", domain:"sql", severity:"critical", trigger:"Two transactions lock the same rows.", statement:"Lock rows in the order of their keys.", tags:["locks"], mandatory:true}}, {_id:1, properties:{rule_id:"SQL-TX-BRIEF-001", domain:"sql", severity:"high", trigger:"A transaction calls a service.", statement:"Call the service before the transaction begins."}}] AS row
CREATE (n:`UNIQUE IMPORT LABEL`{`UNIQUE IMPORT ID`: row._id}) SET n += row.properties SET n:Rule;
UNWIND [{_id:2, properties:{phase_id:"PHA-LOCK-FIND-001", name:"Find the locks", position:1, description:"All lock statements are listed.", trigger:"A deadlock was logged.", statement:"List the locks."}}] AS row
CREATE (n:`UNIQUE IMPORT LABEL`{`UNIQUE IMPORT ID`: row._id}) SET n += row.properties SET n:Phase;
:commit
:begin
UNWIND [{start: {_id:0}, end: {_id:1}, properties:{since:date('2026-02-01')}}] AS row
MATCH (start:`UNIQUE IMPORT LABEL`{`UNIQUE IMPORT ID`: row.start._id})
MATCH (end:`UNIQUE IMPORT LABEL`{`UNIQUE IMPORT ID`: row.end._id})
CREATE (start)-[r:SUPPLEMENTS]->(end) SET r += row.properties;
:commit
:begin
MATCH (n:`UNIQUE IMPORT LABEL`)  WITH n LIMIT 20000 REMOVE n:`UNIQUE IMPORT LABEL` REMOVE n.`UNIQUE IMPORT ID`;
:commit
DROP CONSTRAINT UNIQUE_IMPORT_NAME;
