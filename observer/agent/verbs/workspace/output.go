package workspace

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// output keeps the begin and the end of what a command says. It never fails and
// never blocks, so the command is not slowed down.
type output struct {
	most int // bytes kept

	mu    sync.Mutex
	head  []byte
	tail  []byte // a ring, once it is full
	at    int    // where the ring goes on
	total int64
}

// Write takes output.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.total += int64(len(b))
	rest := b
	if room := o.most/2 - len(o.head); room > 0 {
		taken := min(room, len(rest))
		o.head, rest = append(o.head, rest[:taken]...), rest[taken:]
	}
	size := o.most - o.most/2
	if len(rest) > size {
		rest = rest[len(rest)-size:]
	}
	if room := size - len(o.tail); room > 0 {
		taken := min(room, len(rest))
		o.tail, rest = append(o.tail, rest[:taken]...), rest[taken:]
	}
	for len(rest) > 0 {
		n := copy(o.tail[o.at:], rest)
		o.at, rest = (o.at+n)%size, rest[n:]
	}
	return len(b), nil
}

// text is what was kept, cut to limit bytes in the middle, on runes; cut reports
// that something is missing, and the text then says how much there was.
func (o *output) text(limit int) (text string, cut bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	head, tail := string(o.head), string(o.tail[o.at:])+string(o.tail[:o.at])
	if whole := head + tail; int64(len(whole)) == o.total {
		if len(whole) <= limit {
			return strings.ToValidUTF8(whole, "\uFFFD"), false
		}
		head, tail = whole, whole
	}
	head = head[:min(len(head), limit/2)]
	tail = tail[max(len(tail)-(limit-limit/2), 0):]
	for head != "" && !utf8.ValidString(last(head)) && utf8.RuneStart(head[len(head)-len(last(head))]) {
		head = head[:len(head)-len(last(head))]
	}
	for tail != "" && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return strings.ToValidUTF8(head, "\uFFFD") + fmt.Sprintf("\n[… cut; %d bytes in all …]\n", o.total) + strings.ToValidUTF8(tail, "\uFFFD"), true
}

// last is the last rune of a text, as far as it is there.
func last(s string) string {
	i := len(s) - 1
	for i > 0 && len(s)-i < utf8.UTFMax && !utf8.RuneStart(s[i]) {
		i--
	}
	return s[i:]
}
