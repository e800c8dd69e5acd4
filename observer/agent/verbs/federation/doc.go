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
// Both use the clients of the official SDKs. Around that of A2A stand the choice
// of where a card may lead, bounds, and the words of a peer that refuses, which
// the SDK drops.
//
// Not here: sampling, elicitation and roots of MCP; gRPC, REST, streaming and push
// notifications of A2A (nobody would see the pieces, and the SDK reads no event of
// more than 64 KiB from a stream); OAuth.
package federation
