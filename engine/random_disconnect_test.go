package engine

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// stepTime is how long a step of this test's runner takes, in virtual time.
const stepTime = time.Millisecond

// Whoever goes away, whenever and however the answer is wanted, is gone from the
// loop and from the cache once the step that runs is over, and the others get their
// answers.
func TestRandomDisconnects(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) { randomDisconnects(t, rt) })
	})
}

// client is a request of the test.
type client struct {
	leave        context.CancelFunc
	over         chan struct{}
	prompt, most int
	answer       string // once over
	code         int
}

func randomDisconnects(t *testing.T, rt *rapid.T) {
	e := startFake(t, func(c *Config, f *fakeRunner) {
		c.MaxNumSeqs, c.NumBlocks, c.MaxQueue = 3, rapid.IntRange(16, 40).Draw(rt, "blocks"), Unlimited
		f.before = func(int) error { time.Sleep(stepTime); return nil }
	})
	defer e.stop()
	var here []*client
	for range rapid.IntRange(1, 25).Draw(rt, "events") {
		if len(here) > 0 && rapid.Bool().Draw(rt, "leaves") {
			i := rapid.IntRange(0, len(here)-1).Draw(rt, "who")
			here[i].leave()
			<-here[i].over
			here = append(here[:i], here[i+1:]...)
			time.Sleep(2 * stepTime) // the step that runs, and the one that must be without it
		} else {
			here = append(here, e.client(t, rt))
		}
		time.Sleep(time.Duration(rapid.IntRange(0, 9).Draw(rt, "pause")) * stepTime / 2)
		synctest.Wait()
		if s, all := e.snapshot(), unfinished(here); s.running()+s.waiting() > all {
			rt.Fatalf("%d run and %d wait for %d clients", s.running(), s.waiting(), all)
		}
	}
	for _, c := range here {
		<-c.over
		if c.code != 200 || c.answer != expected(c.prompt, c.most) {
			rt.Fatalf("%d %q, want %q", c.code, c.answer, expected(c.prompt, c.most))
		}
		c.leave()
	}
	synctest.Wait()
	e.freed(t)
	if t.Failed() {
		rt.Fatalf("something is left")
	}
}

// client sends a request that a rapid test draws.
func (e *testEngine) client(t *testing.T, rt *rapid.T) *client {
	ctx, leave := context.WithCancel(t.Context())
	c := &client{leave: leave, over: make(chan struct{}),
		prompt: rapid.IntRange(1, 40).Draw(rt, "prompt"), most: rapid.IntRange(1, 15).Draw(rt, "most")}
	stream := rapid.Bool().Draw(rt, "stream")
	go func() {
		defer close(c.over)
		w := e.post(ctx, "/v1/completions", completion(c.prompt, c.most, fmt.Sprintf(`,"stream":%t`, stream)))
		if c.code = w.Code; ctx.Err() != nil || w.Code != 200 {
			return
		}
		if stream {
			c.answer = streamText(t, w)
		} else {
			c.answer = *decodeBody[response](t, w).Choices[0].Text
		}
	}()
	return c
}

func unfinished(here []*client) (n int) {
	for _, c := range here {
		select {
		case <-c.over:
		default:
			n++
		}
	}
	return n
}
