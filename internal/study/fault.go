package study

import (
	"fmt"
	"runtime/debug"
)

// FaultError is a panic of a worker: a fault of this program's own. A panic that leaves a goroutine ends the process at once,
// so workers catch it and whoever started them gets it as an error.
type FaultError struct {
	Value any
	Stack []byte
}

func (e *FaultError) Error() string { return fmt.Sprint(e.Value) }

// guarded runs f and gives what it panics with as an error.
func guarded(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &FaultError{Value: v, Stack: debug.Stack()}
		}
	}()
	f()
	return nil
}
