package probes

import "context"

// Probe reads one source. Read may block as long as its source does: the
// collector runs each probe on a goroutine of its own, never starts a second
// read while one is out, and carries the last section meanwhile. An error is
// data: it lands in ProbeStatus, and a section returned beside it is still used.
type Probe interface {
	Name() string
	Read(ctx context.Context) (Section, error)
}

// Source yields samples in order: a live collector or a recording. Next blocks
// until the next one is due; io.EOF ends it.
type Source interface {
	Next(ctx context.Context) (*Sample, error)
}
