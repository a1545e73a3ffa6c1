package inject

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// newHang is a step that does not return until the run is over, while all else answers.
func newHang(Settings) (Injector, error) {
	return &wrapper{on: "hang on", off: "hang off", proof: &frozen{wait: afterHang}}, nil
}

// frozen proves that the engine makes no more tokens though requests are there.
type frozen struct {
	wait time.Duration

	url    string
	cancel func() error
	from   float64 // tokens made, some seconds after the begin
	read   atomic.Bool
}

// afterHang is when the step in which it hangs has been reached.
const afterHang = 3 * time.Second

func (f *frozen) begin(s *Site) error {
	f.url = s.URL
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() {
		pause(ctx, f.wait)
		from, _, err := tokensMade(f.url)
		f.from = from
		f.read.Store(err == nil && ctx.Err() == nil)
		over <- err
	}()
	f.cancel = func() error { cancel(); return <-over }
	return nil
}

func (f *frozen) end() error {
	if err := f.cancel(); err != nil {
		return err
	}
	made, running, err := tokensMade(f.url)
	switch {
	case err != nil:
		return err
	case !f.read.Load():
		return fmt.Errorf("it hung for less than %s", f.wait)
	case made != f.from:
		return fmt.Errorf("the engine made %.0f tokens while it was to hang", made-f.from)
	case running == 0:
		return errors.New("no request was there to hang")
	}
	return nil
}

// tokensMade reads the counter of tokens and the requests in the batch off the engine's page.
func tokensMade(url string) (made, running float64, err error) {
	b, err := page(url, "/metrics")
	if err != nil {
		return 0, 0, err
	}
	return metric(b, "vllm:generation_tokens_total"), metric(b, "vllm:num_requests_running"), nil
}

// metric adds up the series with a name.
func metric(page []byte, name string) (sum float64) {
	lines := bufio.NewScanner(bytes.NewReader(page))
	for lines.Scan() {
		line := lines.Text()
		rest, ok := strings.CutPrefix(line, name)
		if ok && (strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, " ")) {
			v, _ := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			sum += v
		}
	}
	return sum
}

// newThreads is a pool of more threads in the engine's process that spin while a step is computed.
//
//	per_core  threads for each core, at most 64
func newThreads(with Settings) (Injector, error) {
	perCore, err := with.Number("per_core", 4, 0.25, 64)
	n := int(math.Ceil(perCore * float64(runtime.NumCPU())))
	return &wrapper{on: fmt.Sprintf("pool %d", n), off: "pool 0", proof: &crowded{threads: n}}, err
}

// crowded proves that the kernel had many threads of the engine to run at once.
type crowded struct {
	threads int

	most int
	stop func() error
}

func (c *crowded) begin(s *Site) error {
	c.stop = repeat(context.Background(), 50*time.Millisecond, func() error {
		c.most = max(c.most, runnable(s.Engine.PID()))
		return nil
	})
	return nil
}

func (c *crowded) end() error {
	if err := c.stop(); err != nil {
		return err
	}
	if c.most <= c.threads/2 || c.most <= runtime.NumCPU() {
		return fmt.Errorf("at most %d threads of the engine ran or were ready to, on %d cores", c.most, runtime.NumCPU())
	}
	return nil
}

// runnable counts the threads of a process that run or are ready to.
func runnable(pid int) (n int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, file := range files {
		b, err := os.ReadFile(file)
		if _, after, ok := strings.Cut(string(b), ") "); err == nil && ok && strings.HasPrefix(after, "R") {
			n++
		}
	}
	return n
}

// collectorWork is what the collector has to look through, in bytes.
const collectorWork = 96 << 20

// stopping is an injector whose engine stops for each collection.
type stopping struct{ wrapper }

// Prepare has Go's collector stop all else while it works, as those of interpreters do.
func (*stopping) Prepare(_ context.Context, s *Site) error {
	s.Env = append(s.Env[:len(s.Env):len(s.Env)], "GODEBUG=gcstoptheworld=1")
	return nil
}

// newCollector is a garbage collector with much to do.
//
//	share  of the time that it works
func newCollector(with Settings) (Injector, error) {
	share, err := with.Number("share", 0.3, 0.01, 0.95)
	return &stopping{wrapper{
		on: fmt.Sprintf("collector %g %d", share, collectorWork), off: "collector 0 0",
		proof: &collecting{least: share / 4},
	}}, err
}

// collecting proves by what Go's runtime counts that the collector had a share of the
// processors.
type collecting struct {
	least float64

	url    string
	begun  time.Time
	before float64 // seconds of all processors since the engine's begin
	born   time.Time
}

func (c *collecting) begin(s *Site) (err error) {
	c.url, c.begun = s.URL, time.Now()
	b, err := page(c.url, "/metrics")
	if err != nil {
		return err
	}
	c.born = time.UnixMilli(int64(1000 * metric(b, "process_start_time_seconds")))
	c.before, err = c.collected()
	return err
}

// collected is the time that the collector has had of all processors, in seconds.
func (c *collecting) collected() (float64, error) {
	b, err := page(c.url, "/debug/pprof/heap?debug=1")
	if err != nil {
		return 0, err
	}
	_, after, ok := strings.Cut(string(b), "# GCCPUFraction = ")
	if !ok {
		return 0, errors.New("the engine does not tell what its garbage collector takes")
	}
	text, _, _ := strings.Cut(after, "\n")
	share, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return share * time.Since(c.born).Seconds(), err
}

func (c *collecting) end() error {
	all, err := c.collected()
	if err != nil {
		return err
	}
	if share := (all - c.before) / time.Since(c.begun).Seconds(); share < c.least {
		return fmt.Errorf("the garbage collector had %.1f %% of the processors", 100*share)
	}
	return nil
}
