package main

import (
	"context"

	"llmtop/probes"
)

// aheadOf is how many samples a source may be ahead of its reader: enough for both to keep busy
// when one takes longer over some, and little memory.
const aheadOf = 16

// ahead is a source that works on a goroutine of its own while what it has made is looked at. The
// samples and how it ends are those of the source, in order. Until stop has returned nobody else
// may use that.
type ahead struct {
	samples chan *probes.Sample
	err     error // why there are no more; set before samples is closed
	cancel  context.CancelFunc
}

// runAhead begins; the context ends it, and so does stop, which must be called.
func runAhead(ctx context.Context, source probes.Source) *ahead {
	ctx, cancel := context.WithCancel(ctx)
	a := &ahead{samples: make(chan *probes.Sample, aheadOf), cancel: cancel}
	go a.run(ctx, source)
	return a
}

func (a *ahead) run(ctx context.Context, source probes.Source) {
	defer close(a.samples)
	for {
		sample, err := source.Next(ctx)
		if err != nil {
			a.err = err
			return
		}
		select {
		case a.samples <- sample:
		case <-ctx.Done():
			a.err = ctx.Err()
			return
		}
	}
}

// Next is the next sample, or what the source said instead of one.
func (a *ahead) Next(ctx context.Context) (*probes.Sample, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case sample, more := <-a.samples:
		if !more {
			return nil, a.err
		}
		return sample, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// stop waits for the goroutine to end; what it has made meanwhile is lost.
func (a *ahead) stop() {
	a.cancel()
	for range a.samples {
	}
}
