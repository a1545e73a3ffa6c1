package seams

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/engine"
)

type countingTokenizer struct {
	engine.Tokenizer
	encoded, pushed int
}

func (c *countingTokenizer) Encode(text string, _ bool) []int { c.encoded++; return []int{len(text)} }
func (c *countingTokenizer) NewDecoder() engine.Decoder       { return &countingDecoder{of: c} }

type countingDecoder struct {
	engine.Decoder
	of *countingTokenizer
}

func (c *countingDecoder) Push(int) string { c.of.pushed++; return "a" }

// TestTokenizers sees each text and token worked over and over, and answered as ever.
func TestTokenizers(t *testing.T) {
	for _, c := range []struct {
		lines          []string
		encode, decode bool // are slow
	}{
		{nil, false, false},
		{[]string{"tokenizer 2ms"}, true, false},
		{[]string{"detokenizer 2ms"}, false, true},
		{[]string{"detokenizer 2ms", "tokenizer 2ms", "detokenizer 0s"}, true, false},
	} {
		real := &countingTokenizer{}
		set, config := New(), engine.Config{}
		set.Into(&config)
		tok := config.WrapTokenizer(real)
		control(t, set, c.lines...)
		if got := tok.Encode("abc", false); !slices.Equal(got, []int{3}) {
			t.Errorf("%q: %v, want the real tokenizer's answer", c.lines, got)
		}
		if got := tok.NewDecoder().Push(1); got != "a" {
			t.Errorf("%q: text %q, want the real decoder's", c.lines, got)
		}
		if encode, decode := real.encoded > 1, real.pushed > 1; encode != c.encode || decode != c.decode {
			t.Errorf("%q: encoded %d times, decoded %d times", c.lines, real.encoded, real.pushed)
		}
	}
}

func control(t *testing.T, s *Set, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if err := s.Control(line); err != nil {
			t.Fatal(err)
		}
	}
}

func TestControlRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"":                           "nothing is named so",
		"tokeniser 3ms":              "nothing is named so",
		"tokenizer":                  "must be 1",
		"tokenizer nonsense":         "invalid duration",
		"lock 1 100ms":               "no share",
		"lock NaN 100ms":             "no share",
		"lock 0.5 0s":                "no time between",
		"hang":                       "must be 1",
		"hang maybe":                 "neither on nor off",
		"pool -1":                    "no number of threads",
		"pool 100000":                "no number of threads",
		"collector 0.5 1e3":          "no number of bytes",
		"collector 2 100":            "no share",
		"collector 0.5 999999999999": "no number of bytes",
	} {
		if err := New().Control(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}

// TestDoor is a request that comes while the lock is held, and one when nobody holds it.
func TestDoor(t *testing.T) {
	set := New()
	control(t, set, "lock 0.99 1m")
	for set.door.lock.TryLock() { // until it is held
		set.door.lock.Unlock()
		runtime.Gosched()
	}
	passed := make(chan struct{})
	go func() {
		set.door.Queued(nil)
		close(passed)
	}()
	select {
	case <-passed:
		t.Error("a request passed while the lock was held")
	default:
	}
	control(t, set, "lock 0 1m")
	<-passed
	set.door.Queued(nil)
}

type countingRunner struct {
	engine.Runner
	steps int
}

func (c *countingRunner) Run([]engine.Chunk) ([]engine.Result, error) { c.steps++; return nil, nil }

func TestHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		real := &countingRunner{}
		set, config := New(), engine.Config{}
		set.Into(&config)
		runner := config.WrapRunner(real)
		control(t, set, "hang off", "hang on", "hang on")
		over := make(chan struct{})
		go func() { runner.Run(nil); close(over) }()
		synctest.Wait()
		if real.steps != 0 {
			t.Error("a step that hangs was computed")
		}
		control(t, set, "hang off")
		<-over
		runner.Run(nil)
		if real.steps != 2 {
			t.Errorf("%d steps, want 2", real.steps)
		}
	})
}

// TestPool has threads for the time of a step, and gives their processors back.
func TestPool(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	real := &countingRunner{}
	set, config := New(), engine.Config{}
	set.Into(&config)
	runner := config.WrapRunner(real)
	control(t, set, "pool 3")
	if got := runtime.GOMAXPROCS(0); got != before+3 {
		t.Errorf("%d processors with a pool of 3 on %d", got, before)
	}
	pool := set.step.pool
	runner.Run(nil)
	if pool.busy.Load() {
		t.Error("the pool is busy after the step")
	}
	control(t, set, "pool 2", "pool 0")
	pool.begin() // a step that began before
	if got := runtime.GOMAXPROCS(0); got != before || real.steps != 1 || pool.busy.Load() {
		t.Errorf("%d processors at the end, before %d; %d steps", got, before, real.steps)
	}
}

// TestCollector counts collections while it is on.
func TestCollector(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	set := New()
	control(t, set, "collector 0.9 1000000")
	for deadline := time.Now().Add(10 * time.Second); after.NumForcedGC < before.NumForcedGC+3 && time.Now().Before(deadline); runtime.Gosched() {
		runtime.ReadMemStats(&after)
	}
	if after.NumForcedGC < before.NumForcedGC+3 {
		t.Errorf("collected %d times", after.NumForcedGC-before.NumForcedGC)
	}
	control(t, set, "collector 0 0")
	if set.collector.end != nil {
		t.Error("it is still at work")
	}
}

func TestTie(t *testing.T) {
	seen := map[*knot]bool{}
	for k := tie(100); !seen[k]; k = k.next {
		if k.other == nil {
			t.Fatal("a knot without its second pointer")
		}
		seen[k] = true
	}
	if len(seen) != 100 || tie(0) != nil {
		t.Errorf("%d knots hang together, want 100", len(seen))
	}
}
