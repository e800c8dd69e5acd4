package shell

import (
	"strings"
	"testing"

	"github.com/writbus/writ/test/conformance"
)

// TestHostile feeds inputs made to exhaust the analyser; each must come back,
// and none may be taken for a reader unless it is one.
func TestHostile(t *testing.T) {
	for _, s := range hostile() {
		r := Analyse(s, repoEnv())
		if r.Effect == ReadsOnly && strings.Contains(s, ">") && !strings.Contains(s, "'") {
			t.Errorf("%.60q judged a reader", s)
		}
	}
}

func BenchmarkAnalyse(b *testing.B) {
	cases := conformance.Cases[conformanceCase](b, "shell")
	b.Run("corpus", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			Analyse(cases[i%len(cases)].Command, repoEnv())
		}
	})
	heredoc := "cat > src/x.go <<'EOF'\n" + strings.Repeat("func f() { return a > b && c } // $(not run)\n", 200) + "EOF\n"
	b.Run("heredoc9k", func(b *testing.B) {
		for b.Loop() {
			Analyse(heredoc, repoEnv())
		}
	})
	b.Run("hostile", func(b *testing.B) {
		worst := hostile()
		for i := 0; b.Loop(); i++ {
			Analyse(worst[i%len(worst)], repoEnv())
		}
	})
}
