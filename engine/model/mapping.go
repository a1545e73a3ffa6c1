package model

import (
	"errors"
	"runtime/debug"
	"sync/atomic"
)

// mapping is the bytes of a model file in memory, held by a File and the Models
// loaded from it. The last one to let go gives them back. A nil mapping holds nothing.
type mapping struct {
	data []byte
	refs atomic.Int32
}

// newMapping maps a file; the caller holds it.
func newMapping(path string, size int64) (*mapping, error) {
	data, err := mapFile(path, size)
	if err != nil {
		return nil, err
	}
	m := &mapping{data: data}
	m.refs.Store(1)
	return m, nil
}

// hold adds a holder.
func (m *mapping) hold() *mapping {
	if m != nil {
		m.refs.Add(1)
	}
	return m
}

// release ends one holder's use.
func (m *mapping) release() error {
	if m == nil || m.refs.Add(-1) > 0 {
		return nil
	}
	data := m.data
	m.data = nil
	return unmapFile(data)
}

// errShrunk is what a step or a load answers after a fault.
var errShrunk = errors.New("the model file cannot be read any more: it was cut short or its disk failed while in use")

// guard makes a fault on mapped memory in this goroutine an error, not the end of the
// process. Call it as: defer guard(&err)().
func guard(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if p := recover(); isFault(p) {
			*err = errShrunk
		} else if p != nil {
			panic(p)
		}
	}
}

// fault is the panic that brings a worker's fault to its caller.
type fault struct{ error }

// isFault tells the panic of a fault from others: the runtime's error knows an address.
func isFault(p any) bool {
	if _, ok := p.(fault); ok {
		return true
	}
	_, ok := p.(interface{ Addr() uintptr })
	return ok
}
