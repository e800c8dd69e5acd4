// Package browse has the verb /browse: a page as a headless Chromium shows it,
// scripts included.
//
// Each call has a browser of its own, with a new profile that is deleted after
// it. All its traffic goes through a Proxy of Writ's, which looks names up itself
// and reaches only what an egress.Guard allows; the browser itself resolves no
// name and opens no socket to anything but the proxy.
//
// Guaranteed:
//
//   - No page, frame, redirect, script or socket reaches an address that the guard
//     refuses, and none reads a file. TestProxyRefuses and, with a real Chromium,
//     TestBrowserReachesOnlyThePublic.
//   - The page itself changes only to what the agent's grant covers.
//     TestBrowserKeepsToTheGrant.
//   - At the end, at a timeout too, all processes of the browser have ended.
//     TestBrowserEnds.
//   - Chromium's own sandbox is on, unless the daemon runs as root, where Chromium
//     has none.
//
// Not here: input, cookies that last, downloads.
package browse
