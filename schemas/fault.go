package schemas

import "fmt"

// Fault is an error that a client is told as it is, with a code that programs
// can act on. Services return it; the bus carries both.
type Fault struct {
	code string
	text string
}

// Faultf makes a fault with one of the codes Code….
func Faultf(code, format string, args ...any) Fault {
	return Fault{code, fmt.Sprintf(format, args...)}
}

func (f Fault) Error() string { return f.text }

// Code is the stable part, Code….
func (f Fault) Code() string { return f.code }
