package enforcement

import "regexp"

// plainPowerShell is a command line that PowerShell and a shell read alike: one
// program with plain words. Quotes, escapes, variables, blocks and most signs
// mean something else there.
var plainPowerShell = regexp.MustCompile(`^[A-Za-z0-9_ ./:=-]*$`)

// InspectPowerShell is Inspect for a command line that PowerShell runs. There is
// no parser of it here: what is not plain cannot be told, and what is found in it
// is a hint.
func InspectPowerShell(l Layout, dir, command string, readlink func(string) (string, bool)) *ShellCommand {
	c := Inspect(l, dir, command, nil, readlink)
	if c.Effect != EffectCannotTell && !plainPowerShell.MatchString(command) {
		c.Effect, c.Why = EffectCannotTell, "PowerShell is followed only where it is plain"
	}
	return c
}
