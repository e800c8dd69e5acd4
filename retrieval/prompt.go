package retrieval

import (
	"regexp"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/wordset"
)

// What the form of a text tells of what it asks for, in English. In other
// languages none of these words stand, and the text counts as a task.
var (
	// asking are words that begin a question about how things are.
	asking = wordSet(`what what's which who whose when where is are do does did can could has have was were`)
	// askingHow follow how in such a question; what follows in others asks for advice.
	askingHow = wordSet(`do does did is can big long many much exactly are old`)
	// chores are verbs that begin an order to look, to run or to move something,
	// which takes no judgement of code.
	chores = wordSet(`show list print open run rerun restart start stop kill find search grep read look count compare
		describe explain summarise summarize translate convert draw display cat tell walk format sort rename move align
		capitalise swap turn undo revert push pull merge rebase amend squash tag checkout commit stash pick remind launch
		bring install count`)
	// telling are phrases that ask for an account of something or move versions, wherever they stand.
	telling = []string{
		"tell me", "explain", "walk me through", "give me an overview", "show me",
		"commit message", "last commit", "this commit", "merge conflict", "pull request", "this branch", "my branch", "a branch", "feature branch",
	}
	// editors are what developers work with at their own desk, never the project's.
	editors = wordSet(`vscode vim nvim neovim emacs intellij pycharm rider xcode ide zshrc bashrc dotfiles tmux`)
	// replies begin an answer to what was said before, or a greeting.
	replies = wordSet(`no nope nah yes yeah yep ok okay sure thanks thank wait sorry hm hmm continue again you hi hey hello
		wow great nice perfect cool awesome good well done lol haha oops ah oh fine right exactly`)
)

var wordSet = wordset.Of

// leading is what may stand in front of an order that follows on from a talk. Its
// second group are the words that lead over to the order.
var leading = regexp.MustCompile(`^(?i:(yes|yeah|yep|ok|okay|sure|thanks|thank you|great|nice|perfect|cool|awesome|good|fine|right|well|hm+|hi|hey|wait|so|maybe|please)|` +
	`(now|next|then|also|and|can you|could you|would you|how about|what about|why not|let's))[,.!:;–—-]*\s+`)

// Order is a text without the talk that leads over to an order: "great, now the
// Dockerfile" asks for a Dockerfile, and "could you make it faster" for speed. A reply
// alone leads to none ("wow, it takes 20 ms"), nor does what orders a look at something.
func Order(text string) string {
	rest, leads := text, false
	for at := leading.FindStringSubmatchIndex(rest); at != nil; at = leading.FindStringSubmatchIndex(rest) {
		rest, leads = rest[at[1]:], leads || at[4] >= 0
	}
	if f := formOf(rest); !leads || f.chore || f.question || len(strings.Fields(rest)) < 2 {
		return text
	}
	return rest
}

// form is what the words of a text tell of its kind, whatever it is about.
type form struct {
	question bool // asks how things are
	aside    bool // asks why, answers, or is about an editor
	chore    bool // orders something to be looked at, run, moved or told
	mark     bool // has a question mark
	words    map[string]bool
	plain    string // the words with one space between
}

// formOf reads a text.
func formOf(text string) form {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("+#'./", r)
	})
	f := form{mark: strings.Contains(text, "?"), words: make(map[string]bool, len(words))}
	for i, word := range words {
		word = strings.Trim(word, "./'")
		words[i] = word
		f.words[word] = true
		f.aside = f.aside || editors[word]
		if i == 0 {
			f.chore, f.aside = chores[word], f.aside || word == "why" || replies[word]
			f.question = asking[word] || word == "how" && len(words) > 1 && askingHow[words[1]]
		}
	}
	f.plain = strings.Join(words, " ")
	f.chore = f.chore || slices.ContainsFunc(telling, func(phrase string) bool { return strings.Contains(f.plain, phrase) })
	return f
}

// formParts is how many numbers a form is to the line between tasks and talk, and
// formScale how much one of them is beside a vector of length one.
const (
	formParts = 4
	formScale = 0.3
)

// parts are the form as numbers.
func (f form) parts() [formParts]float64 {
	return [formParts]float64{
		formScale * Indicate(f.question), formScale * Indicate(f.aside), formScale * Indicate(f.chore), formScale * Indicate(f.mark),
	}
}

// Placed is what the line between tasks and talk looks at: a constant, a text's
// vector and its form.
func Placed(text string, v []float32) []float64 {
	return placed(formOf(text), v)
}

func placed(f form, v []float32) []float64 {
	x := make([]float64, 1, 1+len(v)+formParts)
	x[0] = 1
	for _, value := range v {
		x = append(x, float64(value))
	}
	parts := f.parts()
	return append(x, parts[:]...)
}
