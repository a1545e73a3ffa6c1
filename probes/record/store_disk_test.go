package record

import (
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"llmtop/probes"
)

// TestAStoreOnAFullDisk: what is there stays, the state is told, and it goes on.
func TestAStoreOnAFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	samples := newSmall().rich(60)
	c := clockAt(samples[0].At)
	s := &store{dir: dir, options: StoreOptions{FileLength: 20 * time.Second}, now: c.now}
	var mu sync.Mutex // of disks and denied
	var disks []*disk
	var denied error
	set := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		denied = err
	}
	s.create = func(path string) (file, error) {
		mu.Lock()
		defer mu.Unlock()
		if denied != nil {
			return nil, denied
		}
		f, err := createFile(path) // so that names are taken
		if err != nil {
			return nil, err
		}
		f.Close()
		disks = append(disks, newDisk())
		return disks[len(disks)-1], nil
	}
	a, err := s.begin()
	if err != nil {
		t.Fatal(err)
	}
	w := prepareWriter(a, options{queue: 100, syncTick: make(chan time.Time), spoolTick: make(chan time.Time)})
	w.store = s
	go w.run(a)
	write := func(from, to int) error {
		for _, s := range samples[from:to] {
			c.set(s.At)
			w.Write(s)
		}
		return w.Flush()
	}
	if err := write(0, 15); err != nil {
		t.Fatal(err)
	}
	disks[0].set(func(d *disk) { d.room, d.full = 10, syscall.ENOSPC })
	if err := write(15, 19); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("full: %v", err)
	}
	set(syscall.ENOSPC) // nor is there room for a new file
	if err := write(19, 25); !errors.Is(err, syscall.ENOSPC) || len(disks) != 1 {
		t.Errorf("full at rotation: %v, %d files", err, len(disks))
	}
	disks[0].set(func(d *disk) { d.room = -1 })
	set(syscall.EROFS) // no new file, but the old one takes more
	if err := write(25, 30); !errors.Is(err, syscall.EROFS) || len(disks) != 1 {
		t.Errorf("no new file: %v, %d files", err, len(disks))
	}
	set(nil)
	if err := write(30, 60); err != nil || len(disks) != 3 {
		t.Errorf("afterwards: %v, %d files", err, len(disks))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var got []*probes.Sample
	var gaps []Gap
	for _, d := range disks {
		r := d.reader(t)
		got = append(got, read(t, r)...)
		gaps = append(gaps, r.Info().Gaps...)
	}
	want := slices.Concat(samples[:15], samples[25:])
	if len(got) != len(want) {
		t.Fatalf("%d samples, want %d", len(got), len(want))
	}
	for i := range got {
		assertSame(t, got[i], want[i])
	}
	if len(gaps) != 1 || gaps[0].Dropped != 10 {
		t.Errorf("gaps %+v, want one of 10", gaps)
	}
}

// TestASyncThatFailsInAStoreIsTold, of the file that was rotated out too.
func TestASyncThatFailsInAStoreIsTold(t *testing.T) {
	d := newDisk()
	d.syncErr = syscall.EIO
	a, err := newAppender(d, Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	w := prepareWriter(a, options{queue: 1, syncTick: make(chan time.Time), spoolTick: make(chan time.Time)})
	w.syncs <- request{f: d, close: true}
	close(w.syncs)
	synced := make(chan struct{})
	w.syncer(synced)
	if err := w.Err(); !errors.Is(err, syscall.EIO) {
		t.Errorf("%v, want EIO", err)
	}
}
