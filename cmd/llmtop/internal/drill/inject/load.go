package inject

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"llmtop/cmd/llmtop/internal/child"
	"llmtop/engine/load"
)

// moreLoad is other traffic: more of it, or requests of another kind beside the everyday ones
// or in their place.
//
//	rate     requests per second of all streams together, as a share of the capacity
//	streams  how many; each has prompts, and a shared prefix, of its own
//	flags    of load: "--prompt-tokens 450 --output-tokens 8"
//	replaces yes: the everyday load ends
//	over     the streams begin one after the other, evenly over this time; 0: all at once
//	lasts    after so long it is over; 0: it goes on
type moreLoad struct {
	rate     float64
	streams  int
	flags    []string
	replaces bool
	over     time.Duration
	lasts    time.Duration

	clients []*child.Child
	cancel  context.CancelFunc
	later   sync.WaitGroup // what goes on after Start
	err     error          // of a stream that was to begin later; read after later.Wait
	site    *Site
	before  int // request files there were before
}

func newMoreLoad(with Settings) (Injector, error) {
	l := &moreLoad{flags: with.Words("flags"), cancel: func() {}}
	rate, err1 := with.Number("rate", 0, 1e-3, 20)
	streams, err2 := with.Number("streams", 1, 1, 64)
	lasts, err3 := with.Duration("lasts", 0, time.Second, time.Hour)
	over, err4 := with.Duration("over", 0, 0, time.Hour)
	l.rate, l.streams, l.lasts, l.over = rate, int(streams), lasts, over
	switch text := with.Text("replaces", "no"); {
	case text != "yes" && text != "no":
		return nil, fmt.Errorf("replaces: %q is neither yes nor no", text)
	default:
		l.replaces = text == "yes"
	}
	if rate == 0 && err1 == nil {
		err1 = errors.New("no rate is given")
	}
	return l, errors.Join(err1, err2, err3, err4)
}

func (l *moreLoad) Start(ctx context.Context, s *Site) error {
	ctx, l.cancel = context.WithCancel(ctx)
	l.site, l.before = s, len(s.requests)
	if err := l.begin(ctx); err != nil {
		return err
	}
	if l.over > 0 {
		l.later.Go(func() { l.rest(ctx) })
	} else {
		for len(l.clients) < l.streams {
			if err := l.begin(ctx); err != nil {
				return err
			}
		}
	}
	if l.replaces {
		s.Clients.Stop()
	}
	if l.lasts > 0 {
		l.later.Go(func() {
			if wait(ctx, l.lasts) {
				l.cancel()
			}
		})
	}
	return nil
}

// begin starts one of the streams; it ends with ctx.
func (l *moreLoad) begin(ctx context.Context) error {
	c, err := l.site.Load(ctx, Stream{Share: l.rate / float64(l.streams), Flags: l.flags})
	if err == nil {
		l.clients = append(l.clients, c)
	}
	return err
}

// rest starts the other streams one after the other.
func (l *moreLoad) rest(ctx context.Context) {
	for len(l.clients) < l.streams && wait(ctx, l.over/time.Duration(l.streams)) {
		if l.err = l.begin(ctx); l.err != nil {
			return
		}
	}
}

// wait returns false when ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func (l *moreLoad) Stop() error {
	l.cancel()
	l.later.Wait()
	for _, c := range l.clients {
		c.Stop()
	}
	return nil
}

// Confirm asks that requests were sent at more than half of the rate that was meant.
func (l *moreLoad) Confirm() error {
	if l.site == nil || l.err != nil {
		return cmp.Or(l.err, errors.New("no load was started"))
	}
	sent, meant := 0, 0.0
	for _, file := range l.site.requests[l.before : l.before+len(l.clients)] {
		requests, err := readRequests(file)
		if err != nil {
			return err
		}
		sent += len(requests)
		if first, last := ends(requests); len(requests) > 1 {
			meant += l.rate / float64(l.streams) * l.site.Capacity * last.Sub(first).Seconds()
		}
	}
	if sent == 0 || float64(sent) < meant/2 {
		return fmt.Errorf("of %.0f requests that were meant %d were sent", meant, sent)
	}
	return nil
}

// ends are when the first and the last request were due.
func ends(requests []load.Request) (first, last time.Time) {
	for i, r := range requests {
		if i == 0 || r.Due.Before(first) {
			first = r.Due
		}
		if r.Due.After(last) {
			last = r.Due
		}
	}
	return first, last
}
