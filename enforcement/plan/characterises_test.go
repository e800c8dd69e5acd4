package plan

import "testing"

func TestCharacterisesIsSaidWhereAReaderSeesIt(t *testing.T) {
	const file = "tests/test_a.py"
	for text, want := range map[string]bool{
		"- `tests/test_a.py`: characterises what exists":                              true,
		"- tests/test_a.py characterizes the parser as it is.":                        true,
		"- ./tests/test_a.py (characterisation)":                                      true,
		"| File | Why |\n|---|---|\n| `tests/test_a.py` | characterises the parser |": true,
		"The parser stays; it is characterised by tests/test_a.py.":                   true,
		"- `tests/test_a.py`: its tests":                                              false,
		"- `tests/test_a.py`: its tests\n\n<!-- tests/test_a.py characterises -->":    false,
		"- `tests/test_a.py`: its tests <!-- characterises -->":                       false,
		"<details>\n\n- tests/test_a.py characterises what exists\n\n</details>":      false,
		"- ~~`tests/test_a.py` characterises what exists~~":                           false,
		"- `tests/test_a.py`: does not characterise what exists":                      false,
		"- `tests/test_a.py`: doesn't characterise anything":                          false,
		"- `tests/test_a.py.bak` characterises what exists":                           false,
		"- `more/tests/test_a.py` characterises what exists":                          false,
		"- `tests/test_b.py` characterises what exists\n- `tests/test_a.py`":          false,
	} {
		if got := Characterises([]byte("# Plan\n\n## Files\n\n"+text+"\n"), file); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
