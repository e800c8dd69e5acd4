package train

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// grain is how many items a worker takes at a time.
const grain = 16

// parallel calls do for every number below n, on all processors. do gets the
// worker's own memory too. What do computes for a number must not depend on
// the order of calls or on what the memory held, so that the result is the
// same for any number of processors.
func parallel[M any](n int, memory *[]M, do func(i int, own *M)) {
	workers := max(1, min(runtime.GOMAXPROCS(0), (n+grain-1)/grain))
	for len(*memory) < workers {
		*memory = append(*memory, *new(M))
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for {
				from := int(next.Add(grain)) - grain
				if from >= n {
					return
				}
				for i := from; i < min(from+grain, n); i++ {
					do(i, &(*memory)[w])
				}
			}
		})
	}
	wait.Wait()
}

// each is parallel without memory.
func each(n int, do func(i int)) {
	var none []struct{}
	parallel(n, &none, func(i int, _ *struct{}) { do(i) })
}
