package turn

import (
	"slices"
	"sync"

	"github.com/writbus/writ/schemas/excerpt"
)

// keptLists bounds the sessions whose lists of tasks are remembered.
const keptLists = 512

// doneItems are the items that sessions' lists of tasks called done before: a
// list is sent whole each time. They are kept in memory only; after a restart an
// item may be asked about once more.
type doneItems struct {
	mu    sync.Mutex
	byKey map[string][]string
	order []string
}

// fresh are the items that a call would call done and that were not before.
func (d *doneItems) fresh(t turn) []string {
	if len(t.Done) == 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var items []string
	for _, item := range t.Done {
		if !slices.Contains(d.byKey[t.listKey()], item) {
			items = append(items, excerpt.Runes(item, 120))
		}
	}
	return items
}

// keep remembers what a call that passed called done.
func (d *doneItems) keep(t turn) {
	if len(t.Done) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	key := t.listKey()
	if d.byKey == nil {
		d.byKey = map[string][]string{}
	}
	if _, had := d.byKey[key]; !had {
		d.order = append(d.order, key)
		if len(d.order) > keptLists {
			delete(d.byKey, d.order[0])
			d.order = d.order[1:]
		}
	}
	if t.Tool == "TaskUpdate" {
		d.byKey[key] = append(d.byKey[key], t.Done...)
		return
	}
	d.byKey[key] = slices.Clone(t.Done)
}

func (t turn) listKey() string { return t.Session + "\x00" + t.Agent }
