package check

import (
	"bytes"
	"strings"
)

// Place is a credential within a text.
type Place struct {
	Start, End int    // in bytes
	Kind       string // as in Secret
}

// Kinds of credentials that are told by what stands around them.
const (
	kindPassword = "password"
	kindNamed    = "secret"
	kindBearer   = "bearer-token"
	kindBasic    = "basic-credentials"
	kindJWT      = "jwt"
)

// Bounds of what Credentials looks at, in bytes.
const (
	maxNameLength  = 64
	maxValueLength = 2048
	// Shorter ones are words as often as secrets.
	minPassword = 6
	minNamed    = 12
	minBearer   = 16
)

// Credentials finds what is likely to be a secret by its surroundings: the value
// of something that is named a password, a key or a token, what follows Bearer
// or Basic in an authorization, JSON web tokens, and GitHub's tokens whether
// their sum is right or not. Unlike Secrets it may err,
// and is for taking secrets out of texts, not for judging them. Values that are
// read from elsewhere, placeholders and plain words are none. Places are in the
// order of their kinds and may overlap.
func Credentials(text []byte) []Place {
	var found []Place
	for from := 0; ; {
		i := bytes.IndexAny(text[from:], "=:")
		if i < 0 {
			break
		}
		from += i + 1
		if p, ok := assigned(text, from-1); ok {
			found = append(found, p)
			from = p.End
		}
	}
	for _, mark := range []string{"earer ", "EARER ", "asic ", "ASIC "} {
		each(text, mark, func(at int) {
			if p, ok := authorization(text, at, at+len(mark)); ok {
				found = append(found, p)
			}
		})
	}
	each(text, "eyJ", func(at int) {
		if end, ok := webToken(text, at); ok {
			found = append(found, Place{at, end, kindJWT})
		}
	})
	for _, mark := range []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"} {
		each(text, mark, func(at int) {
			end := at + len(mark)
			for end < len(text) && alphanumeric(text[end]) {
				end++
			}
			if value := string(text[at:end]); len(value) == 40 && (at == 0 || !alphanumeric(text[at-1])) && likely(value, 3) {
				found = append(found, Place{at, end, "github-token"})
			}
		})
	}
	return found
}

// each calls fn with every place of a word.
func each(text []byte, word string, fn func(at int)) {
	for from := 0; ; {
		i := bytes.Index(text[from:], []byte(word))
		if i < 0 {
			return
		}
		fn(from + i)
		from += i + len(word)
	}
}

// namesOfSecrets end the names of what is secret, in lower case without
// separators.
var namesOfSecrets = []string{"password", "passwd", "passphrase", "secret", "apikey", "accesskey", "secretkey", "privatekey", "token", "authkey"}

// assigned finds the value of a secret's name around the sign that assigns it.
func assigned(text []byte, sign int) (Place, bool) {
	name := nameBefore(text, sign)
	if name == "" {
		return Place{}, false
	}
	kind := ""
	for _, n := range namesOfSecrets {
		if strings.HasSuffix(name, n) {
			kind = kindNamed
			if strings.HasPrefix(n, "pass") {
				kind = kindPassword
			}
		}
	}
	if kind == "" {
		return Place{}, false
	}
	at := sign + 1
	for at < len(text) && at < sign+3 && (text[at] == '=' || text[at] == '>') { // :=, == and =>
		at++
	}
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	for at < len(text) && text[at] == '\\' { // a quote within a quoted text
		at++
	}
	var quote byte
	if at < len(text) && (text[at] == '"' || text[at] == '\'' || text[at] == '`') {
		quote = text[at]
		at++
	}
	end := at
	for end < len(text) && end-at < maxValueLength && !endsValue(text[end], quote) {
		end++
	}
	value := string(text[at:end])
	if quote != 0 && (end == len(text) || text[end] != quote && text[end] != '\\') {
		return Place{}, false
	}
	if quote == 0 && (end < len(text) && strings.IndexByte("([{", text[end]) >= 0 || reference(value)) {
		return Place{}, false
	}
	least, bits := minNamed, 3.0
	if kind == kindPassword {
		least, bits = minPassword, 2.2
	}
	if len(value) < least || !likely(value, bits) || quote == 0 && len(value) < 8 {
		return Place{}, false
	}
	return Place{at, end, kind}, true
}

