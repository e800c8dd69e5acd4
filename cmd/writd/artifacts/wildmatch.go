package artifacts

import "strings"

// wildmatch says whether a path matches a pattern the way git matches them: "*"
// and "?" stay within a name, "**" between slashes goes over any number of
// folders, classes may be negated and named. As in git, a character is a byte.
func wildmatch(pattern, name string) bool {
	for pattern != "" {
		switch pattern[0] {
		case '*':
			return star(pattern, name)
		case '?':
			if name == "" || name[0] == '/' {
				return false
			}
			pattern, name = pattern[1:], name[1:]
		case '[':
			if name == "" || name[0] == '/' {
				return false
			}
			length, matches := classOf(pattern, name[0])
			if length == 0 || !matches {
				return false
			}
			pattern, name = pattern[length:], name[1:]
		case '\\':
			if len(pattern) == 1 {
				return false
			}
			pattern = pattern[1:]
			fallthrough
		default:
			if name == "" || name[0] != pattern[0] {
				return false
			}
			pattern, name = pattern[1:], name[1:]
		}
	}
	return name == ""
}

// star matches a pattern that begins with one.
func star(pattern, name string) bool {
	stars := len(pattern) - len(strings.TrimLeft(pattern, "*"))
	rest := pattern[stars:]
	if stars == 1 {
		return starWithin(rest, name)
	}
	// The pattern before these stars is matched; that it ended with a slash is
	// what the caller of a whole component made sure of.
	switch {
	case rest == "":
		return true
	case rest[0] == '/':
		if wildmatch(rest[1:], name) {
			return true
		}
		for i := range len(name) {
			if name[i] == '/' && wildmatch(rest, name[i:]) {
				return true
			}
		}
		return false
	}
	return starWithin(rest, name)
}

// starWithin matches "*" and the pattern behind it.
func starWithin(rest, name string) bool {
	if rest == "" {
		return !strings.Contains(name, "/")
	}
	for i := 0; i <= len(name); i++ {
		if wildmatch(rest, name[i:]) {
			return true
		}
		if i < len(name) && name[i] == '/' {
			return false
		}
	}
	return false
}

// plainStars replaces runs of stars that are not a whole component by one star,
// as git reads them.
func plainStars(pattern string) string {
	if !strings.Contains(pattern, "**") {
		return pattern
	}
	var b strings.Builder
	for i := 0; i < len(pattern); {
		if pattern[i] == '\\' && i+1 < len(pattern) {
			b.WriteString(pattern[i : i+2])
			i += 2
			continue
		}
		if pattern[i] != '*' {
			b.WriteByte(pattern[i])
			i++
			continue
		}
		end := i
		for end < len(pattern) && pattern[end] == '*' {
			end++
		}
		whole := (i == 0 || pattern[i-1] == '/') && (end == len(pattern) || pattern[end] == '/')
		if end-i >= 2 && whole {
			b.WriteString("**")
		} else {
			b.WriteByte('*')
		}
		i = end
	}
	return b.String()
}

// classOf reads the class that a pattern begins with; its length is 0 where it
// does not end.
func classOf(pattern string, c byte) (length int, matches bool) {
	at := 1
	negated := at < len(pattern) && (pattern[at] == '!' || pattern[at] == '^')
	if negated {
		at++
	}
	for first := true; at < len(pattern); first = false {
		switch {
		case pattern[at] == ']' && !first:
			return at + 1, matches != negated
		case strings.HasPrefix(pattern[at:], "[:"):
			end := strings.Index(pattern[at:], ":]")
			if end < 0 {
				return 0, false
			}
			known, in := namedClass(pattern[at+2:at+end], c)
			if !known {
				return 0, false
			}
			matches = matches || in
			at += end + 2
			continue
		}
		low, size := classByte(pattern[at:])
		if size == 0 {
			return 0, false
		}
		at += size
		high := low
		if at+1 < len(pattern) && pattern[at] == '-' && pattern[at+1] != ']' {
			high, size = classByte(pattern[at+1:])
			if size == 0 {
				return 0, false
			}
			at += 1 + size
		}
		matches = matches || low <= c && c <= high
	}
	return 0, false
}

func classByte(pattern string) (c byte, size int) {
	if pattern[0] != '\\' {
		return pattern[0], 1
	}
	if len(pattern) == 1 {
		return 0, 0
	}
	return pattern[1], 2
}

func namedClass(name string, c byte) (known, in bool) {
	lower, upper, digit := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9'
	graph := c > ' ' && c < 0x7f
	switch name {
	case "alnum":
		return true, lower || upper || digit
	case "alpha":
		return true, lower || upper
	case "blank":
		return true, c == ' ' || c == '\t'
	case "cntrl":
		return true, c < ' ' || c == 0x7f
	case "digit":
		return true, digit
	case "graph":
		return true, graph
	case "lower":
		return true, lower
	case "print":
		return true, graph || c == ' '
	case "punct":
		return true, graph && !lower && !upper && !digit
	case "space":
		return true, c == ' ' || c >= '\t' && c <= '\r'
	case "upper":
		return true, upper
	case "xdigit":
		return true, digit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
	}
	return false, false
}
