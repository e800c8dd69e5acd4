package memory

import "strings"

// clipText cuts a text to a number of runes.
func clipText(s string, most int) string {
	runes := []rune(strings.ToValidUTF8(s, "�"))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}
