package chunk

import (
	"regexp"
	"sync"
)

var (
	slashes = comments{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`}
	scripts = comments{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`, long: []string{"`"}}
	hashes  = comments{line: []string{"#"}, quotes: `"'`, long: []string{`"""`, `'''`}}
)

// re is a pattern that is compiled when a line is first held against it: a
// project has few of the languages.
func re(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// modifiers stand before declarations of the C family.
const modifiers = `(?:(?:public|private|protected|internal|static|final|abstract|sealed|override|virtual|async|readonly|partial|open|data|inline|suspend|operator|extern|unsafe|export|default|declare|native|synchronized|strictfp|fileprivate|mutating|required|convenience|lazy|implicit|case|companion|inner|expect|actual|annotation|value|record|const|constexpr|friend|explicit|typename|noexcept|ref|new|transient|volatile|lateinit|tailrec|external|infix|indirect|weak|dynamic|optional|nonisolated|final)\s+)*`

// typed is a function of the C family: a result, a name, parameters, and no
// end of a statement behind them.
var typed = declaration{line: re(`^` + modifiers + `(?:<[^>]+>\s*)?[A-Za-z_][\w.:<>,\[\]?*& ]*[\s*&>\]]\s*([A-Za-z_~][\w:~]*)\s*\([^;=]*$`), kind: "func", loose: true}

// constructor has a name and parameters alone, and is a member.
var constructor = declaration{line: re(`^` + modifiers + `([A-Z]\w*)\s*\([^;=]*[{,(]\s*$`), kind: "func", member: true, loose: true}

// grammars are those of languages without a parser of their own here.
var grammars = map[string]*grammar{
	"python": {comments: hashes, declarations: []declaration{
		{line: re(`^class\s+(\w+)`), kind: "class", container: true},
		{line: re(`^(?:async\s+)?def\s+(\w+)`), kind: "func"},
		{line: re(`^([A-Z][A-Z0-9_]+)\s*(?::[^=]+)?=[^=]`), kind: "const", top: true},
	}},
	"javascript": ecma,
	"typescript": ecma,
	"java": {comments: slashes, declarations: []declaration{
		{line: re(`^` + modifiers + `@?interface\s+(\w+)`), kind: "interface", container: true},
		{line: re(`^` + modifiers + `(?:class|enum|record)\s+(\w+)`), kind: "class", container: true},
		typed, constructor,
	}},
	"kotlin": {comments: slashes, declarations: []declaration{
		{line: re(`^` + modifiers + `interface\s+(\w+)`), kind: "interface", container: true},
		{line: re(`^` + modifiers + `(?:enum\s+)?(?:class|object)\s+(\w+)`), kind: "class", container: true},
		{line: re(`^` + modifiers + `fun\s+(?:<[^>]+>\s*)?(?:[\w<>?, ]+\.)?(\w+)\s*\(`), kind: "func"},
		{line: re(`^` + modifiers + `typealias\s+(\w+)`), kind: "type"},
		{line: re(`^` + modifiers + `va[lr]\s+(\w+)`), kind: "var", top: true},
	}},
	"csharp": {comments: slashes, declarations: []declaration{
		{line: re(`^namespace\s+([\w.]+)`), kind: "module", container: true},
		{line: re(`^` + modifiers + `interface\s+(\w+)`), kind: "interface", container: true},
		{line: re(`^` + modifiers + `(?:class|struct|enum|record)\s+(\w+)`), kind: "class", container: true},
		typed, constructor,
	}},
	"rust": {comments: comments{line: []string{"//"}, block: slashes.block, quotes: `"`}, declarations: []declaration{
		{line: re(`^(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*\{`), kind: "module", container: true},
		{line: re(`^(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+)?trait\s+(\w+)`), kind: "interface", container: true},
		{line: re(`^(?:unsafe\s+)?impl\b(?:<[^{]*?>)?\s*(?:[^{]*\sfor\s+)?&?(?:mut\s+)?(?:\w+::)*(\w+)`), kind: "class", container: true},
		{line: re(`^(?:pub(?:\([^)]*\))?\s+)?(?:default\s+|const\s+|async\s+|unsafe\s+|extern\s+(?:"[^"]*"|\s+)\s*)*fn\s+(\w+)`), kind: "func"},
		{line: re(`^(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|union|type)\s+(\w+)`), kind: "type"},
		{line: re(`^(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+(?:mut\s+)?(\w+)\s*:`), kind: "const"},
		{line: re(`^macro_rules!\s*(\w+)`), kind: "macro"},
	}},
	"c":   {comments: slashes, declarations: cFamily},
	"cpp": {comments: slashes, declarations: append([]declaration{{line: re(`^(?:inline\s+)?namespace\s+([\w:]+)\s*\{?\s*$`), kind: "module", container: true}}, cFamily...)},
	"swift": {comments: comments{line: []string{"//"}, block: slashes.block, quotes: `"`, long: []string{`"""`}}, declarations: []declaration{
		{line: re(`^` + modifiers + `protocol\s+(\w+)`), kind: "interface", container: true},
		{line: re(`^` + modifiers + `(?:class|struct|enum|actor|extension)\s+(\w+)`), kind: "class", container: true},
		{line: re(`^` + modifiers + `(?:class\s+)?func\s+(\w+)`), kind: "func"},
		{line: re(`^` + modifiers + `(init)\b[?!]?\s*(?:<[^>]*>)?\(`), kind: "func", member: true},
		{line: re(`^` + modifiers + `typealias\s+(\w+)`), kind: "type"},
	}},
	"scala": {comments: comments{line: []string{"//"}, block: slashes.block, quotes: `"`, long: []string{`"""`}}, declarations: []declaration{
		{line: re(`^` + modifiers + `trait\s+(\w+)`), kind: "interface", container: true},
		{line: re(`^` + modifiers + `(?:class|object|enum)\s+(\w+)`), kind: "class", container: true},
		{line: re(`^` + modifiers + `def\s+(\w+)`), kind: "func"},
	}},
	"php": {comments: comments{line: []string{"//", "#"}, block: slashes.block, quotes: `"'`}, declarations: []declaration{
		{line: re(`^` + modifiers + `interface\s+(\w+)`), kind: "interface", container: true},
		{line: re(`^` + modifiers + `(?:class|trait|enum)\s+(\w+)`), kind: "class", container: true},
		{line: re(`^` + modifiers + `function\s+&?(\w+)`), kind: "func"},
	}},
	"ruby": {comments: comments{line: []string{"#"}, block: [][2]string{{"\n=begin", "\n=end"}}, quotes: `"'`}, declarations: []declaration{
		{line: re(`^module\s+([\w:]+)`), kind: "module", container: true},
		{line: re(`^class\s+([\w:]+)`), kind: "class", container: true},
		{line: re(`^def\s+(?:self\.)?([\w?!=]+)`), kind: "func"},
	}},
	"shell": {comments: comments{line: []string{"# ", "#!"}, quotes: `"'`}, declarations: []declaration{
		{line: re(`^(?:function\s+)?([\w:.-]+)\s*\(\)`), kind: "func", top: true},
		{line: re(`^function\s+([\w:.-]+)`), kind: "func", top: true},
	}},
	"protobuf": {comments: slashes, declarations: []declaration{
		{line: re(`^(?:message|enum)\s+(\w+)`), kind: "type"},
		{line: re(`^service\s+(\w+)`), kind: "interface", container: true},
		{line: re(`^rpc\s+(\w+)`), kind: "func", member: true},
	}},
	"sql": {comments: comments{line: []string{"--"}, block: slashes.block, quotes: `'`}, declarations: []declaration{
		{line: re(`(?i)^create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?:unique\s+)?(?:table|view|materialized\s+view|index|type|schema|sequence|trigger)\s+(?:if\s+not\s+exists\s+)?["` + "`" + `\[]?([\w.]+)`), kind: "type", top: true},
		{line: re(`(?i)^create\s+(?:or\s+replace\s+)?(?:function|procedure)\s+["` + "`" + `\[]?([\w.]+)`), kind: "func", top: true},
	}},
	"assembly": {comments: slashes, declarations: []declaration{
		{line: re(`^TEXT\s+·?([\w·∕.]+)`), kind: "func", top: true},
		{line: re(`^(\w+):\s*$`), kind: "func", top: true},
	}},
}

var cFamily = []declaration{
	{line: re(`^#\s*define\s+(\w+)\(`), kind: "macro", top: true},
	{line: re(`^(?:typedef\s+)?(?:template\s*<.*>\s*)?(?:class|struct|union|enum(?:\s+class)?)\s+(?:[A-Z_]+\s+)?(\w+)[^;()]*$`), kind: "type", container: true},
	typed,
}

var ecma = &grammar{comments: scripts, declarations: []declaration{
	{line: re(`^` + modifiers + `namespace\s+([\w.]+)`), kind: "module", container: true},
	{line: re(`^` + modifiers + `interface\s+(\w+)`), kind: "interface"},
	{line: re(`^` + modifiers + `class\s+([\w$]+)`), kind: "class", container: true},
	{line: re(`^` + modifiers + `function\s*\*?\s*([\w$]+)`), kind: "func"},
	{line: re(`^` + modifiers + `(?:type|enum)\s+([\w$]+)\s*(?:<|=|\{)`), kind: "type"},
	{line: re(`^(?:export\s+)?(?:const|let|var)\s+([\w$]+)[^=]*=\s*(?:async\s*)?(?:function\b|\(.*|[\w$]+\s*=>)`), kind: "func", top: true},
	{line: re(`^(?:export\s+)?(?:const|let|var)\s+([\w$]+)`), kind: "const", top: true},
	{line: re(`^(?:(?:module\.)?exports|[A-Z][\w$]*\.prototype)\.([\w$]+)\s*=\s*(?:async\s*)?(?:function\b|\(|[\w$]+\s*=>)`), kind: "func", top: true},
	{line: re(`^` + modifiers + `(?:get\s+|set\s+|\*\s*)?([\w$#]+)\s*(?:<[^>]*>)?\([^;]*\{\s*$`), kind: "func", member: true, loose: true},
	{line: re(`^` + modifiers + `([\w$#]+)\s*=\s*(?:async\s*)?\([^;]*=>\s*\{?\s*$`), kind: "func", member: true},
}}
