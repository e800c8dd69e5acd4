// Package workspace has the verbs that look at and change the folder an agent
// works in: /read, /list, /map, /write and /exec.
//
// Guaranteed:
//
//   - Nothing outside of the workspace is read or written by /read, /map and
//     /write, whatever links are laid, while they work too. TestReadStaysInside,
//     TestWriteStaysInside.
//   - /write never goes through a link, never touches a .git folder, and asks
//     before it writes what hooks, agents or editors run. A file is replaced as a
//     whole or not at all, and read back. TestWriteRefuses, TestWriteIsAtomic.
//   - /write and /exec happen only as the Gate allows. TestGate.
//   - /exec returns the command's own exit status, and with it everything that
//     the command started has ended, as far as the system lets its runner see it;
//     at a timeout too. TestNothingOutlivesACommand.
//   - Writ's own data is neither shown nor written. TestPrivate.
//
// What files and programs say is labelled as untrusted.
//
// Not here: what may be written and run when (Gate), storing artifacts.
package workspace
