/* The same node twice is one node. */
MERGE (n:Rule {rule_id: "HTTP-ETAG-SEND-001"})
  ON CREATE SET n.domain = "http", n.severity = "low"
  SET n.trigger = "A resource changes rarely.", n.statement = "Send an ETag and answer 304.";
MERGE (n:Rule {rule_id: "HTTP-ETAG-SEND-001"}) SET n += {rationale: "What did not change needs no bytes.", mandatory: FALSE};
MERGE (m:Rule {rule_id: "HTTP-CACHE-VARY-001"}) SET m.domain = 'http', m.severity = 'low', m.trigger = 'An answer depends on a header.', m.statement = 'Name the header in Vary.';
MATCH (a:Rule {rule_id: "HTTP-ETAG-SEND-001"}), (b:Rule {rule_id: "HTTP-CACHE-VARY-001"}) MERGE (a)-[:RELATED_TO {weight: 0.5}]->(b);
