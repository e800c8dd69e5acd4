package language

// specific are the languages and frameworks that rules are about: what such a
// rule says does not hold for code in another one.
var specific = turned(map[string]string{
	"language":  "go python typescript java kotlin rust csharp ruby php swift c cpp shell",
	"framework": "react nextjs vue express nestjs django flask fastapi rails laravel spring android aspnet ios",
})

// Specific says whether a domain of rules is one language or one framework.
func Specific(domain string) bool { return specific[domain] != "" }
