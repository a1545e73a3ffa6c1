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
	labelPrefill    = newLabel("prefill")
	labelDecode     = newLabel("decode")
	labelMixed      = newLabel("mixed")
	labelDetokenize = newLabel("detokenize")
	labelLog        = newLabel("log")
)

// enter labels the handler with the stage that begins.
func (c *call) enter(s Stage) { stageLabels[s].set() }

// leave takes the label off: net/http uses the goroutine for the connection's next request.
func (c *call) unlabel() { pprof.SetGoroutineLabels(c.r.Context()) }

// label is that of the step's forward pass.
func (s Step) label() stageLabel {
	decodes, prefills := false, false
	for _, i := range s.Items {
		if i.Seq.decoding() {
			decodes = true
		} else {
			prefills = true
		}
	}
	switch {
	case decodes && prefills:
		return labelMixed
	case decodes:
		return labelDecode
	}
	return labelPrefill
}

// compute runs a step under its label, which a Runner with goroutines of its own
// passes on to them.
func (e *Engine) compute(step Step, batch []Chunk) ([]Result, error) {
	l := step.label()
	if r, ok := e.runner.(interface{ SetLabels(context.Context) }); ok {
		r.SetLabels(l.ctx)
	}
	l.set()
	defer labelSchedule.set()
	return e.runner.Run(batch)
}

// SetLabels makes the threads of the forward pass carry a label set from the next Run on.
func (r *cpuRunner) SetLabels(ctx context.Context) { r.model.SetLabels(ctx) }
