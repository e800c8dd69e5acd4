package files

import "sync"

// Watches bounds how many folders are watched at once, by all projects that
// share it. What the system lets one user watch is shared with editors and
// builds, so Writ takes a part of it. It is safe for concurrent use; nil bounds
// nothing.
type Watches struct {
	mu   sync.Mutex
	left int
}

// NewWatches lets so many folders be watched; 0 is a quarter of what the system
// lets the user watch.
func NewWatches(most int) *Watches {
	if most == 0 {
		most = watchable() / 4
	}
	return &Watches{left: most}
}

// take takes a folder's place, and says whether there was one.
func (w *Watches) take() bool {
	if w == nil {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left <= 0 {
		return false
	}
	w.left--
	return true
}

// give gives places back.
func (w *Watches) give(n int) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left += n
}
