package main

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"llmtop/engine"
)

// logOptions say where the engine's event log goes.
type logOptions struct {
	mode string // async, sync or off
	file string // empty: standard error
}

// open starts the log; close writes what waits, once the last request has ended.
func (o logOptions) open(stderr io.Writer) (l *engine.EventLog, close func() error, err error) {
	modes := map[string]engine.LogMode{"async": engine.LogAsync, "sync": engine.LogSync}
	mode, on := modes[o.mode]
	switch {
	case o.mode == "off" && o.file == "":
		return nil, func() error { return nil }, nil
	case o.mode == "off":
		return nil, nil, usage(fmt.Errorf("--log-file %s: the log is off", o.file), "")
	case !on:
		return nil, nil, usage(fmt.Errorf("--log %q: must be async, sync or off", o.mode), "")
	case o.file == "":
		l = engine.NewEventLog(stderr, mode)
		return l, func() error {
			_ = l.Close() // there is nowhere to tell it: standard error hangs
			return nil
		}, nil
	}
	// Opening must not wait for the reader of a pipe; writing waits all the same.
	f, err := os.OpenFile(o.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, nil, failed(fmt.Errorf("opening the log: %w", err), "")
	}
	l = engine.NewEventLog(f, mode)
	return l, func() error {
		err := l.Close()
		if err != nil {
			return err // the file is still in use
		}
		return f.Close()
	}, nil
}
