package record

import (
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestADiskThatDoesNotAnswer is told, though no write ever fails, and no more once it does.
func TestADiskThatDoesNotAnswer(t *testing.T) {
	d := newDisk()
	w, err := newWriter(d, Manifest{}, options{queue: 100, syncTick: make(chan time.Time)})
	if err != nil {
		t.Fatal(err)
	}
	samples := newSmall().rich(120)
	stuck := make(chan struct{})
	d.set(func(d *disk) { d.writing = stuck })
	for i, s := range samples {
		w.Write(s)
		if want := s.Mono-samples[0].Mono > behindAfter; errors.Is(w.Err(), ErrBehind) != want {
			t.Fatalf("sample %d, %s after the first: %v", i, s.Mono-samples[0].Mono, w.Err())
		}
	}
	close(stuck)
	if err := w.Flush(); err != nil {
		t.Errorf("it answers again: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestADumpWhoseDiskDoesNotAnswer: neither making the file nor writing it comes to an end.
func TestADumpWhoseDiskDoesNotAnswer(t *testing.T) {
	for _, at := range []string{"create", "write"} {
		t.Run(at, func(t *testing.T) {
			samples := newSmall().rich(60)
			ring := ringWith(t, time.Minute, 1<<30, samples[:10])
			hangs, slow := make(chan struct{}), newDisk()
			d := must(ring.Dump("a.llmrec", Mark{At: samples[9].At}, func(_ string, m Manifest) (*Writer, error) {
				if at == "create" {
					<-hangs
					return newWriter(slow, m, options{queue: queueSize})
				}
				w, err := newWriter(slow, m, options{queue: queueSize})
				slow.set(func(d *disk) { d.writing = hangs })
				return w, err
			}))
			for _, s := range samples[10:] {
				putInto(t, ring, s)
			}
			if err := d.Err(); !errors.Is(err, ErrBehind) {
				t.Errorf("it hangs: %v", err)
			}
			close(hangs)
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			if got := len(read(t, slow.reader(t))); got != 60 {
				t.Errorf("%d samples", got)
			}
		})
	}
}

// TestASyncThatFailsIsToldUntilOneSucceeds: a network disk takes every write and has no
// room for what was written.
func TestASyncThatFailsIsToldUntilOneSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, tick := newDisk(), make(chan time.Time)
		w, err := newWriter(d, Manifest{}, options{queue: 100, syncTick: tick})
		if err != nil {
			t.Fatal(err)
		}
		samples := newSmall().rich(30)
		for i, failure := range []error{nil, syscall.EDQUOT, syscall.EDQUOT, nil} {
			d.set(func(d *disk) { d.syncErr = failure })
			w.Write(samples[3*i])
			tick <- time.Time{}
			synctest.Wait()
			w.Write(samples[3*i+1]) // a write that succeeds is no sync
			if err := w.Flush(); !errors.Is(err, failure) {
				t.Errorf("sync %d: %v, want %v", i, err, failure)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
