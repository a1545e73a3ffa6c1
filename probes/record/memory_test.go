package record

import (
	"io"
	"os"
	"sync"
	"testing"

	"llmtop/probes"
)

// memory is a recording's bytes.
type memory []byte

func (m memory) ReadAt(b []byte, offset int64) (int, error) {
	if offset >= int64(len(m)) {
		return 0, io.EOF
	}
	n := copy(b, m[offset:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (m memory) Size() (int64, error) { return int64(len(m)), nil }

// recorded returns the bytes of a closed recording.
func recorded(t testing.TB, samples []*probes.Sample) []byte {
	t.Helper()
	b, err := os.ReadFile(write(t, samples))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// recordedInGroups returns the bytes of a closed recording with short groups.
func recordedInGroups(t testing.TB, samples []*probes.Sample, group int) []byte {
	t.Helper()
	d := newDisk()
	a, err := newAppender(d, Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	a.group = group
	for _, s := range samples {
		if err := a.write(item{sample: s}); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.end(); err != nil {
		t.Fatal(err)
	}
	return d.data
}

// recordsOf lists the whole records of a recording without damage.
func recordsOf(t testing.TB, b []byte) []rec {
	t.Helper()
	var out []rec
	for offset := int64(0); offset < int64(len(b)); {
		r := records{src: memory(b)}
		found, err := r.record(offset, int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, found)
		offset = found.next()
	}
	return out
}

// disk is a file in memory that can be full, slow or failing.
type disk struct {
	mu           sync.Mutex
	data         []byte
	room         int // bytes that still fit; below 0: any number
	full         error
	writing      chan struct{} // when not nil, a write waits until it is closed
	held         chan struct{} // when not nil, closed once a write waits
	syncing      chan struct{} // when not nil, so does a sync
	syncs        int
	syncErr      error
	truncateFail error
}

func newDisk() *disk { return &disk{room: -1} }

func (d *disk) Write(b []byte) (int, error) {
	d.mu.Lock()
	wait, held := d.writing, d.held
	d.held = nil
	d.mu.Unlock()
	if held != nil {
		close(held)
	}
	if wait != nil {
		<-wait
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(b)
	if d.room >= 0 && n > d.room {
		n = d.room
	}
	d.data = append(d.data, b[:n]...)
	if d.room >= 0 {
		d.room -= n
	}
	if n < len(b) {
		return n, d.full
	}
	return n, nil
}

func (d *disk) Truncate(size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.truncateFail == nil {
		d.data = d.data[:size]
	}
	return d.truncateFail
}

func (d *disk) Sync() error {
	d.mu.Lock()
	d.syncs++
	wait, err := d.syncing, d.syncErr
	d.mu.Unlock()
	if wait != nil {
		<-wait
	}
	return err
}

func (d *disk) Close() error { return nil }

// set changes the disk under its lock.
func (d *disk) set(change func(*disk)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

func (d *disk) reader(t testing.TB) *Reader {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := newReader(memory(append([]byte(nil), d.data...)), true)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
