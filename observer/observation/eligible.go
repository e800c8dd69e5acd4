package observation

// MayRecall says whether recall may return an observation with a stored
// verdict. Nil, or "" as the event spells it, is an observation without a
// verdict, recorded elsewhere or before the gate; it counts as allow. The two
// flags are independent, and neither reaches a verdict that is none of the
// three.
func MayRecall(verdict *string, includeHold, includeDiscard bool) bool {
	switch stored(verdict) {
	case Allow:
		return true
	case Hold:
		return includeHold
	case Discard:
		return includeDiscard
	default:
		return false
	}
}

// MayReflect says whether reflection may read an observation with a stored
// verdict: allow, or none at all.
func MayReflect(verdict *string) bool { return stored(verdict) == Allow }

func stored(verdict *string) string {
	if verdict == nil || *verdict == "" {
		return Allow
	}
	return *verdict
}
