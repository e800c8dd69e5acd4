package phrase

import (
	"strings"
	"sync"
	"unicode"

	"github.com/writbus/writ/schemas/lazyregexp"
	"github.com/writbus/writ/schemas/wordset"
)

// text is a prompt cut into sentences, without code, quotations and quoted
// lines.
type text struct {
	sentences []sentence
	doubtful  bool // holds a sign of refusal or doubt (👎 ❌ 🤔)
	thumbs    bool // holds a sign of assent (👍 ✅)
}

type sentence struct {
	clauses []clause
	end     byte // '.', '?', ':', '~' (dots that trail off) or 0
	bullet  bool // an item of a list
	cited   bool // its line is a program's, a form's or a document's: a box, a difference, a comment, a log, a shell, what stands below a heading
	dangles bool // ends with a conjunction: "approved yet", "approved but"
	line    int  // number of its line
}

// clause is a part of a sentence between commas, dashes, brackets, emoji or
// conjunctions.
type clause struct {
	words []string // lower case, contractions resolved
	conj  string   // the conjunction it begins with, if any
	colon bool     // stands behind a colon
	name  bool     // all its words have capitals, and not because a sentence begins

	// form and weight are what [approvalForm] and [goAheadClause] say of its words,
	// found when they are first asked for: most prompts are judged for several gates.
	form   func() (Gate, bool)
	weight func() (Gate, int)
}

// Words that stand for what was set aside.
const (
	codeWord  = "<code>"
	quoteWord = "<quote>"
)

func (c clause) String() string { return strings.Join(c.words, " ") }

// words is the text as one string of words.
func (t text) words() string {
	var all []string
	for _, s := range t.sentences {
		all = append(all, s.words()...)
	}
	return strings.Join(all, " ")
}

func (s sentence) words() []string {
	var all []string
	for _, c := range s.clauses {
		if c.conj != "" {
			all = append(all, c.conj)
		}
		all = append(all, c.words...)
	}
	return all
}

var (
	fence      = lazyregexp.New("(?s)(?:```|~~~).*?(?:```|~~~|$)")
	codeSpan   = lazyregexp.New("`[^`\n]*`")
	quotedLine = lazyregexp.New(`(?m)^[ \t]*>.*$`)
	// asked is the question, quoted, that an approval answers.
	asked      = lazyregexp.New(`^[ \t>]*(?:(?:(?:do|would|can|could|will) you )?(?:please )?approve(?: (?:it|this))?( (?:the|this) (?:plan|tests))?|(?:shall|should|may|can) i (?:start|begin|proceed|continue|go ahead)(?: now)?|(?:(?:please |kindly )*(?:read|review|check|look at) (?:it|plan\.md|the (?:plan|tests))(?:,| and)+ )?(?:please )?(?:reply|answer|type|say) "?approved?"?(?: (?:to|and) (?:continue|proceed|start))?)[.?! \t]*$`)
	doubleQ    = lazyregexp.New(`(?s)"[^"]*"|“[^”]*”|«[^»]*»|„[^“”]*[“”]`)
	singleQ    = lazyregexp.New(`(^|[\s(\[:,])'([^'\n]*(?:[\pL\pN]'[\pL][^'\n]*)*)'($|[\s)\].,;:!?])`)
	smile      = lazyregexp.New(`(^|\s)[:=8]'?-?[)D\]](\s|$|[.,!])`)
	grimace    = lazyregexp.New(`(^|\s)(?:[:;=8xX]'?-?[)D(PpOo/\\|\]]|-[._]-|[oO][._][oO]|\^\^)(\s|$|[.,!])`)
	bulletMark = lazyregexp.New(`^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+`)
	box        = lazyregexp.New(`(?:^|[^\pL\pN])(?:\[[ _.xX✓✔✗-]*\]|\([ _]+\)|[☐☑☒□⬜◻▢]|_{2,}(?:[^\pL\pN]|$))`)
	citedLine  = lazyregexp.New(`^[ \t]*(?:\+|--|//|/\*|<!--|;;|[|●○⏺⎿│┃╰╭▶►])[ \t]|\(\d+(?:\.\d+)? ?m?s\)$|^[A-Z][a-z]+(?:-[a-z]+)*-by: `)
	shellLine  = lazyregexp.New(`^[ \t]*(?:(?:[$❯➜%]|>>>|PS [^>]*>)[ \t]|(?:PASS|FAIL|SKIP|RUN|INFO|WARN|ERROR|DEBUG|TRACE)[ \t:]|(?:not )?ok \d)`)
	logTag     = lazyregexp.New(`^[ \t]*\[[^\]]{2,}\][ \t]`)
	struck     = lazyregexp.New(`~~[^~\n]+~~`)
	braces     = lazyregexp.New(`\{[^{}\n]*\}`)
	thumbsUp   = lazyregexp.New(`:(?:\+1|thumbsup|ok_hand|white_check_mark|heavy_check_mark|rocket|tada|shipit|clap|pray|smile|slightly_smiling_face|heart|muscle):`)
	shortcode  = lazyregexp.New(`(^|\s):[a-z][\w+-]*:`)
	arrow      = lazyregexp.New(`[-=]+>|→|⇒`)
	shouting   = lazyregexp.New(`![!1]*1\b`)
	tight      = lazyregexp.New(`(\pL),(\pL)`)
	opening    = lazyregexp.New(`<([A-Za-z][\w:-]*)(?:\s[^<>]*)?>`)
	closing    = lazyregexp.New(`</([A-Za-z][\w:-]*)\s*>`)
	caption    = lazyregexp.New(`(?m)^[ \t]*(?:-{3,}|={3,})(?:[ \t]+\S.*[ \t](?:-{3,}|={3,}))?[ \t]*$`)
	optionMark = lazyregexp.New(`^(--?)([A-Za-z][\w-]*)`)
	underline  = lazyregexp.New(`^={3,}[ \t]*$`)
	// document is a line with which a document, a mail, or what another wrote in a
	// chat begins.
	document = lazyregexp.New(`^[ \t]*#{1,6}[ \t]|(?i)^[ \t]*(?:from|subject|sent|date|von|betreff|gesendet|de|objet|envoyé|asunto|enviado|oggetto|onderwerp):[ \t]*\S` +
		`|\b(?:wrote|writes|said|says|replied|schrieb|schreibt|écrit|escribió|ha scritto|skrev|schreef):[ \t]*$` +
		`|^[ \t]*(?:[\[(]?\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?[\])]?[ \t]+\pL[\pL'.-]*(?:[ \t]+\pL[\pL'.-]*)?|\pL[\pL'.-]*(?:[ \t]+\pL[\pL'.-]*)?[ \t,—–-]+[\[(]?\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?[\])]?):?[ \t]*$`)
)

