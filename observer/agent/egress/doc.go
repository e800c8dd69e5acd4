// Package egress says which hosts an agent may reach: public ones.
//
// A Guard is asked twice. URL looks at what the agent wrote, before anything is
// resolved, and refuses what can be seen to be wrong. Control is a hook of
// net.Dialer that looks at the address a connection is really made to, so that
// neither a name that resolves to a private address, nor one that changes its
// answer after it was looked at, nor a redirect gets through.
//
// Guaranteed:
//
//   - Private, loopback, link-local, shared (CGNAT), multicast, documentation,
//     benchmark, reserved and metadata addresses are refused, in IPv6 forms that
//     carry an IPv4 address too. TestHostileURLs, TestAddresses.
//   - Every refusal wraps ErrRefused through all that net and net/http wrap
//     around it; an error that does not is one of reaching the host.
//     TestRefusedAndUnreachable.
//   - A host that URL accepts as an address is one that Control accepts.
//     FuzzURL.
//
// Whoever dials must use no proxy, because the address of a proxy is what
// Control would see, and must ask URL again at every redirect.
//
// Not here: resolving, dialling, redirects, content.
package egress
