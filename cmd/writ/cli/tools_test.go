package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/writbus/writ/cmd/writ/cli/client"
)

// Started with this variable the test program plays a tool of writd that works
// until it is told to stop, and then exits with the variable's value.
const waitsVariable = "WRIT_TEST_TOOL_WAITS"

func init() {
	if os.Getenv(waitsVariable) == "" {
		return
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, os.Interrupt)
	fmt.Println("working on", os.Args[1:])
	<-told
	fmt.Println("stopped in order")
	code, _ := strconv.Atoi(os.Getenv(waitsVariable))
	os.Exit(code)
}

// A tool that is told to stop has the last word, and the exit status.
func TestToolsAreToldToStop(t *testing.T) {
	for _, status := range []int{7, 0} {
		t.Run(strconv.Itoa(status), func(t *testing.T) { toldToStop(t, status) })
	}
}

func toldToStop(t *testing.T, status int) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot interrupt one process; the tool is ended there")
	}
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := client.Env{Vars: append(os.Environ(), "WRITD="+executable, waitsVariable+"="+strconv.Itoa(status)), Dir: t.TempDir(), Executable: executable, StopGrace: time.Minute}
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	var last string
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(reader); lines.Scan(); {
			last = lines.Text()
			cancel()
		}
	}()
	var errs bytes.Buffer
	code := Run(ctx, []string{"model", "list", "--json"}, nil, writer, &errs, env)
	_ = writer.Close()
	<-read
	if code != status || last != "stopped in order" || errs.Len() > 0 {
		t.Errorf("%d %q %s", code, last, errs.String())
	}
}
