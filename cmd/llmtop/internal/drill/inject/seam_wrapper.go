package inject

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// wrapper is an injector that tells a wrapper at one of the engine's seams what to do; see
// package seams.
type wrapper struct {
	on, off string // control lines
	proof   proofOf

	site *Site
	over bool
	err  error // of the proof
}

// proofOf looks at the engine from outside: begin just before the fault, and end at its
// end, which says what is missing.
type proofOf interface {
	begin(s *Site) error
	end() error
}

func (w *wrapper) Start(_ context.Context, s *Site) error {
	w.site = s
	if err := w.proof.begin(s); err != nil {
		return err
	}
	return s.Engine.Say(w.on)
}

func (w *wrapper) Stop() error {
	if w.site == nil || w.over {
		return nil
	}
	w.over, w.err = true, w.proof.end()
	select {
	case <-w.site.Engine.Done():
		return nil
	default:
		return w.site.Engine.Say(w.off)
	}
}

func (w *wrapper) Confirm() error {
	if !w.over {
		return errors.New("it was not done")
	}
	return w.err
}

// slower proves by the engine's own stamps that requests spent longer on something.
type slower struct {
	what string
	of   func(engineRequest) float64 // seconds
	by   time.Duration               // at least, mean of the requests

	url    string
	since  time.Time
	before float64
}

func (p *slower) begin(s *Site) error {
	p.url = s.URL
	past, err := finishedSince(p.url, time.Time{})
	p.before, p.since = meanOf(past, p.of), time.Now()
	return err
}

func (p *slower) end() error {
	requests, err := finishedSince(p.url, p.since)
	if err != nil {
		return err
	}
	if grown := meanOf(requests, p.of) - p.before; len(requests) == 0 || grown < p.by.Seconds() {
		return fmt.Errorf("%s took %d requests %.4f s longer each, not %s", p.what, len(requests), grown, p.by)
	}
	return nil
}

// newSlowTokenizer is a tokenizer that works each text over and over.
//
//	each  for so long
func newSlowTokenizer(with Settings) (Injector, error) {
	each, err := with.Duration("each", 100*time.Millisecond, time.Millisecond, time.Minute)
	return &wrapper{
		on: "tokenizer " + each.String(), off: "tokenizer 0s",
		proof: &slower{what: "tokenizing", of: stage("tokenize"), by: each / 2},
	}, err
}

// newSlowDetokenizer works each token over and over until it becomes text, one token of all
// streams after the other.
//
//	each  for so long
func newSlowDetokenizer(with Settings) (Injector, error) {
	each, err := with.Duration("each", 10*time.Millisecond, time.Microsecond, time.Minute)
	of := func(r engineRequest) float64 { return r.Detokenizing / float64(max(1, r.OutputTokens)) }
	return &wrapper{
		on: "detokenizer " + each.String(), off: "detokenizer 0s",
		proof: &slower{what: "a token's text", of: of, by: each / 2},
	}, err
}

// newHeldLock is a lock before the scheduler that somebody else holds.
//
//	share  of the time
//	every  so long, in one piece
func newHeldLock(with Settings) (Injector, error) {
	share, err1 := with.Number("share", 0.8, 0.01, 0.99)
	every, err2 := with.Duration("every", 500*time.Millisecond, 10*time.Millisecond, time.Minute)
	// Who comes at any time meets the lock held with the probability share, and waits
	// for half of what it is held then.
	wait := time.Duration(share * share * float64(every) / 2)
	return &wrapper{
		on: fmt.Sprintf("lock %g %s", share, every), off: fmt.Sprintf("lock 0 %s", every),
		proof: &slower{what: "queueing", of: stage("queue"), by: wait / 2},
	}, errors.Join(err1, err2)
}
