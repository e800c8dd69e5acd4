package check

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/writbus/writ/schemas/lazyregexp"
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
	kindHeader   = "authorization"
	kindCookie   = "cookie"
	kindBasic    = "basic-credentials"
	kindBearer   = "bearer-token"
	kindJWT      = "jwt"
)

// Bounds of what Credentials looks at, in bytes.
const (
	maxValueLength = 2048
	// Shorter ones are words as often as secrets.
	minPassword = 6
	minNamed    = 12
	minBearer   = 16
	minCookie   = 10
)

// Credentials finds what is likely to be a secret: by the name it is given in
// prose, code, settings, headers, addresses and command lines, by the mark of
// its issuer though the rest be short or cut off, and by what stands around it.
// Unlike Secrets it may err, and is for taking secrets out of texts, not for
// judging them. Values that are read from elsewhere, placeholders and plain
// words are none. Places may overlap, and are in no order.
func Credentials(text []byte) (found []Place) {
	add := func(p Place, ok bool) {
		if ok {
			found = append(found, p)
		}
	}
	header := 0 // where the last one ends
	for i, c := range text {
		if c == ':' && bytes.HasPrefix(text[i:], []byte("://")) {
			add(userinfo(text, i))
		}
		if c < '0' {
			continue
		}
		if i+1 == len(text) || !letter(text[i+1]) || c >= 'a' && text[i+1] < 'a' {
			for at := range namesByEnd[c] {
				n := &namesByEnd[c][at]
				if i == 0 || n.last != lower(text[i-1]) || i < header && (n.kind == kindHeader || n.kind == kindCookie) {
					continue
				}
				if start, ok := n.endsAt(text, i+1); ok {
					if values := n.valuesIn(text, start, i+1, &header); len(values) > 0 && !others(text[max(start-10, 0):start]) {
						found = append(found, values...)
					}
					break
				}
			}
			if c == 'Y' && bytes.HasSuffix(text[:i+1], []byte("PRIVATE KEY")) {
				add(privateKey(text, i+1-len("PRIVATE KEY")))
			}
		}
		if i > 0 && alphanumeric(text[i-1]) {
			continue
		}
		for at := range marksByStart[c] {
			if p, ok := marksByStart[c][at].at(text, i); ok {
				add(p, true)
				break
			}
		}
		if c == 'e' && bytes.HasPrefix(text[i:], []byte("eyJ")) {
			add(webToken(text, i))
		}
	}
	held := bytesOf(text)
	for i := range contexts {
		found = contexts[i].in(text, held, found)
	}
	return found
}

// others tells whether what stands before a name makes it that of something
// else: a public key, or a part of the name of a resource.
func others(before []byte) bool {
	n := len(before)
	return bytes.Contains(bytes.ToLower(before), []byte("public")) || n > 1 && before[n-1] == ':' && '0' <= before[n-2] && before[n-2] <= '9'
}

// Named returns of what kind a secret is that something of that name is likely
// to have as its value: a field, a header, a variable or an option of a command;
// "" where it is none.
func Named(name, value string) (kind string) {
	if len(name) < 2 || value == "" {
		return ""
	}
	text := []byte(name)
	for _, n := range namesByEnd[text[len(text)-1]] {
		_, ok := n.endsAt(text, len(text))
		switch {
		case !ok || n.scope == inQuery || n.kind == kindBearer:
			continue
		case n.kind == kindHeader || n.kind == kindCookie:
			if found, _ := n.header([]byte(value), 0); len(found) > 0 {
				return found[0].Kind
			}
		case n.secret(value, true):
			return n.kind
		}
		break
	}
	return ""
}

// A secretName ends the names of what is secret.
type secretName struct {
	name  string // in lower case without separators
	kind  string
	scope nameScope
	last  byte // but one
}

type nameScope int

const (
	anywhere nameScope = iota
	ofItself           // a word of its own, or the last of a name
	inQuery            // of an address
	foreign            // in a language that programs are not written in
)

