package check

import (
	"bytes"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// formats are the credentials that are told by their form alone. Each issuer
// documents its prefix, length and alphabet so that scanners can tell them.
var formats = []format{
	marked("aws-access-key", "An AWS access key id", 3, `(?:AKIA|ASIA)[A-Z2-7]{16}`, "AKIA", "ASIA"),
	{
		kind: "aws-secret-key", title: "An AWS secret access key", need: []string{"ws_", "wss", "wsS", "WS_", "WSS", "WSs", "Ws_", "Wss", "WsS", "wS_", "wSs", "wSS"}, entropy: 4,
		re: lazyregexp.New(`(?i)aws_?secret_?(?:access_?)?key["']?\s*(?:[:=]|=>|,)\s*["']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)`),
	},
	marked("google-api-key", "A Google API key", 4, `AIza[0-9A-Za-z_-]{35}`, "AIza"),
	marked("google-oauth-secret", "A Google OAuth client secret", 4, `GOCSPX-[A-Za-z0-9_-]{28}`, "GOCSPX-"),
	{
		kind: "github-token", title: "A GitHub token", need: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"},
		re: lazyregexp.New(`\bgh[pousr]_[A-Za-z0-9]{36}\b`), valid: func(m found) bool { return githubToken(m.secret) },
	},
	marked("github-fine-grained-token", "A GitHub token", 4, `github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}`, "github_pat_"),
	marked("gitlab-token", "A GitLab token", 3.5, `gl(?:pat|dt|ptt|rt|agent|imt|soat|cbt)-[A-Za-z0-9_-]{20,64}`, "glpat-", "gldt-", "glptt-", "glrt-", "glagent-", "glimt-", "glsoat-", "glcbt-"),
	marked("slack-token", "A Slack token", 3.5, `xox[abeoprs]-(?:\d{8,14}-){1,3}[A-Za-z0-9-]{20,}`, "xox"),
	marked("slack-app-token", "A Slack app token", 3.5, `xapp-\d-[A-Z0-9]{8,14}-\d{10,14}-[a-f0-9]{64}`, "xapp-"),
	marked("slack-webhook", "A Slack webhook", 3.5, `https://hooks\.slack\.com/(?:services|workflows)/T[A-Z0-9]{8,12}/[A-Z0-9]{8,14}/[A-Za-z0-9]{22,26}`, "hooks.slack.com/"),
	marked("discord-webhook", "A Discord webhook", 4, `https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d{17,20}/[A-Za-z0-9_-]{60,72}`, "/api/webhooks/"),
	marked("stripe-key", "A live Stripe key", 3.5, `(?:sk|rk)_live_[A-Za-z0-9]{24,107}`, "sk_live_", "rk_live_"),
	marked("stripe-webhook-secret", "A Stripe webhook secret", 4, `whsec_[A-Za-z0-9+/]{32,64}`, "whsec_"),
	marked("openai-key", "An OpenAI key", 4, `sk-[A-Za-z0-9_-]{20,80}T3BlbkFJ[A-Za-z0-9_-]{20,80}`, "T3BlbkFJ"),
	marked("anthropic-key", "An Anthropic key", 4, `sk-ant-(?:api|admin|oat)\d\d-[A-Za-z0-9_-]{80,120}`, "sk-ant-"),
	marked("npm-token", "An npm token", 4, `npm_[A-Za-z0-9]{36}`, "npm_"),
	marked("pypi-token", "A PyPI token", 4, `pypi-AgE(?:IcHlwaS5vcmc|NdGVzdC5weXBpLm9yZ)[A-Za-z0-9_-]{50,}`, "pypi-AgE"),
	marked("rubygems-key", "A RubyGems key", 3, `rubygems_[a-f0-9]{48}`, "rubygems_"),
	marked("docker-token", "A Docker Hub token", 4, `dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,}`, "dckr_"),
	marked("sendgrid-key", "A SendGrid key", 4, `SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`, "SG."),
	marked("digitalocean-token", "A DigitalOcean token", 3, `do[opr]_v1_[a-f0-9]{64}`, "_v1_"),
	marked("vault-token", "A HashiCorp Vault token", 4, `hv[sbr]\.[A-Za-z0-9_-]{90,300}`, "hvs.", "hvb.", "hvr."),
	marked("terraform-token", "A Terraform Cloud token", 4, `[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}`, ".atlasv1."),
	marked("shopify-token", "A Shopify token", 3, `shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}`, "shpat_", "shpca_", "shppa_", "shpss_"),
	marked("square-token", "A Square token", 3.5, `sq0(?:atp|csp)-[A-Za-z0-9_-]{22,43}`, "sq0"),
	marked("databricks-token", "A Databricks token", 3, `dapi[a-f0-9]{32}(?:-\d)?`, "dapi"),
	marked("huggingface-token", "A Hugging Face token", 4, `hf_[A-Za-z]{34}`, "hf_"),
	marked("telegram-token", "A Telegram bot token", 4, `\d{8,10}:AA[A-Za-z0-9_-]{33}`, ":AA"),
	marked("grafana-token", "A Grafana token", 3.5, `glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}`, "glsa_"),
	marked("linear-key", "A Linear key", 4, `lin_api_[A-Za-z0-9]{40}`, "lin_api_"),
	marked("postman-key", "A Postman key", 3.5, `PMAK-[a-f0-9]{24}-[a-f0-9]{34}`, "PMAK-"),
	marked("newrelic-key", "A New Relic key", 3.5, `NRAK-[A-Z0-9]{27}`, "NRAK-"),
	marked("figma-token", "A Figma token", 4, `figd_[A-Za-z0-9_-]{38,44}`, "figd_"),
	marked("atlassian-token", "An Atlassian token", 4, `ATATT3[A-Za-z0-9_=-]{180,200}`, "ATATT3"),
	marked("supabase-key", "A Supabase key", 3, `sb(?:p|_secret)_[A-Za-z0-9_]{31,48}`, "sbp_", "sb_secret_"),
	marked("planetscale-token", "A PlanetScale token", 4, `pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,64}`, "pscale_"),
	marked("age-key", "An age private key", 4, `AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}`, "AGE-SECRET-KEY-1"),
	{
		kind: "azure-storage-key", title: "An Azure storage key", need: []string{"AccountKey="}, entropy: 4.5,
		re: lazyregexp.New(`AccountKey=([A-Za-z0-9+/]{86}==)`),
	},
	{
		kind: "azure-client-secret", title: "An Azure client secret", need: []string{"Q~"}, entropy: 4,
		re: lazyregexp.New(`(?:^|["'=\s:])([A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34})(?:["'\s,;]|$)`),
	},
	{
		kind: "nats-seed", title: "A NATS seed", need: []string{"SU", "SA", "SO", "SC", "SN", "SX"}, tests: true,
		re: lazyregexp.New(`\bS[UAOCNX][A-Z2-7]{56}\b`), valid: func(m found) bool { return natsSeed(m.secret) },
	},
	{
		kind: "private-key", title: "A private key", need: []string{"PRIVATE KEY"}, tests: true,
		re:    lazyregexp.New(`-----BEGIN (?:RSA |EC |DSA |OPENSSH |PGP )?PRIVATE KEY(?: BLOCK)?-----`),
		valid: func(m found) bool { return keyMaterial(m.after) },
	},
	{
		kind: "putty-key", title: "A private key", need: []string{"PuTTY-User-Key-File-"}, tests: true,
		re:    lazyregexp.New(`PuTTY-User-Key-File-[23]: \S+`),
		valid: func(m found) bool { return bytes.Contains(m.after, []byte("Encryption: none")) },
	},
	{
		kind: "connection-password", title: "A connection string with its password", need: []string{"://"}, entropy: 2.5, tests: true,
		re: lazyregexp.New(`\b(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|sqlserver|clickhouse|nats|tls)(?:\+\w+)?://` +
			`[^\s:/@"'<>{}$%]{1,64}:([^\s/@"'<>{}$]{6,128})@([A-Za-z0-9.-]+)`),
		valid: func(m found) bool { return realPassword(m.groups[0]) && realHost(m.groups[1]) },
	},
	{
		kind: "url-password", title: "A URL with a password", need: []string{"://"}, entropy: 3.2, tests: true,
		re:    lazyregexp.New(`\bhttps?://[^\s:/@"'<>{}$%]{1,64}:([^\s/@"'<>{}$]{12,128})@([A-Za-z0-9.-]+)`),
		valid: func(m found) bool { return realPassword(m.groups[0]) && realHost(m.groups[1]) },
	},
}

// marked is a format without a context: the expression between two bytes that
// are no part of such a token.
func marked(kind, title string, bits float64, expr string, need ...string) format {
	return format{kind: kind, title: title, need: need, entropy: bits, re: lazyregexp.New(`(?:^|[^A-Za-z0-9_./+-])(` + expr + `)(?:[^A-Za-z0-9_/+=-]|$)`)}
}

// keyMaterial tells whether a key follows its first line: base64 of some
// length, across ends of lines in any notation, that is not made up.
func keyMaterial(after []byte) bool {
	end := bytes.Index(after, []byte("-----END"))
	if end < 0 {
		end = len(after)
	}
	if bytes.Contains(after[:end], []byte("ENCRYPTED")) || bytes.Contains(after[:end], []byte("...")) {
		return false
	}
	var key []byte
	for _, line := range bytes.FieldsFunc(bytes.ReplaceAll(after[:end], []byte(`\n`), []byte("\n")), func(r rune) bool {
		return r == '\n' || r == '\r' || r == '"' || r == '\'' || r == ' ' || r == '\t' || r == '+' || r == ',' || r == '`'
	}) {
		switch {
		case bytes.ContainsAny(line, "<>{}$*"):
			return false
		case bytes.ContainsAny(line, ":."):
			continue // a header
		}
		key = append(key, line...)
	}
	return len(key) >= 64 && entropy(string(key)) >= 4.2 && !placeholder(string(key[:64]))
}

// githubToken checks the sum in the last six characters: CRC-32 of those after
// the prefix, in base 62.
func githubToken(s string) bool {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	body, sum := s[4:len(s)-6], []byte("000000")
	for i, n := 5, crc32.ChecksumIEEE([]byte(body)); i >= 0; i, n = i-1, n/62 {
		sum[i] = digits[n%62]
	}
	return string(sum) == s[len(s)-6:]
}

// natsSeed checks the sum at the end of a seed (CRC-16, polynomial 1021).
func natsSeed(s string) bool {
	raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(s)
	if err != nil || len(raw) < 4 {
		return false
	}
	crc := uint16(0)
	for _, b := range raw[:len(raw)-2] {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return binary.LittleEndian.Uint16(raw[len(raw)-2:]) == crc
}

var commonPasswords = words("password passwd passw0rd pass1234 password1 password123 secret secret123 mypassword mysecretpassword supersecret postgres mongodb rabbitmq " +
	"changeit admin123 letmein qwerty guest123 testpass testpassword testing s3cret s3cr3t hunter2 username foobar foobarbaz hello123 dbpass dbpassword userpassword pass-word pa55word password! p4ssw0rd mypass tiger minioadmin abc123 abcd1234 test123 test1234 test123! test@123 admin1234 root123 toor qwerty123 welcome1")

// realPassword tells passwords from the words that stand for them.
func realPassword(s string) bool {
	l := strings.ToLower(s)
	if commonPasswords[l] || strings.Contains(l, "pass") || strings.Contains(l, "secret") || strings.Contains(l, "token") || strings.ContainsAny(s, "*[]()|\\") {
		return false
	}
	if strings.Contains(s, "%") && strings.Count(s, "%") != percentEscapes(s) {
		return false // a verb of a format
	}
	return strings.ContainsAny(s, "0123456789") || entropy(s) >= 3.3
}

func percentEscapes(s string) int {
	n := 0
	for i := range len(s) {
		if s[i] == '%' && i+2 < len(s) {
			if _, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				n++
			}
		}
	}
	return n
}

// realHost tells hosts that others reach from those of a developer's machine
// and of documentation.
func realHost(h string) bool {
	h = strings.ToLower(strings.Trim(h, "."))
	if !strings.Contains(h, ".") || strings.HasPrefix(h, "127.") || h == "0.0.0.0" || strings.HasPrefix(h, "host.") || strings.HasPrefix(h, "my") {
		return false
	}
	for _, end := range []string{".example", ".test", ".invalid", ".localhost", ".local", ".localdomain", "example.com", "example.org", "example.net", "foo.com", "bar.com", "domain.com", "host.com", "server.com", "company.com", "mydomain.com"} {
		if h == strings.TrimPrefix(end, ".") || strings.HasSuffix(h, end) {
			return false
		}
	}
	return true
}
