// Package web has the verbs that look at the public web without a browser:
// /fetch and /search.
//
// Guaranteed:
//
//   - Every connection of Fetch is checked by an egress.Guard when its address is
//     known and before a packet is sent, redirects and names that change their
//     answer included. Proxy settings of the environment are not used.
//     TestHostileURLsAreRefused, TestRebindingIsRefused, TestProxiesAreNotUsed.
//   - A redirect leads only to hosts that the agent's grant covers.
//     TestRedirectsKeepToTheGrant.
//   - At most 8 MiB are read, unpacked, within 30 seconds and 10 redirects.
//   - Pages become text with their links; JSON, text and code stay as they are, in
//     UTF-8. All of it is labelled as untrusted.
//
// The providers of Search are what the user configured, so they may be on a
// private address; what they answer is untrusted.
//
// Not here: scripts (web/browse), caching, cookies, logins.
package web