// namesByEnd has the names by their last byte.
var namesByEnd = func() (by [256][]secretName) {
	for _, t := range []struct {
		kind  string
		scope nameScope
		names string
	}{
		{kindPassword, anywhere, "password passwd passphrase passcode identifiedby"},
		{kindPassword, ofItself, "pass pwd pw psk mdp clave"},
		// Names whose capital letter is not ASCII stand here without it.
		{kindPassword, foreign, "passwort kennwort motdepasse contraseña contrasena senha parola wachtwoord lösenord lösenordet hasło haslo heslo jelszó ifre adgangskode salasana passord " +
			"ароль ароля аролем 密码 密碼 口令 パスワード 비밀번호 암호"},
		{kindNamed, anywhere, "secret apikey accesskey secretkey secretkeybase privatekey authtoken token authkey encryptionkey signingkey masterkey accountkey storagekey sharedkey hmackey servicekey subscriptionkey functionskey consumerkey sessionkey deploykey " +
			"phpsessid jsessionid aspxauth credential credentials"},
		{kindNamed, ofItself, "auth"},
		{kindNamed, inQuery, "key sig signature code sid session"},
		{kindHeader, anywhere, "authorization"},
		{kindBearer, ofItself, "bearer"},
		{kindCookie, anywhere, "cookie"},
	} {
		for _, name := range strings.Fields(t.names) {
			n, last := secretName{name, t.kind, t.scope, name[len(name)-2]}, name[len(name)-1]
			by[last] = append(by[last], n)
			if 'a' <= last && last <= 'z' {
				by[last-'a'+'A'] = append(by[last-'a'+'A'], n)
			}
		}
	}
	return by
}()

// endsAt tells whether a name in a text ends so, and where this part begins.
// Between two letters of it a separator may stand.
func (n *secretName) endsAt(text []byte, end int) (start int, ok bool) {
	start = end
	for i := len(n.name) - 1; i >= 0; i-- {
		if start == 0 {
			return 0, false
		}
		if c := text[start-1]; lower(c) != n.name[i] && i < len(n.name)-1 && strings.IndexByte("_-. ", c) >= 0 {
			start--
		}
		if start == 0 || lower(text[start-1]) != n.name[i] {
			return 0, false
		}
		start--
	}
	switch {
	case n.scope == ofItself:
		return start, start == 0 || !letter(text[start-1]) || text[start] < 'a' && text[start-1] >= 'a'
	case n.scope == inQuery:
		for start > 0 && (alphanumeric(text[start-1]) || text[start-1] == '-' || text[start-1] == '_') {
			start--
		}
		return start, start > 0 && (text[start-1] == '?' || text[start-1] == '&' || text[start-1] == ';') && end < len(text) && text[end] == '='
	default:
		return start, true
	}
}

// Parts of a text behind a name of a secret.
var (
	// variant is the last word of names such as DB_PASSWORD_PROD and TOKEN2.
	variant = lazyregexp.New(`\A(?i:_?(?:prod|production|dev|stage|staging|test|live|old|new|backup)|_?v?\d{1,2})\b`)
	// typed is a type between a name and its value.
	typed = lazyregexp.New(`\A:[ \t]*[&*?\w.\[\]<>|' ]{1,40}=[ \t]*["'` + "`]")
	// paired is the second half of a pair of a name and a value.
	paired = lazyregexp.New(`\A[\s,{]+["']?(?:[vV]alue|default)["']?\s*[:=]\s*`)
)

// copulas say that what follows is what the name stands for.
var copulas = words("is was equals ist lautet est es é è är jest to er on 是 为 為 は 는 은")

