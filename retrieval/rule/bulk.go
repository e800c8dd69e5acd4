package rule

import "github.com/writbus/writ/schemas"

// Import brings in a rule of many, where it is another one than the log has. An
// import of the shipped rules leaves alone what somebody else touched, and brings
// back as it was what Writ itself took out after a person had edited it.
type Import struct {
	Rule                  schemas.Rule
	Source, Hash, Content string
	// Compared says that somebody saw it differ from what stands, whatever was
	// imported last.
	Compared bool
}

func (c Import) decide(s State) (Decision, error) {
	if c.Source == SourceShipped && s.Source == SourceShipped && s.Pruned && s.Edited {
		return recorded(schemas.RuleEdited{Rule: s.Rule, Content: s.Content, Reason: "it is shipped again", Restores: s.Revisions}, "")
	}
	if s.Status == Active && s.Hash == c.Hash && !c.Compared || c.Source == SourceShipped && s.touched() {
		return Decision{}, nil
	}
	return recorded(schemas.RuleImported{Rule: c.Rule, Source: c.Source, Hash: c.Hash, Content: c.Content}, "")
}

// Prune takes a rule out whose source no longer has it, unless it is out.
type Prune struct{ Reason string }

func (c Prune) decide(s State) (Decision, error) {
	if s.Status != Active {
		return Decision{}, nil
	}
	return recorded(schemas.RuleRetired{Reason: c.Reason}, "")
}

// ShippedThere says whether an import of the shipped files, by their hashes,
// would change nothing: every one is the last that was imported of its rule, and
// no other shipped rule is in force.
func ShippedThere(hashes []string, states []State) bool {
	found := make(map[string]bool, len(hashes))
	for _, hash := range hashes {
		found[hash] = false
	}
	for _, s := range states {
		if s.Source != SourceShipped {
			continue // its source only begins alike
		}
		if _, ships := found[s.Hash]; ships && s.Pruned {
			return false
		} else if ships {
			found[s.Hash] = true
		} else if s.Status == Active {
			return false
		}
	}
	for _, is := range found {
		if !is {
			return false
		}
	}
	return true
}

// MostShippedThere says whether most of the shipped rules, by how many there
// are, have been imported once, in whatever version. Until then what is in force
// is an arbitrary part of them.
func MostShippedThere(shipped int, states []State) bool {
	known := 0
	for _, s := range states {
		if s.Source == SourceShipped {
			known++
		}
	}
	return 2*known >= shipped
}