var unify = strings.NewReplacer("\r\n", "\n", "\r", "\n", "’", "'", "‘", "'", "ʼ", "'", "´", "'", "＇", "'",
	"\u200b", "", "\u200c", "", "\u200d", "", "\ufeff", "", "\ufe0f", "", "\u00ad", "", "\u00a0", " ", "—", " — ", "–", " – ",
	"。", ". ", "！", "! ", "？", "? ", "，", ", ", "：", ": ", "、", ", ", "¿", " ? ", "¡", " ")

// read cuts a prompt into sentences and clauses.
func read(prompt string) text { return readText(setAside(prompt)) }

// setAside takes code, quotations and quoted lines out of a prompt.
func setAside(prompt string) string {
	s := withoutElements(unify.Replace(prompt))
	s = replaced(s, "`~", fence, " "+codeWord+" ")
	s = replaced(s, "`", codeSpan, " "+codeWord+" ")
	if strings.Contains(s, ">") {
		s = quotedLine.Regexp().ReplaceAllStringFunc(s, func(line string) string {
			if m := asked.FindStringSubmatch(strings.ToLower(line)); m != nil {
				return m[1] + ":" // the gate that it names
			}
			return quoteWord
		})
	}
	s = replaced(s, "\"“«„", doubleQ, " "+quoteWord+" ")
	s = replaced(s, "'", singleQ, "$1 "+quoteWord+" $3")
	if len(s) > 2*maxText {
		return s // too long to be judged, whatever signs stand in it
	}
	s = replaced(s, "~", struck, " ")
	s = replaced(s, "{", braces, " "+codeWord+" ")
	s = replaced(s, ":", thumbsUp, " 👍 ")
	s = replaced(s, ":", shortcode, "$1 🤔 ")
	s = replaced(s, ">→⇒", arrow, " "+codeWord+" ")
	s = replaced(s, "!", shouting, "!")
	s = replaced(s, ",", tight, "$1, $2")
	return grimace.ReplaceAllString(smile.ReplaceAllString(s, "$1 , $2"), "$1 🤔 $2")
}

