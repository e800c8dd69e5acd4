package testrun

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/enforcement/testrun/outcome"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/digest"
)

const (
	// FilesTime is how long the test files of one run may take in all.
	FilesTime = time.Minute
	// MaxFiles bounds the test files of one run.
	MaxFiles = 40
	// maxReport is how much is read of what a runner prints of one file, in bytes.
	maxReport = 4 << 20
	// maxTestFile bounds a test file, in bytes.
	maxTestFile = 4 << 20
)

// see runs test files one by one, each as often as the run says, held by the
// kernel: nobody has approved what is in them.
func see(ctx context.Context, r schemas.TestRun, w World) []schemas.TestFileResult {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(r.FilesMillis)*time.Millisecond)
	defer cancel()
	results := make([]schemas.TestFileResult, 0, len(r.Files))
	for _, f := range r.Files {
		results = append(results, seeFile(ctx, r, f, w))
	}
	return results
}

func seeFile(ctx context.Context, r schemas.TestRun, f schemas.TestFile, w World) schemas.TestFileResult {
	began := time.Now()
	notRun := func(why string) schemas.TestFileResult {
		return schemas.TestFileResult{Path: f.Path, Support: f.Support, NotRun: why, Millis: time.Since(began).Milliseconds()}
	}
	before, err := contentOf(r.Project, f.Path)
	if err != nil {
		return notRun("it cannot be read")
	}
	out := notRun("")
	out.SHA256 = digest.Hex(before)
	if len(r.Confine) == 0 || w.Writ == "" {
		out.NotRun = "nothing here holds what it does"
		return out
	}
	var runs []outcome.Run
	for range max(r.Times, 1) {
		run, why := once(ctx, r, f, w)
		if why != "" {
			out.NotRun, out.Skipped = why, len(run.Skipped)
			out.Millis = time.Since(began).Milliseconds()
			return out
		}
		runs = append(runs, run)
	}
	merged := outcome.Merge(runs)
	merged.Path, merged.SHA256, merged.Support, merged.Millis = f.Path, out.SHA256, f.Support, time.Since(began).Milliseconds()
	if after, err := contentOf(r.Project, f.Path); err != nil || digest.Hex(after) != out.SHA256 {
		merged = notRun("it changed while it ran")
		merged.SHA256 = out.SHA256
	}
	return merged
}

// once runs a test file once; why says what kept its tests from ending.
func once(ctx context.Context, r schemas.TestRun, f schemas.TestFile, w World) (run outcome.Run, why string) {
	if ctx.Err() != nil {
		return run, "there was no time left for it: all test files together have a minute"
	}
	confined, remove := making(r, f.Make)
	defer remove()
	printed, said := &start{most: maxReport}, &end{most: maxOutput}
	status, err := execute(ctx, process{
		command: f.Command, confine: confined, dir: filepath.Join(r.Project, filepath.FromSlash(f.Dir)), out: printed, errs: said,
	}, w)
	switch {
	case ctx.Err() != nil:
		return run, "it did not end in time: all test files together have a minute"
	case err != nil:
		return run, err.Error()
	case status == noConfinement:
		return run, "nothing here holds what it does: " + outcome.LastLine(said.String())
	case status == notFound || status == cannotRun:
		return run, outcome.LastLine(said.String())
	}
	return outcome.Read(f.Tool, f.Path, printed.String(), said.String())
}

// making are the options that hold a run which may make a file, and what takes that
// away again: it is the run's own, as far as it made one.
func making(r schemas.TestRun, file string) (confined []string, remove func()) {
	if file == "" || len(r.Confine) == 0 {
		return r.Confine, func() {}
	}
	made := filepath.Join(r.Project, filepath.FromSlash(file))
	if _, err := os.Lstat(made); err == nil {
		made = ""
	}
	return append(slices.Clone(r.Confine), "--make", file), func() {
		if made != "" {
			_ = os.Remove(made)
		}
	}
}

func contentOf(root, file string) ([]byte, error) {
	at, err := os.Open(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return nil, err
	}
	defer func() { _ = at.Close() }() // only read
	return io.ReadAll(io.LimitReader(at, maxTestFile))
}

// start keeps the beginning of what is written to it.
type start struct {
	most int
	kept strings.Builder
}

func (s *start) Write(p []byte) (int, error) {
	if room := s.most - s.kept.Len(); room > 0 {
		s.kept.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (s *start) String() string { return s.kept.String() }
