package engine

import (
	"context"
	"runtime/pprof"
)

// stageLabel is the label stage=NAME of a goroutine, made once. A CPU profile gives
// each sample the label of its goroutine, so it splits by stage exactly, whatever
// functions the stages share.
type stageLabel struct{ ctx context.Context }

func newLabel(name string) stageLabel {
	return stageLabel{pprof.WithLabels(context.Background(), pprof.Labels("stage", name))}
}

// set labels the calling goroutine; those that it starts inherit the label.
func (l stageLabel) set() { pprof.SetGoroutineLabels(l.ctx) }

// stageLabels are those of a handler. From the moment that its request is queued it sends.
var stageLabels = func() (l [NumStages]stageLabel) {
	for s := range NumStages {
		l[s] = newLabel(s.String())
	}
	return l
}()

// The labels of the engine's own goroutines. A forward pass is named after what its step holds.
var (
	labelSchedule   = newLabel("schedule")
	labelPrefill    = newLabel(kindPrefill)
	labelDecode     = newLabel(kindDecode)
	labelMixed      = newLabel(kindMixed)
	labelDetokenize = newLabel("detokenize")
	labelLog        = newLabel("log")
)

// enter labels the handler with the stage that begins.
func (c *call) enter(s Stage) { stageLabels[s].set() }

// leave takes the label off: net/http uses the goroutine for the connection's next request.
func (c *call) unlabel() { pprof.SetGoroutineLabels(c.r.Context()) }

// label is that of the forward pass of a step with these contents.
func (c composition) label() stageLabel {
	switch c.kind() {
	case kindMixed:
		return labelMixed
	case kindDecode:
		return labelDecode
	}
	return labelPrefill
}

// labelled gives the loop, and the goroutines of a Runner that passes labels on,
// the label of a forward pass, until the returned function is called.
func (e *Engine) labelled(l stageLabel) (over func()) {
	if r, ok := e.runner.(interface{ SetLabels(context.Context) }); ok {
		r.SetLabels(l.ctx)
	}
	l.set()
	return labelSchedule.set
}

// SetLabels makes the threads of the forward pass carry a label set from the next Run on.
func (r *cpuRunner) SetLabels(ctx context.Context) { r.model.SetLabels(ctx) }