// replaced replaces what an expression finds, each of whose finds holds one of some
// marks: most texts hold none, and an expression reads a text a hundred times slower.
func replaced(s, marks string, what *lazyregexp.Regexp, by string) string {
	if !strings.ContainsAny(s, marks) {
		return s
	}
	return what.ReplaceAllString(s, by)
}

// withoutElements takes out what hosts and documents put between tags, such as a
// background task's report or what is selected in an editor, and what stands
// between lines that are rules, with a caption or without, as files that a host
// appends do. It goes from the first mark to the last of its kind, so that what
// stands in between cannot end it. Without a last one, what a captioned rule or a
// tag alone on its line begins goes to the end.
func withoutElements(s string) string {
	if at := caption.Regexp().FindAllStringIndex(s, -1); len(at) > 1 {
		s = s[:at[0][0]] + quoteWord + s[at[len(at)-1][1]:]
	} else if len(at) == 1 && strings.Trim(s[at[0][0]:at[0][1]], "-=* \t") != "" {
		s = s[:at[0][0]] + quoteWord
	}
	if !strings.Contains(s, "<") {
		return s
	}
	ends := map[string]int{} // behind the last closing tag, by name
	for _, at := range closing.Regexp().FindAllStringSubmatchIndex(s, -1) {
		ends[s[at[2]:at[3]]] = at[1]
	}
	var out strings.Builder
	kept := 0 // what stands before it is in out, or taken out
	for _, at := range opening.Regexp().FindAllStringSubmatchIndex(s, -1) {
		start, after := at[0], at[1]
		end := ends[s[at[2]:at[3]]]
		begins := start == 0 || s[start-1] == '\n'
		switch {
		case start < kept:
			continue
		case end >= after:
		case begins && (after == len(s) || s[after] == '\n') && s[start:after] != quoteWord:
			end = len(s)
		default:
			continue
		}
		out.WriteString(s[kept:start])
		if kept = end; !begins || end < len(s) && s[end] != '\n' { // a part of a sentence
			out.WriteString(" " + quoteWord + " ")
		}
	}
	return out.String() + s[kept:]
}

func readText(s string) text {
	var t text
	console := false // what follows a command of a shell is its output
	foreign := false // what follows the beginning of a document is its text
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		console = shellLine.MatchString(line) || console && strings.TrimSpace(line) != ""
		foreign = foreign || document.MatchString(line) || i+1 < len(lines) && underline.MatchString(lines[i+1]) && strings.TrimSpace(line) != ""
		t.readLine(line, i, console || foreign || cited(line))
	}
	return t
}

// cited tells whether a line is no sentence of the user's by its form.
func cited(line string) bool {
	return box.MatchString(line) || citedLine.MatchString(line) || logTag.MatchString(line)
}

func (t *text) readLine(line string, number int, cited bool) {
	cut := bulletMark.ReplaceAllString(line, "")
	b := sentenceBuilder{text: t, line: number, bullet: cut != line, cited: cited}
	for _, field := range strings.Fields(cut) {
		t.doubtful = t.doubtful || t.thumbs && strings.Trim(field, "?") == ""
		b.field(field)
	}
	b.endSentence(0)
}

type sentenceBuilder struct {
	text   *text
	line   int
	bullet bool
	cited  bool
	cur    sentence
	clause clause
}

// field takes one piece between white space apart: marks before, the word,
// marks behind.
func (b *sentenceBuilder) field(f string) {
	if strings.Contains(f, "=") && strings.Trim(f, ":=!<+?") == "" {
		b.clause.words = append(b.clause.words, "=")
		return
	}
	if option(f) {
		b.clause.words = append(b.clause.words, codeWord)
		return
	}
	f = b.emoji(f)
	core := strings.TrimLeft(f, "*_~([{#.,;:!?-–—…")
	if strings.ContainsAny(f[:len(f)-len(core)], "([{–—-") {
		b.endClause()
	}
	lead := f[:len(f)-len(core)]
	if strings.ContainsAny(lead, "?") {
		b.endSentence('?')
	} else if strings.ContainsAny(lead, ".…;!") {
		b.endSentence(endMark(lead))
	} else if strings.ContainsAny(lead, ",:") {
		b.endClause()
	}
	if lead == "!" && core != "" { // not, as programs write it
		b.clause.words = append(b.clause.words, codeWord)
		return
	}
	word := strings.TrimRight(core, "*_~)]}.,;:!?–—…")
	trail := core[len(word):]
	b.word(word)
	switch {
	case strings.Contains(trail, "?"):
		b.endSentence('?')
	case strings.ContainsAny(trail, ".…;!"):
		b.endSentence(endMark(trail))
	case strings.Contains(trail, ":"):
		b.endClause()
		b.clause.colon = true
	case strings.ContainsAny(trail, ",)]}–—"):
		b.endClause()
	}
}

