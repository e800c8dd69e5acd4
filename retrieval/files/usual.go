package files

import (
	"path"
	"strings"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/retrieval/artifact/describe"
	"github.com/writbus/writ/schemas/language"
	"github.com/writbus/writ/schemas/wordset"
)

// usualGlobs are the files that are looked at where nobody said which: all, and
// of what is hidden the settings that people write: of builds and tests on a
// forge, and of tools. What else is hidden holds caches, histories and passwords.
var usualGlobs = strings.Fields(`
	**
	.github/** .gitlab/** .gitlab-ci.yml .forgejo/** .gitea/** .circleci/** .buildkite/** .woodpecker/** .ci/**
	.devcontainer/** .cargo/config.toml .storybook/** .husky/**
	.*.yml .*.yaml .editorconfig .eslintrc* .prettierrc* .stylelintrc* .babelrc* .swiftlint.yml .clang-format .clang-tidy
	.aiwg/{requirements,architecture,research}/**/*.md
`)

const (
	// mostData and mostText bound, in bytes, what is taken for settings and for
	// text: what is larger is data that a program wrote or reads.
	mostData = 64 << 10
	mostText = 256 << 10
)

// mostOf is how many bytes a file may have that nobody asked for.
func mostOf(file string) int64 {
	switch of := describe.Language(file); {
	case describe.Data(of):
		return mostData
	case of == language.Text:
		return mostText
	}
	return artifact.MaxFileBytes
}

var (
	// secretEnds are the extensions of keys, and of what they are kept in.
	secretEnds = names("pem key p12 pfx jks keystore kdbx ppk gpg tfstate env")
	// secretNames are the names, without an extension, of keys and of what holds
	// passwords; keptAs the extensions with which they do.
	secretNames = names("id_rsa id_dsa id_ecdsa id_ed25519 secrets secret credentials passwords htpasswd")
	keptAs      = names("yml yaml json toml ini txt xml properties conf")
)

var names = wordset.Of

// secret says whether a file is named as those are that nobody should hand to an
// agent.
func secret(file string) bool {
	name := strings.TrimPrefix(strings.ToLower(path.Base(file)), ".")
	end := strings.TrimPrefix(path.Ext(name), ".")
	stem := strings.TrimSuffix(name, "."+end)
	return secretEnds[end] || secretNames[stem] && (end == "" || keptAs[end])
}
