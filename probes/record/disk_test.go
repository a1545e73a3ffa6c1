package record

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestADiskThatIsFullAndThenNot(t *testing.T) {
	for name, truncateFail := range map[string]error{"cut back": nil, "cannot cut back": syscall.EIO} {
		t.Run(name, func(t *testing.T) {
			d := newDisk()
			w, err := newWriter(d, Manifest{}, options{queue: 100, syncTick: make(chan time.Time)})
			if err != nil {
				t.Fatal(err)
			}
			samples := newSmall().rich(40)
			put := func(from, to int) error {
				for _, s := range samples[from:to] {
					w.Write(s)
				}
				return w.Flush()
			}
			if err := put(0, 20); err != nil {
				t.Fatal(err)
			}
			d.set(func(d *disk) { d.room, d.full, d.truncateFail = 50, syscall.ENOSPC, truncateFail })
			if err := put(20, 30); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("full disk: %v", err)
			}
			if got := read(t, d.reader(t)); len(got) != 20 {
				t.Errorf("%d samples can be read while the disk is full, want 20", len(got))
			}
			d.set(func(d *disk) { d.room = -1 })
			if err := put(30, 40); err != nil {
				t.Errorf("after space returned: %v", err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			r := d.reader(t)
			got := read(t, r)
			if len(got) != 30 {
				t.Fatalf("%d samples, want 30", len(got))
			}
			for _, s := range got {
				assertSame(t, s, samples[s.Seq-1])
			}
			i := r.Info()
			if len(i.Gaps) != 1 || i.Gaps[0].Dropped != 10 || !i.Gaps[0].From.Equal(samples[20].At) || !i.Gaps[0].To.Equal(samples[29].At) {
				t.Errorf("gaps %+v", i.Gaps)
			}
			if st := w.Stats(); st.Samples != 30 || st.Dropped != 10 || st.Bytes != i.Bytes {
				t.Errorf("stats %+v, %d bytes", st, i.Bytes)
			}
			if v, err := r.Verify(context.Background()); err != nil || (v.Damaged == 0) != (truncateFail == nil) {
				t.Errorf("damaged %d, %v", v.Damaged, err)
			}
		})
	}
}

func TestASlowDiskDropsAndSaysSo(t *testing.T) {
	d := newDisk()
	w, err := newWriter(d, Manifest{}, options{queue: 4, syncTick: make(chan time.Time)})
	if err != nil {
		t.Fatal(err)
	}
	stuck, held := make(chan struct{}), make(chan struct{})
	d.set(func(d *disk) { d.writing, d.held = stuck, held })
	samples := newSmall().rich(30)
	if err := w.Write(samples[0]); err != nil {
		t.Fatal(err)
	}
	<-held
	dropped := 0
	for _, s := range samples[1:20] {
		if err := w.Write(s); errors.Is(err, ErrDropped) {
			dropped++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if dropped != 15 { // one in the write, four in the queue
		t.Errorf("%d dropped", dropped)
	}
	close(stuck)
	w.Flush()
	for _, s := range samples[20:] {
		w.Write(s)
		w.Flush()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := d.reader(t)
	if got := read(t, r); len(got) != 30-dropped {
		t.Errorf("%d samples, want %d", len(got), 30-dropped)
	}
	if g := r.Info().Gaps; len(g) != 1 || g[0].Dropped != dropped || !g[0].To.Equal(samples[19].At) {
		t.Errorf("gaps %+v, want one of %d", g, dropped)
	}
}

func TestASlowSyncHoldsUpNothing(t *testing.T) {
	d := newDisk()
	tick := make(chan time.Time)
	w, err := newWriter(d, Manifest{}, options{queue: 64, syncTick: tick})
	if err != nil {
		t.Fatal(err)
	}
	stuck := make(chan struct{})
	d.set(func(d *disk) { d.syncing = stuck })
	samples := newSmall().rich(30)
	for _, s := range samples {
		w.Write(s)
		tick <- time.Time{}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, d.reader(t)); len(got) != 30 {
		t.Errorf("%d samples written while a sync is out, want 30", len(got))
	}
	close(stuck)
	if err := w.Mark(samples[29].At, "here"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if d.syncs < 2 {
		t.Errorf("%d syncs", d.syncs)
	}
}

func TestASyncThatFailsIsTold(t *testing.T) {
	d := newDisk()
	d.syncErr = syscall.EIO
	w, err := newWriter(d, Manifest{}, options{queue: 4, syncTick: make(chan time.Time)})
	if err != nil {
		t.Fatal(err)
	}
	w.Write(newSmall().next())
	if err := w.Close(); !errors.Is(err, syscall.EIO) {
		t.Errorf("close: %v, want EIO", err)
	}
}

func TestCloseGivesUpOnADeadDisk(t *testing.T) {
	d := newDisk()
	patience := make(chan time.Time)
	w, err := newWriter(d, Manifest{}, options{queue: 4, syncTick: make(chan time.Time), patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	stuck := make(chan struct{})
	d.set(func(d *disk) { d.writing = stuck })
	w.Write(newSmall().next())
	close(patience)
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("close: %v", err)
	}
	close(stuck)
	<-w.done
}