// valuesIn finds the values of a name in a text, and notes where it ends if it
// is that of a header.
func (n *secretName) valuesIn(text []byte, start, end int, headerEnd *int) []Place {
	i := end
	if i < len(text) && text[i] < 0x80 && (alphanumeric(text[i]) || text[i] == '_') {
		next := variant.Regexp().Find(text[i:min(i+12, len(text))])
		if next == nil {
			return nil
		}
		i += len(next)
	}
	for i < len(text) && i < end+16 && strings.IndexByte("\"'`\\])", text[i]) >= 0 {
		i++
	}
	closed := i > end
	at := blanks(text, i)
	if n.kind == kindBearer {
		if at == end {
			return nil
		}
		return bearer(text, at)
	}
	sign := 0
	switch rest := text[at:]; {
	case len(rest) == 0:
		return nil
	case rest[0] == '=' || rest[0] == ':' || rest[0] == ',' && closed:
		sign = 1
	case bytes.HasPrefix(rest, []byte("：")) || bytes.HasPrefix(rest, []byte("＝")):
		sign = len("：")
	}
	if rest := text[at:]; sign == 1 && (bytes.HasPrefix(rest, []byte("::")) || rest[0] == ',' && text[i-1] != '"' && text[i-1] != '\'') {
		return nil // a scope, or the end of a part of a sentence
	}
	if n.kind == kindHeader || n.kind == kindCookie {
		if sign == 0 {
			return nil
		}
		found, read := n.header(text, at+sign)
		*headerEnd = at + sign + read
		return found
	}
	if n.scope == inQuery && sign == 0 {
		return nil
	}
	name := text[start:end]
	if near := text[i:min(i+48, len(text))]; bytes.Contains(near, []byte("alue")) || bytes.Contains(near, []byte("default")) {
		if p := paired.Regexp().Find(near); p != nil {
			return n.value(text, name, i+len(p), false)
		}
	}
	switch c := text[at]; {
	case sign > 0:
		from := at + sign
		for from < len(text) && from < at+sign+2 && (text[from] == '=' || text[from] == '>') { // :=, == and =>
			from++
		}
		if c == ':' {
			if t := typed.Regexp().Find(text[at:min(at+64, len(text))]); t != nil {
				return n.value(text, name, at+len(t)-1, true)
			}
		}
		found := n.value(text, name, blanks(text, from), c == ',')
		if len(found) == 0 {
			return nil
		}
		quoted := text[found[0].Start-1] == '"' || text[found[0].Start-1] == '\''
		switch value := string(text[found[0].Start:found[0].End]); {
		case c == ',' && text[min(blanks(text, found[0].End+1), len(text)-1)] != ')': // of a list, not of a call
			return nil
		case n.scope == ofItself && c == ':' && !quoted && !strong(value, false): // "PASS: TestDecide2"
			return nil
		}
		return found
	case c == '>' && !closed: // of an element
		if p := n.value(text, name, at+1, false); len(p) == 1 && bytes.HasPrefix(text[p[0].End:], []byte("</")) {
			return p
		}
		return nil
	case c == '(':
		before := bytes.ToLower(text[max(start-8, 0):start])
		if bytes.HasSuffix(before, []byte("set")) || bytes.HasSuffix(before, []byte("with")) || n.kind == kindPassword && (start == 0 || !letter(text[start-1])) {
			return n.value(text, name, at+1, true)
		}
		return nil
	}
	switch c := text[at]; {
	case at > i && option(text, start):
		return n.value(text, name, at, false)
	case n.scope == ofItself, at == i && n.name[0] < 0x80:
		return nil // a word like any other, or the name goes on
	case n.kind == kindPassword && (c == '"' || c == '\''):
		return n.value(text, name, at, true)
	}
	return n.told(text, name, at)
}

// option tells whether the name that ends with the part at a place is an option
// of a command.
func option(text []byte, start int) bool {
	for start > 0 && (alphanumeric(text[start-1]) || text[start-1] == '-' || text[start-1] == '_') {
		start--
	}
	return text[start] == '-' && (start == 0 || text[start-1] <= ' ' || strings.IndexByte("\"'`", text[start-1]) >= 0)
}

// told finds what a sentence says that a password or token is.
func (n *secretName) told(text, name []byte, at int) []Place {
	for word := range 5 {
		if ideograph(text, at) { // a copula is no word of its own there
			if end := at + len("是"); end < len(text) && copulas[string(text[at:end])] {
				return n.value(text, name, blanks(text, end), false)
			}
			return nil
		}
		end := at
		for end < len(text) && text[end] > ' ' && strings.IndexByte("\"`=:<>()[]{}", text[end]) < 0 && end-at < maxValueLength && !ideograph(text, end) {
			end++
		}
		if copulas[string(text[at:end])] {
			if n.kind != kindPassword && end-at == len("to") && text[at] == 't' {
				return nil // it becomes something
			}
			at = blanks(text, end)
			if at < len(text) && text[at] == ':' {
				at = blanks(text, at+1)
			}
			if p := n.value(text, name, at, false); len(p) == 1 && bytes.ContainsAny(text[p[0].Start:p[0].End], "0123456789") {
				return p
			}
			return nil
		}
		value := trimmed(text[at:end])
		if n.kind == kindPassword && strong(string(value), word > 0) {
			return []Place{{at, at + len(value), n.kind}}
		}
		if at = blanks(text, end); at == end || end-at > 16 {
			return nil
		}
	}
	return nil
}

