package retrieval

import (
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// Encoding names the byte-pair encoding in which budgets are counted.
const Encoding = "cl100k_base"

// bpe loads the vocabulary (some 8 ms, 3.5 MB) when the first text is counted.
// It is asked for by itself: choosing among all encodings would link those too.
var bpe = sync.OnceValue(codec.NewCl100kBase)

// CountTokens is the number of tokens of a text in [Encoding].
func CountTokens(text string) int { return countTokens(text) }

// Counts may be added over lines that start with a visible character and end
// with a line feed: the encoding never joins such a line with the one before,
// so a block's count is the sum of its segments'.
func countTokens(text string) int {
	if text == "" {
		return 0
	}
	n, err := bpe().Count(strings.ToValidUTF8(text, "\uFFFD"))
	if err != nil {
		// The splitting pattern has no time limit and the text is valid UTF-8,
		// so this cannot happen; a byte is never less than a token.
		return len(text)
	}
	return n
}
