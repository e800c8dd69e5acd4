package host

import (
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
	"github.com/writbus/writ/schemas/wordset"
)

//go:embed words.txt
var wordLists string

// Words of keys under which reading tools are told what to read, and how much of
// it. Under any other key may stand a file to write, a program to run, or a deed.
var (
	asked      = wordset.In(wordLists, "asked")
	askedWhole = wordset.In(wordLists, "askedWhole")
	howMuch    = words(`include includes included exclude excludes excluded with without show is has only max min num total per return returns`)
	// A key that ends so says which, and of what kind; its value is no path.
	identity = words(`id ids iid uid udid uids uuid slug number`)
	kinds    = words(`name names type types label format status statuses state states size limit num filter version`)
	// besides are deeds that stand in keys, beside those that stand in names.
	besides = words(`fix fixes install update upgrade sync export import persist merge download dump store output run keep call process exec post set close stop build`)
	// A key that ends with a place is read from where these stand before it.
	ends       = words(`dest destination into onto to target out output save`) // name where something goes
	places     = words(`path paths file files filepath filepaths uri uris url urls dir dirs directory directories folder folders cwd root roots workdir`)
	placedWith = wordset.In(wordLists, "placedWith")
	// free hold conditions and values, whose keys are those of what is read.
	free = words(`filter filters where sort projection match query_body variables properties conditions`)
	// slashed end the keys whose values have slashes and dots without being paths.
	slashed = wordset.In(wordLists, "slashed")
)

// argument looks through what a tool is given.
type argument struct {
	tool, server []string
	files        bool // it writes the files that it names
	reads        bool // its name says that it reads
	host         bool // it is the host's own, and may take what no list has
	placed       bool // it is given a path
	free         bool // it stands among conditions
	seen         *int
}

// of says what of an input is more than reading takes.
func (a argument) of(input map[string]json.RawMessage) string {
	a.seen = new(int)
	keys := slices.Sorted(maps.Keys(input))
	a.placed = slices.ContainsFunc(keys, func(key string) bool { return pathNames[keyWords(key)] })
	for _, key := range keys {
		var value any
		if json.Unmarshal(input[key], &value) != nil {
			return "its input cannot be read"
		}
		if text, is := value.(string); is && a.placed && a.reads && anAddress.MatchString(text) && has(keyWords(key), places) {
			return "it is given an address, and a file beside it"
		}
		if why := a.look(keyWords(key), value, 0); why != "" {
			return why
		}
	}
	return ""
}

// known reports whether a reading tool is told under a key what to read.
func (a argument) known(key string) bool {
	list := strings.Split(key, "_")
	last := list[len(list)-1]
	switch {
	case a.free || !a.reads || askedWhole[key] || deedNames[key] || queryNames[key] || codeNames[key] || argumentNames[key]:
		return true
	case a.host:
		return !some(list, writes) && !some(list, besides)
	case key == "filename" || key == "file_name":
		return some(a.tool, captures)
	case some(list, writes), last == "first" && len(list) > 1, list[0] == "commit" && len(list) > 1 && !identity[last] && last != "sha" && last != "hash":
		return false
	case places[last]:
		return readFrom(list)
	case howMuch[list[0]] || kinds[last] || last == "only" || last == "by":
		return !some(list, besides)
	}
	return identity[last] || !slices.ContainsFunc(list, other)
}

// other tells of a word of a key that it says neither what is read nor where.
func other(w string) bool {
	one := strings.TrimSuffix(w, "s")
	if several, is := strings.CutSuffix(w, "ies"); is {
		one = several + "y"
	}
	return !asked[w] && !asked[one] && !asked[strings.TrimSuffix(one, "e")] && !places[w]
}

// odd are the keys that no list has, of which no word is a deed or a place, with the
// plain words that they are given, and the input without them.
func (a argument) odd(input map[string]json.RawMessage) (pairs []string, rest map[string]json.RawMessage) {
	rest = maps.Clone(input)
	for _, key := range slices.Sorted(maps.Keys(input)) {
		word := strings.Trim(string(input[key]), `"`)
		list := append(nameWords(key), nameWords(word)...)
		if oneWord.MatchString(key) && oneWord.MatchString(word) && !a.known(keyWords(key)) &&
			!slices.ContainsFunc(list, func(w string) bool {
				return writes[w] || besides[w] || acts[w] || places[w] || ends[w] || commandNames[w]
			}) {
			pairs = append(pairs, key+"="+word)
			delete(rest, key)
		}
	}
	return pairs, rest
}

// readFrom reports whether a key names a place to read from.
func readFrom(key []string) bool {
	last := len(key) - 1
	return places[key[last]] && !slices.ContainsFunc(key[:last], func(w string) bool { return !placedWith[w] })
}

