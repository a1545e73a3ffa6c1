package record

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"llmtop/probes"
)

// queueSize is how many samples may wait for a slow disk; more are dropped and
// counted. At 1 Hz that is four minutes, and some 10 MB.
const queueSize = 256

// syncEvery is how often what was written is forced to the disk.
const syncEvery = 5 * time.Second

// closePatience is how long Close waits for a disk that does not answer.
const closePatience = 15 * time.Second

// Errors of a Writer.
var (
	ErrClosed  = fmt.Errorf("recording: %w", os.ErrClosed)
	ErrDropped = errors.New("recording: the disk does not keep up; dropped")
	errTime    = errors.New("recording: time of sample is not between 1901 and 2200")
)

// Writer appends samples to a recording. Write hands over and returns: encoding,
// writing and syncing happen on goroutines of the Writer. It is safe for
// concurrent use.
type Writer struct {
	queue   chan item
	closing chan struct{} // closed by Close: write what is queued, then end
	done    chan struct{} // closed when the last byte is written and synced

	mu      sync.Mutex
	closed  bool
	gap     *Gap  // samples dropped since the last one that was queued
	err     error // why the last sample could not be written
	syncErr error // why the last sync failed
	over    error // what went wrong and is over already, until Err told it
	lag     lag
	stats   Stats
	options options

	path   string
	before int    // samples that were there already
	store  *store // nil: one file
	syncs  chan request
}

// Stats counts what a Writer did.
type Stats struct {
	Samples int   // written whole
	Dropped int   // not written: the disk was slow, full or failing
	Bytes   int64 // size of the file; of a store: of the newest
}

// item is one thing to write.
type item struct {
	sample   *probes.Sample
	findings []*Finding
	mark     *Mark
	facts    map[string]string
	marks    []Mark
	gap      *Gap          // precedes the sample
	flushed  chan struct{} // closed when everything before is written
}

// file is what a Writer needs of its file.
type file interface {
	Write([]byte) (int, error)
	Truncate(int64) error
	Sync() error
	Close() error
}

// options are what tests replace.
type options struct {
	path     string // of the recording; "": none that could be made again
	queue    int
	syncTick <-chan time.Time // when to sync; nil: every syncEvery
	patience <-chan time.Time // when Close gives up; nil: after closePatience

	spool     string           // path at which marks wait; "": nowhere
	spoolTick <-chan time.Time // when to look; nil: every spoolEvery
}

// Create makes a new recording at path, mode 0600, and locks it until Close. A
// path at which there is anything, a symbolic link too, is refused (ErrExists),
// naming the process that is writing it if there is one. When the file is removed while
// it is written it is made anew.
func Create(path string, m Manifest) (*Writer, error) {
	return create(path, m, options{path: path, queue: queueSize, spool: spoolOf(path, false)})
}

func create(path string, m Manifest, o options) (*Writer, error) {
	f, err := createFile(path)
	if err != nil {
		return nil, err
	}
	w, err := newWriter(f, m, o)
	if err != nil {
		f.Close()
		os.Remove(path) // made here: without its head it is nothing yet
		return nil, fmt.Errorf("creating recording %s: %w", path, err)
	}
	return w, nil
}

// newWriter writes the head of a recording to f and starts the goroutines that
// write the rest.
func newWriter(f file, m Manifest, o options) (*Writer, error) {
	a, err := newAppender(f, stamped(m))
	if err != nil {
		return nil, err
	}
	return startWriter(a, o), nil
}

// stamped is the manifest with what the writer itself knows.
func stamped(m Manifest) Manifest {
	m.Format, m.PID = fmt.Sprintf("%d.%d", formatMajor, formatMinor), os.Getpid()
	if m.Simulated {
		m.PID = 0 // the same run makes the same bytes
	}
	m.Command = CleanCommand(m.Command)
	return m
}

func startWriter(a *appender, o options) *Writer {
	w := prepareWriter(a, o)
	go w.run(a)
	return w
}

func prepareWriter(a *appender, o options) *Writer {
	w := &Writer{
		queue: make(chan item, o.queue), closing: make(chan struct{}), done: make(chan struct{}),
		syncs: make(chan request, 4), options: o, path: o.path,
	}
	w.stats.Bytes = a.size
	return w
}

// Before is the number of samples that the file held already when it was gone on with.
func (w *Writer) Before() int { return w.before }

// Write queues a sample, which must not be changed afterwards, and what was found in
// it. ErrDropped means that the queue is full: the recording will show the gap. An
// earlier failure to write does not stop it; see Err.
func (w *Writer) Write(s *probes.Sample, findings ...*Finding) error {
	if !fitsNano(s.At) {
		return errTime
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	select {
	case w.queue <- item{sample: s, findings: findings, gap: w.gap}:
		w.gap = nil
		w.lag.hand(s)
		return nil
	default:
		w.gap = w.gap.plus(s.At, "the disk does not keep up")
		w.stats.Dropped++
		return ErrDropped
	}
}

// Mark queues an operator's note; the file is synced after it. ErrDropped means
// that the queue is full.
func (w *Writer) Mark(at time.Time, text string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	select {
	case w.queue <- item{mark: &Mark{At: at.UTC(), Text: clean(text)}}:
		return nil
	default:
		return ErrDropped
	}
}

// Flush waits until everything queued before is written (not synced) or has failed.
func (w *Writer) Flush() error {
	flushed := make(chan struct{})
	select {
	case w.queue <- item{flushed: flushed}:
	case <-w.closing:
		return ErrClosed
	}
	select {
	case <-flushed:
	case <-w.done:
	}
	return w.Err()
}

// Err is why the recording does not grow: the last sample could not be written, the last
// sync failed, or the disk does not answer (ErrBehind). It is nil once that is over, but
// what could not be seen in between is told once: that the file had to be made again.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := cmp.Or(w.err, w.syncErr, w.lag.err(), w.over)
	w.over = nil
	return err
}

// outcome is Err, but for what waits.
func (w *Writer) outcome() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.err, w.syncErr)
}

// Stats returns the counts so far.
func (w *Writer) Stats() Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stats
}

// Close writes what is queued and the index, syncs and closes the file. It
// returns what Err would then; a disk that does not answer is given up on after a while.
func (w *Writer) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return ErrClosed
	}
	w.closed = true
	if w.gap != nil {
		w.lastGap()
	}
	close(w.closing)
	w.mu.Unlock()
	patience := w.options.patience
	if patience == nil {
		t := time.NewTimer(closePatience)
		defer t.Stop()
		patience = t.C
	}
	select {
	case <-w.done:
		return w.outcome()
	case <-patience:
		return fmt.Errorf("closing recording: the disk does not answer; %d samples are not written", len(w.queue))
	}
}

// lastGap queues the gap that no sample followed; with a full queue there is no room for it.
func (w *Writer) lastGap() {
	select {
	case w.queue <- item{gap: w.gap}:
	default:
	}
}

// plus is the gap with one more sample missing.
func (g *Gap) plus(at time.Time, reason string) *Gap {
	at = at.UTC()
	if g == nil {
		return &Gap{From: at, To: at, Dropped: 1, Reason: clean(reason)}
	}
	return &Gap{From: g.From, To: at, Dropped: g.Dropped + 1, Reason: g.Reason}
}

// join is the gap that spans g and then o.
func (g *Gap) join(o *Gap) *Gap {
	if g == nil || o == nil {
		if g == nil {
			return o
		}
		return g
	}
	return &Gap{From: g.From, To: o.To, Dropped: g.Dropped + o.Dropped, Reason: g.Reason}
}
