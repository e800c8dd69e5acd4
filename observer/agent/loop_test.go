package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/schemas"
)

func TestTheLoop(t *testing.T) {
	b := newBench(t, map[string]string{"dev": "/exec /read"}, map[string][]string{
		"dev": {"I look.\n/exec ls\nThen I read.\n/read a.go\n", "It is fine.\n"},
	})
	f := b.run("dev", "Is it fine?")
	if f.Outcome != Answered || f.Answer != "It is fine." || f.Calls != 2 {
		t.Errorf("%+v", f)
	}
	if got := b.ran(); got != "/exec ls, /read a.go" {
		t.Errorf("ran %s", got)
	}
	if got := b.watch.prose("r1"); got != "I look.\nThen I read.\nIt is fine.\n" {
		t.Errorf("prose %q", got)
	}
	want := "agent.started agent.replied command.dispatched command.finished command.dispatched command.finished agent.replied agent.finished"
	if got := b.log.types("r1"); got != want {
		t.Errorf("recorded %s", got)
	}
	if told := b.told(); !strings.Contains(told, "[/exec ls ·") || !strings.Contains(told, "OK: done\n[END READ ·") || !strings.Contains(told, "[END TOOL RESULTS ·") {
		t.Errorf("told %s", told)
	}
}

func TestDenialIsAResultAndAnEventAndNothingElse(t *testing.T) {
	b := newBench(t, map[string]string{"dev": "/read"}, map[string][]string{
		"dev": {"/exec rm a\n/fetch https://example.com/\n/read a\n", "Done."},
	})
	b.run("dev", "x")
	if got := b.ran(); got != "/read a" {
		t.Errorf("ran %s", got)
	}
	if told := b.told(); strings.Count(told, "ERR: capability not granted") != 2 {
		t.Errorf("told %s", told)
	}
	if got := b.log.types("r1"); got != "agent.started agent.replied command.denied command.denied command.dispatched command.finished agent.replied agent.finished" {
		t.Errorf("recorded %s", got)
	}
	denied := recordedOf[schemas.CommandDenied](b.log)
	if denied[0].Verb != "exec" || denied[0].Args != "rm a" || denied[0].Agent != "dev" || denied[0].Turn != 1 || denied[0].Line != 1 {
		t.Errorf("%+v", denied[0])
	}
}