// option tells whether a field is an option of a command line: --approve, -y.
func option(f string) bool {
	m := optionMark.FindStringSubmatch(f)
	if m == nil {
		return false
	}
	word := strings.ToLower(m[2])
	return len(m[1]) > 1 || len(word) == 1 || mentions(resolve(word)) || strongGoAhead.MatchString(word)
}

func endMark(marks string) byte {
	if strings.Contains(marks, "…") || strings.Contains(marks, "..") {
		return '~'
	}
	return '.'
}

// Signs that go with an approval; every other one is a doubt.
const (
	assentSigns   = "👍👌✅✔🆗💯"
	pleasantSigns = "🚀🎉🎊🙂😀😃😄😁😊☺🤗🙏👏🙌💪🥳✨🌟⭐🤝🫡😎❤💚💙🧡💛💜♥👋☕🏁▶"
)

// emoji takes signs out of a field; they separate clauses as commas do.
func (b *sentenceBuilder) emoji(f string) string {
	var sb strings.Builder
	for _, r := range f {
		if r < 0x2000 || !unicode.In(r, unicode.So, unicode.Sk, unicode.Co) && !strings.ContainsRune("✖✗✘", r) {
			sb.WriteRune(r)
			continue
		}
		thumbs := strings.ContainsRune(assentSigns, r)
		b.text.thumbs = b.text.thumbs || thumbs
		b.text.doubtful = b.text.doubtful || thumbs && strings.HasSuffix(f, "?") || !thumbs && !unicode.Is(unicode.Sk, r) && !strings.ContainsRune(pleasantSigns, r)
		sb.WriteByte(',')
	}
	return sb.String()
}

// dashWords separate clauses when they stand alone.
func (b *sentenceBuilder) word(w string) {
	if w == "" {
		return
	}
	capital := unicode.IsUpper([]rune(w)[0]) && strings.ToUpper(w) != w
	b.clause.name = capital && (b.clause.name || len(b.clause.words) == 0 && b.mayName())
	w = strings.ToLower(w)
	if w == "/" || w == "&" || w == "+" {
		w = "and"
	}
	for _, p := range resolve(w) {
		if b.clause.conj == "so" && len(b.clause.words) == 0 && degree[p] {
			b.rejoin()
		}
		if conjunctions[p] {
			b.endClause()
			b.clause.conj = p
			continue
		}
		b.clause.words = append(b.clause.words, p)
	}
}

// mayName tells whether a word with a capital can be a name here: behind a comma,
// or first on a line of its own. At other beginnings any word has a capital.
func (b *sentenceBuilder) mayName() bool {
	n := len(b.text.sentences)
	return len(b.cur.clauses) > 0 || n > 0 && b.text.sentences[n-1].line != b.line
}

// degree are the words before which "so" joins no clauses.
var degree = set("long fast quickly much")

// rejoin undoes the cut before a "so" that is no conjunction.
func (b *sentenceBuilder) rejoin() {
	b.clause = clause{}
	if n := len(b.cur.clauses); n > 0 {
		b.clause = b.cur.clauses[n-1]
		b.cur.clauses = b.cur.clauses[:n-1]
	}
	b.clause.words = append(b.clause.words, "so")
}

func (b *sentenceBuilder) endClause() {
	switch {
	case len(b.clause.words) > 0:
		words := b.clause.words
		b.clause.form = sync.OnceValues(func() (Gate, bool) { return approvalForm(words) })
		b.clause.weight = sync.OnceValues(func() (Gate, int) { return goAheadClause(words, nil) })
		b.cur.clauses = append(b.cur.clauses, b.clause)
		b.clause = clause{}
	case b.clause.conj == "then": // "okay then, approved"
		b.clause.conj = ""
	}
}

