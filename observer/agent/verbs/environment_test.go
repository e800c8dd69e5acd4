package verbs

import (
	"strings"
	"testing"
)

func TestEnvironment(t *testing.T) {
	got := strings.Join(Environment([]string{
		"PATH=/bin", "HOME=/h", "WRIT_HOME=/w", "WRIT_NEO4J_PASSWORD=x", "OPENAI_API_KEY=x", "GITHUB_TOKEN=x", "AWS_SECRET_ACCESS_KEY=x", "PGPASSWORD=x",
		"SSH_AUTH_SOCK=/x", "LD_PRELOAD=/x", "BASH_ENV=/x", "GIT_SSH_COMMAND=/x", "GIT_CONFIG_COUNT=1", "BASH_FUNC_git%%=() { x; }", "NODE_OPTIONS=-r /x", "LESSOPEN=|x", "DATABASE_URL=postgres://u:p@h/d", "HTTP_PROXY=http://proxy:1", "lower_secret=x", "LANG=C.UTF-8", "MODEL_PROXY=HTTP://u:p@h",
	}), " ")
	if got != "PATH=/bin HOME=/h HTTP_PROXY=http://proxy:1 LANG=C.UTF-8" {
		t.Error(got)
	}
}
