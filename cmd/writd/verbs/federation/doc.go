// Package federation has the verbs that reach other servers and agents: /mcp, as
// a client of Model Context Protocol servers, and /a2a, as a client of peers that
// speak the Agent2Agent protocol. Both know only what the user configured.
//
// Guaranteed:
//
//   - /mcp tools shows only the tools that the agent's grant covers.
//     TestToolsAreThoseGranted.
//   - What servers and peers say is labelled as untrusted.
//   - A peer's card cannot lead a call, or the headers configured for the peer, to
//     another host's private address. TestACardLeadsNowhereElse.
//   - Servers that were started end with the handler, and with them all in their
//     process group. TestServersEnd.
//
// /mcp uses the official SDK's client. /a2a uses the official SDK's types and card
// resolver and speaks its JSON-RPC transport itself: the SDK's client package
// links gRPC whatever transport is chosen, which is 6.6 MB of a program.
//
// Not here: sampling, elicitation and roots of MCP, streaming and push
// notifications of A2A, OAuth.
package federation