// A file that the shell itself writes is one that /write may write, wherever links lead.
func TestRedirectionsNeedWrite(t *testing.T) {
	b := newBench(t, map[string]string{"dev": `{"name":"dev","capabilities":["/exec cmd=git","/write path=docs/**"]}`}, map[string][]string{
		"dev": {"/exec git log > a\n/exec git log > docs/out\n/exec git log > docs/up/a\n/exec git log > docs/dangling\n/exec git log > docs/in\n/exec git log > docs/up/../evil\n/exec git log > docs/./more\n", "Done."},
	})
	if err := os.Mkdir(filepath.Join(b.dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"up": "..", "dangling": "../new", "in": "out"} {
		if err := os.Symlink(to, filepath.Join(b.dir, "docs", name)); err != nil {
			t.Skipf("this system makes no symbolic links: %v", err)
		}
	}
	b.run("dev", "x")
	if got := b.ran(); got != "/exec git log > docs/out, /exec git log > docs/./more" {
		t.Errorf("ran %s; told %s", got, b.told())
	}
}

// A denied command costs no budget, and what the budget skips is named.
func TestCapabilityComesBeforeBudget(t *testing.T) {
	limits := dialect.DefaultLimits()
	limits.Commands = 2
	b := newBench(t, map[string]string{"dev": "/read"}, map[string][]string{
		"dev": {"/exec a\n/exec b\n/exec c\n/read 1\n/read 2\n/read 3\n", "Done."},
	}, func(o *Options) { o.Limits = limits })
	b.run("dev", "x")
	if got := b.ran(); got != "/read 1, /read 2" {
		t.Errorf("ran %s", got)
	}
	if told := b.told(); !strings.Contains(told, "[/read 3 ·") || strings.Count(told, "SKIPPED: /read: budget of 2 commands") != 1 {
		t.Errorf("told %s", told)
	}
	noted := recordedOf[schemas.DiagnosticReported](b.log)
	if len(noted) != 1 || noted[0].Kind != diagnosticBudget || noted[0].Line != 6 {
		t.Errorf("%+v", noted)
	}
}

func TestReadOnlyResultsAreUsedAgain(t *testing.T) {
	b := newBench(t, map[string]string{"dev": "*"}, map[string][]string{
		"dev": {"/read a\n/read a\n/read b\n", "/read a\n/exec touch a\n/read a\n", "/read a\n", "Done."},
	})
	b.run("dev", "x")
	if got := b.ran(); got != "/read a, /read b, /exec touch a, /read a" {
		t.Errorf("ran %s", got)
	}
	reused := 0
	for _, f := range recordedOf[schemas.CommandFinished](b.log) {
		if f.Reused {
			reused++
		}
	}
	if reused != 3 {
		t.Errorf("%d results used again", reused)
	}
	b.model.say["dev"] = []string{"/read a\n", "Done."}
	s := b.start("dev", "y")
	s.Run = "r2"
	if _, err := b.engine.Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if got := b.ran(); !strings.HasSuffix(got, "/read a, /read a") {
		t.Errorf("a result of another message was used: %s", got)
	}
}

func TestModelCallsAreBoundedWithAWrapUp(t *testing.T) {
	calls := 0
	b := newBench(t, map[string]string{"dev": "/read"}, nil)
	b.model.answer = func(Prompt) (string, Reply, error) {
		calls++
		return fmt.Sprintf("Step %d.\n/read %d\n", calls, calls), Reply{Whole: true}, nil
	}
	f := b.run("dev", "x")
	if f.Outcome != Answered || f.Calls != 6 || f.Answer != "Step 6." || !strings.Contains(f.Reason, "/read 6") {
		t.Errorf("%+v", f)
	}
	if got := b.ran(); got != "/read 1, /read 2, /read 3, /read 4, /read 5" {
		t.Errorf("ran %s", got)
	}
	for i, p := range b.model.asked {
		told := p.Messages[len(p.Messages)-1].Text
		if strings.Contains(told, wrapUp) != (i == 5) {
			t.Errorf("call %d is told %q", i+1, told)
		}
	}
	noted := recordedOf[schemas.DiagnosticReported](b.log)
	if len(noted) != 1 || noted[0].Kind != diagnosticNotRun || !strings.Contains(noted[0].Note, "/read 6") {
		t.Errorf("%+v", noted)
	}
}

func TestNotesGoBackOnce(t *testing.T) {
	b := newBench(t, map[string]string{"dev": "/read"}, map[string][]string{
		"dev": {"Look.\n/reed a\n", "  /read a\nThat was all.\n"},
	})
	f := b.run("dev", "x")
	if f.Outcome != Answered || f.Calls != 2 || !strings.Contains(f.Answer, "That was all.") {
		t.Errorf("%+v", f)
	}
	if told := b.told(); !strings.Contains(told, "did you mean /read?") {
		t.Errorf("told %s", told)
	}
	if noted := recordedOf[schemas.DiagnosticReported](b.log); len(noted) != 2 || noted[0].Suggestion != "read" || noted[1].Kind != "indented" {
		t.Errorf("%+v", noted)
	}
}

func TestUnterminatedBlockRunsNothing(t *testing.T) {
	b := newBench(t, map[string]string{"dev": "*"}, map[string][]string{
		"dev": {"/read a\n/write b.md\n# B\n/exec ls\n/read c\n", "Done."},
	})
	b.run("dev", "x")
	if got := b.ran(); got != "/read a" {
		t.Errorf("ran %s", got)
	}
	if told := b.told(); !strings.Contains(told, "ERR: the block of /write was never closed") || !strings.Contains(told, "/exec ls, /read c") {
		t.Errorf("told %s", told)
	}
}

// A response that broke off, and the last line of one that a bound ended, may
// say something else than was meant.
func TestACutResponseRunsNothing(t *testing.T) {
	n := 0
	b := newBench(t, map[string]string{"dev": "*"}, nil)
	b.model.answer = func(Prompt) (string, Reply, error) {
		n++
		switch n {
		case 1:
			return "I clean up.\n/exec rm -rf build\n/exec rm -rf /hom", Reply{}, errScripted
		case 2:
			return "/exec rm -rf build\n/exec rm -rf /hom", Reply{Whole: false, Stop: "length"}, nil
		case 3:
			return "/write a\nx\n/endwrite", Reply{Whole: false, Stop: "length"}, nil
		default:
			return "Done.", Reply{Whole: true}, nil
		}
	}
	f := b.run("dev", "x")
	if got := b.ran(); got != "/exec rm -rf build" || f.Outcome != Answered {
		t.Errorf("ran %s; %+v", got, f)
	}
	first := b.model.asked[1].Messages
	if told := first[len(first)-1].Text; !strings.Contains(told, "WARN: your response broke off") || !strings.Contains(told, "/exec rm -rf /hom") {
		t.Errorf("told %s", told)
	}
	if told := b.model.asked[2].Messages; !strings.Contains(told[len(told)-1].Text, "/exec stands where your response was cut off") {
		t.Errorf("told %s", told[len(told)-1].Text)
	}
	noted := recordedOf[schemas.DiagnosticReported](b.log)
	if len(noted) != 4 { // two of the first response, the last commands of the second and of the third
		t.Errorf("%+v", noted)
	}
	for _, one := range noted {
		if one.Kind != diagnosticNotRun {
			t.Errorf("%+v", one)
		}
	}
}

func TestAModelThatFails(t *testing.T) {
	b := newBench(t, map[string]string{"dev": "*"}, nil)
	b.model.answer = func(Prompt) (string, Reply, error) { return "", Reply{}, errScripted }
	if f := b.run("dev", "x"); f.Outcome != Failed || f.Calls != 1 || !strings.Contains(f.Reason, errScripted.Error()) {
		t.Errorf("%+v", f)
	}
	if got := b.log.types("r1"); got != "agent.started agent.replied agent.finished" {
		t.Errorf("recorded %s", got)
	}
	b.model.answer = func(Prompt) (string, Reply, error) { return strings.Repeat("word ", 1<<18), Reply{Whole: true}, nil }
	b.model.chunk = 4096
	s := b.start("dev", "x")
	s.Run = "r2"
	f, err := b.engine.Run(t.Context(), s)
	if err != nil || f.Outcome != Failed || !strings.Contains(f.Reason, errTooLong.Error()) {
		t.Errorf("an endless answer: %+v %v", f, err)
	}
}

func TestAStopIsRecorded(t *testing.T) {
	b := newBench(t, map[string]string{"dev": "*"}, map[string][]string{"dev": {"/exec sleep\n/exec b\n"}})
	ctx, cancel := context.WithCancel(t.Context())
	b.handlers["exec"] = verbs.HandlerFunc(func(ctx context.Context, _ verbs.Call) (verbs.Result, error) {
		cancel()
		<-ctx.Done()
		return verbs.Result{}, ctx.Err()
	})
	f, err := b.engine.Run(ctx, b.start("dev", "x"))
	if err != nil || f.Outcome != Stopped {
		t.Errorf("%+v %v", f, err)
	}
	want := "agent.started agent.replied command.dispatched command.finished diagnostic.reported agent.finished"
	if got := b.log.types("r1"); got != want || b.ran() != "/exec sleep" {
		t.Errorf("recorded %s, ran %s", got, b.ran())
	}
}

// Nothing runs whose dispatch the log does not have.
func TestNothingRunsUnrecorded(t *testing.T) {
	b := newBench(t, map[string]string{"dev": "*"}, map[string][]string{"dev": {"/exec a\n/read b\n", "Done."}})
	b.log.fail = func(e Entry) error {
		if d, ok := e.Payloads[0].(schemas.CommandDispatched); ok && d.Verb == "exec" {
			return errScripted
		}
		return nil
	}
	b.run("dev", "x")
	if got := b.ran(); got != "/read b" || !strings.Contains(b.told(), "Writ could not record /exec and did not run it") {
		t.Errorf("ran %s, told %s", got, b.told())
	}
	b.log.fail = func(e Entry) error { return errScripted }
	if _, err := b.engine.Run(t.Context(), Start{Run: "r2", File: filepath.Join(b.dir, "dev.json"), Workspace: b.dir}); err == nil {
		t.Error("a run began unrecorded")
	}
}

func TestHandlersThatMisbehave(t *testing.T) {
	b := newBench(t, map[string]string{"dev": "*"}, map[string][]string{"dev": {"/exec a\n/read b\n/list\n", "Done."}})
	b.handlers["exec"] = verbs.HandlerFunc(func(context.Context, verbs.Call) (verbs.Result, error) { panic("oh") })
	b.handlers["read"] = verbs.HandlerFunc(func(context.Context, verbs.Call) (verbs.Result, error) { return verbs.Result{}, errScripted })
	b.handlers["list"] = verbs.HandlerFunc(func(context.Context, verbs.Call) (verbs.Result, error) {
		return verbs.Result{
			Outcome: verbs.Done, Text: strings.Repeat("é", 20<<10), Trust: verbs.TrustWeb,
			Images: []verbs.Image{{MIME: "image/png", Data: []byte("x")}},
			Keep:   []verbs.Artifact{{Name: "page", MIME: "text/html", Data: []byte("<p>")}},
		}, nil
	})
	f := b.run("dev", "x")
	told := b.told()
	for _, want := range []string{"ERR: Writ failed while it ran /exec", "ERR: Writ failed while it ran /read: " + errScripted.Error(), "bytes in all]", "untrusted: web"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not in %s", want, told)
		}
	}
	if f.Outcome != Answered || len(told) > 40<<10 {
		t.Errorf("%+v, told %d bytes", f, len(told))
	}
	last := b.model.asked[1].Messages
	if len(last[len(last)-1].Images) != 1 {
		t.Error("the image is not attached")
	}
	if kept := recordedOf[schemas.ArtifactKept](b.log); len(kept) != 1 || kept[0].ArtifactID != "1" || string(kept[0].Content) != "<p>" {
		t.Errorf("%+v", kept)
	}
}

