package processtree

import (
	"os"
	"testing"
)

func table(parents map[int]int) lookup {
	return func(pid int) (Process, int, bool) {
		parent, ok := parents[pid]
		return Process{PID: pid}, parent, ok
	}
}

func TestWalkEnds(t *testing.T) {
	for name, c := range map[string]struct {
		parents map[int]int
		want    int
	}{
		"at the first process": {map[int]int{9: 5, 5: 2, 2: 1, 1: 0}, 3},
		"where nothing shows":  {map[int]int{9: 5}, 1},
		"at once":              {map[int]int{}, 0},
		"in a circle":          {map[int]int{9: 5, 5: 9}, most},
	} {
		if got := walk(9, table(c.parents)); len(got) != c.want {
			t.Errorf("%s: %d processes, want %d", name, len(got), c.want)
		}
	}
}

func TestOfFindsTheParent(t *testing.T) {
	above := Of()
	if len(above) == 0 {
		t.Skip("this system shows no processes")
	}
	if above[0].PID != os.Getppid() || (above[0].Name == "" && len(above[0].Args) == 0) {
		t.Errorf("the nearest is %+v, want process %d", above[0], os.Getppid())
	}
}
