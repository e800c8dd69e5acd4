//go:build !amd64 || purego

package bert

// kernels lists what this machine can run, the fastest first.
func kernels() []*kernel { return []*kernel{&portable} }
