// Package dialect says what the command language of Writ's own agents (/read, /exec
// and the others) consists of, and what an agent may run of it.
//
// Verbs is the one table of verbs: the scanner, the capability check, the help,
// an agent's prompt and the documentation are all made from it. A Constitution
// is what an agent is and may do; a Grant answers whether a command may run; a
// Budget counts what one response spends; Frames puts results where nothing in
// them can pass for something else; Taint remembers what untrusted results said.
//
// Guaranteed:
//
//   - The zero Grant, an absent list and an empty one allow /help and nothing
//     else. What cannot be understood is denied. TestConformanceCapabilities.
//   - A delegated Grant allows what both sides allow, never more.
//     TestDelegationIntersects.
//   - A constitution with an unknown key, a wrong type or an unknown capability
//     is an error that names file and key. TestConstitutionErrors,
//     FuzzConstitution.
//   - No result can end its frame or begin another one. TestFramesHold,
//     FuzzFrames.
//
// Which hosts of a network a verb may reach is said by package egress.
//
// It is pure: no clock, no randomness, no files. It does not run anything, does
// not resolve names or links, and does not know what a program that a shell line
// starts will start in turn.
package dialect
