package check

import (
	"encoding/base32"
	"encoding/binary"
	"strings"
	"testing"
)

// noise is text that looks random and is not: the tests write no credentials
// into the repository, they make their likes.
func noise(alphabet string, n int) string {
	var b strings.Builder
	for x := uint32(2463534242); b.Len() < n; {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b.WriteByte(alphabet[x%uint32(len(alphabet))])
	}
	return b.String()
}

const (
	alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	hexes = "0123456789abcdef"
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
)

func seedOf() string {
	raw := append([]byte{18 << 3, 0}, []byte(noise(alnum, 32))...)
	crc := uint16(0)
	for _, b := range raw {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(binary.LittleEndian.AppendUint16(raw, crc))
}

// documentedToken is the one with a right sum that GitHub has shown in public;
// it opens nothing.
const documentedToken = "ghp_" + "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ" + "0mLq17"

func key(header string) string {
	var b strings.Builder
	b.WriteString("-----BEGIN " + header + "-----\n")
	for range 8 {
		b.WriteString(noise(alnum+"+/", 64) + "\n")
	}
	b.WriteString("-----END " + header + "-----\n")
	return b.String()
}

// likes makes a text with a credential of each format.
func likes() map[string]string {
	n := func(size int) string { return noise(alnum, size) }
	return map[string]string{
		"aws-access-key": `id = "AKIA` + noise(upper, 16) + `"`, "aws-secret-key": `AWS_SECRET_ACCESS_KEY=` + noise(alnum+"/+", 40),
		"google-api-key": "key: AIza" + n(35), "google-oauth-secret": "GOCSPX-" + n(28), "github-token": documentedToken,
		"github-fine-grained-token": "github_pat_" + n(22) + "_" + n(59), "gitlab-token": "glpat-" + n(20),
		"slack-token": "xox" + "b-904817362514-719283640572-" + n(24), "slack-app-token": "xapp-1-A0B1C2D3E4F-2109876543210-" + noise(hexes, 64),
		"slack-webhook":   "https://hooks.slack.com/services/T0A1B2C3D/B4E5F6G7H/" + n(24),
		"discord-webhook": "https://discord.com/api/webhooks/998877665544332211/" + n(68),
		"stripe-key":      "sk_" + "live_" + n(24), "stripe-webhook-secret": "whsec_" + n(32), "openai-key": "sk-proj-" + n(30) + "T3Blbk" + "FJ" + n(30),
		"anthropic-key": "sk-ant-" + "api03-" + n(95), "npm-token": "npm_" + n(36), "pypi-token": "pypi-" + "AgEIcHlwaS5vcmc" + n(80),
		"rubygems-key": "rubygems_" + noise(hexes, 48), "docker-token": "dckr_pat_" + n(27), "sendgrid-key": "SG." + n(22) + "." + n(43),
		"digitalocean-token": "dop_v1_" + noise(hexes, 64), "vault-token": "hvs." + n(95), "terraform-token": n(14) + ".atlasv1." + n(64),
		"shopify-token": "shpat_" + noise(hexes, 32), "square-token": "sq0atp-" + n(22), "databricks-token": "dapi" + noise(hexes, 32),
		"huggingface-token": "hf_" + noise(alnum[:52], 34), "telegram-token": "9876543210:AA" + n(33), "grafana-token": "glsa_" + n(32) + "_" + noise(hexes, 8),
		"linear-key": "lin_api_" + n(40), "postman-key": "PMAK-" + noise(hexes, 24) + "-" + noise(hexes, 34), "newrelic-key": "NRAK-" + noise(upper, 27),
		"figma-token": "figd_" + n(40), "atlassian-token": "ATATT3" + n(186), "supabase-key": "sbp_" + noise(hexes, 40), "planetscale-token": "pscale_tkn_" + n(43),
		"age-key": "AGE-SECRET-KEY-1" + noise("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58), "azure-storage-key": "AccountKey=" + n(86) + "==",
		"azure-client-secret": `secret: "` + n(3) + "8Q~" + n(34) + `"`, "nats-seed": seedOf(), "private-key": key("RSA PRIVATE KEY"),
		"putty-key":           "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\n",
		"connection-password": "DSN=postgres://shop:Vq7" + "-tR2xLm@db.prod.acme.io:5432/shop", "url-password": "git clone https://bot:" + n(20) + "@git.acme.io/x.git",
	}
}

func TestEveryFormatIsFound(t *testing.T) {
	made := likes()
	if len(formats) < 20 {
		t.Errorf("%d formats, want 20 or more", len(formats))
	}
	for _, f := range formats {
		content, known := made[f.kind]
		if !known {
			t.Errorf("%s has no example", f.kind)
			continue
		}
		found := Secrets("src/config.py", []byte("a\n  "+content+"\nb\n"), nil)
		if len(found) != 1 || found[0].Kind != f.kind || found[0].Line != 2 {
			t.Errorf("%s: found %v in %q", f.kind, found, content)
			continue
		}
		if strings.Contains(found[0].Message+found[0].Preview, content[len(content)-8:]) {
			t.Errorf("%s: the report holds the secret: %+v", f.kind, found[0])
		}
		if got := Secrets("src/config.py", []byte("a\n  "+content+"\nb\n"), []Range{{1, 1}}); len(got) != 0 {
			t.Errorf("%s: found on a line that did not change", f.kind)
		}
	}
}

func TestWhatIsNoSecret(t *testing.T) {
	for name, content := range map[string]string{
		"documentation of AWS":        "AKIAIOSFODNN7EXAMPLE",
		"stand-in":                    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"wrong sum":                   "ghp_" + noise(alnum, 36),
		"little information":          "sk_" + "live_" + strings.Repeat("abab", 6),
		"environment":                 `token = os.environ["GITHUB_TOKEN"]`,
		"empty key":                   "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n",
		"key to fill in":              "-----BEGIN PRIVATE KEY-----\n<your key>\n-----END PRIVATE KEY-----\n",
		"name of a block":             `const header = "-----BEGIN RSA PRIVATE KEY-----"`,
		"encrypted key":               strings.Replace(key("RSA PRIVATE KEY"), "-----\n", "-----\nProc-Type: 4,ENCRYPTED\n\n", 1),
		"public key":                  key("PUBLIC KEY"),
		"variable in a connection":    "postgres://shop:${DB_PASSWORD}@db.prod.acme.io/shop",
		"format in a connection":      `"postgres://%s:%s@%s/shop"`,
		"word for a password":         "postgres://shop:password@db.prod.acme.io/shop",
		"local database":              "postgres://shop:Vq7-tR2xLm@localhost:5432/shop",
		"database of a compose file":  "postgres://shop:Vq7-tR2xLm@db:5432/shop",
		"host of documentation":       "postgres://shop:Vq7-tR2xLm@db.example.com/shop",
		"key of the storage emulator": "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
		"digest":                      "sha256:" + noise(hexes, 64),
		"part of a longer word":       noise(alnum, 30) + "AKIA" + noise(upper, 16) + noise(alnum, 30),
	} {
		if found := Secrets("src/config.py", []byte(content+"\n"), nil); len(found) > 0 {
			t.Errorf("%s: %v in %q", name, found, content)
		}
	}
}

func TestSecretsOfTests(t *testing.T) {
	for _, kind := range []string{"private-key", "nats-seed", "connection-password"} {
		content := []byte(likes()[kind])
		for name, want := range map[string]int{"server/testdata/x.pem": 0, "a_test.go": 0, "tests/conftest.py": 0, "a.test.ts": 0, "server/main.go": 1, "latest/x": 1} {
			if got := Secrets(name, content, nil); len(got) != want {
				t.Errorf("%s in %s: %d found, want %d", kind, name, len(got), want)
			}
		}
	}
	if got := Secrets("a_test.go", []byte(documentedToken), nil); len(got) != 1 {
		t.Errorf("a token in a test: %d found, want 1", len(got))
	}
}

func TestKeyInNotations(t *testing.T) {
	body := strings.TrimSpace(key("PRIVATE KEY"))
	for name, content := range map[string]string{
		"JSON":          `{"private_key": "` + strings.ReplaceAll(body, "\n", `\n`) + `"}`,
		"indented":      "key: |\n  " + strings.ReplaceAll(body, "\n", "\n  "),
		"concatenated":  `"` + strings.ReplaceAll(body, "\n", `\n" +`+"\n\"") + `"`,
		"windows lines": strings.ReplaceAll(body, "\n", "\r\n"),
	} {
		if found := Secrets("a.txt", []byte(content), nil); len(found) != 1 {
			t.Errorf("%s: %d found, want 1", name, len(found))
		}
	}
}

// TestPathsOfTests: what some keys may stand in is told from words that only end
// like a test.
func TestPathsOfTests(t *testing.T) {
	for name, want := range map[string]bool{
		"src/latest.go": false, "contest.py": false, "src/attestation.go": false, "key.go": false,
		"pay_test.go": true, "src/PayTest.java": true, "PayTests.cs": true, "test_pay.py": true, "pay.test.ts": true, "tests/key.go": true, "pay-test.js": true, "test.sh": true,
	} {
		if testPath(name) != want {
			t.Errorf("%s: %v, want %v", name, !want, want)
		}
	}
}
