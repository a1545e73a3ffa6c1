package main

import (
	"fmt"
	"maps"
	"sync"
)

// ending is how a request ended for its client.
type ending string

const (
	answered ending = "answered"   // the whole answer came
	rejected ending = "rejected"   // 429
	refused  ending = "refused"    // the request was wrong on purpose, and was told so
	left     ending = "left"       // the client went away on purpose
	failed   ending = "unexpected" // anything else
)

// ledger is the account of the requests: what the clients saw, and what the engine says.
type ledger struct {
	mu sync.Mutex
	accounts
}

type accounts struct {
	sent     int
	endings  map[ending]int
	acts     map[string]int // what clients did
	finishes map[string]int // in the engine's words
	wrong    []string       // the first unexpected endings
}

func newLedger() *ledger {
	return &ledger{accounts: accounts{endings: map[ending]int{}, acts: map[string]int{}, finishes: map[string]int{}}}
}

func (l *ledger) send(act string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent++
	l.acts[act]++
}

func (l *ledger) end(e ending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endings[e]++
}

const wrongKept = 10

// fail ends a request that went wrong.
func (l *ledger) fail(act string, why any) {
	l.end(failed)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.wrong) < wrongKept {
		l.wrong = append(l.wrong, fmt.Sprintf("%s: %v", act, why))
	}
}

func (l *ledger) engineSaid(finish string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finishes[finish]++
}

// copy is the account as it is now.
func (l *ledger) copy() accounts {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.accounts
	a.endings, a.acts, a.finishes = maps.Clone(a.endings), maps.Clone(a.acts), maps.Clone(a.finishes)
	a.wrong = append([]string(nil), a.wrong...)
	return a
}
