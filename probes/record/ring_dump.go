package record

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"llmtop/probes"
)

// Dump is a recording that begins with what a ring holds and goes on with what is
// written to the ring until Close. All that touches the disk happens on a goroutine
// of its own.
type Dump struct {
	ring   *Ring
	items  chan item // what was written to the ring since; closed by Close
	done   chan struct{}
	closed bool // guarded by the ring's mutex
	gap    *Gap // samples that found items full; guarded by the ring's mutex

	mu     sync.Mutex
	path   string
	writer *Writer // nil until the file is there
	err    error   // why it ended early
	lag    lag

	patience <-chan time.Time // when Close gives up; nil: after closePatience
}

// CreateFunc makes the file of a Dump, as Create does.
type CreateFunc func(path string, m Manifest) (*Writer, error)

// Dump begins to write what the ring holds to a new recording at path, followed by the
// mark, which says why, and by what is written to the ring until the Dump is closed. A
// path that is taken gets a number before its extension. Creating the file and writing it
// happen behind: see Dump.Err. create is called from there; nil: Create. ErrDumping: one is under way.
func (r *Ring) Dump(path string, why Mark, create CreateFunc) (*Dump, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return nil, ErrClosed
	case r.dump != nil:
		return nil, ErrDumping
	}
	if create == nil {
		create = Create
	}
	d := &Dump{ring: r, items: make(chan item, queueSize), done: make(chan struct{}), path: path}
	var held []stretch
	last := r.last
	for _, g := range r.segments {
		g.settle()
		held = append(held, g.stretch())
	}
	m := r.manifest
	m.Created = why.At.UTC()
	r.dump = d
	go d.run(held, last, m, why, create)
	return d, nil
}

// offer hands an item over without waiting. The ring's mutex is held.
func (d *Dump) offer(it item) {
	it.gap = d.gap
	select {
	case d.items <- it:
		d.gap = nil
		if it.sample != nil {
			d.note(it.sample, (*lag).hand)
		}
	default:
		if it.sample != nil {
			d.gap = d.gap.plus(it.sample.At, "the disk does not keep up")
		}
	}
}

// run writes the file. Last is the sample written to the ring last, as what comes after it knows it.
func (d *Dump) run(held []stretch, last *probes.Sample, m Manifest, why Mark, create CreateFunc) {
	defer close(d.done)
	w, path, err := createBeside(d.path, m, create)
	if err != nil {
		d.fail(err)
		return
	}
	d.mu.Lock()
	d.writer, d.path = w, path
	d.mu.Unlock()
	written, err := past(w, held, why)
	if err != nil {
		w.Close()
		if w.Stats().Samples == 0 {
			os.Remove(path) // it holds nothing; Create made it
		}
		d.fail(err)
		return
	}
	known := carriageOf(last, written, carriedOver(last, last))
	for it := range d.items {
		if s := it.sample; s != nil {
			it.sample = known.over(s)
			d.note(s, (*lag).finish)
			w.expect(s)
		}
		w.push(it)
	}
	if err := w.Close(); err != nil {
		d.fail(err)
	}
}

// note tells how far the disk is.
func (d *Dump) note(s *probes.Sample, how func(*lag, *probes.Sample)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	how(&d.lag, s)
}

// past writes what the ring held, and the mark after it, and returns the last sample as
// it was written. An error that lasts ends it: what cannot take the past will not take the rest.
func past(w *Writer, held []stretch, why Mark) (last *probes.Sample, err error) {
	for i := range held {
		if last, err = held[i].each(last, w.push); err != nil {
			return nil, err
		}
		held[i] = stretch{} // the ring may have dropped it meanwhile
		if err := w.Flush(); err != nil {
			return nil, err
		}
	}
	if err := w.push(item{mark: &Mark{At: why.At.UTC(), Text: clean(why.Text)}}); err != nil {
		return nil, err
	}
	return last, w.Flush()
}

// expect notes that a sample is about to be pushed.
func (w *Writer) expect(s *probes.Sample) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lag.hand(s)
}

// push queues an item, waiting until there is room. It is for the Writer's only
// producer, which also closes it; nothing is dropped.
func (w *Writer) push(it item) error {
	select {
	case w.queue <- it:
		return nil
	case <-w.closing:
		return ErrClosed
	}
}

// fail ends the dump early: it takes nothing more, and the ring may begin another.
func (d *Dump) fail(err error) {
	d.mu.Lock()
	d.err = err
	d.mu.Unlock()
	d.ring.leave(d)
}

// leave parts the ring from a dump.
func (r *Ring) leave(d *Dump) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dump == d {
		r.dump = nil
	}
	if !d.closed {
		d.closed = true
		close(d.items)
	}
}

// Path is where the recording is, or will be.
func (d *Dump) Path() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.path
}

// Err is why the dump ended early, or why its last sample could not be written (see
// Writer.Err); nil while all is well.
func (d *Dump) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil || d.writer == nil {
		return cmp.Or(d.err, d.lag.err())
	}
	return cmp.Or(d.writer.Err(), d.lag.err())
}

// Ended is closed when nothing more is written: after Close, or early with Err.
func (d *Dump) Ended() <-chan struct{} { return d.done }

// Stats counts what is written so far.
func (d *Dump) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.writer == nil {
		return Stats{}
	}
	return d.writer.Stats()
}

// Waiting is how many items wait for the disk.
func (d *Dump) Waiting() int { return len(d.items) }

// Finish ends the recording with the last sample that was written to the ring. It waits
// for nothing: see Ended.
func (d *Dump) Finish() {
	d.ring.mu.Lock()
	if gap := d.gap; gap != nil && !d.closed {
		d.gap = nil
		d.offer(item{gap: gap})
	}
	d.ring.mu.Unlock()
	d.ring.leave(d)
}

// Close finishes the recording, waits until it is closed whole and returns what Err
// would; a disk that does not answer is given up on after a while.
func (d *Dump) Close() error {
	d.Finish()
	patience := d.patience
	if patience == nil {
		t := time.NewTimer(2 * closePatience) // the Writer has its own
		defer t.Stop()
		patience = t.C
	}
	select {
	case <-d.done:
		return d.Err()
	case <-patience:
		return fmt.Errorf("closing recording %s: the disk does not answer", d.Path())
	}
}

// maxNumber bounds the names that are tried beside one that is taken.
const maxNumber = 99

// createBeside creates the file at path, or at path-2, path-3 … when there is one.
func createBeside(path string, m Manifest, create CreateFunc) (*Writer, string, error) {
	ext := filepath.Ext(path)
	for n := 1; ; n++ {
		at := path
		if n > 1 {
			at = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(path, ext), n, ext)
		}
		w, err := create(at, m)
		if !errors.Is(err, ErrExists) || n == maxNumber {
			return w, at, err
		}
	}
}
