package agent

import (
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

func TestJudge(t *testing.T) {
	for text, want := range map[string]judgement{
		"CONTINUE":                       {verdict: verdictContinue},
		"  CONTINUE\n":                   {verdict: verdictContinue},
		"CONTINUE – well done":           {verdict: verdictContinue, text: "well done"},
		"REDIRECT: run the tests":        {verdict: verdictRedirect, text: "run the tests"},
		"REDIRECT\nRun the tests.":       {verdict: verdictRedirect, text: "Run the tests."},
		"HALT it leaks the key":          {verdict: verdictHalt, text: "it leaks the key"},
		"REDIRECT":                       {verdict: verdictHalt, malformed: true},
		"HALT":                           {verdict: verdictHalt, malformed: true},
		"continue":                       {verdict: verdictHalt, malformed: true},
		"CONTINUED":                      {verdict: verdictHalt, malformed: true},
		"I think CONTINUE":               {verdict: verdictHalt, malformed: true},
		"":                               {verdict: verdictHalt, malformed: true},
		"**CONTINUE**":                   {verdict: verdictHalt, malformed: true},
		"CONTINUE_NOT but HALT, really.": {verdict: verdictHalt, malformed: true},
		"CONTINUEd":                      {verdict: verdictHalt, malformed: true},
	} {
		got := judge(text, true)
		if got.verdict != want.verdict || got.malformed != want.malformed || !want.malformed && got.text != want.text {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
		if lenient := judge(text, false); want.malformed && lenient.verdict != verdictContinue {
			t.Errorf("%q, where malformed answers pass: %+v", text, lenient)
		}
	}
}

const gated = `{"name": "dev", "capabilities": ["*"], "advisor": {"mode": "gate", "model": "wise", "max_redirects": 1}}`

// advisors answers for the agent and for its advisor.
func advisors(b *bench, agent, advisor []string) {
	b.model.answer = func(p Prompt) (string, Reply, error) {
		from := &agent
		if p.Model == "wise" {
			from = &advisor
		}
		if len(*from) == 0 {
			return "", Reply{}, errScripted
		}
		text := (*from)[0]
		*from = (*from)[1:]
		return text, Reply{Whole: true}, nil
	}
}

func TestTheGate(t *testing.T) {
	for name, c := range map[string]struct {
		agent, advisor  []string
		outcome, answer string
		reason          string
		advice          int
	}{
		"continue":        {[]string{"Yes."}, []string{"CONTINUE"}, Answered, "Yes.", "", 1},
		"redirect":        {[]string{"Yes.", "No."}, []string{"REDIRECT Think again.", "CONTINUE"}, Answered, "No.", "", 2},
		"halt":            {[]string{"Yes."}, []string{"HALT: never"}, Halted, "", "never", 1},
		"malformed":       {[]string{"Yes."}, []string{"Fine with me"}, Halted, "", "no verdict", 1},
		"too many":        {[]string{"Yes.", "No."}, []string{"REDIRECT a", "REDIRECT b"}, Halted, "", "no further try (1 before): b", 2},
		"nobody answers":  {[]string{"Yes."}, nil, Halted, "", "could not be asked", 0},
		"not before work": {[]string{"/read a\n", "Yes."}, []string{"CONTINUE"}, Answered, "Yes.", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{"dev": gated}, nil)
			advisors(b, c.agent, c.advisor)
			f := b.run("dev", "Is it so?")
			if f.Outcome != c.outcome || f.Answer != c.answer || !strings.Contains(f.Reason, c.reason) {
				t.Errorf("%+v", f)
			}
			if n := len(recordedOf[schemas.AdviceGiven](b.log)); n != c.advice {
				t.Errorf("%d pieces of advice", n)
			}
			for _, p := range b.model.asked {
				if p.Model == "wise" && (!strings.Contains(p.Messages[0].Text, "Is it so?") || !strings.Contains(p.Messages[0].Text, "[/answer ·")) {
					t.Errorf("the advisor is shown %s", p.Messages[0].Text)
				}
			}
		})
	}
}

func TestAdvise(t *testing.T) {
	b := newBench(t, map[string]string{"dev": `{"name":"dev","capabilities":["*"],"advisor":{"mode":"consult","model":"wise"}}`}, nil)
	advisors(b, []string{"/advise which way?\n", "Left."}, []string{"Go left."})
	if f := b.run("dev", "x"); f.Answer != "Left." {
		t.Errorf("%+v", f)
	}
	if !strings.Contains(b.told(), "untrusted: agent\nGo left.") {
		t.Errorf("told %s", b.told())
	}
	off := newBench(t, map[string]string{"dev": "*"}, map[string][]string{"dev": {"/advise which way?\n", "Left."}})
	off.run("dev", "x")
	if !strings.Contains(off.told(), "ERR: you have no advisor") || len(off.model.asked) != 2 {
		t.Errorf("told %s", off.told())
	}
}
