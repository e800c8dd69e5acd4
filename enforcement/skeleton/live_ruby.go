package skeleton

// rubyLive is what of a block of Ruby can run and fail its test.
func rubyLive(s *scope, t []lexeme) []lexeme {
	c := make(cut, len(t))
	ends := rubyBlocks(t)
	for i, tok := range t {
		if c[i] || tok.kind != word {
			continue
		}
		first := i == 0 || t[i-1].kind == newline || t[i-1].text == ";" || t[i-1].text == "do" || t[i-1].text == "{" || t[i-1].text == "then"
		end, opens := ends[i]
		switch {
		case i > 0 && s.g.access[t[i-1].text]:
			if _, end, ok := rubyBlock(t, i, ends); ok && (tok.text == "each" || tok.text == "map" || tok.text == "times") && (s.nothing(subject(t, i-1)) || joined(subject(t, i-1)) == "0") {
				c.drop(i, end)
			}
		case opens && (tok.text == "if" || tok.text == "unless" || tok.text == "while" || tok.text == "until"):
			if v, fixed := always(statement(t, i+1)); fixed && v == (tok.text == "unless" || tok.text == "until") {
				to := i
				for to < end && !(t[to].text == "else" && t[to].kind == word) {
					to++
				}
				c.drop(i, to)
			}
		case (tok.text == "if" || tok.text == "unless") && !first:
			if v, fixed := always(statement(t, i+1)); fixed && v == (tok.text == "unless") {
				from := i
				for from > 0 && t[from-1].kind != newline {
					from--
				}
				c.drop(from, i)
			}
		case tok.text == "rescue" && !first && !fails(statement(t, i+1)):
			from := i
			for from > 0 && t[from-1].kind != newline && t[from-1].text != ";" {
				from--
			}
			c.drop(from, i)
		case tok.text == "begin" && opens:
			for j := i + 1; j < min(end, i+longest); j++ {
				if t[j].text == "rescue" && t[j].kind == word && t[j-1].kind == newline {
					if rubyDrops(t[j+1 : end]) {
						c.drop(i, j)
					}
					break
				}
			}
		case first && (tok.text == "return" || tok.text == "next" || tok.text == "exit" || tok.text == "exit!"):
			rest := statement(t, i)
			conditional := false
			for _, r := range rest {
				conditional = conditional || r.text == "if" || r.text == "unless"
			}
			if !conditional {
				to := i + len(rest)
				for depth := 0; to < len(t); to++ {
					if _, opens := ends[to]; opens {
						depth++
					}
					if depth == 0 && t[to].kind == word && (t[to].text == "else" || t[to].text == "elsif" || t[to].text == "when" || t[to].text == "rescue" || t[to].text == "ensure") {
						break
					}
					if t[to].text == "end" && t[to].kind == word {
						if depth--; depth < 0 {
							break
						}
					}
				}
				c.drop(i+len(rest), to)
			}
		}
	}
	return c.of(t)
}

// rubyDrops tells whether a rescue clause catches a failed assertion, which is
// no StandardError, and does nothing with it.
func rubyDrops(t []lexeme) bool {
	caught := false
	i := 0
	for ; i < len(t) && t[i].kind != newline; i++ {
		caught = caught || swallowed[t[i].text]
	}
	return caught && !fails(t[i:])
}
