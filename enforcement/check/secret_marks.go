package check

import (
	"bytes"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// A mark is how an issuer begins its credentials. Where formats demand the
// whole form, a mark takes what was shortened, cut off or is of a later version.
type mark struct {
	prefix, kind string
	alphabet     string
	least, most  int // of characters behind the prefix
}

// Alphabets of credentials, beside letters and digits.
const (
	plain  = ""
	dashed = "_-"
	dotted = "_-."
	base64 = "+/="
	hexed  = "hex"
	upped  = "upper"
)

// kindIssued is a credential of an issuer that has no kind of its own.
const kindIssued = "api-key"

// marksByStart has the marks by their first byte. The prefixes are those that
// the issuers document.
var marksByStart = func() (by [256][]mark) {
	for _, m := range []struct {
		kind, prefixes, alphabet string
		least, most              int
	}{
		{"aws-access-key", "AKIA ASIA ABIA ACCA", upped, 16, 16},
		{"github-token", "ghp_ gho_ ghu_ ghs_ ghr_", plain, 30, 255},
		{"github-fine-grained-token", "github_pat_", dashed, 36, 255},
		{"gitlab-token", "glpat- gldt- glptt- glrt- glagent- glimt- glsoat- glcbt- glft- gloas-", dotted, 18, 255},
		{"slack-token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe.xoxp- xoxe.xoxb- xoxo- xoxp- xoxr- xoxs- xapp-", "-%", 18, 400},
		{"stripe-key", "sk_live_ rk_live_ sk_test_ rk_test_", plain, 10, 255},
		{"stripe-webhook-secret", "whsec_", base64, 16, 128},
		{"openai-key", "sk-proj- sk-svcacct- sk-admin-", dashed, 20, 255},
		{"anthropic-key", "sk-ant-", dashed, 20, 255},
		{kindIssued, "sk-or-v1- sk-lf- sk- gsk_ xai- pplx- r8_ fw_ tgp_v1_ sk_ rnd_ nfp_ vcp_ bkua_ waka_ ntn_ tfp_", plain, 24, 255},
		{kindIssued, "nvapi- lsv2_pt_ lsv2_sk_ tskey- xkeysib- sntrys_ sntryu_ CCIPAT_ dp.pt. dp.st. dp.ct. glc_ fo1_ fm2_ CFPAT- ops_eyJ sk.eyJ HRKU- shippo_live_ EZAK duffel_live_", dashed, 24, 512},
		{kindIssued, "AKCp cmVmd secret_ FLWSECK_ CLOJARS_", plain, 32, 255},
		{kindIssued, "pul- sqp_ squ_ sqa_ pnu_", plain, 36, 255},
		{kindIssued, "dt0c01. dt0s01. v1.0-", dotted, 60, 400},
		{"google-api-key", "AIza", dashed, 30, 60},
		{"google-oauth-secret", "GOCSPX-", dashed, 20, 60},
		{"google-oauth-token", "ya29. 1//0", dotted, 24, 512},
		{"npm-token", "npm_", plain, 30, 60},
		{"pypi-token", "pypi-AgE", dashed, 24, 400},
		{"rubygems-key", "rubygems_", hexed, 32, 64},
		{"docker-token", "dckr_pat_ dckr_oat_", dashed, 20, 60},
		{"sendgrid-key", "SG.", dotted, 40, 80},
		{"digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", hexed, 32, 64},
		{"twilio-key", "SK", hexed, 32, 32},
		{"mailgun-key", "key-", hexed, 32, 32},
		{"shopify-token", "shpat_ shpca_ shppa_ shpss_", hexed, 24, 40},
		{"square-token", "sq0atp- sq0csp- sq0idp-", dashed, 20, 60},
		{"databricks-token", "dapi", hexed, 32, 32},
		{"huggingface-token", "hf_ api_org_", plain, 28, 60},
		{"vault-token", "hvs. hvb. hvr.", dashed, 20, 400},
		{"grafana-token", "glsa_", dashed, 30, 60},
		{"linear-key", "lin_api_ lin_oauth_", plain, 30, 60},
		{"postman-key", "PMAK-", dashed, 40, 80},
		{"newrelic-key", "NRAK- NRII- NRJS- NRIQ-", dashed, 20, 60},
		{"figma-token", "figd_ figu_ figo_", dashed, 30, 60},
		{"atlassian-token", "ATATT3 ATCTT3 ATBB", "_=-", 24, 255},
		{"supabase-key", "sbp_ sb_secret_", dashed, 24, 60},
		{"planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", dotted, 24, 80},
		{"age-key", "AGE-SECRET-KEY-1 AGE-PLUGIN-", upped, 30, 255},
		{"discord-token", "M N O", dotted, 50, 80},
	} {
		for _, p := range strings.Fields(m.prefixes) {
			by[p[0]] = append(by[p[0]], mark{p, m.kind, m.alphabet, m.least, m.most})
		}
	}
	return by
}()

// discordToken is the form of a bot's token, whose mark is but a letter: an id
// in base64, a time and a code.
var discordToken = lazyregexp.New(`^[\w-]{22,28}\.[\w-]{6}\.[\w-]{27,40}$`)

// at tells whether a credential with this mark starts at a place.
func (m *mark) at(text []byte, at int) (Place, bool) {
	if second := m.prefix[len(m.prefix)/2]; len(text)-at < m.least || text[at+len(m.prefix)/2] != second || !bytes.HasPrefix(text[at:], []byte(m.prefix)) {
		return Place{}, false
	}
	start := at + len(m.prefix)
	end := start
	for end < len(text) && end-start <= m.most && m.has(text[end]) {
		end++
	}
	end = start + len(bytes.TrimRight(text[start:end], "."))
	if end-start < m.least || end-start > m.most || end < len(text) && m.alphabet != base64 && alphanumeric(text[end]) {
		return Place{}, false
	}
	value := string(text[start:end])
	if m.kind == "discord-token" && !discordToken.MatchString(string(text[at:end])) || placeholder(value) || entropy(value) < 2.8 || uuid(value) {
		return Place{}, false
	}
	cased := strings.ToLower(value) != value && strings.ToUpper(value) != value && m.alphabet == plain && len(value) >= 20
	if !cased && !(strings.ContainsAny(value, "0123456789") && strings.ContainsAny(strings.ToLower(value), "abcdefghijklmnopqrstuvwxyz")) {
		return Place{}, false
	}
	return Place{at, end, m.kind}, true
}

func (m *mark) has(c byte) bool {
	switch m.alphabet {
	case hexed:
		return '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'f'
	case upped:
		return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z'
	default:
		return alphanumeric(c) || strings.IndexByte(m.alphabet, c) >= 0
	}
}

// A context is what stands around a credential that has no name.
type context struct {
	kind    string
	need    []string // of which a text with such a credential holds one
	re      *lazyregexp.Regexp
	certain bool // by its form; what is told by its place must look like a secret
}

const word = `["']?([^\s"'|;&\\]+)`

var contexts = []context{
	{kindPassword, []string{"mysql", "mariadb"}, lazyregexp.New(`\b(?:mysql|mariadb)\w*(?:-\w+)?[ \t](?:[^\n|;&]*?[ \t])??-p` + word), false},
	{kindPassword, []string{"-u ", "--user", "curl "}, lazyregexp.New(`[ \t](?:-\w*u|--user|--proxy-user)[ =]["']?[\w.@+-]+:([^\s"']+)`), false},
	{kindPassword, []string{"sshpass"}, lazyregexp.New(`\bsshpass[ \t]+-p[ \t]*` + word), false},
	{kindPassword, []string{"redis-cli"}, lazyregexp.New(`\bredis-cli[ \t](?:[^\n|;&]*?[ \t])??-a[ \t]+` + word), false},
	{kindPassword, []string{"ldap"}, lazyregexp.New(`\bldap(?:search|modify|add|delete|passwd|whoami)[ \t](?:[^\n|;&]*?[ \t])??-w[ \t]*` + word), false},
	{kindPassword, []string{" login "}, lazyregexp.New(`\blogin[ \t](?:[^\n|;&]*?[ \t])??-p[ =]` + word), false},
	{kindPassword, []string{"pass:"}, lazyregexp.New(`[ \t"']pass:` + word), false},
	{kindPassword, []string{"sudo -S", "-stdin"}, lazyregexp.New(`\b(?:echo|printf)[ \t]+(?:-n[ \t]+)?` + word + `["']?[ \t]*\|[^\n|]*(?:sudo -S|password-stdin)`), false},
	{kindPassword, []string{"smbclient"}, lazyregexp.New(`\bsmbclient[ \t][^\n|;&]*?-U[ \t]*["']?[\w.\\-]+%` + word), false},
	{kindPassword, []string{"ssh-keygen"}, lazyregexp.New(`\bssh-keygen[ \t](?:[^\n|;&]*?[ \t])??-[NP][ \t]*` + word), false},
	{kindPassword, []string{"uth=(", "uth(", "ogin(", "ignIn(", "ign_in("}, lazyregexp.New(`(?:[aA]uth=?|[lL]ogin|[sS]ign_?[iI]n)\(\s*["'][^"'\n]+["']\s*,\s*["']([^"'\n]+)["']`), false},
	{kindPassword, []string{":5432:", ":*:"}, lazyregexp.New(`(?m)(?:^|\s)[\w.*-]+:(?:\d{2,5}|\*):[\w*-]+:[\w*-]+:([^\s:]+)`), false},
	{kindCookie, []string{"-b ", "--cookie"}, lazyregexp.New(`[ \t](?:-b|--cookie)[ =]["']?[\w.-]+=([^"'\s;]{10,})`), false},
	{"password-hash", []string{"$1$", "$2", "$5$", "$6$", "$7$", "$y$", "$apr1$", "$argon2", "$scrypt$"}, lazyregexp.New(`\$(?:2[abxy]?\$\d\d\$[./A-Za-z0-9]{40,53}|(?:1|5|6|7|y|gy|apr1)\$[^\s:$'"]{1,40}\$(?:[./A-Za-z0-9]{1,22}\$)?[./A-Za-z0-9]{16,90}|(?:argon2(?:id|i|d)|scrypt)\$[^\s:'"]{30,200})`), true},
	{"password-hash", []string{"pbkdf2", "SSHA", "SCRAM-SHA-"}, lazyregexp.New(`\bpbkdf2_\w+\$\d+\$[^\s:$'"]+\$[A-Za-z0-9+/=]{20,}|\{SSHA\d*\}[A-Za-z0-9+/=]{24,}|\bSCRAM-SHA-\d+\$\d+:[A-Za-z0-9+/=$:]{40,}`), true},
	{"slack-webhook", []string{"hooks.slack.com/"}, lazyregexp.New(`hooks\.slack\.com/\w+/([\w/]{24,})`), false},
	{"teams-webhook", []string{".webhook.office.com/"}, lazyregexp.New(`\.webhook\.office\.com/webhookb2/([^\s"'<>]{40,})`), true},
	{"mailchimp-key", []string{"-us"}, lazyregexp.New(`\b([0-9a-f]{32}-us\d{1,2})\b`), true},
	{"aws-secret-key", []string{"AKIA", "ASIA"}, lazyregexp.New(`(?:AKIA|ASIA)[A-Z0-9]{16}\b[^A-Za-z0-9+/][\s\S]{0,48}?\b([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)`), false},
}

// in adds what a text holds of it.
func (c *context) in(text []byte, held *byteSet, found []Place) []Place {
	for _, n := range c.need {
		if !held.has(text, n) {
			continue
		}
		for _, at := range c.re.Regexp().FindAllSubmatchIndex(text, -1) {
			start, end := at[0], at[1]
			if len(at) > 2 && at[2] >= 0 {
				start, end = at[2], at[3]
			}
			if value := string(text[start:end]); c.certain && !placeholder(value) || len(value) >= minPassword && !reference(value) && likely(value, 2.2) {
				found = append(found, Place{start, end, c.kind})
			}
		}
		break
	}
	return found
}

// userinfo finds the password, or the token, before the host of an address.
func userinfo(text []byte, sign int) (Place, bool) {
	start := sign + len("://")
	end, at := start, -1
	for end < len(text) && end-start < 400 && text[end] > ' ' && strings.IndexByte("/?#\"'`<>|,\\", text[end]) < 0 {
		if text[end] == '@' {
			at = end
		}
		end++
	}
	if sign == 0 || !alphanumeric(text[sign-1]) || at < 0 || at+1 == end || !alphanumeric(text[at+1]) && text[at+1] != '[' {
		return Place{}, false
	}
	name, password, both := bytes.Cut(text[start:at], []byte(":"))
	if !both {
		// A token stands alone; so does the name of somebody.
		if value := string(name); len(value) >= minBearer && likely(value, 3) {
			return Place{start, at, "url-password"}, true
		}
		return Place{}, false
	}
	value := strings.ToLower(string(password))
	digits := strings.ContainsAny(value, "0123456789")
	speaks := strings.Contains(value, "pass") || strings.Contains(value, "pwd") || strings.Contains(value, "secret") || strings.Contains(value, "token")
	if len(value) < 4 || speaks && !digits || commonPasswords[value] || value == strings.ToLower(string(name)) || template(value) || placeholder(value) {
		return Place{}, false
	}
	return Place{at - len(password), at, "url-password"}, true
}

// keyLine is a line of a private key: base64, or a header of it.
var keyLine = lazyregexp.New(`^(?:[A-Za-z0-9+/]{16,}={0,2}|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): [^<>{}]*|=[A-Za-z0-9+/]{4})$`)

// privateKey finds a private key around the words of its first or last line,
// whether both are there or one was cut off.
func privateKey(text []byte, words int) (Place, bool) {
	from := max(words-24, 0)
	if begin := bytes.LastIndex(text[from:words], []byte("-----BEGIN ")); begin >= 0 {
		rest := text[words+len("PRIVATE KEY"):]
		open := bytes.Index(rest[:min(len(rest), len(" BLOCK-----"))], []byte("-----"))
		if open < 0 {
			return Place{}, false
		}
		start := words + len("PRIVATE KEY") + open + len("-----")
		end := start
		short := false
		for end < len(text) && !short {
			line, next := keyPiece(text[end:])
			if bytes.HasPrefix(line, []byte("-----END")) {
				if end > start {
					end += bytes.Index(text[end:], line) + len(line)
				}
				break
			}
			// The last line of a key is a short one.
			if short = end > start && len(line) > 0 && len(line) < 64 && len(bytes.Trim(line, keyAlphabet)) == 0; len(line) > 0 && !short && !keyLine.Regexp().Match(line) {
				break
			}
			end += next
		}
		return Place{from + begin, end, "private-key"}, end > start && keyBytes(text[start:end])
	}
	begin := bytes.LastIndex(text[from:words], []byte("-----END "))
	if begin < 0 {
		return Place{}, false
	}
	start, end := from+begin, words+len("PRIVATE KEY")
	if closing := text[end:min(end+len(" BLOCK-----"), len(text))]; bytes.Contains(closing, []byte("-----")) {
		end += bytes.Index(closing, []byte("-----")) + len("-----")
	}
	for start > 0 {
		line := text[max(start-maxKeyLine, 0):start]
		line = line[bytes.LastIndexByte(line[:len(line)-1], '\n')+1:]
		if !keyLine.Regexp().Match(bytes.Trim(line, keyPadding)) && (start != from+begin || len(bytes.Trim(line, keyAlphabet+keyPadding)) > 0) {
			break
		}
		start -= len(line)
	}
	return Place{start, end, "private-key"}, keyBytes(text[start : from+begin])
}

const (
	maxKeyLine  = 4 << 10
	keyAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
	keyPadding  = " \t\r\n\"'`,+"
)

// keyPiece is the next line of a key, however it is written down: in a file, in
// a quoted text with its escapes, or in pieces that a program puts together.
func keyPiece(text []byte) (line []byte, size int) {
	text = text[:min(len(text), maxKeyLine)]
	size = len(text)
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		size = end + 1
	}
	if escape := bytes.Index(text[:size], []byte(`\n`)); escape >= 0 {
		size = escape + len(`\n`)
	}
	line = bytes.TrimSuffix(text[:size], []byte(`\n`))
	return bytes.Trim(bytes.TrimSuffix(line, []byte(`\r`)), keyPadding), size
}

// keyBytes tells whether there is something of a key.
func keyBytes(text []byte) bool {
	return len(bytes.TrimSpace(text)) >= 32 && entropy(string(text)) >= 3 && !bytes.Contains(text, []byte("..."))
}
