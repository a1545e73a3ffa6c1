package enginelog

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"llmtop/probes"
)

// Timing of a probe.
const (
	firstRead = 50 * time.Millisecond  // how long the first Read waits for the source
	closeWait = 300 * time.Millisecond // how long Close waits for the reader
)

// Options say where things are on this machine.
type Options struct {
	Root string     // "" or "/" for this machine, another for trees in tests
	PID  func() int // the engine's process, 0 while it is not known; only auto asks
}

// Probe reads one source. It is a probes.Probe.
type Probe struct {
	source Source
	sink   *sink
	run    func(context.Context)

	start  sync.Once
	cancel context.CancelFunc
	done   chan struct{}
}

// New returns a probe of a source. Reading begins with the first Read and ends with Close.
func New(source Source, o Options) *Probe {
	p := &Probe{source: source, sink: newSink(newMatcher(rows()), source.String()), done: make(chan struct{})}
	o.Root = filepath.Clean("/" + o.Root)
	switch source.Kind {
	case auto:
		p.run = newFinder(o, p.sink).run
	default:
		p.run = reader(source, p.sink, false)
	}
	return p
}

// reader returns what reads a source that is named. anew says that all of a file counts, since
// it is younger than the reading.
func reader(source Source, s *sink, anew bool) func(context.Context) {
	switch source.Kind {
	case file:
		return newTail(source.Name, s, anew).run
	case journal:
		return newCommand(s, journalOf(source.Name)).run
	case docker:
		return newCommand(s, containerOf(source.Name)).run
	}
	return func(context.Context) { s.fail(fmt.Errorf("%q is no kind of log", source.Kind)) }
}

// Name is "log" and the source.
func (p *Probe) Name() string { return "log " + p.source.String() }

// Read returns the counts so far; no section before the source was first read, and an error
// when it cannot be. It never waits for the source but the first time, and then not for long.
func (p *Probe) Read(ctx context.Context) (probes.Section, error) {
	p.start.Do(func() {
		run, cancel := context.WithCancel(context.WithoutCancel(ctx))
		p.cancel = cancel
		go func() {
			defer close(p.done)
			p.sink.guarded(func() { p.run(run) })
		}()
		wait := time.NewTimer(firstRead)
		defer wait.Stop()
		select {
		case <-p.sink.opened:
		case <-wait.C:
		case <-ctx.Done():
		}
	})
	section, err := p.sink.section()
	if section == nil {
		return nil, err
	}
	return section, err
}

// Close ends the reading; it waits a moment for a source that does not answer.
func (p *Probe) Close() error {
	p.start.Do(func() { close(p.done) }) // it never began
	if p.cancel != nil {
		p.cancel()
	}
	wait := time.NewTimer(closeWait)
	defer wait.Stop()
	select {
	case <-p.done:
	case <-wait.C:
	}
	return nil
}

// pause waits, and reports whether the context still lives.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