// strong tells passwords from words and names where nothing but a word of the
// sentence announces them.
func strong(value string, far bool) bool {
	var digits, groups, upper, lower, special int
	for i := range len(value) {
		switch c := value[i]; {
		case '0' <= c && c <= '9':
			if digits++; i == 0 || value[i-1] < '0' || value[i-1] > '9' {
				groups++
			}
		case 'A' <= c && c <= 'Z':
			upper++
		case 'a' <= c && c <= 'z':
			lower++
		case strings.IndexByte("./\\:,'", c) >= 0 || c >= 0x80:
			return false
		case c != '-' && c != '_':
			special++
		}
	}
	if len(value) < 8 || digits < 2 || lower == 0 || upper+special == 0 || far && groups < 2 && special == 0 {
		return false
	}
	return likely(value, 2.2)
}

// value reads the value at a place.
func (n *secretName) value(text, name []byte, at int, mustQuote bool) []Place {
	for behind := at; behind < len(text) && strings.IndexByte("\\\"'", text[behind]) >= 0; behind++ { // a quote within a quoted text
		if text[behind] != '\\' {
			at = behind
			break
		}
	}
	var quote byte
	if at < len(text) && (text[at] == '"' || text[at] == '\'' || text[at] == '`') {
		quote = text[at]
		at++
	}
	if quote == 0 && mustQuote {
		return nil
	}
	if size := len("“"); quote == 0 && at+size < len(text) && strings.Contains("“„‘‚", string(text[at:at+size])) {
		at += size
	}
	end, signs := at, 0
	for end < len(text) && end-at < maxValueLength && signs < 8 && !endsValue(text, end, quote) {
		if c := text[end]; c == '=' || c == ':' {
			signs++
		}
		end++
	}
	if signs == 8 {
		return nil // names and values, one after the other
	}
	if quote != 0 && (end == len(text) || text[end] != quote && text[end] != '\\') {
		return nil
	}
	if quote == 0 {
		if end < len(text) && strings.IndexByte("([{", text[end]) >= 0 {
			return nil
		}
		end = at + len(trimmed(text[at:end]))
	}
	value := string(text[at:end])
	if !n.secret(value, quote != 0) && !(n.kind == kindPassword && n.scope == anywhere && exported(text, at, name) && ownWord(value)) {
		return nil
	}
	return []Place{{at, end, n.kind}}
}

// exported tells whether a value is one of the environment: whatever stands
// there is the value itself.
func exported(text []byte, at int, name []byte) bool {
	for at > 0 && strings.IndexByte("\"'", text[at-1]) >= 0 {
		at--
	}
	return at > 0 && text[at-1] == '=' && bytes.Equal(bytes.ToUpper(name), name) && at > 1 && (text[at-2] >= 'A' && text[at-2] <= 'Z')
}

// ownWord tells whether somebody may have taken a word for a password.
func ownWord(value string) bool {
	l := strings.ToLower(value)
	return len(value) >= minPassword && realPassword(value+"0") && !commonPasswords[l] && !plainWords[l] && !template(value) && !placeholder(value)
}

var plainWords = words("required optional string boolean number undefined default disabled enabled hidden invalid unknown prompt stdin missing")

// secret judges a value of that name.
func (n *secretName) secret(value string, quoted bool) bool {
	least, bits := minNamed, 3.0
	if n.kind == kindPassword {
		least, bits = minPassword, 2.2
	}
	if len(value) < least || !quoted && (len(value) < 8 || n.scope != foreign && reference(value)) {
		return false
	}
	if n.kind == kindNamed && (wordy(value) && !scrambled(value) || strings.IndexByte(value, '@') > 0 && strings.Contains(value, ".")) {
		return false
	}
	if uuid(value) { // a password, a secret and an authToken may be one, a token is an id as often
		return n.name != "token"
	}
	return likely(value, bits) || scrambled(value) && !template(value) && !placeholder(value)
}

