package dialect

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Result is what came of one command.
type Result struct {
	Verb string
	Args string // shortened in the frame
	// Trust labels a body that the agent must not take orders from: "web",
	// "file", "agent", "mcp" … "" for Writ's own words.
	Trust string
	Body  string
	// End is how many bytes at the end of the body stay, whatever of it is cut.
	End int
}

// maxHeading bounds the arguments repeated in a frame, in bytes.
const maxHeading = 200

const nonceLen = 8

var nonceCoding = base32.NewEncoding("abcdefghijkmnpqrstuvwxyz23456789").WithPadding(base32.NoPadding)

// Frames renders one batch of results as the text of a message. Every marker
// carries a nonce made from seed, which is random bytes that nobody who wrote a
// result knew (16 at least), and which occurs in no result: whatever a body says,
// it can neither end its frame nor begin another one. Bodies are cut to
// l.Body and to what is left of l.Batch.
func (l Limits) Frames(seed []byte, results []Result) string {
	parts := make([]Result, len(results))
	bodies := l.Shown(results)
	for i, r := range results {
		r.Verb, r.Trust = heading(r.Verb), heading(r.Trust)
		r.Args, r.Body = heading(r.Args), bodies[i]
		parts[i] = r
	}
	nonce := pickNonce(seed, parts)
	var out strings.Builder
	for _, r := range parts {
		fmt.Fprintf(&out, "[%s ·%s]\n", strings.TrimRight("/"+r.Verb+" "+r.Args, " "), nonce)
		if r.Trust != "" {
			fmt.Fprintf(&out, "untrusted: %s\n", r.Trust)
		}
		out.WriteString(r.Body)
		if r.Body != "" && !strings.HasSuffix(r.Body, "\n") {
			out.WriteByte('\n')
		}
		fmt.Fprintf(&out, "[END %s ·%s]\n", strings.ToUpper(r.Verb), nonce)
	}
	fmt.Fprintf(&out, "[END TOOL RESULTS ·%s]\n", nonce)
	return out.String()
}

// Shown returns the bodies of a batch as its frames show them: valid UTF-8, cut
// to l.Body and to what is left of l.Batch.
func (l Limits) Shown(results []Result) []string {
	bodies := make([]string, len(results))
	left := l.Batch
	for i, r := range results {
		bodies[i] = CutBefore(strings.ToValidUTF8(r.Body, "\uFFFD"), min(l.Body, max(left, 0)), r.End)
		left -= len(bodies[i])
	}
	return bodies
}

// heading makes one short line of a text.
func heading(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) <= maxHeading {
		return s
	}
	end := maxHeading
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// pickNonce takes the first of a row of nonces that is in no result.
func pickNonce(seed []byte, results []Result) string {
	for n := uint64(0); ; n++ {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(append([]byte("writ frame\x00"), seed...), n))
		nonce := nonceCoding.EncodeToString(sum[:])[:nonceLen]
		taken := false
		for _, r := range results {
			taken = taken || occurs(nonce, r)
		}
		if !taken {
			return nonce
		}
	}
}

// occurs compares without case, as a reader would.
func occurs(nonce string, r Result) bool {
	for _, s := range []string{r.Verb, r.Args, r.Trust, r.Body} {
		if strings.Contains(strings.ToLower(s), nonce) {
			return true
		}
	}
	return false
}
