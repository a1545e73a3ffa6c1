package engine

import (
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// clock is an engine's clock in a test.
type clock struct {
	mu   sync.Mutex
	at   time.Time
	tick time.Duration // it advances so much at each reading
}

func newClock() *clock { return &clock{at: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(c.tick)
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// Whatever happens to a request and however clock readings interleave, its stages
// sum to its end-to-end time, all in whole microseconds.
func TestStagesSumToTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := newClock().at
		line, latest := NewTimeline(start), start
		for range rapid.IntRange(0, 30).Draw(t, "marks") {
			at := start.Add(rapid.Custom(func(t *rapid.T) time.Duration {
				return time.Duration(rapid.IntRange(0, 100_000).Draw(t, "ns"))
			}).Draw(t, "at"))
			s := Stage(rapid.IntRange(0, int(NumStages)-1).Draw(t, "stage"))
			before := line
			if rapid.Bool().Draw(t, "skip") {
				line.Skip(s, at)
			} else {
				line.Finish(s, at)
			}
			if line.stage < before.stage {
				t.Fatalf("went back from %s to %s", before.stage, line.stage)
			}
			if line.stage != before.stage && at.After(latest) {
				latest = at
			}
		}
		latest = start.Add(latest.Sub(start).Round(time.Microsecond))
		end := line.at(start.Add(100 * time.Microsecond))
		var sum time.Duration
		for s, d := range end.spent {
			if sum += d; d < 0 || (d > 0 && !end.entered[s]) || d%time.Microsecond != 0 {
				t.Fatalf("%s: %s, entered %t", Stage(s), d, end.entered[s])
			}
		}
		if sum != end.Total() || line.last != latest {
			t.Fatalf("stages sum to %s of %s; last %s, want %s", sum, end.Total(), line.last, latest)
		}
		if line.stage < NumStages && end.Total() != 100*time.Microsecond {
			t.Fatalf("a running request covers %s until now, want all of it", end.Total())
		}
	})
}

func TestStageNames(t *testing.T) {
	if got := StageReceive.String() + " " + StageSend.String() + " " + NumStages.String(); got != "receive send finished" {
		t.Errorf("%q", got)
	}
}
