package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// begin notes what the engine has counted already. It may serve nobody else.
func (e *engineView) begin() (err error) {
	if _, err = e.take(newLedger()); err != nil {
		return err
	}
	e.first, err = e.scrape()
	return err
}

// requestsAnswer is what is needed of GET /debug/requests.
type requestsAnswer struct {
	Next     uint64
	Missed   uint64
	InFlight int `json:"in_flight"`
	Finished []struct {
		Finish string
	}
}

// follow enters the requests that the engine finishes into the ledger while work
// goes on, and what is left after it.
func (e *engineView) follow(l *ledger, work func()) error {
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- e.followUntil(ctx, l) }()
	work()
	stop()
	if err := <-over; err != nil {
		return err
	}
	if _, err := e.rest(); err != nil {
		return err
	}
	return e.enter(l)
}

func (e *engineView) followUntil(ctx context.Context, l *ledger) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := e.enter(l); err != nil {
				return err
			}
		}
	}
}

// enter enters what has finished since the last time, which must be all.
func (e *engineView) enter(l *ledger) error {
	missed, err := e.take(l)
	if err == nil && missed > 0 {
		err = fmt.Errorf("the engine has forgotten %d finished requests before they were read", missed)
	}
	return err
}

// take enters what has finished since the last time, and says how many of those the
// engine no longer knows.
func (e *engineView) take(l *ledger) (missed uint64, err error) {
	for {
		var a requestsAnswer
		path := fmt.Sprintf("/debug/requests?state=finished&limit=5000&after=%d", e.next)
		if err := e.get(path, func(r io.Reader) error { return json.NewDecoder(r).Decode(&a) }); err != nil {
			return missed, err
		}
		for _, f := range a.Finished {
			l.engineSaid(f.Finish)
		}
		e.next, missed = a.Next, missed+a.Missed
		if len(a.Finished) == 0 {
			return missed, nil
		}
	}
}
