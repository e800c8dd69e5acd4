package hub

// What the commands about a hub say of themselves.
const (
	JoinWords = `Shows, kind by kind, what would leave this machine, and asks. Then the daemon starts
anew as a leaf of the hub at URL – several addresses are separated by commas – and
brings it, from the beginning of the log. FILE is what the hub's administrator gives
out: what nsc generate creds writes, a user and a password in JSON, or the seed of an
NKey. Joining again replaces the credential, and accepts a list that has changed.`

	ManifestWords = `Writes accounts, users and their rights as a nats-server's configuration, or with
--operator as calls of nsc, and the two streams of a hub as calls of nats. It holds no
secret, and changes nothing. With --apply it makes the streams itself, as the user
hub-admin, once the accounts are there.`

	WitnessWords = `Runs until it is stopped, on a machine that is neither a member's nor the hub's. It reads
all that members bring, checks signatures, order and proofs, cosigns what extends that
which it cosigned before, keeps it in DIR, and tells each member what it saw. A fork – one
log that tells two stories –, a log that was rolled back, and a hub that lost messages are
named here and in the writ team status of the member. URL is the hub's port for clients.
Its key is made at the first start and printed: members pin it with join --witness.

A folder DIR/MEMBER/EPOCH is a second place for writ audit verify --against.
With --once it ends when all was looked at, with exit code 1 if something was found.`

	LeavingWords = `Shows, kind by kind, which fields of which events may leave this machine: all others
stay, and so do prompts, code, commands, reasons and words. With --out it writes the
copies of the whole log to a file, one JSON object a line, secrets and paths outside of
projects taken out, and under a Merkle tree of their own whose root the audit's key
signs. writ audit verify FILE --key KEY checks such a file without the log. Each copy
has a nonce, so that nobody finds out by guessing what a copy that he lacks says.

Besides these, and in no copy, leaves what you share yourself with writ memory share:
sealed, to the members of a scope, and through the hub if one is joined.

Nothing is sent.`
)
