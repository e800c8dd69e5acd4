package cosign

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/schemas"
)

// TestWhoSignsSignsWhatTheyAreShown: another content in the file is another
// fingerprint, whatever else the file says.
func TestWhoSignsSignsWhatTheyAreShown(t *testing.T) {
	disk := map[string]string{"plan.md": "# Plan\nsmall\n"}
	read := func(path string) ([]byte, error) {
		if text, is := disk[path]; is {
			return []byte(text), nil
		}
		return nil, errors.New("gone")
	}
	state := schemas.FileState{Path: "plan.md", SHA256: enforcement.Hash([]byte(disk["plan.md"]))}
	offer := schemas.GateOffer{Session: "s1", Gate: "plan", Files: []schemas.OfferFile{{FileState: state}}, Fingerprint: enforcement.Fingerprint([]schemas.FileState{state})}
	r, err := Of(offer, read)
	if err != nil || r.Act().Fingerprint != offer.Fingerprint || !strings.Contains(r.Text(), "small") {
		t.Fatalf("%+v, %v", r, err)
	}
	raw, _ := json.Marshal(r)
	altered, err := Read([]byte(strings.Replace(string(raw), "small", "large", 1)))
	if err != nil || altered.Act().Fingerprint == offer.Fingerprint || !strings.Contains(altered.Text(), "large") {
		t.Errorf("altered: %s, %v", altered.Text(), err)
	}
	disk["plan.md"] = "# Plan\nanother\n"
	if _, err := Of(offer, read); err == nil {
		t.Error("changed since it was offered, and asked for")
	}
	delete(disk, "plan.md")
	if _, err := Of(offer, read); err == nil {
		t.Error("gone, and asked for")
	}
	for _, text := range []string{"", "{}", `{"session":"s","gate":"mode","files":[{"path":"a"}]}`, `{"session":"s","gate":"plan"}`} {
		if _, err := Read([]byte(text)); !errors.Is(err, ErrForm) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
