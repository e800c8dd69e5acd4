package chunk

import (
	"regexp"
	"sync"
)

var (
	slashes = comments{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`}
	scripts = comments{line: []string{"//"}, block: [][2]string{{"/*", "*/"}, {"<!--", "-->"}}, quotes: `"'`, long: []string{"`"}}
	hashes  = comments{line: []string{"#"}, quotes: `"'`, long: []string{`"""`, `'''`}}
	// triples are slashes with strings over lines, in which apostrophes are none.
	triples = comments{line: []string{"//"}, block: slashes.block, quotes: `"`, long: []string{`"""`}}
)

// re is a pattern that is compiled when a line is first held against it: a
// project has few of the languages.
func re(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

const (
	// marks are annotations and attributes that stand before a declaration.
	marks = `(?:@[\w.:]+(?:\([^()]*\))?\s+|\[\[?[^\[\]]*\]?\]\s*)*`
	// modifiers stand before declarations of the C family.
	modifiers = marks + `(?:(?:public|private|protected|internal|static|final|abstract|sealed|override|virtual|async|readonly|partial|open|data|inline|suspend|operator|extern|unsafe|export|default|declare|native|synchronized|strictfp|fileprivate|mutating|nonmutating|required|convenience|lazy|implicit|case|companion|inner|expect|actual|annotation|value|record|const|constexpr|consteval|friend|explicit|typename|noexcept|ref|new|transient|volatile|lateinit|tailrec|external|infix|indirect|weak|dynamic|optional|nonisolated|final|non-sealed|accessor|crossinline|noinline|prefix|postfix|isolated)\s+(?:"[^"]*"\s+)?)*`
	// balanced are parameters that end in their line.
	balanced = `\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)`
	// rest is what may follow a name that has parameters: they may go on in the
	// next line, and no statement ends before a body begins.
	rest = `\([^;{]*(?:\{.*)?$`
)

// typed is a function of the C family: a result, a name, parameters, and no
// end of a statement behind them.
var typed = declaration{line: re(`^` + marks + `(?:[a-z]+\s+)*` + marks + `(?:<[^>]+>\s*)?[A-Za-z_][\w.:<>,\[\]?*&\t ]*[\s*&>\]]\s*([A-Za-z_~][\w:~]*)\s*` + rest), starts: true, kind: "func", loose: true}

// stated is a member that has no body.
var stated = declaration{line: re(`^` + marks + `(?:[a-z]+\s+)*` + marks + `(?:<[^>]+>\s*)?[A-Za-z_][\w.:<>,\[\]?*&@\t ]*[\s*&>\]]\s*([A-Za-z_]\w*)\s*(?:<[^()]*>\s*)?` + balanced + `[^{}()=]*;`), needs: []string{"("}, kind: "func", member: true, loose: true, mark: true}

// constructor has a name and parameters alone, and is a member.
var constructor = declaration{line: re(`^` + modifiers + `(~?\w+)\s*` + rest), starts: true, kind: "func", member: true, own: true}

// inherited is a method of a class without a name, in the body of a function.
var inherited = declaration{line: re(`^` + marks + `(?:public|private|protected|internal|override)\s[\w<>,.?\[\]@ ]*?\b(\w+)\s*` + rest), starts: true, kind: "func", inner: true, loose: true}

// grammars are those of languages without a parser of their own here.
var grammars = map[string]*grammar{
	"python": {comments: hashes, hints: []string{"def ", "class "}, declarations: []declaration{
		{line: re(`^class\s+(\w+)`), kind: "class", container: true, inner: true},
		{line: re(`^(?:async\s+)?def\s+(\w+)`), kind: "func", inner: true},
		{line: re(`^([A-Z][A-Z0-9_]+)\s*(?::[^=]+)?=(?:[^=]|$)`), kind: "const", top: true},
	}},
	"javascript": ecma,
	"typescript": ecma,
	"vue":        ecma,
	"svelte":     ecma,
	"java": {comments: slashes, hints: []string{"public ", "protected ", "private ", "class "}, declarations: []declaration{
		{line: re(`^` + modifiers + `@?interface\s+(\w+)`), needs: []string{"interface"}, kind: "interface", container: true},
		{line: re(`^` + modifiers + `(?:class|enum|record)\s+(\w+)`), needs: []string{"class", "enum", "record"}, kind: "class", container: true, inner: true},
		constructor, typed, stated, inherited,
	}},
	"groovy": {comments: comments{line: []string{"//", "#!"}, block: slashes.block, quotes: `"'`, long: []string{`"""`, `'''`}}, hints: []string{"def ", "class "}, declarations: []declaration{
		{line: re(`^` + modifiers + `@?(?:interface|trait)\s+(\w+)`), needs: []string{"interface", "trait"}, kind: "interface", container: true},
		{line: re(`^` + modifiers + `(?:class|enum|record)\s+(\w+)`), needs: []string{"class", "enum", "record"}, kind: "class", container: true, inner: true},
		{line: re(`^` + modifiers + `def\s+(?:<[^>]+>\s*)?([A-Za-z_]\w*)\s*\(`), needs: []string{"def"}, kind: "func", inner: true},
		{line: re(`^task\s+(\w+)`), kind: "func", top: true},
		constructor, typed, stated,
	}},
	"kotlin": {comments: comments{line: []string{"//"}, block: slashes.block, quotes: `"'`, long: []string{`"""`}}, hints: []string{"fun ", "class ", "object "}, declarations: []declaration{
		{line: re(`^` + modifiers + `(?:fun\s+)?interface\s+(\w+)`), needs: []string{"interface"}, kind: "interface", container: true, inner: true},
		{line: re(`^` + modifiers + `(?:enum\s+)?(?:class|object)\s+(\w+)`), needs: []string{"class", "object"}, kind: "class", container: true, inner: true},
		{line: re(`^` + modifiers + `fun\s+(?:<.+?>\s+)?(?:[\w<>?,.*:() ]+\.)?(\w+)\s*\(`), needs: []string{"fun"}, kind: "func", inner: true},
		{line: re(`^` + modifiers + "fun\\s+(?:<.+?>\\s+)?`([^`]+)`"), needs: []string{"fun"}, kind: "func", inner: true},
		{line: re(`^` + modifiers + `typealias\s+(\w+)`), needs: []string{"typealias"}, kind: "type"},
		{line: re(`^` + modifiers + `va[lr]\s+(?:<[^>]+>\s+)?(?:[\w<>?*]+\.)*(\w+)\s*(?:[:=]|by\b|$)`), needs: []string{"val", "var"}, kind: "var", top: true},
	}},
	"csharp": {comments: slashes, declarations: []declaration{
		{line: re(`^namespace\s+([\w.]+)`), needs: []string{"namespace"}, kind: "module", container: true},
		{line: re(`^` + modifiers + `interface\s+(\w+)`), kind: "interface", container: true},
		{line: re(`^` + modifiers + `(?:class|struct|enum|record(?:\s+struct|\s+class)?)\s+(\w+)`), needs: []string{"class", "struct", "enum", "record"}, kind: "class", container: true},
		{line: re(`^` + modifiers + `delegate\s+[\w.<>,\[\]? ]+\s(\w+)\s*(?:<[^>]*>)?\s*\(`), needs: []string{"delegate"}, kind: "type"},
		{line: re(`^#\s*define\s+(\w+)`), needs: []string{"#"}, kind: "macro", top: true},
		constructor, typed, stated,
	}},
	"rust": {comments: comments{line: []string{"//"}, block: slashes.block, quotes: `"`}, hints: []string{"fn ", "struct ", "enum ", "trait ", "impl", "mod ", "macro_rules!", "type "}, declarations: []declaration{
		{line: re(`^(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*\{`), needs: []string{"mod "}, kind: "module", container: true, inner: true},
		{line: re(`^(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+|auto\s+)*trait\s+(\w+)`), needs: []string{"trait"}, kind: "interface", container: true, inner: true},
		{line: re(`^(?:unsafe\s+)?impl\b(?:<[^{]*?>)?\s*(?:[^{]*\sfor\s+)?&?(?:mut\s+)?(?:\w+::)*(\w+)`), needs: []string{"impl"}, kind: "class", container: true, inner: true},
		{line: re(`^(?:pub(?:\([^)]*\))?\s+)?(?:default\s+|const\s+|async\s+|unsafe\s+|extern\s+(?:"[^"]*"|\s+)\s*)*fn\s+(\w+)`), needs: []string{"fn "}, kind: "func", inner: true},
		{line: re(`^(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|union|type)\s+(\w+)`), needs: []string{"struct", "enum", "union", "type"}, kind: "type", inner: true},
		{line: re(`^(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+(?:mut\s+)?(\w+)\s*:`), needs: []string{"const", "static"}, kind: "const"},
		{line: re(`^(?:pub(?:\([^)]*\))?\s+)?(?:macro_rules!|macro)\s*(\w+)`), needs: []string{"macro"}, kind: "macro", inner: true},
	}},
	"c":   {comments: slashes, hints: []string{"#"}, declarations: cFamily},
	"cpp": {comments: slashes, hints: []string{"#", "using ", "struct ", "class "}, declarations: append([]declaration{{line: re(`^(?:inline\s+)?namespace\s+([\w:]+)\s*\{?\s*$`), needs: []string{"namespace"}, kind: "module", container: true}}, cFamily...)},
	"zig": {comments: comments{line: []string{"//", `\\`}, quotes: `"'`}, hints: []string{"fn ", "= "}, declarations: []declaration{
		{line: re(`^(?:pub\s+)?(?:const|var)\s+(\w+)\s*(?::[^=]*)?=\s*(?:extern\s+|packed\s+)?(?:struct|enum|union|opaque)\b`), kind: "type", container: true, inner: true},
		{line: re(`^(?:pub\s+|export\s+|inline\s+|noinline\s+|extern\s+(?:"[^"]*"\s*|\s+)?)*fn\s+(?:(\w+)|@"([^"]+)")`), kind: "func", inner: true},
		{line: re(`^(?:pub\s+)?(?:const|var|threadlocal\s+var)\s+(\w+)\s*(?::[^=]*)?=\s*(?:[^@\s]|@[^i]|$)`), kind: "const", top: true},
		{line: re(`^pub\s+const\s+(\w+)\s*(?::[^=]*)?=`), kind: "const"},
	}},
	"swift": {comments: triples, hints: []string{"func ", "class ", "struct ", "enum "}, declarations: []declaration{
		{line: re(`^` + modifiers + `protocol\s+(\w+)`), needs: []string{"protocol"}, kind: "interface", container: true},
		{line: re(`^` + modifiers + `(?:class\s+)?func\s+(\w+|[^\s\w(]+)`), needs: []string{"func"}, kind: "func", inner: true},
		{line: re(`^` + modifiers + `(?:private\(set\)\s+)?(?:class|struct|enum|actor|extension)\s+([\w.]+)`), needs: []string{"class", "struct", "enum", "actor", "extension"}, kind: "class", container: true, inner: true},
		{line: re(`^` + modifiers + `(init|deinit|subscript)\b[?!]?\s*(?:<[^>]*>)?\s*[({]`), needs: []string{"init", "subscript"}, kind: "func", member: true},
		{line: re(`^` + modifiers + `(?:typealias|associatedtype)\s+(\w+)`), needs: []string{"typealias", "associatedtype"}, kind: "type"},
		{line: re(`^` + modifiers + `(?:let|var)\s+(\w+)\s*[:=]`), kind: "var", top: true},
	}},
	"scala": {comments: triples, hints: []string{"def ", "class ", "object ", "trait "}, declarations: []declaration{
		{line: re(`^` + scalaModifiers + `trait\s+(\w+)`), needs: []string{"trait"}, kind: "interface", container: true, inner: true},
		{line: re(`^` + modifiers + `package\s+object\s+(\w+)`), needs: []string{"package"}, kind: "class", container: true},
		{line: re(`^` + scalaModifiers + `(?:class|object|enum)\s+(\w+)`), needs: []string{"class", "object", "enum"}, kind: "class", container: true, inner: true},
		{line: re(`^` + scalaModifiers + "def\\s+(\\w+|[^\\s\\w(\\[:=`]+|`[^`]+`)"), needs: []string{"def"}, kind: "func", inner: true},
		{line: re(`^` + scalaModifiers + `given\s+(\w+)`), needs: []string{"given"}, kind: "var"},
		{line: re(`^` + scalaModifiers + `type\s+(\w+)`), needs: []string{"type"}, kind: "type"},
	}},
	"dart": {comments: comments{line: []string{"//"}, block: slashes.block, quotes: `"'`, long: []string{`"""`, `'''`}}, declarations: []declaration{
		{line: re(`^` + dartModifiers + `(?:class|mixin|enum|extension(?:\s+type)?)\s+(\w+)`), needs: []string{"class", "mixin", "enum", "extension"}, kind: "class", container: true},
		{line: re(`^typedef\s+(?:[\w<>,?. ]+\s)?(\w+)\s*(?:<[^=]*>)?\s*[=(]`), needs: []string{"typedef"}, kind: "type", top: true},
		{line: re(`^` + dartModifiers + `(?:[\w<>,?.\[\] ]+\s+)?(?:get|set)\s+(\w+)\b`), needs: []string{"get", "set"}, kind: "func"},
		{line: re(`^` + dartModifiers + `(?:factory\s+)?(?:[A-Z]\w*\.)?(\w+)\s*\([^;{]*(?:\{.*|=>.*|;|:.*)?$`), needs: []string{"("}, kind: "func", member: true, own: true},
		{line: re(`^` + dartModifiers + `(?:factory\s+)?[A-Z]\w*\.(\w+)\s*\([^;{]*(?:\{.*|=>.*|;|:.*)?$`), needs: []string{"("}, kind: "func", member: true, loose: true},
		{line: re(`^` + dartModifiers + `[A-Za-z_][\w<>,?.\[\] ]*[\s>?]\s*(\w+)\s*(?:<[^()]*>)?\s*\([^;={]*(?:\{.*|=>.*|;|async.*)?$`), needs: []string{"("}, kind: "func", loose: true},
		{line: re(`^(main)\s*\(`), needs: []string{"("}, kind: "func", top: true},
	}},
	"php": {comments: comments{line: []string{"//", "# "}, block: slashes.block, quotes: `"'`}, hints: []string{"function "}, declarations: []declaration{
		{line: re(`^` + modifiers + `interface\s+(\w+)`), kind: "interface", container: true},
		{line: re(`^` + modifiers + `(?:class|trait|enum)\s+(\w+)`), needs: []string{"class", "trait", "enum"}, kind: "class", container: true, inner: true},
		{line: re(`^` + modifiers + `function\s+&?\s*(\w+)`), needs: []string{"function"}, kind: "func", inner: true},
		{line: re(`^` + modifiers + `const\s+(?:\w+\s+)?(\w+)\s*=`), needs: []string{"const"}, kind: "const", mark: true},
	}},
	"ruby": {comments: comments{line: []string{"#"}, block: [][2]string{{"\n=begin", "\n=end"}}, quotes: `"'`}, hints: []string{"def ", "class ", "module "}, declarations: []declaration{
		{line: re(`^module\s+([\w:]+)`), kind: "module", container: true, inner: true},
		{line: re(`^class\s+([\w:]+)`), kind: "class", container: true, inner: true},
		{line: re(`^(?:(?:private|protected|public|private_class_method|memoize)\s+)?def\s+(?:[\w:]+\.)?([\w?!=]+|[^\s\w(]+)`), kind: "func", inner: true},
		{line: re(`^([A-Z]\w*)\s*=\s*(?:Struct|Class|Module|Data)\.(?:new|define)\b`), kind: "class", container: true},
		{line: re(`^(?:alias_method\s+:|alias\s+:?)([\w?!=]+)`), kind: "func"},
	}},
	"shell": {comments: comments{line: []string{"# ", "#!"}, quotes: `"'`}, declarations: []declaration{
		{line: re(`^(?:function\s+)?([\w:.-]+)\s*\(\s*\)`), needs: []string{"("}, kind: "func", top: true},
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

const (
	scalaModifiers = marks + `(?:(?:private|protected)(?:\[\w+\])?\s+|(?:override|final|abstract|sealed|implicit|lazy|case|inline|transparent|open|opaque|infix|extension)\s+)*`
	dartModifiers  = marks + `(?:(?:abstract|base|final|sealed|interface|mixin|static|external|covariant|late|const|override)\s+)*`
)

// cName is a name of C++ with what it is qualified by.
const cName = `((?:\w+(?:<[^<>()]*>)?::)*(?:operator\s*(?:\(\)|\[\]|[^\s\w(]+|\w+)|~?[A-Za-z_]\w*))`

var cFamily = []declaration{
	{line: re(`^#\s*define\s+(\w+)\(.*\\$`), needs: []string{"#"}, kind: "macro", top: true},
	{line: re(`^#\s*define\s+(\w+)`), needs: []string{"#"}, kind: "macro", inner: true, mark: true},
	{line: re(`^(?:typedef\s+)?(?:template\s*<.*>\s*)?(?:class|struct|union|enum(?:\s+class|\s+struct)?)\s+(?:alignas\s*\([^)]*\)\s*|__attribute__\s*\(\(.*?\)\)\s*|\[\[.*?\]\]\s*|[A-Z][A-Z0-9_]*(?:\([^)]*\))?\s+)*(\w+(?:::\w+)*)\s*(?:<[^;()]*>)?\s*(?:final\s*)?(?::(?:[^:;(){][^;{]*(?:\{.*)?)?|\{.*)?$`), needs: []string{"struct", "class", "union", "enum"}, kind: "type", container: true, inner: true},
	{line: re(`^typedef\b[^;()]*?\(\s*(?:\w+\s+|\w+::)?\*\s*(\w+)\s*\)`), needs: []string{"typedef"}, kind: "type", mark: true},
	{line: re(`^typedef\s[^;{}()]*?\b(\w+)\s*(?:\[[^\]]*\])?\s*;`), needs: []string{"typedef"}, kind: "type", mark: true},
	{line: re(`^(?:template\s*<.*>\s*)?using\s+(\w+)\s*=`), needs: []string{"using"}, kind: "type", inner: true, mark: true},
	{line: re(`^(?:TYPED_)?TEST(?:_[FP]|_CASE)?\s*\(\s*(?:\w+\s*,\s*)?(\w+)`), needs: []string{"TEST"}, kind: "func", top: true},
	{line: re(`^\}\s*(?:[A-Z_]+\s+)?(\w+)\s*;`), needs: []string{"}"}, kind: "type", top: true, mark: true},
	constructor,
	{line: re(`^` + marks + `(?:(?:static\s+)?extern\s+"[^"]*"\s*)?(?:template\s*<.*?>\s*)?` + marks + `[A-Za-z_][\w.:<>,\[\]?*&\t ]*[\s*&>\]]\s*` + cName + `\s*` + rest), starts: true, kind: "func", loose: true},
	{line: re(`^` + modifiers + `(?:template\s*<.*?>\s*)?((?:\w+(?:<[^<>()]*>)?::)+~?\w+)\s*` + rest), starts: true, needs: []string{"::"}, kind: "func", loose: true},
	{line: re(`^` + modifiers + `(operator\s+[\w:<>*& ]+?)\s*\(`), needs: []string{"operator"}, kind: "func", member: true},
	{line: re(`^` + cName + `\s*` + rest), starts: true, kind: "func", loose: true, behind: re(`^[A-Za-z_][\w:<>,*&\s]*$`)},
}

// notRequired is what follows a variable's name, unless that is what another module
// declares: RE2 knows no negation.
const notRequired = `(?:$|[^\w$=\s]|\s+(?:$|[^=\s])|\s*=\s*(?:$|[^r\s]|r[^e]|re[^q]|req[^u]|requ[^i]|requi[^r]|requir[^e]|require[^(]))`

var ecma = &grammar{comments: scripts, also: named, hints: []string{"function", "=>", ") {", "class ", "){"}, declarations: []declaration{
	{line: re(`^` + modifiers + `(?:namespace|module)\s+([\w.$]+)\s*\{?`), needs: []string{"namespace", "module"}, kind: "module", container: true, top: true},
	{line: re(`^` + modifiers + `interface\s+([\w$]+)`), needs: []string{"interface"}, kind: "interface", container: true},
	{line: re(`^` + modifiers + `class\s+([\w$]+)`), needs: []string{"class"}, kind: "class", container: true, inner: true},
	{line: re(`^(?:module\.)?(exports)\s*=\s*(?:[\w$.]+\s*=\s*)*(?:[\w$.]+\()?\{$`), needs: []string{"exports"}, kind: "module", container: true, top: true},
	{line: re(`^(?:module\.)?exports\s*=\s*(?:[\w$.]+\s*=\s*)*class\s+([\w$]+)`), needs: []string{"exports"}, kind: "class", container: true, top: true},
	{line: re(`^(?:(?:export\s+)?(?:const|let|var)\s+|(?:[\w$]+\.)*)([\w$]+)\s*=\s*(?:[\w$.]+\s*=\s*)?class\b`), needs: []string{"class"}, kind: "class", container: true, inner: true},
	{line: re(`^` + modifiers + `function\s*\*?\s*([\w$]+)`), needs: []string{"function"}, kind: "func", inner: true},
	{line: re(`^[!+(;\s]*(?:async\s+)?function\s*\*?\s*([\w$]+)`), needs: []string{"function"}, kind: "func", inner: true},
	{line: re(`^` + modifiers + `(?:type|enum)\s+([\w$]+)\s*(?:<|=|\{)`), needs: []string{"type", "enum"}, kind: "type"},
	{line: re(`^(?:export\s+)?(?:const|let|var)\s+([\w$]+)[^=]*=\s*(?:[\w$.]+\s*=\s*)*\(?(?:async\s*)?(?:function\b|` + balanced + `\s*(?::[^=]*)?=>|\([^)]*$|[\w$]+\s*=>)`), needs: []string{"function", "=>", "("}, kind: "func", inner: true},
	{line: re(`^(?:export\s+)?(?:const|let|var)\s+([\w$]+)` + notRequired), kind: "const", top: true},
	{line: re(`^(?:[\w$]+(?:\[[^\]]*\])?\.)+([\w$]+)\s*=\s*(?:[\w$.]+\s*=\s*)*(?:async\s*)?(?:function\b|` + balanced + `\s*=>|[\w$]+\s*=>)`), needs: []string{"function", "=>"}, kind: "func", inner: true},
	{line: re(`^(?:module\.)?exports\.([\w$]+)\s*=(?:[^=]|$)`), needs: []string{"exports"}, kind: "const", top: true},
	{line: re(`^(?:[\w$]+\.)+prototype\.([\w$]+)\s*=`), needs: []string{"prototype"}, kind: "func", inner: true},
	{line: re(`^([\w$]+)\s*=\s*(?:async\s*)?(?:function\b|` + balanced + `\s*=>)`), needs: []string{"function", "=>"}, kind: "func", inner: true},
	{line: re(`^([\w$]+)\??\s*:\s*(?:async\s*)?(?:function\b|(?:<[^()]*>)?` + balanced + `\s*=>|[\w$]+\s*=>)`), needs: []string{"function", "=>"}, kind: "func", inner: true},
	{line: re(`^` + modifiers + `(?:get\s+|set\s+|\*\s*)?([\w$#]+)\s*\??(?:<[^()]*>)?\s*` + balanced + `\s*(?::[^;=]*)?\{.*$`), needs: []string{"{"}, kind: "func", loose: true, inner: true},
	{line: re(`^` + modifiers + `(?:get\s+|set\s+|\*\s*)?([\w$#]+)\s*\??(?:<[^()]*>)?\s*\([^;()=]*$`), needs: []string{"("}, kind: "func", member: true, loose: true},
	{line: re(`^` + modifiers + `(?:get\s+|set\s+)?([\w$#]+)\s*\??(?:<.*>)?\s*` + balanced + `\s*:[^{]*[;,]?$`), needs: []string{"("}, kind: "func", member: true, loose: true, mark: true},
	{line: re(`^` + modifiers + `(?:get\s+|set\s+)?([\w$#]+)\s*\??(?:<.*>)?\s*` + balanced + `\s*;$`), needs: []string{"("}, kind: "func", member: true, loose: true, mark: true},
	{line: re(`^` + modifiers + `([\w$#]+)\s*(?::[^=]*)?=\s*(?:async\s*)?` + balanced + `\s*(?::[^=]*)?=>`), needs: []string{"("}, kind: "func", member: true},
	{line: re(`^([\w$]+)\s*:\s*\S`), needs: []string{":"}, kind: "const", of: "module", loose: true, mark: true},
	{line: named, needs: []string{"function"}, kind: "func", inner: true},
}}

// named is a function that has a name where a value stands.
var named = re(`\bfunction\s*\*?\s+([\w$]+)\s*\(`)
