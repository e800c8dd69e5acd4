package host

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// Words of keys under which reading tools are told what to read, and how much of
// it. Under any other key may stand a file to write, a program to run, or a deed.
var (
	asked = words(`about absolute account active address adjusted after agent aggregate aggregation album alert all alphabetical altitude am anchor annual api app approximate archived area
		args arguments article artist as asc asn assigned assignee at audience author base bbox before begin between bin body booted bound branch brand breakdown broker browser
		bucket by byte calculation calendar case category cell channel char character chat chunk citation city class client cluster code cohort collection color colour column
		comment commit compatible component condition consumer contact container content context count country cql created creator currency current cursor customer cutoff cve cvss
		cwe cycle cypher daily dashboard data database dataset datasource date day deep default delimiter dependent deprecated depth desc description detail detailed device diff
		dimension direct direction dns document doi domain duration ecosystem element elevation email encoding end ending entity entry env environment error event exact example
		exchange expand expiration explanation expr expression extension extract failed feature feed field filter first fiscal flag flags forecast format formula fragment framework
		freshness from full funnel fuzzy genre geo geometry glob granularity grep group hash head height hidden histogram host hour hourly i identifier ids ignore image inactive
		inclusive index indices info insensitive instance interval ip isbn iso issue item job journal jql key keyword kind label lang language last lat latest latitude layer league
		length level library licence license like limit line link list lng locale location logql lon longitude lookback market mask match max me member memory message metadata
		method metric milestone mime min mine minimal minute mode model module month monthly ms multiline my name namespace natural near needed nesting next node not nrql number
		object of offset oldest op operation operator opt options or order ordering org organization original os outline overview owner ownership p package page pagelen param parameters part
		participant path pattern percentile period person phrase pid place platform player pods port position postal prefer preferred prefix prerelease preserved previous price
		priority product profile project projection prompt promql property protocol provider province proximity purl q quarter query question queue radius range rating raw recent
		recursive ref reference regex regexp region relation release relevance replica repo repository request resolution resource result return rev reviewer revision role room row
		safesearch sample schema scheme scope score scroll search season second section segment selector semver sender sensitive sensitivity sentiment server service session
		severity sha shard sheet short signature since single site size skip slice snippet sort source space span sprint stable stage start starting state statement static
		statistic statistics stats status step string subject substring subtasks suffix summary symbol system tab table tag tail target task team temperature term text thought
		thread threshold ticker ticket time timeframe timeout timestamp timezone title token top topic total trace transitive ts type tz unit unread until updated usage user
		username utc value variables variant verb verbose verbosity version view viewport visibility visible volume website week weekly width wiki word workspace x y yanked year
		yearly z zip zone zoom`)
	askedWhole = words(`to noparams no_params output_mode output_format log_level log_type log_group_name log_stream_name convert_to_markdown download_count issue_id_or_key minimal_output
		skip_ignored_files restrict_search_to_code_files registries id_or_url namespaced graphql_query paths_include_glob paths_exclude_glob dependency start_rfc3339 end_rfc3339
		enabled directory_to_search truncate_mode path_in_project image_path image_url page_url video_url object_path action`)
	howMuch = words(`include includes included exclude excludes excluded with without show is has only max min num total per return returns`)
	// A key that ends so says which, and of what kind; its value is no path.
	identity = words(`id ids iid uid udid uids uuid slug number`)
	kinds    = words(`name names type types label format status statuses state states size limit num filter version`)
	// besides are deeds that stand in keys, beside those that stand in names.
	besides = words(`fix fixes install update upgrade sync export import persist merge download dump store output run keep call process exec post set close stop build`)
	// A key that ends with a place is read from where these stand before it.
	places     = words(`path paths file files filepath filepaths uri uris url urls dir dirs directory directories folder folders cwd root roots workdir`)
	placedWith = words(`absolute api base code current cwd directory doc document documents exclude excluded file first folder full git include included issue left manifest module name notebook old
		original package post project region relative repo repository right root scan search second site sort source start test web wiki work working workspace`)
	// free hold conditions and values, whose keys are those of what is read.
	free = words(`filter filters where sort projection match query_body variables properties conditions`)
	// slashed end the keys whose values have slashes and dots without being paths.
	slashed = words(`category categories id ids uid slug key keys query queries q pattern patterns glob globs regex regexp expr expression term terms keyword keywords string thought prompt question message messages
		title name names ref refs rev revision range target base head branch commit sha tag tags topic topics timezone library repo repository project prefix suffix delimiter jql cql
		logql promql search filter selector domain owner section sections scope package module version value values label labels resource resources mask fields since until text
		content description body comment code function method args arguments flags options opts params parameters author source sources document notebook input element email entity
		region link links sql cypher statement statements time timestamp summary subject reason host site new_string old_string new_text old_text types symbol symbols packages
		operation namespace`)
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