func (b *sentenceBuilder) endSentence(mark byte) {
	colon := b.clause.colon && len(b.clause.words) == 0
	if b.clause.conj == "so" && len(b.clause.words) == 0 {
		b.rejoin()
	}
	b.endClause()
	b.cur.dangles = openEnds[b.clause.conj]
	b.clause = clause{}
	if mark == 0 && colon {
		mark = ':'
	}
	if len(b.cur.clauses) == 0 {
		if n := len(b.text.sentences); mark == '?' && n > 0 && b.text.sentences[n-1].line == b.line {
			b.text.sentences[n-1].end = '?'
		}
		return
	}
	b.cur.end, b.cur.bullet, b.cur.line, b.cur.cited = mark, b.bullet, b.line, b.cited
	b.text.sentences = append(b.text.sentences, b.cur)
	b.cur = sentence{}
}

// openEnds leave a sentence that ends with them unfinished.
var openEnds = set("yet or but nor because however though although")

var conjunctions = set("and but so because then or however though although yet nor")

// contractions that a suffix rule does not resolve.
var contractions = map[string]string{
	"can't": "can not", "cannot": "can not", "cant": "can not", "won't": "will not", "wont": "will not",
	"shan't": "shall not", "ain't": "is not", "aint": "is not", "let's": "let us", "lets": "let us",
	"im": "i am", "ive": "i have", "thats": "that is", "youre": "you are", "theyre": "they are",
	"isnt": "is not", "arent": "are not", "wasnt": "was not", "werent": "were not", "dont": "do not",
	"doesnt": "does not", "didnt": "did not", "hasnt": "has not", "havent": "have not", "hadnt": "had not",
	"wouldnt": "would not", "shouldnt": "should not", "couldnt": "could not", "y'all": "you",
	"thx": "thanks", "thanx": "thanks", "tnx": "thanks", "apprvd": "approved", "thankyou": "thank you", "plese": "please", "loks": "looks", "gud": "good", "gr8": "great", "gn": "good night", "nite": "night", "tmrw": "tomorrow", "ty": "thanks", "tysm": "thanks", "tyvm": "thanks", "plz": "please", "pls": "please", "okey": "okay", "looksgood": "looks good",
	"re-approve": "approve", "reapprove": "approve", "re-approved": "approved", "reapproved": "approved",
	"goahead": "go ahead", "as-is": "as is", "nvm": "never mind", "go-ahead": "go ahead", "sgtm": "sounds good to me", "oki": "ok", "100%": "fully", "10/10": "great", "a+": "great", "tl;dr": "in short", "r": "are", "u": "you",
}

var suffixes = strings.NewReplacer("n't", " not", "'m", " am", "'re", " are", "'ve", " have", "'ll", " will", "'d", " would")

// isAfter are the words behind which 's is short for "is".
var isAfter = set("it that this he she what who where how here there everything something anything all plan one")

// resolve gives the words a token stands for, with slips of approve(d) mended.
func resolve(w string) []string {
	if full, ok := contractions[w]; ok {
		return strings.Fields(full)
	}
	if stem, ok := strings.CutSuffix(w, "'s"); ok && isAfter[stem] {
		return []string{stem, "is"}
	}
	if words := strings.Fields(suffixes.Replace(w)); len(words) == 2 {
		return words
	}
	return []string{mend(swapped(drawn(w)))}
}

// typed are words in which people often swap two letters.
var typed = set("thanks thank please looks good ahead you plan proceed the")

// swapped gives the word that one with two neighbouring letters swapped stands for.
func swapped(w string) string {
	for i := range len(w) - 1 {
		if right := w[:i] + w[i+1:i+2] + w[i:i+1] + w[i+2:]; typed[right] {
			return right
		}
	}
	return w
}

// drawnOut are words whose letters people draw out: "yesss", "gooo".
var drawnOut = set("so hi hey yes yep yeah yea yup ok okay go sure nice cool good great perfect please thanks lgtm")

// drawn gives the word that one with letters drawn out stands for.
func drawn(w string) string {
	if short := squeezed(w, 1); drawnOut[short] {
		return short
	}
	return squeezed(w, 2)
}

// squeezed leaves at most so many of a letter in a row.
func squeezed(w string, most int) string {
	last, run := rune(0), 0
	return strings.Map(func(r rune) rune {
		if run++; r != last {
			last, run = r, 1
		}
		if run > most && unicode.IsLetter(r) {
			return -1
		}
		return r
	}, w)
}

var set = wordset.Of
