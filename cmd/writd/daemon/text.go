package daemon

import "strings"

// clipText cuts a text to a number of runes.
func clipText(s string, most int) string {
	runes := []rune(strings.ToValidUTF8(s, "�"))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}

// join puts non-empty texts below each other.
func join(texts ...string) string {
	var kept []string
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			kept = append(kept, t)
		}
	}
	return strings.Join(kept, "\n\n")
}