// header finds the secret words of a header: it goes to the end of the line, or
// to the quote that ends the text it stands in.
func (n *secretName) header(text []byte, at int) (found []Place, read int) {
	line := text[at:min(at+2*maxValueLength, len(text))]
	if end := bytes.IndexAny(line, "\n\r"); end >= 0 {
		line = line[:end]
	}
	kind, least := n.kind, minCookie
	if n.kind == kindHeader {
		least = minBearer
		switch scheme := bytes.ToLower(line[:min(len(line), 16)]); {
		case bytes.Contains(scheme, []byte("basic")):
			kind, least = kindBasic, 8
		case bytes.Contains(scheme, []byte("bearer")):
			return nil, 0 // is found wherever it stands
		}
	}
	i := blanks(line, 0)
	for i < len(line) && strings.IndexByte("\\\"'`", line[i]) >= 0 {
		i++
	}
	for i < len(line) {
		c := line[i]
		if strings.IndexByte("\\\"'`{}<>()[]", c) >= 0 {
			break
		}
		if !headerByte(c) {
			i++
			continue
		}
		start, end := i, i
		for end < len(line) && headerByte(line[end]) {
			end++
		}
		i = end
		eq := bytes.IndexByte(line[start:end], '=')
		switch {
		case n.kind == kindCookie && eq < 0:
			continue // of no value
		case n.kind == kindCookie, eq > 0 && eq < 24 && start+eq+1 < end && line[start+eq+1] != '=':
			start += eq + 1
		case eq > 0 && start+eq+1 == end && end < len(line) && line[end] == '"': // the parameter of a scheme
			start = end + 1
			for end = start; end < len(line) && line[end] != '"'; end++ {
			}
			i = end + 1
		}
		if value := string(trimmed(line[start:end])); len(value) >= least && likely(value, 2.8) && (!reference(value) || strings.HasPrefix(value, "eyJ") || kind == kindBasic) {
			found = append(found, Place{at + start, at + start + len(value), kind})
		}
	}
	return found, i
}

func headerByte(c byte) bool { return alphanumeric(c) || strings.IndexByte("._~+/=%:-|!", c) >= 0 }

func blanks(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	return at
}

// trimmed is a word without the punctuation of the sentence behind it.
func trimmed(word []byte) []byte { return bytes.TrimRight(word, ".,;:?)") }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c - 'A' + 'a'
	}
	return c
}

func letter(c byte) bool { return 'a' <= lower(c) && lower(c) <= 'z' }

func alphanumeric(c byte) bool { return '0' <= c && c <= '9' || letter(c) }

// ideograph tells whether a character of those scripts starts here that set no
// blank between words, or a sign of punctuation beyond ASCII.
func ideograph(text []byte, at int) bool { return at < len(text) && text[at] >= 0xe2 }

func endsValue(text []byte, at int, quote byte) bool {
	switch c := text[at]; {
	case c == '\n' || c == '\r' || c == '\\':
		return true
	case quote != 0:
		return c == quote
	default:
		return c <= ' ' || strings.IndexByte("\"'`,;&()[]{}<>", c) >= 0 && !(c == '&' && at+1 < len(text) && !queryBehind(text[at+1:])) || c == 0xc2 || ideograph(text, at)
	}
}

// queryBehind tells whether an ampersand ends a value of a query, or of a
// command.
func queryBehind(rest []byte) bool {
	for i, c := range rest[:min(len(rest), 32)] {
		if c == '=' || i == 0 && !alphanumeric(c) {
			return true
		}
		if !alphanumeric(c) && strings.IndexByte("_-.%", c) < 0 {
			return false
		}
	}
	return false
}

// reference tells a name of the program from a value: a path through names, or
// a name that speaks of what it holds.
func reference(value string) bool {
	pointed := value[0] == '*' || value[0] == '&'
	value = strings.Trim(value, "*&!?")
	for i := range len(value) {
		if c := value[i]; !alphanumeric(c) && c != '_' && c != '.' && c != '&' {
			return false
		}
	}
	lower := strings.ToLower(value)
	dotted := strings.Contains(value, ".") && (value[0] < '0' || value[0] > '9')
	return pointed || dotted || strings.Contains(lower, "pass") || strings.Contains(lower, "secret") || strings.Contains(lower, "token") || strings.Contains(lower, "key")
}

func uuid(value string) bool {
	if len(value) != 36 || strings.Count(value, "-") != 4 {
		return false
	}
	return strings.Trim(strings.ToLower(value), "0123456789abcdef-") == ""
}

