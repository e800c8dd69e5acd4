package library

import (
	"maps"
	"slices"
	"time"
)

const (
	// mostMemory bounds what the indexes of all projects take together, bytes.
	mostMemory = 160 << 20
	// inUse is how long a project counts as used: a request that was begun may
	// still need it.
	inUse = 2 * time.Second
)

// trim lets go of the projects that were used least lately, while all together
// take more memory than they may. One project is kept whatever it takes.
func (l *Library) trim(keep *project) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held, now := int64(0), l.o.Now()
	all := slices.SortedFunc(maps.Values(l.projects), func(a, b *project) int { return a.lastUsed().Compare(b.lastUsed()) })
	for _, p := range all {
		held += p.bytes()
	}
	for _, p := range all {
		if held <= l.o.Memory {
			return
		}
		if p != keep && p.idle(now, inUse) && p.Current() != nil {
			held -= p.bytes()
			l.letGo(p)
		}
	}
}

// bytes is about what a project takes in memory.
func (p *project) bytes() int64 {
	if !p.isOpen() || p.Current() == nil {
		return 0
	}
	return p.Current().Bytes()
}

// letGo saves a project's index and forgets it, while [Library] is locked. Who
// asks for it next waits until it is saved.
func (l *Library) letGo(p *project) {
	delete(l.projects, p.id)
	p.mu.Lock()
	p.left = true
	p.mu.Unlock()
	saved := make(chan struct{})
	l.leaving[p.id] = saved
	l.wait.Go(func() {
		defer close(saved)
		if ended := p.unwatch(); ended != nil {
			<-ended
		}
		l.save(p)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.leaving[p.id] == saved {
			delete(l.leaving, p.id)
		}
	})
}
