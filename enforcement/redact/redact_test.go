package redact

import (
	"strings"
	"testing"
)

// secret is a key id that looks like one, put together so that this file holds
// none.
var secret = "AKIA" + "Q3EGRZ7MNB4KXVPT"

func TestWholeKeysAreRedacted(t *testing.T) {
	body := strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n", 1) +
		"q7Zk2pXw4LmR8tYv1NcE6hGdB3sJ9oFiUaKxQeWzPyTr5MbVnHjCl0DgSfOu+I/A\n"
	begin, end := "-----BEGIN "+"PRIVATE KEY-----\n", "-----END "+"PRIVATE KEY-----"
	for _, c := range []struct{ in, want string }{
		{"before\n" + begin + body + end + "\nafter", "before\n[redacted:private-key]\nafter"},
		{"cut off\n" + begin + body, "cut off\n[redacted:private-key]"},
		{"cut off\n" + begin + body + "\nWhy does it not load?", "cut off\n[redacted:private-key]Why does it not load?"},
		{"the end\n" + body + end + ".", "the end\n[redacted:private-key]."},
		{`{"key": "` + strings.ReplaceAll(begin+body+end, "\n", `\n`) + `\n"}`, `{"key": "[redacted:private-key]\n"}`},
		{"key: |\n  " + strings.ReplaceAll(begin+body+end, "\n", "\n  ") + "\nport: 1", "key: |\n  [redacted:private-key]\nport: 1"},
		{`"` + strings.ReplaceAll(begin+body+end, "\n", `\n" +`+"\n\"") + `"`, `"[redacted:private-key]"`},
		{strings.ReplaceAll("a\n"+begin+body+end+"\nb", "\n", "\r\n"), "a\r\n[redacted:private-key]\r\nb"},
		{"x " + secret + " " + secret + " " + secret + ".", "x [redacted:aws-access-key] [redacted:aws-access-key] [redacted:aws-access-key]."},
		{strings.Repeat("a line of text\n", 200_000) + secret, strings.Repeat("a line of text\n", 200_000) + "[redacted:aws-access-key]"},
		{"\x00\xff" + secret + "\xfe", "\x00\xff[redacted:aws-access-key]\xfe"},
	} {
		if got := Text(c.in); got != c.want {
			t.Errorf("%.100q became %.200q", c.in, got)
		}
	}
}