// wordy tells what speaks in words with a number at most, as names of things do.
func wordy(value string) bool {
	digits := 0
	for i := range len(value) {
		switch c := value[i]; {
		case '0' <= c && c <= '9':
			digits++
		case c < 'a' && strings.IndexByte("-_./", c) < 0 && !letter(c):
			return false
		}
	}
	return digits == 0 || digits <= 2 && strings.ContainsAny(value, "-_./")
}

// scrambled tells letters that came by chance from those of words: they are of
// both cases, and few are vowels.
func scrambled(value string) bool {
	vowels, upper := 0, 0
	for i := range len(value) {
		if !letter(value[i]) {
			return false
		}
		if value[i] < 'a' {
			upper++
		}
		if strings.IndexByte("aeiou", lower(value[i])) >= 0 {
			vowels++
		}
	}
	return len(value) >= 16 && upper > 1 && len(value)-upper > 1 && vowels*4 < len(value)
}

// template tells what is filled in when the program runs, and what leads to
// another place.
func template(value string) bool {
	if strings.ContainsAny(value, " \t\n<>{}[]()|") || strings.IndexByte("$/", value[0]) >= 0 || strings.HasPrefix(value, "./") || strings.HasPrefix(value, "../") ||
		strings.Contains(value, "://") || strings.Contains(value, "::") || strings.Contains(value, "**") || strings.HasPrefix(value, "urn:") {
		return true
	}
	if dollar := strings.IndexByte(value, '$'); dollar >= 0 && dollar+3 < len(value) && strings.Trim(value[dollar+1:dollar+4], "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" {
		return true
	}
	verb := strings.IndexByte(value, '%')
	return verb >= 0 && verb+1 < len(value) && strings.IndexByte("sdvqw", value[verb+1]) >= 0
}

// likely tells a secret from a word, a placeholder, an id and what stands for a
// value that is read from elsewhere.
func likely(value string, bits float64) bool {
	var letters, digits, upper, lower, others int
	for _, r := range value {
		switch {
		case '0' <= r && r <= '9':
			digits++
		case unicode.IsLetter(r):
			letters++
			if unicode.IsUpper(r) {
				upper++
			} else {
				lower++
			}
		case r != '-':
			others++
		}
	}
	if upper > 0 && lower == 0 && strings.Trim(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" && strings.Contains(value, "_") {
		return false // the name of a constant or a variable
	}
	mixed := digits > 0 || others > 0 && upper > 0 && lower > 0
	return letters > 0 && mixed && !uuid(value) && !commonPasswords[strings.ToLower(value)] && !template(value) && !placeholder(value) && entropy(value) >= bits
}

// bearer finds what follows the name of that scheme.
func bearer(text []byte, at int) []Place {
	end := at
	for end < len(text) && end-at < maxValueLength && (alphanumeric(text[end]) || strings.IndexByte("._~+/=-", text[end]) >= 0) {
		end++
	}
	value := string(trimmed(text[at:end]))
	if len(value) < minBearer || !likely(value, 3) || reference(value) && strings.Contains(value, ".") && !strings.HasPrefix(value, "eyJ") {
		return nil
	}
	return []Place{{at, at + len(value), kindBearer}}
}

// webToken finds a JSON web token: three parts in base64url, of which the first
// two are JSON objects (RFC 7519), or the five of an encrypted one (RFC 7516).
func webToken(text []byte, at int) (Place, bool) {
	if at > 0 && (alphanumeric(text[at-1]) || text[at-1] == '_' || text[at-1] == '-') {
		return Place{}, false
	}
	end := at
	var starts []int
	for part := 0; part < 5; part++ {
		start := end
		for end < len(text) && (alphanumeric(text[end]) || text[end] == '_' || text[end] == '-') {
			end++
		}
		if end-start < 10 && part != 1 {
			break
		}
		if starts = append(starts, end); end == len(text) || text[end] != '.' {
			break
		}
		end++
	}
	switch {
	case len(starts) == 5:
		return Place{at, starts[4], kindJWT}, true
	case len(starts) >= 3 && bytes.HasPrefix(text[starts[0]+1:], []byte("eyJ")):
		return Place{at, starts[2], kindJWT}, true
	}
	return Place{}, false
}
