package probes

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fake is a probe made of a function; n counts its reads from 1.
type fake struct {
	name   string
	reads  atomic.Int64
	read   func(ctx context.Context, n int) (Section, error)
	closed atomic.Int64
}

func (f *fake) Name() string { return f.name }
func (f *fake) Read(ctx context.Context) (Section, error) {
	return f.read(ctx, int(f.reads.Add(1)))
}
func (f *fake) Close() error { f.closed.Add(1); return nil }

// wait passes virtual time.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// steady answers after d with a host section whose counter is the read's number.
func steady(name string, d time.Duration) *fake {
	return &fake{name: name, read: func(ctx context.Context, n int) (Section, error) {
		wait(ctx, d)
		return &Host{At: time.Now(), CPUBusySecondsTotal: Some(float64(n))}, nil
	}}
}

func collect(t *testing.T, c *Collector, n int) []*Sample {
	t.Helper()
	var out []*Sample
	for range n {
		s, err := c.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func status(s *Sample, name string) ProbeStatus {
	for _, p := range s.Probes {
		if p.Name == name {
			return p
		}
	}
	return ProbeStatus{}
}

func TestCollectorTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := NewCollector(time.Second, Scheduled{Probe: steady("host", 10*time.Millisecond)})
		defer c.Close()
		for i, s := range collect(t, c, 5) {
			want := 10 * time.Millisecond
			if i > 0 {
				want = lead + time.Duration(i)*time.Second
			}
			if s.Seq != uint64(i+1) || s.Mono != want || s.Interval != time.Second {
				t.Errorf("sample %d: seq %d at %v, want %v", i, s.Seq, s.Mono, want)
			}
			if !s.At.Equal(began.Add(want)) || s.At.Location() != time.UTC || s.At != s.At.Round(0) {
				t.Errorf("sample %d: at %v", i, s.At)
			}
			if s.Host == nil || s.Host.CPUBusySecondsTotal.Or(0) != float64(i+1) {
				t.Errorf("sample %d: host %+v, want the read of this tick", i, s.Host)
			}
			p := s.Probes[0]
			if p.Err != "" || p.PendingSeconds.Seen() || p.LatencySeconds.Or(0) != 0.01 || p.EverySeconds != 1 || s.At.Sub(p.At) > lead {
				t.Errorf("sample %d: status %+v", i, p)
			}
			if s.Self == nil || !s.Self.CPUSecondsTotal.Seen() || s.Self.PID == 0 {
				t.Errorf("sample %d: self %+v", i, s.Self)
			}
		}
	})
}

func TestCollectorWaitsForNoProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		hung := &fake{name: "hung", read: func(ctx context.Context, n int) (Section, error) {
			if n > 1 {
				<-release // heeds no context
			}
			return &GPU{At: time.Now()}, nil
		}}
		broken := &fake{name: "broken", read: func(context.Context, int) (Section, error) { return nil, errors.New("out\nof\x1b[31m order") }}
		panics := &fake{name: "panics", read: func(context.Context, int) (Section, error) { panic("driver bug") }}
		typed := &fake{name: "typed nil", read: func(context.Context, int) (Section, error) { return (*Process)(nil), nil }}
		half := &fake{name: "half", read: func(_ context.Context, n int) (Section, error) {
			return &Scrape{Endpoint: "x", Schema: &Schema{}}, errors.New("too many series")
		}}
		without := &fake{name: "without", read: func(context.Context, int) (Section, error) { return nil, Lacking(errors.New("not exposed")) }}
		c := NewCollector(time.Second, Scheduled{Probe: hung}, Scheduled{Probe: broken}, Scheduled{Probe: panics}, Scheduled{Probe: without},
			Scheduled{Probe: typed}, Scheduled{Probe: half}, Scheduled{Probe: steady("host", 0)})
		samples := collect(t, c, 4)
		for i, s := range samples {
			if i > 0 && s.Mono-samples[i-1].Mono > time.Second+lead {
				t.Errorf("sample %d came %v after the one before", i, s.Mono-samples[i-1].Mono)
			}
			if s.GPU == nil || s.GPU != samples[0].GPU {
				t.Errorf("sample %d: the hung probe's last section is not carried on", i)
			}
			if s.Host == nil || s.Process != nil || len(s.Scrapes) != 1 {
				t.Errorf("sample %d: %+v", i, s)
			}
			for name, want := range map[string]string{"broken": "out of[31m order", "panics": "panic: driver bug", "half": "too many series", "typed nil": "", "host": ""} {
				if got := status(s, name).Err; got != want {
					t.Errorf("sample %d: %s says %q, want %q", i, name, got, want)
				}
			}
			if p := status(s, "without"); !p.Lacks || p.Err != "not exposed" || status(s, "broken").Lacks {
				t.Errorf("sample %d: what an engine does not have: %+v", i, p)
			}
		}
		if got := status(samples[3], "hung").PendingSeconds.Or(-1); got < 2 || got > 3 {
			t.Errorf("hung probe pending for %v s", got)
		}
		if hung.reads.Load() != 2 {
			t.Errorf("%d reads of the hung probe, want no third while the second is out", hung.reads.Load())
		}
		began := time.Now()
		c.Close()
		if took := time.Since(began); took > time.Second {
			t.Errorf("Close took %v", took)
		}
		if _, err := c.Next(t.Context()); err != io.EOF {
			t.Errorf("after Close: %v, want EOF", err)
		}
		if broken.closed.Load() != 1 || panics.closed.Load() != 1 || hung.closed.Load() != 0 {
			t.Errorf("closed %d, %d, %d times", broken.closed.Load(), panics.closed.Load(), hung.closed.Load())
		}
		close(release)
		synctest.Wait()
		if hung.closed.Load() != 1 {
			t.Error("the hung probe is not closed when it comes back")
		}
	})
}

