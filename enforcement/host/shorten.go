package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

const (
	// MaxPayload is the largest payload, in bytes, that is judged as a host sent it:
	// the largest file a host sends whole, escaped.
	MaxPayload = 24 << 20
	// MaxRead is the largest that is read at all.
	MaxRead = 8 * MaxPayload
	// MaxPrompt is how much of a prompt is read, in bytes: judging that takes a tenth of
	// a second. It is also what stays of a text in a payload that is too large.
	MaxPrompt = 256 << 10
)

// leftOut stands at the end of a text that was cut, with the reason.
const leftOut = " bytes left out by writ: "

// Shorten cuts the long texts of a payload that is larger than MaxPayload, so that a
// prompt or what came of a tool is seen all the same. A call that asks for something
// is not to be judged by what is left. It returns an error for what is no JSON, or
// is too large still.
func Shorten(payload []byte) ([]byte, error) {
	tooLarge := fmt.Errorf("the payload is larger than %d MiB", MaxPayload>>20)
	short, err := rewritten(payload, func(text string) string {
		if len(text) <= MaxPrompt {
			return text
		}
		return cut(text, MaxPrompt, tooLarge.Error())
	})
	switch {
	case err != nil:
		err = fmt.Errorf("%w, and no JSON: %w", tooLarge, err)
	case len(short) > MaxPayload:
		err = tooLarge
	}
	return short, err
}

// ShortenPrompt cuts a prompt that is longer than MaxPrompt, and says whether that was
// done, here or before. What is left acts for nobody: its end is not the user's.
func ShortenPrompt(prompt string) (short string, done bool) {
	switch end := prompt[max(0, len(prompt)-100):]; {
	case strings.Contains(end, leftOut):
		return prompt, true
	case len(prompt) <= MaxPrompt:
		return prompt, false
	}
	return cut(prompt, MaxPrompt, fmt.Sprintf("of a prompt the first %d KiB are read", MaxPrompt>>10)), true
}

// ShortenPrompts cuts the prompts in a payload, or returns it as it is.
func ShortenPrompts(payload []byte) []byte {
	short, err := rewritten(payload, func(text string) string {
		text, _ = ShortenPrompt(text)
		return text
	})
	if err != nil {
		return payload
	}
	return short
}

func cut(text string, kept int, why string) string {
	return fmt.Sprintf("%s… (%d%s%s)", strings.ToValidUTF8(text[:kept], ""), len(text)-kept, leftOut, why)
}

func rewritten(payload []byte, each func(string) string) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	var all any
	if err := decoder.Decode(&all); err != nil {
		return nil, err
	}
	return json.Marshal(walked(all, each))
}

func walked(value any, each func(string) string) any {
	switch v := value.(type) {
	case string:
		return each(v)
	case []any:
		for i := range v {
			v[i] = walked(v[i], each)
		}
	case map[string]any:
		for name := range v {
			v[name] = walked(v[name], each)
		}
	}
	return value
}
