// Package dashboard serves the pages by which a person watches Writ in a
// browser: live sessions, decisions, rules, retrieval, memory, and the gates
// that wait, which can be approved or declined there.
//
// It guarantees that nobody sees anything without a link that the daemon gave
// out: a link works once, for two minutes, and becomes a session of that
// browser; only loopback addresses are served, under a loopback name, and an
// act needs a request from the page itself. What agents, prompts and rules say
// reaches the page as text and never as markup. A page that lost its
// connection goes on where it was: events come over server-sent events, whose
// ids are positions of the log. (NATS over WebSocket would need a credential
// in the browser and a second origin, and has no way to resume by itself.)
//
// It decides nothing and reads no file: it asks the daemon's services.
package dashboard
