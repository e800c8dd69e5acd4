package tools

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"unicode"
)

// toolchain asks the go command, once, where modules and the standard library
// are.
func (m *modules) toolchain() error {
	if m.asked {
		return m.failed
	}
	m.asked = true
	out, err := exec.CommandContext(m.ctx, "go", "env", "GOMODCACHE", "GOROOT", "GOVERSION").Output()
	if err != nil {
		m.failed = fmt.Errorf("the queries name Go modules, and `go env` does not say where they are: %w", err)
		return m.failed
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 3 {
		m.failed = errors.New("`go env` answers in another way than expected")
		return m.failed
	}
	m.cache, m.root, m.version = strings.TrimSpace(lines[0]), strings.TrimSpace(lines[1]), strings.TrimSpace(lines[2])
	return nil
}

// escaped is a path as the module cache writes it: capitals are marked, since
// some file systems cannot tell them apart.
func escaped(path string) string {
	var b strings.Builder
	for _, r := range path {
		if unicode.IsUpper(r) {
			b.WriteByte('!')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
