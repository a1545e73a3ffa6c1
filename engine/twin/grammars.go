package twin

import (
	"time"

	"llmtop/engine/twin/machine"
)

// grammars are those that a replica has compiled, the so many last used.
type grammars struct {
	known map[int]*grammar
	most  int
	count uint64 // of uses
	pool  server // that compiles them
}

type grammar struct {
	ready time.Duration
	used  uint64
}

// compilers is how many grammars are compiled at once.
const compilers = 2

func newGrammars(most int) grammars {
	return grammars{known: make(map[int]*grammar), most: max(1, most), pool: newServer(compilers)}
}

// ready is when a grammar is; one that is not known is compiled.
func (g *grammars) ready(r *replica, schema int) time.Duration {
	g.count++
	if known := g.known[schema]; known != nil {
		known.used = g.count
		return known.ready
	}
	if len(g.known) >= g.most {
		g.forget()
	}
	work := times(r.sim.front.Grammar, r.slow.grammar)
	r.spend(machine.GrammarCompile, work)
	ready := g.pool.serve(r.sim.now, r.onCPU(work), &r.pauses)
	g.known[schema] = &grammar{ready, g.count}
	return ready
}

// forget drops the one that was not used for longest.
func (g *grammars) forget() {
	oldest, at := 0, g.count+1
	for schema, known := range g.known { // uses are all different: the order does not matter
		if known.used < at {
			oldest, at = schema, known.used
		}
	}
	delete(g.known, oldest)
}
