package skeleton

import "slices"

// unit is a function of a file: a test or a helper.
type unit struct {
	name    string
	line    int
	body    []lexeme
	live    []lexeme        // what of the body can run and fail; nil for the language to find out
	params  []string        // that are mocks (patched in)
	marks   []lexeme        // what stands before it that may replace functions
	takes   map[string]bool // of a function outside of classes: its parameters
	test    bool
	skipped bool
	expects bool // an exception is declared to be expected
	failing bool // that of an assertion, too: what is asserted may be false
	async   bool // nothing of it runs unless somebody waits for it
}

// scanner is one language read by tokens.
type scanner struct {
	g *grammar
	// assertions finds what a piece of code asserts.
	assertions func(s *scope, t []lexeme) []assertion
	// live is what of a body can run and fail.
	live func(s *scope, t []lexeme) []lexeme
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
	link(shared)
	base := newScope(sc.g)
	base.learn(shared)
	for _, u := range units {
		if !u.test {
			base.learn(u.body)
		}
	}
	// A variable of a helper says nothing about one of the same name in a test.
	clear(base.known[literal])
	clear(base.known[answer])
	clear(base.known[fixed])
	clear(base.known[altered])
	clear(base.counts)
	base.learn(shared)
	inner := base.child()
	for _, u := range units {
		if !u.test {
			inner.learn(u.body)
		}
	}
	base.disturb(inner)
	for _, u := range units {
		if !u.test && u.takes != nil {
			base.computes(u.name, u.takes, u.body)
		}
	}
	helped := map[int][]assertion{}
	calls := map[int][]int{}
	var out []test
	for _, u := range units {
		if !u.test || u.skipped {
			continue
		}
		s := base.child()
		for _, p := range u.params {
			s.set(mock, p, true)
			s.set(handed, p, true)
		}
		s.learn(u.body)
		s.set(mock, programmedAnswer, true)
		live := withoutProgrammed(sc.g, sc.liveOf(s, u), slices.Concat(shared, u.marks))
		found := sc.assertions(s, sc.ownNames(live, helpers))
		seen := map[int]bool{}
		for queue := sc.called(live, helpers, units); len(queue) > 0; queue = queue[1:] {
			if i := queue[0]; !seen[i] {
				seen[i] = true
				if _, ok := helped[i]; !ok {
					calls[i] = sc.called(units[i].body, helpers, units)
					hs := base.child()
					hs.learn(units[i].body)
					helped[i] = sc.assertions(hs, sc.ownNames(sc.liveOf(hs, units[i]), helpers))
				}
				queue = append(queue, calls[i]...)
				found = append(found, helped[i]...)
			}
		}
		if closed(sc.g, live, nil) {
			for i := range found {
				if found[i].strength == meaningful {
					found[i].strength = constant
				}
			}
		}
		if u.expects && s.makeup(withoutThrows(live)).dynamic {
			found = append(found, assertion{u.line, meaningful})
		}
		out = append(out, test{u.name, u.line, found})
	}
	return out
}

// ownNames takes from the file's own functions the names that look like those of
// assertions: what they assert stands in them.
func (sc scanner) ownNames(t []lexeme, helpers map[string][]int) []lexeme {
	out := t
	for i, tok := range t {
		if tok.kind == word && helpers[tok.text] != nil && (i == 0 || !sc.g.access[t[i-1].text]) && prefixed(tok.text, "assert", "expect", "should", "verify") {
			if &out[0] == &t[0] {
				out = slices.Clone(t)
			}
			out[i].text = "@" + tok.text
		}
	}
	return out
}

// liveOf is what of a unit's body can run and fail.
func (sc scanner) liveOf(s *scope, u unit) []lexeme {
	switch {
	case u.live != nil:
		return u.live
	case sc.live != nil:
		return sc.live(s, u.body)
	}
	return s.live(u.body)
}

func (sc scanner) called(t []lexeme, helpers map[string][]int, units []unit) []int {
	var out []int
	named := map[string]bool{}
	for i, tok := range t {
		if tok.kind != word || helpers[tok.text] == nil || named[tok.text] {
			continue
		}
		if sc.bare || i+1 < len(t) && (t[i+1].text == "(" || t[i+1].text == "<" || t[i+1].text == "!" || t[i+1].text == "::") {
			if units[helpers[tok.text][0]].async && before(t, i-1) != "await" && before(t, i-1) != "(" && before(t, i-1) != "," && before(t, i-1) != "=" {
				continue
			}
			named[tok.text] = true
			out = append(out, helpers[tok.text]...)
		}
	}
	return out
}
