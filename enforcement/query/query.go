// Package query reads what a data base is asked: statements of SQL and its dialects, of
// Cypher and GraphQL, and scripts of MongoDB's shell.
//
// What it says to only read does, whichever of the dialects it is read in. Of what
// dialects read in different ways – comments, backslashes, quotes within other quotes –
// it does not say so. It parses nothing, and knows no names of a schema.
package query

import (
	_ "embed" // the words
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
	"github.com/writbus/writ/schemas/wordset"
)

//go:embed words.txt
var lists string

var (
	// calls are words that stand before a bracket in queries that read.
	calls = wordset.In(lists, "calls")
	// scripted are those of a script, in small letters.
	scripted = wordset.In(lists, "script")

	begins = lazyregexp.New(`(?is)^\s*\(*\s*(?:select|with|explain|show|describe|desc|values|match|optional\s+match|return|unwind|query\b|fragment\b|\{|pragma\s+(?:\w+\.)?(?:(?:table_info|table_xinfo|table_list|index_list|index_info|index_xinfo|foreign_key_list|foreign_key_check|integrity_check|quick_check)\s*(?:\(\s*['"]?[\w.]*['"]?\s*\))?|database_list|user_version|schema_version|journal_mode|page_size|page_count|encoding|foreign_keys|compile_options|function_list|collation_list)\s*;?\s*$)`)
	writes = lazyregexp.New(`(?i)\b(?:insert|update|delete|drop|create|alter|truncate|merge|grant|revoke|attach|detach|vacuum|copy|into|call|exec|execute|load|kill|shutdown|backup|restore|bulk|declare|waitfor|reindex|mutation|subscription|set|remove|foreach|dbcc|deny|reconfigure)\b`)
	called = lazyregexp.New(`(\w+)["\]` + "`" + `]?\s*\(`)
	with   = lazyregexp.New(`(?i)^\s*with\s+(?:recursive\s+)?\w+`)
	// made begins a statement that shows how something was made, and shown ends one.
	made  = lazyregexp.New(`(?i)^show\s+create\b`)
	shown = lazyregexp.New(`(?:;|\\G)$`)
	graph = lazyregexp.New(`^\s*(?:query\b|fragment\b|\{)`)
	// What is told in more than one way.
	dollarQuote = lazyregexp.New(`\$\w*\$`)
	quoted      = lazyregexp.New(`'[^']*'`)
	nestedQuote = lazyregexp.New(`"[^"]*'[^"]*"|\[[^\]]*'[^\]]*\]|` + "`[^`]*'[^`]*`")

	scriptBegins = lazyregexp.New(`^\s*(?:(?:db|rs|sh)\.|show\s+\w+\s*$|print(?:json)?\(|(?:EJSON|JSON)\.stringify\()`)
	scriptWrites = lazyregexp.New(`(?i)\$(?:out|merge|function|accumulator)\b|[\])}]\s*\(|\]\s*:|\[\s*[a-z_]\w*\s*\]|\[[^\]]*['"]\s*\+|\b(?:drop|delete|remove|create|update|insert|function|import)\w*\s*(?:[(\],)]|['"]\s*\])|(?:^|[^=!<>])=(?:[^=>]|$)`)
)

// Reads reports whether one statement of a query language does nothing but read.
func Reads(query string) bool {
	query = made.Regexp().ReplaceAllString(shown.Regexp().ReplaceAllString(strings.TrimSpace(query), ""), "show")
	if strings.ContainsAny(query, "\\#;") || dollarQuote.MatchString(query) || strings.Contains(query, "/*") || strings.Contains(query, "--") || nestedQuote.MatchString(query) {
		return false
	}
	query = quoted.Regexp().ReplaceAllString(query, "''")
	if !begins.MatchString(query) || writes.MatchString(query) {
		return false
	}
	if graph.MatchString(query) {
		return true // its fields take arguments like calls
	}
	return onlyCalls(with.Regexp().ReplaceAllString(query, ""), calls)
}

// AllRead is Reads for all statements of a text, or of a script.
func AllRead(text string) bool {
	some := false
	for statement := range strings.SplitSeq(text, ";") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if some = true; strings.Count(statement, "'")%2 != 0 || strings.Count(statement, `"`)%2 != 0 || !Reads(statement) && !scriptReads(statement) {
			return false
		}
	}
	return some
}

// scriptReads is Reads for a statement of a script.
func scriptReads(statement string) bool {
	return scriptBegins.MatchString(statement) && !scriptWrites.MatchString(statement) && !strings.ContainsAny(statement, "\\`") && onlyCalls(statement, scripted)
}

// onlyCalls reports whether all that a text calls is among the words.
func onlyCalls(text string, words map[string]bool) bool {
	return !slices.ContainsFunc(called.Regexp().FindAllStringSubmatch(text, -1), func(call []string) bool {
		return !words[strings.ToLower(call[1])]
	})
}
