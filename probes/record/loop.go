package record

import (
	"cmp"
	"time"
)

// run writes items until Close. Syncing has a goroutine of its own:
// a disk that takes seconds for it does not keep the next sample from being written.
func (w *Writer) run(a *appender) {
	defer close(w.done)
	tick, stop := ticks(w.options.syncTick, syncEvery)
	defer stop()
	spool, stop := ticks(w.options.spoolTick, spoolEvery)
	defer stop()
	synced := make(chan struct{})
	go w.syncer(synced)
	w.takeMarks(a)
	w.serve(a, tick, spool)
	w.takeMarks(a)
	err := a.end()
	close(w.syncs)
	<-synced
	if err == nil {
		err = a.f.Sync()
	}
	if e := a.f.Close(); err == nil {
		err = e
	}
	w.finish(a, err)
	if w.store != nil {
		w.store.close()
	}
}

// ticks are those given, or those of a clock.
func ticks(given <-chan time.Time, every time.Duration) (c <-chan time.Time, stop func()) {
	if given != nil {
		return given, func() {}
	}
	t := time.NewTicker(every)
	return t.C, t.Stop
}

// serve handles items until Close, and then those that are queued.
func (w *Writer) serve(a *appender, tick, spool <-chan time.Time) {
	for {
		select {
		case it := <-w.queue:
			w.handle(a, it)
			if it.mark != nil {
				w.sync(a)
			}
		case <-tick:
			w.sync(a)
		case <-spool:
			w.takeMarks(a)
		case <-w.closing:
			for {
				select {
				case it := <-w.queue:
					w.handle(a, it)
				default:
					return
				}
			}
		}
	}
}

// takeMarks takes in the marks that wait beside the recording. Those that cannot be
// written go on waiting.
func (w *Writer) takeMarks(a *appender) {
	err := takeSpool(w.options.spool, func(marks []Mark) error {
		marks = without(marks, a.known) // taken in by a writer that was killed before it removed them
		if len(marks) == 0 {
			return nil
		}
		err := w.handle(a, item{marks: marks})
		w.sync(a)
		return err
	})
	if err == nil {
		a.known = nil
	}
}

// without returns the marks that are not among known.
func without(marks, known []Mark) (left []Mark) {
	have := make(map[Mark]bool, len(known))
	for _, m := range known {
		have[Mark{m.At.UTC(), m.Text}] = true
	}
	for _, m := range marks {
		if !have[m] {
			left = append(left, m)
		}
	}
	return left
}

// request asks the syncer to sync a file, and to close it when it is done with.
type request struct {
	f     file
	close bool
}

// sync asks for a sync; one that is asked for already will do.
func (w *Writer) sync(a *appender) {
	if !a.dirty || len(w.syncs) > 0 {
		return
	}
	w.syncs <- request{f: a.f}
	a.dirty = false
}

func (w *Writer) syncer(synced chan<- struct{}) {
	defer close(synced)
	for r := range w.syncs {
		err := r.f.Sync()
		if r.close {
			if e := r.f.Close(); err == nil {
				err = e
			}
		}
		w.mu.Lock()
		w.syncErr = err
		w.mu.Unlock()
	}
}

// handle writes one item and takes note of how it went.
func (w *Writer) handle(a *appender, it item) error {
	if it.flushed != nil {
		close(it.flushed)
		return nil
	}
	var moved error
	if it.sample != nil && len(w.syncs) < cap(w.syncs) {
		moved = w.replace(a)
		if moved == nil && w.store != nil {
			moved = w.store.turn(w, a, it.sample)
		}
	}
	err := a.write(it)
	if w.store != nil {
		w.store.trim(a.size, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stats.Bytes = a.size
	if it.sample == nil {
		w.err = cmp.Or(w.err, err) // a note that fits says nothing of the next sample
		return err
	}
	w.err = cmp.Or(err, moved)
	if moved == errRemoved {
		w.err, w.over = err, errRemoved // it goes on with this sample
	}
	w.lag.finish(it.sample)
	if err != nil {
		w.stats.Dropped++
	} else {
		w.stats.Samples++
	}
	return err
}

func (w *Writer) finish(a *appender, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stats.Bytes = a.size
	if w.err == nil || err != nil {
		w.err = err
	}
}