// look goes through a value, and through what is in it.
func (a argument) look(key string, value any, depth int) string {
	if *a.seen++; *a.seen > maxLooked || depth > maxDepth {
		return "its input is too large to be looked through"
	}
	within := a
	within.free = a.free || free[key]
	switch value := value.(type) {
	case bool:
		if value && (!a.known(key) || has(key, writes)) || !value && offered[key] {
			return "it is told to " + key
		}
	case float64:
		if value == 1 || !a.reads || has(key, writes) {
			return a.text(key, strconv.FormatFloat(value, 'f', -1, 64), depth)
		}
	case string:
		return a.text(key, value, depth)
	case []any:
		for _, one := range value {
			if why := a.look(key, one, depth+1); why != "" {
				return why
			}
		}
	case map[string]any:
		if len(value) > 0 && !a.known(key) {
			return "it is given " + key
		}
		for _, k := range slices.Sorted(maps.Keys(value)) {
			if why := within.look(keyWords(k), value[k], depth+1); why != "" {
				return why
			}
		}
	}
	return ""
}

// maxLooked bounds the values of an input that are looked at.
const maxLooked = 2000

var (
	oneWord   = lazyregexp.New(`^\w[\w-]{0,39}$`)
	plainWord = lazyregexp.New(`^[\w.:-]{0,64}$`)
	oneOption = lazyregexp.New(`^--\w[\w-]*=\S`)
	noPath    = lazyregexp.New("[;|`<>\n]|&&|\\$\\(")
	aPath     = lazyregexp.New(`^(?:[/~\\]|\.\.?[/\\]|[A-Za-z]:[/\\]|file:)|^[^@:\n]*(?:[/\\]|[^@:\n./\\]\.[A-Za-z]\w{0,5}$)`)
	anAddress = lazyregexp.New(`^\w+://`)
	picture   = lazyregexp.New(`^[\w-][\w .-]*\.(?:png|jpe?g|webp|pdf)$`)
	// readOptions are the options of programs that read which have them do no more.
	readOptions = lazyregexp.New(`^(?:[^-]\S*|-\d*|-[nAlaqvsi1hpr]\d*|-o(?:=?(?:json|ya?ml|wide|name))?|--(?:no-[\w-]+|oneline|(?:short|num|dir)?stat|pretty|format|graph|decorate|all|name-only|name-status|cached|staged|json|since|until|after|before|author|grep|max-count|abbrev|date|reverse|merges|first-parent|follow|word-diff|patch|unified|namespace|all-namespaces|selector|show-labels|sort-by|sort|tail|limit|request-timeout|verbose|quiet|version|help|colou?r|ignore-case|recursive|depth|max-depth|line-number|count|files|type|glob|hidden)(?:=\S*)?)$`)
	configured  = lazyregexp.New(`^\w+(?:\.\w+)+=`)
	formats     = words(`json yaml yml wide name text markdown md html csv table custom-columns xml plain raw compact full`)
	shellSigns  = lazyregexp.New("[;|&`<>\n]|\\$\\(")
)

func (a argument) text(key, value string, depth int) string {
	if value == "" {
		return ""
	}
	switch {
	case commandNames[key]:
		return "it is given a command"
	case a.files:
		return "" // the content of a file may be anything
	case codeNames[key] && (value[0] == '-' || !plainWord.MatchString(value)):
		return "it is given code"
	case queryNames[key] && !a.asks(key, value), !queryNames[key] && some(slices.Concat(a.tool, a.server), databases) && writingStatement.MatchString(value):
		return "it is given a query that may write"
	case deedNames[key] && !readingName(nameWords(value), nil) && slices.ContainsFunc(nameWords(value), func(w string) bool { return writes[w] || acts[w] }):
		return "it is told to " + value[:min(len(value), 40)]
	case nothing[strings.ToLower(value)]:
		return ""
	case !a.known(key) && !(key == "output" && formats[strings.ToLower(value)]), a.reads && a.placed && key == "content" && some(a.tool, fetching):
		return "it is given " + key + ", which may be more than what to read"
	case !has(key, sought) && !argumentNames[key] && oneOption.MatchString(value), pathNames[key] && (strings.HasPrefix(value, "--") || noPath.MatchString(value)):
		return "it is given an option, or a command, for another value"
	case argumentNames[key] && (shellSigns.MatchString(value) || configured.MatchString(value) || slices.ContainsFunc(strings.Fields(value), func(w string) bool { return !readOptions.MatchString(w) })):
		return "it is given options that may write, or run another program"
	case aPath.MatchString(value) && !anAddress.MatchString(value) && !picture.MatchString(value) && !a.from(key):
		return "it is given a file to write"
	}
	if value = strings.TrimSpace(value); strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[") {
		var inner any
		if json.Unmarshal([]byte(value), &inner) == nil {
			return a.look(key, inner, depth+1)
		}
	}
	return ""
}

// from reports whether what stands under a key may look like a path: it is one to
// read from, or it is none. What is looked at in a browser is kept in a file.
func (a argument) from(key string) bool {
	list := strings.Split(key, "_")
	last := list[len(list)-1]
	if some(a.tool, captures) && (places[last] || last == "name" || last == "target" || !slashed[last]) || key == "to" && a.placed && some(a.tool, fetching) {
		return false
	}
	return a.free || a.host && a.reads && a.known(key) || identity[last] || askedWhole[key] || readFrom(list) ||
		slashed[last] && !(a.reads && kinds[last] && slices.ContainsFunc(list, other))
}
