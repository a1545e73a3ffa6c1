package engine

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"
)

// Engine serves one model. Handler takes requests, Run computes them.
type Engine struct {
	config    Config
	runner    Runner
	steps     Runner // computes them: the runner, or what was put around it
	tokenizer Tokenizer
	texts     *tokenizing
	shape     Shape
	template  *chatTemplate // nil: the model's is not known
	warnings  []string
	log       *requestLog
	metrics   *metrics
	queue     admission
	started   time.Time

	speculation *speculation // nil: none

	// Owned by the loop.
	scheduler *Scheduler
	blocks    *BlockManager
	jobs      map[*Sequence]*job
	scratch   []int // tokens of a step
	batch     []Chunk
	failures  int          // steps that failed, one after the other
	seen      ObservedStep // scratch: for the observer

	wake chan struct{} // holds one signal when the inbox is not empty

	// mu is never held while the runner runs, so that handlers answer at once during a long step.
	mu       sync.Mutex
	inbox    []command
	phase    phase
	draining bool
	state    state
}

// ConfigError is an error of a Config's values, told before anything is loaded.
type ConfigError struct{ error }

// New loads the model and prepares to serve it; Run must be called to end what it holds.
func New(c Config) (*Engine, error) {
	c, err := c.withDefaults()
	if err == nil {
		err = c.limits().check()
	}
	if err != nil {
		return nil, &ConfigError{err}
	}
	w := words{tokenizer: c.Tokenizer}
	if c.Runner == nil {
		if c.Runner, w, err = newCPURunner(c); err != nil {
			return nil, err
		}
	}
	texts, err := newTokenizing(c, w)
	if err != nil {
		return nil, err
	}
	template, warnings := w.chat(c, texts.shared)
	blocks := NewBlockManager(c.NumBlocks, c.BlockSize, !c.NoPrefixCaching) // once the memory is planned
	scheduler, err := NewScheduler(c.limits(), blocks)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		config:    c,
		runner:    c.Runner,
		tokenizer: texts.shared,
		texts:     texts,
		shape:     c.Runner.Shape(),
		template:  template,
		warnings:  warnings,
		log:       newRequestLog(),
		queue:     admission{limit: c.MaxQueue, parallel: c.MaxNumSeqs},
		started:   c.Now(),
		scheduler: scheduler,
		blocks:    blocks,
		jobs:      make(map[*Sequence]*job),
		wake:      make(chan struct{}, 1),
	}
	e.metrics = newMetrics(e)
	if err := e.speculate(); err != nil {
		return nil, err
	}
	e.steps = e.runner
	if c.WrapRunner != nil {
		e.steps = c.WrapRunner(e.runner)
	}
	e.metrics.logDropped(c.Log, c.ModelName)
	return e, nil
}

// Warnings are what whoever starts the engine should know of the model, a line each.
func (e *Engine) Warnings() []string { return slices.Clone(e.warnings) }

// Run computes steps until the context ends; requests in flight then end with
// reason abort, new ones are refused, and a Runner that is an io.Closer is closed.
// Run is called once; it returns what closing returns.
func (e *Engine) Run(ctx context.Context) error {
	labelSchedule.set()
	e.mu.Lock()
	e.phase = looping
	e.publish()
	e.mu.Unlock()
	for ctx.Err() == nil {
		e.takeCommands()
		if e.scheduler.Idle() {
			e.await(ctx, nil)
		} else if wait := e.step(); wait > 0 {
			timer := time.NewTimer(wait)
			e.await(ctx, timer.C)
			timer.Stop()
		}
	}
	e.stop()
	if c, ok := e.runner.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// await sleeps until there is a command, the alarm, or the end.
func (e *Engine) await(ctx context.Context, alarm <-chan time.Time) {
	e.rest()
	if o := e.config.Observer; o != nil {
		o.Rests()
	}
	select {
	case <-ctx.Done():
	case <-e.wake:
	case <-alarm:
	}
}
