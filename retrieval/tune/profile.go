package tune

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/writbus/writ/retrieval"
)

// BuiltIn is the built-in profile of a name.
func BuiltIn(name string) (p retrieval.Profile, found bool) {
	all := retrieval.Profiles()
	at := slices.IndexFunc(all, func(p retrieval.Profile) bool { return p.Name == name })
	if at < 0 {
		return p, false
	}
	return all[at], true
}

// ParseProfile reads a profile from JSON, or that of a fit's result; name is what
// one without a name is called.
func ParseProfile(raw []byte, name string) (p retrieval.Profile, err error) {
	var tuned struct {
		Best *retrieval.Profile `json:"best"`
	}
	if err := json.Unmarshal(raw, &tuned); err != nil {
		return p, err
	}
	if tuned.Best != nil {
		p = *tuned.Best
	} else if err := json.Unmarshal(raw, &p); err != nil {
		return p, err
	}
	if p.Fusion != retrieval.FusionRRF && p.Fusion != retrieval.FusionConvex {
		return p, fmt.Errorf("its Fusion is %q, must be %q or %q", p.Fusion, retrieval.FusionRRF, retrieval.FusionConvex)
	}
	p.Name = cmp.Or(p.Name, name)
	return p, nil
}

// OpenProfile is the built-in profile of a name, or the one in a file of that name.
func OpenProfile(name string, read func(file string) ([]byte, error)) (retrieval.Profile, error) {
	if p, found := BuiltIn(name); found {
		return p, nil
	}
	raw, err := read(name)
	if err != nil {
		var names []string
		for _, p := range retrieval.Profiles() {
			names = append(names, p.Name)
		}
		return retrieval.Profile{}, fmt.Errorf("weights %q: neither a file nor one of %q: %w", name, names, err)
	}
	p, err := ParseProfile(raw, filepath.Base(name))
	if err != nil {
		return p, fmt.Errorf("weights %s: %w", name, err)
	}
	return p, nil
}
