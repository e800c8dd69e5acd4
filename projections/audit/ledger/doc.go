// Package ledger is the service of the audit: it signs checkpoints over the
// streams, keeps them with the hashes under them in files that only grow, brings
// them to second places, and proves from them that a record is in the log or that
// the log only grew.
//
// It guarantees that nothing is signed that does not extend what was signed
// before ([Auditor.Begin], TestTamperingIsNamed in the daemon), here or in the file
// outside of the data folder (TestAMissingPastIsNotPassedOverInSilence), and that a
// proof it hands out was verified first. It does not read what was signed: package
// evidence does, without a daemon.
package ledger

import "errors"

// ErrPlace is returned by Open for a second place that cannot be one. It names the
// setting.
var ErrPlace = errors.New("audit_publish")
