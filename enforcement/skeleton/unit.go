package skeleton

// unit is a function of a file: a test or a helper.
type unit struct {
	name    string
	line    int
	body    []lexeme
	params  []string // that are mocks (patched in)
	test    bool
	skipped bool
	expects bool // an exception is declared to be expected
}

// scanner is one language read by tokens.
type scanner struct {
	g *grammar
	// assertions finds what a piece of code asserts.
	assertions func(s *scope, t []lexeme) []assertion
	// bare tells that a helper may be called without brackets.
	bare bool
}

// tests judges every test unit with the helpers it calls. shared is the code
// outside all units: fields, set-up, module level.
func (sc scanner) tests(units []unit, shared []lexeme) []test {
	helpers := map[string][]int{}
	for i, u := range units {
		if !u.test && u.name != "" {
			helpers[u.name] = append(helpers[u.name], i)
		}
	}
	base := newScope(sc.g)
	base.learn(shared)
	for _, u := range units {
		if !u.test {
			base.learn(u.body)
		}
	}
	// A variable of a helper says nothing about one of the same name in a test.
	clear(base.consts)
	clear(base.derived)
	clear(base.counts)
	base.learn(shared)
	helped := map[int][]assertion{}
	var out []test
	for _, u := range units {
		if !u.test || u.skipped {
			continue
		}
		s := base.copy()
		for _, p := range u.params {
			s.mocks[p], s.used[p] = true, true
		}
		s.learn(u.body)
		found := sc.assertions(s, u.body)
		seen := map[int]bool{}
		for queue := [][]lexeme{u.body}; len(queue) > 0; queue = queue[1:] {
			for _, i := range sc.called(queue[0], helpers) {
				if seen[i] {
					continue
				}
				seen[i] = true
				queue = append(queue, units[i].body)
				if _, ok := helped[i]; !ok {
					hs := base.copy()
					hs.learn(units[i].body)
					helped[i] = sc.assertions(hs, units[i].body)
				}
				found = append(found, helped[i]...)
			}
		}
		if u.expects && s.makeup(u.body).dynamic {
			found = append(found, assertion{u.line, meaningful})
		}
		out = append(out, test{u.name, u.line, found})
	}
	return out
}

func (sc scanner) called(t []lexeme, helpers map[string][]int) []int {
	var out []int
	for i, tok := range t {
		if tok.kind != word || helpers[tok.text] == nil {
			continue
		}
		if sc.bare || i+1 < len(t) && (t[i+1].text == "(" || t[i+1].text == "<" || t[i+1].text == "!" || t[i+1].text == "::") {
			out = append(out, helpers[tok.text]...)
		}
	}
	return out
}

func (s *scope) copy() *scope {
	c := newScope(s.g)
	for _, p := range []struct{ to, from map[string]bool }{{c.consts, s.consts}, {c.mocks, s.mocks}, {c.derived, s.derived}, {c.used, s.used}} {
		for k := range p.from {
			p.to[k] = true
		}
	}
	for k, v := range s.counts {
		c.counts[k] = v
	}
	return c
}
