package probes

import (
	"context"
	"io"
	"os"
	"sync"
	"time"
)

// Timing of a collection.
const (
	firstWait = 150 * time.Millisecond // how long the first sample waits for the first reads
	lead      = 150 * time.Millisecond // reads start this long before the tick that shows them
	closeWait = 500 * time.Millisecond // how long Close waits for reads that are out
)

// Scheduled is a probe and how often to read it; Every ≤ 0 means once a tick.
type Scheduled struct {
	Probe Probe
	Every time.Duration
}

// Collector asks each probe on a goroutine of its own and assembles what came
// back into one sample a tick. Ticks stand on a monotonic grid and wait for no
// probe: one that hangs, fails or panics shows in its ProbeStatus, and its last
// section, dated by its own At, is carried on. It is a Source for one caller;
// Close may come from any goroutine.
type Collector struct {
	interval time.Duration
	began    time.Time // carries the monotonic clock
	wall     func() time.Time
	workers  []*worker // more may come, see Add
	adding   sync.Mutex
	watch    Watcher
	self     selfReader

	seq  uint64
	next time.Duration // since began; when the next tick is due

	stop func()
	ctx  context.Context // of the reads
	done <-chan struct{} // closed by Close
	ends sync.WaitGroup
}

// NewCollector starts reading at once. Probes that have a Close method are
// closed when their reading ends.
func NewCollector(interval time.Duration, probes ...Scheduled) *Collector {
	return newCollector(interval, time.Now, probes)
}

func newCollector(interval time.Duration, wall func() time.Time, probes []Scheduled) *Collector {
	if interval <= 0 {
		interval = time.Second
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &Collector{interval: interval, began: time.Now(), wall: wall, stop: cancel, ctx: ctx, done: ctx.Done(), self: selfReader{pid: os.Getpid()}}
	c.Add(probes...)
	return c
}

// Next returns the sample of the next tick. The first comes as soon as every
// probe has answered once, after 150 ms at the latest; a caller that was away
// gets the newest state at once and the ticks it missed are left out. After
// Close it returns io.EOF.
func (c *Collector) Next(ctx context.Context) (*Sample, error) {
	if err := c.wait(ctx); err != nil {
		return nil, err
	}
	return c.assemble(), nil
}

func (c *Collector) wait(ctx context.Context) error {
	if c.seq == 0 {
		return c.waitFirst(ctx)
	}
	return c.pause(ctx, time.NewTimer(c.next-time.Since(c.began)), nil)
}

// waitFirst waits until all first reads are in.
func (c *Collector) waitFirst(ctx context.Context) error {
	timer := time.NewTimer(firstWait - time.Since(c.began))
	defer timer.Stop()
	for _, w := range c.reading() {
		if err := c.pause(ctx, timer, w.first); err != nil {
			return err
		}
		if time.Since(c.began) >= firstWait {
			return nil
		}
	}
	if c.ended() {
		return io.EOF
	}
	return ctx.Err()
}

// pause waits for the timer or for early.
func (c *Collector) pause(ctx context.Context, timer *time.Timer, early <-chan struct{}) error {
	if c.ended() {
		return io.EOF
	}
	if early == nil {
		defer timer.Stop()
	}
	select {
	case <-c.done:
		return io.EOF
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	case <-early:
	}
	return nil
}

func (c *Collector) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// assemble takes what is there now and plans the next tick.
func (c *Collector) assemble() *Sample {
	mono := time.Since(c.began).Truncate(time.Microsecond)
	s := &Sample{Seq: c.seq + 1, At: Stamp(c.wall()), Mono: mono, Interval: c.interval}
	workers := c.reading()
	s.Probes = make([]ProbeStatus, 0, len(workers))
	for _, w := range workers {
		section, status := w.take(mono)
		if section != nil {
			section.AddTo(s)
		}
		s.Probes = append(s.Probes, status)
	}
	s.Self = c.self.read(s.At)
	s.Events = c.watch.Events(s)
	c.seq = s.Seq
	c.next = nextTick(mono, c.interval)
	return s
}

// nextTick is the first instant of the grid lead, lead+interval, … that lies at
// least half an interval after now, so that a late tick is not chased by another.
func nextTick(now, interval time.Duration) time.Duration {
	ahead := min(lead, interval/4)
	k := (now + interval/2 - ahead + interval - 1) / interval
	return ahead + max(k, 1)*interval
}

// Close ends the collection and waits a moment for the reads that are out. A
// probe that never returns is left behind; its goroutine ends when it does.
func (c *Collector) Close() error {
	c.adding.Lock()
	c.stop()
	c.adding.Unlock()
	ended := make(chan struct{})
	go func() {
		c.ends.Wait()
		close(ended)
	}()
	timer := time.NewTimer(closeWait)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
	return nil
}

// Stamp makes a wall-clock time fit for a sample: UTC, whole microseconds, without
// the monotonic reading, so that it is the same after having been recorded. Nobody reads
// the nanoseconds, and in a recording they cost more than all the rest of a time.
func Stamp(t time.Time) time.Time { return t.Truncate(time.Microsecond).UTC() }

// Seconds is a measured time as a sample carries it: whole microseconds, in seconds.
func Seconds(d time.Duration) float64 { return float64(d.Round(time.Microsecond).Microseconds()) / 1e6 }
