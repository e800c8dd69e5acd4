package language

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// specific are the languages and frameworks that rules are about: what such a
// rule says does not hold for code in another one.
var specific = Turned(map[string]string{
	"language":  "go python typescript java kotlin rust csharp ruby php swift c cpp shell",
	"framework": "react nextjs vue express nestjs django flask fastapi rails laravel spring android aspnet ios",
})

// Specific says whether a domain of rules is one language or one framework.
func Specific(domain string) bool { return specific[domain] != "" }

// called are other words for a language or framework.
var called = Turned(map[string]string{
	"go": "golang", "python": "py", "typescript": "ts javascript js node node.js nodejs", "csharp": "c# .net dotnet", "cpp": "c++",
	"shell": "bash sh zsh script", "nextjs": "next.js next", "vue": "vue.js nuxt", "nestjs": "nest", "rails": "activerecord rake sidekiq",
	"aspnet": "asp.net", "spring": "jpa hibernate", "ios": "swiftui uikit iphone", "android": "jetpack compose", "laravel": "eloquent artisan",
})

// Named are the languages and frameworks that a text of such words names, by a
// file of theirs, too.
func Named(words map[string]bool) map[string]bool {
	named := map[string]bool{}
	for word := range words {
		for _, name := range []string{word, Of(word)} {
			if Specific(name) {
				named[name] = true
			}
			if domain := called[name]; domain != "" {
				named[domain] = true
			}
		}
	}
	return named
}

// ambiguous are names that are everyday words, too: they name a language or
// framework behind one of the words of namedBehind alone.
var (
	ambiguous   = Turned(map[string]string{"": "go c express nest next react spring swift node script compose rails"})
	namedBehind = Turned(map[string]string{"": "in using with"})
)

// NamedIn are the languages and frameworks that a text names beyond doubt.
func NamedIn(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r == ',' || r == ';' || r == ':' || unicode.IsSpace(r) || strings.ContainsRune("()[]{}\"'`!?", r)
	})
	found := map[string]bool{}
	for i, word := range words {
		word = strings.TrimRight(word, ".")
		if _, doubtful := ambiguous[word]; doubtful {
			if _, behind := namedBehind[words[max(i-1, 0)]]; !behind {
				continue
			}
		}
		maps.Copy(found, Named(map[string]bool{word: true}))
	}
	return slices.Sorted(maps.Keys(found))
}