func TestCollectorFirstSample(t *testing.T) {
	cases := []struct {
		name string
		slow time.Duration
		want time.Duration
		seen bool
	}{
		{"at once", 0, 0, true},
		{"as soon as the reads are in", 90 * time.Millisecond, 90 * time.Millisecond, true},
		{"not later than 150 ms", 3 * time.Second, firstWait, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := NewCollector(time.Second, Scheduled{Probe: steady("fast", 0)}, Scheduled{Probe: steady("slow", c.slow)})
				defer k.Close()
				s := collect(t, k, 1)[0]
				if s.Mono != c.want || status(s, "slow").LatencySeconds.Seen() != c.seen {
					t.Errorf("after %v: %+v", s.Mono, s.Probes)
				}
				if next := collect(t, k, 1)[0]; next.Mono != lead+time.Second {
					t.Errorf("the second came after %v", next.Mono)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		c := NewCollector(0)
		defer c.Close()
		if s := collect(t, c, 1)[0]; s.Mono != 0 || s.Interval != time.Second {
			t.Errorf("without probes: %+v", s)
		}
	})
}

func TestCollectorShortAndSlowSchedules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		often, rarely := steady("often", time.Millisecond), steady("rarely", 7*time.Second)
		c := NewCollector(100*time.Millisecond, Scheduled{Probe: often}, Scheduled{Probe: rarely, Every: 5 * time.Second})
		defer c.Close()
		samples := collect(t, c, 200)
		last := samples[len(samples)-1]
		if last.Mono < 19*time.Second || last.Mono > 21*time.Second {
			t.Errorf("200 ticks of 100 ms took %v", last.Mono)
		}
		if often.reads.Load() < 198 || often.reads.Load() > 202 {
			t.Errorf("%d reads, want one a tick", often.reads.Load())
		}
		if rarely.reads.Load() < 2 || rarely.reads.Load() > 3 { // 0 to 7 s, 10 to 17 s, the next at 20 s may just have begun
			t.Errorf("%d reads of a probe that is slower than its schedule", rarely.reads.Load())
		}
	})
}

func TestCollectorLeavesMissedTicksOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCollector(time.Second, Scheduled{Probe: steady("host", 0)})
		defer c.Close()
		collect(t, c, 2)
		wait(t.Context(), 10300*time.Millisecond) // the caller was away
		s := collect(t, c, 2)
		if s[0].Seq != 3 || s[0].Mono != 11450*time.Millisecond {
			t.Errorf("the sample after the absence: %d at %v, want it at once", s[0].Seq, s[0].Mono)
		}
		if s[1].Mono != 12*time.Second+lead {
			t.Errorf("the next one at %v, want it on the grid", s[1].Mono)
		}
	})
}

func TestCollectorEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCollector(time.Hour, Scheduled{Probe: steady("host", 0)})
		collect(t, c, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		ended := make(chan error)
		go func() {
			_, err := c.Next(t.Context())
			ended <- err
		}()
		synctest.Wait()
		c.Close()
		if err := <-ended; err != io.EOF {
			t.Errorf("Next ended with %v, want EOF", err)
		}
		c.Close() // twice is fine
	})
	synctest.Test(t, func(t *testing.T) {
		c := NewCollector(time.Second, Scheduled{Probe: steady("slow", time.Minute)})
		c.Close()
		if _, err := c.Next(t.Context()); err != io.EOF {
			t.Errorf("got %v, want EOF", err)
		}
	})
}

func TestCollectorGathersWhatFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := &fake{name: "requests", read: func(_ context.Context, n int) (Section, error) {
			return &Requests{At: time.Now(), Endpoint: "x", Missed: 1, Finished: []*Request{{Seq: uint64(n)}}}, nil
		}}
		c := NewCollector(time.Second, Scheduled{Probe: requests, Every: 300 * time.Millisecond})
		defer c.Close()
		seen, missed := []uint64{}, 0
		for i := range 6 {
			s := collect(t, c, 1)[0]
			for _, r := range s.Requests[0].Finished {
				seen = append(seen, r.Seq)
			}
			missed += s.Requests[0].Missed
			if i == 2 {
				wait(t.Context(), 5*time.Second)
			}
		}
		for i, seq := range seen {
			if seq != uint64(i+1) {
				t.Fatalf("finished %v, want every one once", seen)
			}
		}
		if missed != len(seen) || len(seen) < 25 {
			t.Errorf("%d seen, %d missed", len(seen), missed)
		}
	})
}

func TestCollectorReportsAClockJump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		offset := time.Duration(0)
		c := newCollector(time.Second, func() time.Time { return time.Now().Add(offset) }, nil)
		defer c.Close()
		for i, step := range []time.Duration{0, 0, 400 * time.Millisecond, 3 * time.Second, -time.Hour} {
			offset += step
			s := collect(t, c, 1)[0]
			jumped := len(s.Events) == 1 && s.Events[0].Kind == EventClockJump
			if jumped != (i >= 3) {
				t.Errorf("step %v: events %+v", step, s.Events)
			}
			if jumped && !strings.Contains(s.Events[0].Text, map[int]string{3: "+3.0 s", 4: "-3600.0 s"}[i]) {
				t.Errorf("step %v: %q", step, s.Events[0].Text)
			}
		}
	})
}
