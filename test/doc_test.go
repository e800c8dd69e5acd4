// Package test holds what looks at Writ from outside: the scripts that describe
// the product, simulations, compatibility directories and benchmarks of whole
// paths. The shape of the house is in its folder architecture.
package test
