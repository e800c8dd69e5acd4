package chunk

func init() {
	for name, g := range functional {
		grammars[name] = g
	}
}

// functional are the grammars of languages that are not of the C family: those
// of functions, of scripts for systems, and of settings.
var functional = map[string]*grammar{
	"elixir": {clauses: true, comments: comments{line: []string{"#"}, block: [][2]string{{"\"\"\"\n", `"""`}, {"'''\n", "'''"}}, quotes: `"`}, hints: []string{"def"}, declarations: []declaration{
		{line: re(`^(?:defmodule|defprotocol)\s+([\w.]+)`), kind: "class", container: true, inner: true},
		{line: re(`^defimpl\s+([\w.]+)`), kind: "class", container: true, inner: true},
		{line: re(`^(?:def|defp|defmacro|defmacrop)\s+(?:\w+\s+)?([^\s\w(,]+)\s*\w`), kind: "func", inner: true},
		{line: re(`^(?:def|defp|defmacro|defmacrop|defguard|defguardp|defdelegate|defn|defnp)\s+(?:unquote\(:?)?([\w?!]+)`), kind: "func", inner: true},
		{line: re(`^(defexception|defstruct)\b`), kind: "type", member: true, mark: true},
		{line: re(`^@(?:callback|macrocallback)\s+([\w?!]+)`), kind: "func", member: true, mark: true},
		{line: re(`^@(?:type|typep|opaque)\s+(\w+)`), kind: "type", member: true, mark: true},
		{line: re(`^(?:Record\.)?defrecordp?\s*\(?\s*:(\w+)`), kind: "type"},
	}},
	"erlang": {clauses: true, comments: comments{line: []string{"%"}, quotes: `"`}, declarations: []declaration{
		{line: re(`^-module\(\s*'?([\w@]+)`), kind: "class", top: true},
		{line: re(`^-record\(\s*'?([\w@]+)`), kind: "type", top: true},
		{line: re(`^-define\(\s*(\w+)`), kind: "macro", top: true, mark: true},
		{line: re(`^-(?:type|opaque)\s+'?(\w+)`), kind: "type", top: true, mark: true},
		{line: re(`^-callback\s+'?(\w+)`), kind: "func", top: true},
		{line: re(`^([a-z][\w@]*)\s*\(`), kind: "func", top: true},
		{line: re(`^'([^']+)'\s*\(`), kind: "func", top: true},
	}},
	"haskell": {clauses: true, also: re(`\{\s*([a-z_][\w']*)\s*::`), comments: comments{line: []string{"-- ", "---"}, block: [][2]string{{"{-", "-}"}}, quotes: `"`}, declarations: []declaration{
		{line: re(`^module\s+([\w.]+)`), kind: "module", top: true},
		{line: re(`^(?:data|newtype|type)\s+(?:family\s+|instance\s+)?(?:[^=]*=>\s*)?\(?([A-Z][\w']*)`), kind: "type", container: true, top: true},
		{line: re(`^class\s+(?:.*?=>\s*)?\(?([A-Z][\w']*)`), kind: "interface", container: true, top: true},
		{line: re(`^(?:foreign\s+import\s+.*?\s)([a-z_][\w']*)\s*::`), kind: "func", top: true},
		{line: re(`^(?:[{,]\s*|pattern\s+)?([a-z_A-Z][\w']*)(?:\s*,\s*[a-z_][\w']*)*\s*::`), kind: "func", mark: true},
		{line: re(`^\(([^\s\w()]+)\)(?:\s*,\s*\([^\s\w()]+\))*\s*::`), kind: "func"},
		{line: re(`^([a-z_][\w']*)\s+[\w("\[_!~'][^=:]*(?:=|\|)`), kind: "func", top: true, loose: true},
		{line: re(`^([a-z_][\w']*)\s*(?:$|=)`), kind: "func", top: true, loose: true},
	}},
	"clojure": {comments: comments{line: []string{";"}, multi: `"`}, declarations: []declaration{
		{line: re(`^\(ns\s+(?:\^\S+\s+)*([\w.\-*+!?'<>=]+)`), kind: "module", top: true},
		{line: re(`^\(\s*(?:[\w.\-]+/)?def(?:record|type|protocol|interface|struct)-?\s+(?:\^(?:\{[^}]*\}|\S+)\s+)*([^\s()\[\]{}"]+)`), kind: "type"},
		{line: re(`^\(\s*(?:[\w.\-]+/)?def[\w\-]*[!?*]?\s+(?:\^(?:\{[^}]*\}|\S+)\s+)*([^\s()\[\]{}"^:]+)`), kind: "func"},
	}},
	"lua": {comments: comments{block: [][2]string{{"--[[", "]]"}, {"--[=[", "]=]"}, {"[[", "]]"}, {"[=[", "]=]"}}, line: []string{"--"}, quotes: `"'`}, hints: []string{"function"}, declarations: []declaration{
		{line: re(`^(?:local\s+)?function\s+([\w.:]+)`), kind: "func", inner: true},
		{line: re(`^(?:local\s+)?([\w.]+)\s*=\s*function\b`), kind: "func", inner: true},
		{line: re(`^local\s+([A-Z]\w*)\s*=\s*(?:\{|class|setmetatable)`), kind: "class", top: true},
	}},
	"julia": {comments: comments{line: []string{"#"}, block: [][2]string{{"#=", "=#"}}, quotes: `"`, long: []string{`"""`}}, hints: []string{"function ", "struct ", "macro ", ") ="}, declarations: []declaration{
		{line: re(`^(?:bare)?module\s+(\w+)`), kind: "module", container: true},
		{line: re(`^(?:@[\w.]+\s+)*(?:mutable\s+struct|struct|abstract\s+type|primitive\s+type)\s+([\w!]+)`), kind: "type", inner: true},
		{line: re(`^(?:@[\w.]+(?:\([^)]*\))?\s+)*function\s+(?:\([^)]*\)\s*)?(?:[\w.]+\.)?:?\(?([\w!]+|[^\s\w(]+)\)?\s*(?:[({]|$)`), kind: "func", inner: true},
		{line: re(`^(?:@[\w.]+\s+)*macro\s+([\w!]+)`), kind: "macro", inner: true},
		{line: re(`^(?:@[\w.]+\s+)*(?:[A-Z]\w*\.)*:?\(?([\w!]+|[^\s\w(@]+)\)?(?:\{[^}]*\})?` + balanced + `\s*(?:::[\w.{}, <:]+)?\s*(?:where\s+[^=]+)?=(?:[^=>]|$)`), kind: "func", inner: true, loose: true},
		{line: re(`^const\s+(\w+)\s*=`), kind: "const", top: true},
	}},
	"perl": {comments: comments{line: []string{"# ", "#!", "##"}, block: [][2]string{{"\n=", "\n=cut"}, {"\n__END__", "\x00"}, {"\n__DATA__", "\x00"}}, quotes: `"`}, hints: []string{"sub "}, declarations: []declaration{
		{line: re(`^package\s+([\w:]+)`), kind: "module", top: true},
		{line: re(`^(?:my\s+|our\s+)?sub\s+([\w:']+)`), kind: "func", inner: true},
		{line: re(`^use\s+constant\s+(\w+)`), kind: "const", mark: true},
		{line: re(`^has\s+(\w+)\s*=>`), kind: "var", top: true},
	}},
	"powershell": {comments: comments{line: []string{"#"}, block: [][2]string{{"<#", "#>"}, {"@\"\n", "\n\"@"}, {"@'\n", "\n'@"}}, quotes: `"'`}, hints: []string{"unction ", "ilter "}, declarations: []declaration{
		{line: re(`(?i)^(?:function|filter|workflow|configuration)\s+(?:(?:global|script|local|private):)?([\w\-:.]+)`), kind: "func", inner: true},
		{line: re(`(?i)^(?:class|enum)\s+(\w+)`), kind: "class", container: true},
		{line: re(`^(?:(?:static|hidden)\s+)*\[[\w.\[\]]+\]\s*(\w+)\s*\(`), kind: "func", member: true},
	}},
	// Labels of blocks are strings, so strings are not masked.
	"terraform": {comments: comments{line: []string{"#", "//"}, block: [][2]string{{"/*", "*/"}}}, declarations: []declaration{
		{line: re(`^(?:resource|data)\s+"?[\w\-]+"?\s+"?([\w\-]+)"?\s*\{`), kind: "type", top: true},
		{line: re(`^(?:variable|output|module|provider|check|run)\s+"?([\w\-]+)"?\s*\{`), kind: "var", top: true},
		{line: re(`^(locals|terraform)\s*\{`), kind: "module", container: true, top: true},
		{line: re(`^([\w\-]+)\s*=`), kind: "var", member: true, loose: true, mark: true},
	}},
	"r": {comments: comments{line: []string{"#"}, quotes: `"'`}, hints: []string{"function"}, declarations: []declaration{
		{line: re("^`?([\\w.]+)`?\\s*(?:<-|=|<<-)\\s*function\\b"), kind: "func", inner: true},
	}},
	"make": {comments: comments{line: []string{"#"}}, declarations: []declaration{
		{line: re(`^(?:define\s+)([\w.\-]+)`), kind: "macro", top: true},
		{line: re(`^([\w.%/\-]+)\s*::?(?:[^=]|$)`), kind: "func", top: true},
	}},
	"cmake": {comments: comments{line: []string{"#"}}, declarations: []declaration{
		{line: re(`(?i)^(?:function|macro)\s*\(\s*(\w+)`), kind: "func", top: true},
		{line: re(`(?i)^add_(?:library|executable|custom_target)\s*\(\s*([\w\-]+)`), kind: "type", top: true},
	}},
	"graphql": {comments: comments{line: []string{"#"}, long: []string{`"""`}, quotes: `"`}, declarations: []declaration{
		{line: re(`^(?:extend\s+)?(?:type|interface|input|enum|union|scalar)\s+(\w+)`), kind: "type", top: true},
		{line: re(`^(?:query|mutation|subscription|fragment|directive)\s+@?(\w+)`), kind: "func", top: true},
	}},
}
