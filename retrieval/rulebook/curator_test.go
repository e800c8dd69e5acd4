package rulebook

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// lettered embeds a text by how often it holds some letters, and fails on "broken".
type lettered struct{}

func (lettered) Name() string { return "lettered" }

func (lettered) Embed(text string) ([]float32, error) {
	if strings.Contains(text, "broken") {
		return nil, errors.New("no vector")
	}
	v := make([]float32, 3)
	for i, letter := range []string{"a", "b", "c"} {
		v[i] = float32(strings.Count(text, letter))
	}
	return v, nil
}

func nodeOf(id, statement string) schemas.Rule {
	return schemas.Rule{ID: id, Statement: statement}
}

func TestCuratorForgetsTextsOfNoNode(t *testing.T) {
	c := newCurator(lettered{})
	nodes := []schemas.Rule{nodeOf("A-A-001", "aaa"), nodeOf("B-B-001", "bbb")}
	for i := range 500 {
		if _, _, err := c.compare(nodeOf("C-C-001", fmt.Sprintf("c %d", i)), nodes, nil); err != nil {
			t.Fatal(err)
		}
	}
	if most := 2*len(nodes) + spareVectors + 1; len(c.vectors) > most {
		t.Errorf("%d vectors are kept, %d at most", len(c.vectors), most)
	}
}

// A node that cannot be embedded is told, and the others are compared all the same.
func TestCuratorComparesWhatItCan(t *testing.T) {
	c := newCurator(lettered{})
	near, _, err := c.neighbours([]schemas.Rule{nodeOf("A-A-001", "aaab"), nodeOf("B-B-001", "aaaab"), nodeOf("C-C-001", "ccc"), nodeOf("D-D-001", "broken")})
	if err == nil || !strings.Contains(err.Error(), "D-D-001") {
		t.Errorf("%v", err)
	}
	if got := near(nodeOf("A-A-001", "")); len(got) != 1 || got[0].ID != "B-B-001" {
		t.Errorf("beside A-A-001: %v", got)
	}
	for _, alone := range []string{"C-C-001", "D-D-001", "E-E-001"} {
		if got := near(nodeOf(alone, "")); len(got) != 0 {
			t.Errorf("beside %s: %v", alone, got)
		}
	}
}
