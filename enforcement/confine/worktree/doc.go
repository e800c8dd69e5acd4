// Package worktree finds what changed in a work tree, and what of it stands to
// be lost.
//
// Tree is the after-check behind commands that nobody can judge: what a command
// changed, whatever program it was. Repository tells what git alone has.
//
// Guarantees:
//   - no program runs, so no code of the repository does;
//   - an ignore rule made by a command hides nothing that was looked at before.
//
// It decides nothing: what a change means is policy.
package worktree
