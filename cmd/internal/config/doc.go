// Package config is the only reader of Writ's own files, flags and
// environment: where the data lives, how the daemon is set up, what a project
// asked for, and how a client finds a running daemon.
//
// Settings come, weakest first, from built-in defaults, the user's
// config.yaml in the data directory, the environment (WRIT_…), and flags. An
// unknown key is an error that names the file and line: a misspelt setting
// that is silently ignored would be a gate that is silently open.
//
// It does not know what the settings mean to the parts they configure.
package config