func TestARunIsStartedOnce(t *testing.T) {
	b := newBench(t, map[string]string{"dev": "*"}, map[string][]string{"dev": {"Done.", "Again."}})
	b.run("dev", "x")
	if _, err := b.engine.Run(t.Context(), b.start("dev", "x")); err == nil {
		t.Error("the same run began twice")
	}
	for name, s := range map[string]Start{
		"no file":      {Run: "r3", File: filepath.Join(b.dir, "gone.json"), Workspace: b.dir},
		"no workspace": {Run: "r3", File: filepath.Join(b.dir, "dev.json"), Workspace: filepath.Join(b.dir, "gone")},
		"no callee":    {Run: "r3", File: filepath.Join(b.dir, "dev.json"), Workspace: b.dir, Agent: "other"},
	} {
		if _, err := b.engine.Run(t.Context(), s); err == nil {
			t.Errorf("%s: it began", name)
		}
	}
}

func TestDispatchOfARecordedResponse(t *testing.T) {
	b := newBench(t, map[string]string{"dev": "/read"}, nil)
	run, err := b.engine.BeginDispatch(t.Context(), b.start("dev", ""), []byte("Hello\n/read a\n/exec b\n/raed c\n"))
	if err != nil {
		t.Fatal(err)
	}
	batch, f := run(t.Context())
	if f.Outcome != Answered || b.ran() != "/read a" {
		t.Errorf("%+v %s", f, b.ran())
	}
	for _, want := range []string{"[/read a ·", "capability not granted: /exec", "did you mean /read?"} {
		if !strings.Contains(batch, want) {
			t.Errorf("%q is not in %s", want, batch)
		}
	}
}
