// Package catalog is what the log says of the index of a project's files: [Evolve]
// folds its events into a [State], and [Decide] compares that state with what
// somebody found on disk, a [Look], and says which events bring it there. Both are
// pure; the same state and the same look give the same decision.
//
// What holds of every state:
//
//  1. Files has each file by its path, as the last event says that indexed it. A
//     path that was removed, or that a file was renamed from, is not in it until
//     an event indexes it again. TestModel.
//  2. Bytes is the sum of the files' sizes. TestModel.
//  3. Built and Globs are those of the last build that ended. What sessions were
//     shown changes nothing. TestEvolve.
//
// What holds of every decision, besides (TestModel):
//
//  4. Once it is recorded, the state is what was found: at the paths that were
//     looked at, and as it was at all others.
//  5. The same look again records nothing.
//  6. Each path occurs in one event, so the order of the events does not matter.
//     The end of a build is the last, and says what the index then holds.
//  7. A file that was renamed has the bytes that its old path had, and each path
//     that files left is either removed or the old path of one of them.
//
// It reads no files and records nothing: package files does both.
package catalog
