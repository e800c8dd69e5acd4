// Package hosts drives real coding agents, from the npm registry, against a
// scripted model: what their models are sent, what Writ refuses them, and what
// stands on the disk afterwards.
//
// test/ci/hosts.sh installs them and runs it.
package hosts
