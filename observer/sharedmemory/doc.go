// Package sharedmemory is the service of memory that several persons share: it keeps the
// scopes of this machine, draws and opens their keys, seals what a person shares, brings
// it to the hub or to a folder, and hands what others shared to the memory. What counts is
// decided by its core, package scope.
//
// It guarantees that nothing is shared, and no list of members made, that a person's key
// did not sign, under a roster that has only persons whom the releases followed here name,
// if they name any; that what is shared lies in no append-only place: at a hub and in
// folders its tombstone takes its place (TestMemoryIsShared in the daemon), and here the
// memory's own key is erased; and that what was recorded once is taken from nobody again.
//
// It does not keep who left from what he read, or from what was sealed before his leaving
// became known, and destroys no copy that a hub kept aside.
package sharedmemory
