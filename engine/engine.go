package engine

import (
	"context"
	"io"
	"sync"
	"time"
)

// Engine serves one model. Handler takes requests, Run computes them.
type Engine struct {
	config    Config
	runner    Runner
	tokenizer Tokenizer
	shape     Shape
	template  chatTemplate
	log       *requestLog
	metrics   *metrics
	queue     admission
	started   time.Time

	// Owned by the loop.
	scheduler *Scheduler
	blocks    *BlockManager
	jobs      map[*Sequence]*job
	scratch   []int // tokens of a step
	batch     []Chunk

	wake chan struct{} // holds one signal when the inbox is not empty

	// mu is never held while the runner runs, so that handlers answer at once during a long step.
	mu       sync.Mutex
	inbox    []command
	phase    phase
	draining bool
	state    state
}

// New loads the model and prepares to serve it; Run must be called to end what it holds.
func New(c Config) (*Engine, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	blocks := NewBlockManager(c.NumBlocks, c.BlockSize)
	scheduler, err := NewScheduler(c.limits(), blocks)
	if err != nil {
		return nil, err
	}
	if c.Runner == nil {
		if c.Runner, c.Tokenizer, err = newCPURunner(c); err != nil {
			return nil, err
		}
	}
	if c.WrapTokenizer != nil {
		c.Tokenizer = c.WrapTokenizer(c.Tokenizer)
	}
	e := &Engine{
		config:    c,
		runner:    c.Runner,
		tokenizer: c.Tokenizer,
		shape:     c.Runner.Shape(),
		template:  newChatTemplate(c.Tokenizer),
		log:       newRequestLog(),
		queue:     admission{limit: c.MaxQueue, parallel: c.MaxNumSeqs},
		started:   c.Now(),
		scheduler: scheduler,
		blocks:    blocks,
		jobs:      make(map[*Sequence]*job),
		wake:      make(chan struct{}, 1),
	}
	e.metrics = newMetrics(e)
	e.metrics.logDropped(c.Log, c.ModelName)
	return e, nil
}

// Run computes steps until the context ends; requests in flight then end with
// reason abort, new ones are refused, and a Runner that is an io.Closer is closed.
// Run is called once; it returns what closing returns.
func (e *Engine) Run(ctx context.Context) error {
	labelSchedule.set()
	e.mu.Lock()
	e.phase = looping
	e.mu.Unlock()
	for ctx.Err() == nil {
		e.takeCommands()
		if !e.scheduler.Idle() {
			e.step()
			continue
		}
		select {
		case <-ctx.Done():
		case <-e.wake:
		}
	}
	e.stop()
	if c, ok := e.runner.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
