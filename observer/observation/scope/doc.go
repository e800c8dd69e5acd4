// Package scope is the core of memory that several persons share: what is signed of a
// scope and its observations, and what a member believes of it. A scope is a name with
// members and one key for each of its epochs; each list of members begins an epoch.
//
// It guarantees that a [Roster] is taken in order and signed by an owner of the one before
// (the first by the owner whom a person pinned), and holds no key that its person did not
// certify; that a [Record] is taken whose author was a member of its epoch and signed it,
// once under its number, and never again after its [Tombstone]; that of who is a member no
// more only what the roster that let him go names by digest counts; and that what is
// sealed opens in its scope, epoch and number, of its author, and nowhere else
// (TestNothingForgedIsTaken, TestAnyOrderGivesTheSame, FuzzTake). Who carries all this can
// withhold, which [Scope.Missing] shows where something later came through.
//
// It is pure: no clock, disk or network; keys and nonces come as data. It neither draws
// epoch keys nor sends them to members: package sharedmemory, the service, does.
package scope
