// Package demo runs our own engine under load as child processes, so that what is
// measured of them (host, process, profile, llmtop's own cost) is true, and lets a
// fault happen at a random moment. Nothing of the fault reaches the part of llmtop
// that diagnoses: it sees the engine over HTTP, as any other.
package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"time"

	"llmtop/cmd/llmtop/internal/child"
	"llmtop/engine/load"
)

// Config says what to run.
type Config struct {
	Exe     string // this program
	Fault   Fault
	Twin    *Twin         // what is simulated; nil: the engine computes on this machine
	Threads int           // of the engine; 0 leaves a part of the machine to the others
	After   time.Duration // the fault begins between After and 1.5 × After
	Seed    uint64
	Log     func(format string, args ...any) // what happens, a line each
}

// Demo is a running engine with its load.
type Demo struct {
	URL string

	cfg    Config
	cancel context.CancelFunc
	engine *child.Child
	loads  []*child.Child
	failed chan error
}

// Start brings the engine up, measures its capacity on this machine, restarts it so
// that its life begins healthy, and puts the everyday load on. It returns once
// requests are flowing; the fault follows by itself.
func Start(ctx context.Context, cfg Config) (*Demo, error) {
	ctx, cancel := context.WithCancel(ctx)
	d := &Demo{cfg: cfg, cancel: cancel, failed: make(chan error, 1)}
	if err := d.start(ctx); err != nil {
		d.Stop()
		return nil, err
	}
	return d, nil
}

func (d *Demo) start(ctx context.Context) error {
	capacity, err := d.capacity(ctx)
	if err != nil {
		return err
	}
	d.cfg.Log("the engine serves %.1f requests/s; everyday load %.1f requests/s", capacity, capacity*d.cfg.Fault.healthy.rate)
	if err := d.serve(ctx); err != nil {
		return err
	}
	if err := d.load(ctx, capacity, d.cfg.Fault.healthy); err != nil {
		return err
	}
	go d.story(ctx, capacity)
	return nil
}

// capacity is how many requests a second the engine can serve: as its model says, or as an
// engine does that is started for that.
func (d *Demo) capacity(ctx context.Context) (float64, error) {
	if d.cfg.Twin != nil {
		return d.cfg.Twin.capacity(), nil
	}
	if err := d.serve(ctx); err != nil {
		return 0, err
	}
	capacity, err := d.measure(ctx)
	if err != nil {
		return 0, fmt.Errorf("measuring the engine's capacity: %w", err)
	}
	d.engine.Stop()
	return capacity, nil
}

// serve starts the engine and waits for its address.
func (d *Demo) serve(ctx context.Context) error {
	args := []string{"serve", "--addr", "127.0.0.1:0", "--log", "off"}
	if d.cfg.Threads > 0 {
		args = append(args, "--threads", strconv.Itoa(d.cfg.Threads))
	}
	if d.cfg.Twin != nil {
		args = append(args, d.cfg.Twin.Serve...)
	}
	engine, err := d.spawn(ctx, append(args, d.cfg.Fault.engine...)...)
	if err != nil {
		return err
	}
	d.engine = engine
	d.URL, err = engine.URL(ctx, 20*time.Second)
	return err
}

// spawn starts this program with args; the child ends with ctx.
func (d *Demo) spawn(ctx context.Context, args ...string) (*child.Child, error) {
	return child.Command{Exe: d.cfg.Exe, Args: args}.Start(ctx)
}

// measure fills the batch twice over at once and times how fast it empties: the
// requests per second that the engine serves of the healthy shape.
func (d *Demo) measure(ctx context.Context) (perSecond float64, err error) {
	begin := time.Now()
	report, err := load.Run(ctx, load.Config{
		URL: d.URL, Rate: 800, Duration: 50 * time.Millisecond, Seed: int64(d.cfg.Seed),
		PromptTokens: d.cfg.Fault.healthy.prompt, OutputTokens: d.cfg.Fault.healthy.output,
	})
	if err != nil {
		return 0, err
	}
	if report.Completed == 0 {
		return 0, fmt.Errorf("no request completed")
	}
	return float64(report.Completed) / time.Since(begin).Seconds(), nil
}

func (d *Demo) load(ctx context.Context, capacity float64, s shape) error {
	c, err := d.spawn(ctx, "load", d.URL,
		"--rate", strconv.FormatFloat(s.rate*capacity, 'f', 3, 64), "--duration", "0s",
		"--prompt-tokens", strconv.Itoa(s.prompt), "--output-tokens", strconv.Itoa(s.output),
		"--seed", strconv.FormatUint(d.cfg.Seed+uint64(len(d.loads)), 10))
	if err != nil {
		return err
	}
	d.loads = append(d.loads, c)
	return nil
}

// story waits for the moment, then does what the fault says.
func (d *Demo) story(ctx context.Context, capacity float64) {
	f := d.cfg.Fault
	if f.ID == None {
		return
	}
	draw := rand.New(rand.NewPCG(d.cfg.Seed, 0))
	wait := d.cfg.After + time.Duration(draw.Float64()*float64(d.cfg.After)/2)
	select {
	case <-ctx.Done():
		return
	case <-time.After(wait):
	}
	// The moment goes to the log alone: neither the engine nor the screen is told.
	d.cfg.Log("fault %s begins at %s: %s", f.ID, time.Now().UTC().Format(time.RFC3339Nano), f.Story)
	if err := d.inject(ctx, capacity); err != nil && ctx.Err() == nil {
		d.failed <- fmt.Errorf("fault %s: %w", f.ID, err)
	}
}

func (d *Demo) inject(ctx context.Context, capacity float64) error {
	f := d.cfg.Fault
	if f.tokenizer > 0 {
		if err := d.engine.Say(fmt.Sprintf("tokenizer %s", f.tokenizer)); err != nil {
			return err
		}
	}
	for _, t := range f.turns {
		if err := d.engine.Say("turn " + t.on(d.cfg.Twin.Deployment.GPU)); err != nil {
			return err
		}
	}
	for range f.burners * runtime.NumCPU() {
		if _, err := d.spawn(ctx, "burn"); err != nil {
			return err
		}
	}
	healthy := d.loads
	for _, s := range f.during {
		if err := d.load(ctx, capacity, s); err != nil {
			return err
		}
	}
	if f.replace {
		for _, c := range healthy {
			c.Stop()
		}
	}
	return nil
}

// Failed yields an error when a part of the demo broke.
func (d *Demo) Failed() <-chan error { return d.failed }

// Stop ends all child processes.
func (d *Demo) Stop() {
	d.cancel()
	if d.engine != nil {
		d.engine.Stop()
	}
}