// nameBefore is the name before a sign, in lower case without separators.
func nameBefore(text []byte, sign int) string {
	end := sign
	for end > 0 && end > sign-8 && strings.IndexByte(" \t\"'`\\:", text[end-1]) >= 0 {
		end--
	}
	start := end
	for start > 0 && end-start < maxNameLength && (alphanumeric(text[start-1]) || strings.IndexByte("_-.", text[start-1]) >= 0) {
		start--
	}
	if end-start < len("token") {
		return ""
	}
	name := make([]byte, 0, end-start)
	for _, c := range text[start:end] {
		switch {
		case 'A' <= c && c <= 'Z':
			name = append(name, c+'a'-'A')
		case alphanumeric(c):
			name = append(name, c)
		}
	}
	return string(name)
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func endsValue(c, quote byte) bool {
	switch {
	case c == '\n' || c == '\r' || c == '\\':
		return true
	case quote != 0:
		return c == quote
	default:
		return c <= ' ' || strings.IndexByte("\"'`,;&()[]{}<>", c) >= 0
	}
}

// reference tells a name of the program from a value: a path through names, or
// a name that speaks of what it holds.
func reference(value string) bool {
	for i := range len(value) {
		if c := value[i]; !alphanumeric(c) && c != '_' && c != '.' {
			return false
		}
	}
	lower := strings.ToLower(value)
	dotted := strings.Contains(value, ".") && (value[0] < '0' || value[0] > '9')
	return dotted || strings.Contains(lower, "pass") || strings.Contains(lower, "secret") || strings.Contains(lower, "token") || strings.Contains(lower, "key")
}

// likely tells a secret from a word, a placeholder, an id and what stands for a
// value that is read from elsewhere.
func likely(value string, bits float64) bool {
	if strings.ContainsAny(value, " \t$<>{}[]()|*%") || strings.Contains(value, "://") || value[0] == '/' || strings.HasPrefix(value, "./") {
		return false
	}
	var letters, digits, upper, lower, others, hyphens int
	for i := range len(value) {
		switch c := value[i]; {
		case '0' <= c && c <= '9':
			digits++
		case 'a' <= c && c <= 'z':
			letters, lower = letters+1, lower+1
		case 'A' <= c && c <= 'Z':
			letters, upper = letters+1, upper+1
		case c == '-':
			hyphens++
		default:
			others++
		}
	}
	uuid := len(value) == 36 && hyphens == 4 && others == 0
	mixed := digits > 0 || others > 0 && upper > 0 && lower > 0
	return letters > 0 && mixed && !uuid && !commonPasswords[strings.ToLower(value)] && !placeholder(value) && entropy(value) >= bits
}

// authorization finds what follows a scheme's name.
func authorization(text []byte, mark, at int) (Place, bool) {
	if mark == 0 || mark > 1 && alphanumeric(text[mark-2]) || strings.IndexByte("bB", text[mark-1]) < 0 {
		return Place{}, false
	}
	kind := kindBearer
	if text[mark] == 'a' || text[mark] == 'A' {
		kind = kindBasic
		before := bytes.ToLower(text[max(mark-32, 0):mark])
		if !bytes.Contains(before, []byte("authorization")) {
			return Place{}, false
		}
	}
	end := at
	for end < len(text) && end-at < maxValueLength && (alphanumeric(text[end]) || strings.IndexByte("._~+/=-", text[end]) >= 0) {
		end++
	}
	for end > at && text[end-1] == '.' {
		end--
	}
	value := string(text[at:end])
	if len(value) < minBearer || !likely(value, 3) || reference(value) && strings.Contains(value, ".") && !strings.HasPrefix(value, "eyJ") {
		return Place{}, false
	}
	return Place{at, end, kind}, true
}

// webToken finds the end of a JSON web token: three parts in base64url, of which
// the first two are JSON objects (RFC 7519).
func webToken(text []byte, at int) (end int, ok bool) {
	if at > 0 && (alphanumeric(text[at-1]) || text[at-1] == '_' || text[at-1] == '-') {
		return 0, false
	}
	end = at
	for part := range 3 {
		start := end
		for end < len(text) && (alphanumeric(text[end]) || text[end] == '_' || text[end] == '-') {
			end++
		}
		if end-start < 10 || part == 1 && !bytes.HasPrefix(text[start:end], []byte("eyJ")) {
			return 0, false
		}
		if part == 2 {
			return end, true
		}
		if end == len(text) || text[end] != '.' {
			return 0, false
		}
		end++
	}
	return 0, false
}
