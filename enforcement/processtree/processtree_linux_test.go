package processtree

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestLookReadsProc(t *testing.T) {
	proc := t.TempDir()
	put := func(pid, name, content string) {
		if err := os.MkdirAll(filepath.Join(proc, pid), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(proc, pid, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("30", "stat", "30 (odd) (name) S 20 1 1 0")
	put("30", "cmdline", "node\x00/x/claude\x00--resume\x00")
	put("20", "stat", "20 (kworker) S 1 1 1 0")
	put("20", "cmdline", "")
	put("40", "stat", "garbage")
	put("50", "stat", "50 (x) S")
	want := []Process{{PID: 30, Name: "odd) (name", Args: []string{"node", "/x/claude", "--resume"}}, {PID: 20, Name: "kworker"}}
	if got := walk(30, lookIn(proc)); !reflect.DeepEqual(got, want) {
		t.Errorf("walk = %+v", got)
	}
	for _, pid := range []int{40, 50, 60} {
		if _, _, ok := lookIn(proc)(pid); ok {
			t.Errorf("process %d was read", pid)
		}
	}
}
