package evidence

import "slices"

// Change is what was done to a record.
type Change string

// What a check names; Lost is none of Compare's.
const (
	Altered  Change = "altered"  // the record is another one, under the same id
	Removed  Change = "removed"  // the record is gone
	Inserted Change = "inserted" // a record that was never signed
	Moved    Change = "moved"    // the record stands at another sequence than signed
	Lost     Change = "lost"     // the record was damaged and given up, as the log says
)

// Finding names one record that is not as it was signed.
type Finding struct {
	Change Change `json:"change"`
	Seq    uint64 `json:"seq"`           // where it stands; for a removed one, where it stood
	Was    uint64 `json:"was,omitempty"` // of a moved one: where it stood
	ID     string `json:"id,omitempty"`
}

// Compare names what turned the signed leaves into those that the log has now.
// Both are of one stream and in the order of their sequences; sequences may be
// missing in what the log has. A record that only stands later or earlier
// because others were inserted or removed before it is not named.
func Compare(signed, found []Leaf) []Finding {
	byID := pair(signed, found)
	var all []Finding
	var kept []int // for each leaf found that was signed, its place there
	var places []int
	for i, f := range found {
		at := byID[i]
		if at < 0 {
			all = append(all, Finding{Change: Inserted, Seq: f.Seq, ID: f.ID})
			continue
		}
		if signed[at].Hash != f.Hash {
			all = append(all, Finding{Change: Altered, Seq: f.Seq, ID: signed[at].ID})
		}
		kept, places = append(kept, at), append(places, i)
	}
	present := make([]bool, len(signed))
	for _, at := range kept {
		present[at] = true
	}
	for at, s := range signed {
		if !present[at] {
			all = append(all, Finding{Change: Removed, Seq: s.Seq, ID: s.ID})
		}
	}
	inOrder := longestRise(kept)
	for i, at := range kept {
		if !inOrder[i] {
			all = append(all, Finding{Change: Moved, Seq: found[places[i]].Seq, Was: signed[at].Seq, ID: signed[at].ID})
		}
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		switch {
		case a.Seq < b.Seq:
			return -1
		case a.Seq > b.Seq:
			return 1
		}
		return 0
	})
	return all
}

// pair finds for each leaf found its place among those signed, -1 for none: the
// same hash first, then the same id, then the same sequence where both have no
// counterpart (a record whose id was changed).
func pair(signed, found []Leaf) []int {
	hashes, ids, seqs := map[Hash][]int{}, map[string][]int{}, map[uint64]int{}
	for i, s := range signed {
		hashes[s.Hash] = append(hashes[s.Hash], i)
	}
	at := make([]int, len(found))
	taken := make([]bool, len(signed))
	take := func(i int, queue []int) []int {
		for len(queue) > 0 && taken[queue[0]] {
			queue = queue[1:]
		}
		if len(queue) > 0 {
			at[i], taken[queue[0]] = queue[0], true
			queue = queue[1:]
		}
		return queue
	}
	for i, f := range found {
		at[i] = -1
		hashes[f.Hash] = take(i, hashes[f.Hash])
	}
	for i, s := range signed {
		if !taken[i] {
			if s.ID != "" {
				ids[s.ID] = append(ids[s.ID], i)
			}
			seqs[s.Seq] = i
		}
	}
	for i, f := range found {
		if at[i] < 0 && f.ID != "" {
			ids[f.ID] = take(i, ids[f.ID])
		}
	}
	for i, f := range found {
		if s, same := seqs[f.Seq]; at[i] < 0 && same && !taken[s] && lone(signed, found, at, i, s) {
			at[i], taken[s] = s, true
		}
	}
	return at
}

// lone says whether a leaf found and one signed stand between the same
// neighbours, so that one took the other's place.
func lone(signed, found []Leaf, at []int, i, s int) bool {
	before := i == 0 && s == 0 || i > 0 && s > 0 && at[i-1] == s-1
	after := i == len(found)-1 && s == len(signed)-1 || i < len(found)-1 && s < len(signed)-1 && at[i+1] == s+1
	return before && after && signed[s].Seq == found[i].Seq
}

// longestRise marks a longest strictly rising part of a list.
func longestRise(list []int) []bool {
	tails := make([]int, 0, len(list)) // places of the smallest ends, by length
	before := make([]int, len(list))
	for i, v := range list {
		n, _ := slices.BinarySearchFunc(tails, v, func(at, v int) int { return list[at] - v })
		before[i] = -1
		if n > 0 {
			before[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	in := make([]bool, len(list))
	if len(tails) > 0 {
		for i := tails[len(tails)-1]; i >= 0; i = before[i] {
			in[i] = true
		}
	}
	return in
}
