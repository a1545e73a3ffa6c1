package main

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"llmtop/probes"
)

// counting makes so many samples, then says why there are no more.
type counting struct {
	left int
	end  error
	made uint64
}

func (c *counting) Next(ctx context.Context) (*probes.Sample, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.left == 0 {
		return nil, c.end
	}
	c.left--
	c.made++
	return &probes.Sample{Seq: c.made}, nil
}

// All samples come in order, then the source's own end, as often as one asks.
func TestAheadKeepsOrderAndEnd(t *testing.T) {
	for _, end := range []error{io.EOF, errors.New("it broke")} {
		source := &counting{left: 5 * aheadOf, end: end}
		a := runAhead(t.Context(), source)
		for n := range 5 * aheadOf {
			if s, err := a.Next(t.Context()); err != nil || s.Seq != uint64(n+1) {
				t.Fatalf("sample %d: %+v, %v", n+1, s, err)
			}
		}
		for range 2 {
			if _, err := a.Next(t.Context()); err != end {
				t.Errorf("error %v, want %v", err, end)
			}
		}
		a.stop()
	}
}

// Its goroutine ends with the context, or when it is stopped, though nobody takes what it has
// made; and it is never further ahead than said. (The test would not end with the bubble else.)
func TestAheadEnds(t *testing.T) {
	for _, stop := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			source := &counting{left: 1 << 30}
			a := runAhead(ctx, source)
			synctest.Wait()
			if source.made != aheadOf+1 {
				t.Errorf("%d samples ahead, want %d and one in hand", source.made, aheadOf)
			}
			if stop {
				a.stop()
			} else {
				cancel()
				synctest.Wait()
				if _, err := a.Next(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
			}
			cancel()
		})
	}
}

// A reader that gives up while the source is slow does not wait for it.
func TestAheadReaderGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := runAhead(t.Context(), stuck{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { synctest.Wait(); cancel() }()
		if _, err := a.Next(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		a.stop()
	})
}

// stuck has nothing until its context ends.
type stuck struct{}

func (stuck) Next(ctx context.Context) (*probes.Sample, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
