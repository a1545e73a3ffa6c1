package record

import "time"

// run writes items until Close. Syncing has a goroutine of its own:
// a disk that takes seconds for it does not keep the next sample from being written.
func (w *Writer) run(a *appender) {
	defer close(w.done)
	tick := w.options.syncTick
	if tick == nil {
		t := time.NewTicker(syncEvery)
		defer t.Stop()
		tick = t.C
	}
	syncs, synced := make(chan struct{}, 1), make(chan struct{})
	go w.syncer(a.f, syncs, synced)
	w.serve(a, tick, syncs)
	err := a.end()
	close(syncs)
	<-synced
	if err == nil {
		err = a.f.Sync()
	}
	if e := a.f.Close(); err == nil {
		err = e
	}
	w.finish(a, err)
}

// serve handles items until Close, and then those that are queued.
func (w *Writer) serve(a *appender, tick <-chan time.Time, syncs chan<- struct{}) {
	for {
		select {
		case it := <-w.queue:
			w.handle(a, it)
			if it.mark != nil {
				a.sync(syncs)
			}
		case <-tick:
			a.sync(syncs)
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

// sync asks for a sync; one that is asked for already will do.
func (a *appender) sync(syncs chan<- struct{}) {
	if !a.dirty {
		return
	}
	select {
	case syncs <- struct{}{}:
		a.dirty = false
	default:
	}
}

func (w *Writer) syncer(f file, syncs <-chan struct{}, synced chan<- struct{}) {
	defer close(synced)
	for range syncs {
		if err := f.Sync(); err != nil {
			w.mu.Lock()
			w.err = err
			w.mu.Unlock()
		}
	}
}

// handle writes one item and takes note of how it went.
func (w *Writer) handle(a *appender, it item) {
	if it.flushed != nil {
		close(it.flushed)
		return
	}
	err := a.write(it)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err, w.stats.Bytes = err, a.size
	if it.sample == nil {
		return
	}
	if err != nil {
		w.stats.Dropped++
	} else {
		w.stats.Samples++
	}
}

func (w *Writer) finish(a *appender, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stats.Bytes = a.size
	if w.err == nil || err != nil {
		w.err = err
	}
}
