package twin

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/exposition"
	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/workload"
)

// Parts are the models that a simulation runs over.
type Parts struct {
	Source     workload.Source
	Models     []cost.Model // of each replica
	Front      Front
	Blocks     int     // of the KV cache of each replica
	TokenBytes float64 // keys and values of a token
	Wire       float64 // bytes a second from a prefill to a decode instance
	Held       float64 // bytes that the engine holds on each of its GPUs,
	Weights    float64 // of them those of the model,
	Adapter    float64 // and what a LoRA adapter has on each of them
}

// Simulation is a run in virtual time: requests arrive, a router picks a replica, they
// pass its front half, its scheduler and the steps that the cost model times, and leave.
// It is a loop over events; the same scenario gives the same events. From outside it is
// advanced, in between the conditions of the replicas are set and what they have done is
// taken. It is not safe for concurrent use.
type Simulation struct {
	scenario Scenario
	board    *knob.Board
	source   workload.Source
	front    Front
	wire     float64
	weights  float64 // bytes of the model on each GPU of a replica,
	adapter  float64 // and of an adapter

	now      time.Duration
	agenda   agenda
	turns    []Event // those to come, in order
	replicas []*replica
	router   router
	up       []*replica // scratch
	clients  float64    // requests that they have in flight at most
	open     int        // requests in flight
	held     int        // tokens of their prompts
	network  network
	buffered bool // a proxy keeps answers until they are whole
	err      error
	jobs     pool
	tally    Tally
	begins   []*job             // scratch: jobs that got their first token in a step,
	ends     []*job             // and those that got their last
	request  exposition.Request // scratch
}

// Tally counts what has become of requests, and what was computed, since the start. Of the
// requests Arrived = Finished + Failed + Aborted + Rejected + those in flight; prefill
// instances' shares of requests are not counted.
type Tally struct {
	Arrived  uint64
	Finished uint64 // came to their end
	Failed   uint64 // with an error: the engine has gone, the request cannot be served
	Aborted  uint64
	Rejected uint64 // the queue was full
	Refused  uint64 // of Failed: nobody was there to take them, or nobody had room

	Sampled   uint64 // tokens
	Delivered uint64 // of them in answers that came to their end
	Dropped   uint64 // and in those that did not
	Steps     uint64
	Computed  uint64 // tokens of all steps, guesses only if they held
	Settled   uint64 // tokens that sequences had computed when they left; those of before a preemption left out
	Cached    uint64 // tokens that were there already when they began, or began again after a preemption
	Received  uint64 // of Cached: from other instances
	Preempted uint64 // tokens that they lost

	ClientTTFT time.Duration // of finished requests, as their clients saw it, summed
	ClientE2E  time.Duration
}

// maxOpen bounds the requests in flight, and maxHeld the tokens of their prompts: more do
// not get a connection. A host has such a limit, too, and so memory stays bounded when
// more comes than is served, for a day.
const (
	maxOpen = 1 << 15
	maxHeld = 1 << 25
)

// NewSimulation is a run at its start. The board is read from then on; Turn tells of changes
// that the scenario does not have.
func NewSimulation(sc Scenario, board *knob.Board, p Parts) (*Simulation, error) {
	switch {
	case sc.Replicas < 1 || len(p.Models) != sc.Replicas:
		return nil, fmt.Errorf("%d replicas with %d cost models", sc.Replicas, len(p.Models))
	case sc.Prefills < 0 || sc.Prefills > 0 && sc.Prefills >= sc.Replicas:
		return nil, fmt.Errorf("%d of %d replicas only for prompts leave none to decode", sc.Prefills, sc.Replicas)
	case p.Source == nil || p.Blocks < 1 || sc.BlockSize < 1:
		return nil, errors.New("a simulation needs requests and a KV cache")
	case sc.Prefills > 0 && !(p.Wire > 0):
		return nil, errors.New("prefill instances need a way to the others")
	}
	s := &Simulation{scenario: sc, board: board, source: p.Source, front: p.Front, wire: p.Wire, weights: p.Weights, adapter: p.Adapter}
	s.network = network{up: newServer(1), down: newServer(1), rng: s.rng(0x6e6574)}
	s.turns = slices.Clone(sc.Timeline)
	slices.SortStableFunc(s.turns, func(a, b Event) int { return int(a.At - b.At) })
	for n := range sc.Replicas {
		r, err := s.newReplica(n, p)
		if err != nil {
			return nil, err
		}
		s.replicas = append(s.replicas, r)
	}
	var err error
	if s.router, err = newRouter(sc.Router); err != nil {
		return nil, err
	}
	s.retune()
	for _, r := range s.replicas {
		r.setUp()
	}
	return s, s.err
}

// rng is a source of chance of its own for each purpose.
func (s *Simulation) rng(purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(s.scenario.Seed, mix(purpose)))
}

// Advance runs until a time since the start.
func (s *Simulation) Advance(to time.Duration) error {
	for s.err == nil {
		turn, arrival, next := s.dueTurn(), s.dueArrival(), time.Duration(never)
		if len(s.agenda.heap) > 0 {
			next = s.agenda.heap[0].at
		}
		switch at := min(turn, arrival, next); {
		case at > to:
			s.now = max(s.now, to)
			return nil
		case at == turn:
			s.now = at
			s.turn()
		case at == next:
			s.now = at
			s.happen(s.agenda.next())
		default:
			s.now = max(s.now, at)
			s.arrive(s.source.Take())
		}
	}
	return s.err
}

// note keeps the first error that stops the run.
func (s *Simulation) note(err error) {
	if s.err == nil {
		s.err = err
	}
}

const never = 1<<63 - 1

// dueArrival is when the next request comes. Beyond the client's limit it waits at the
// client, and so do those behind it.
func (s *Simulation) dueArrival() time.Duration {
	at, ok := s.source.Due()
	if !ok || float64(s.open) >= s.clients {
		return never
	}
	return max(at, s.now)
}

// happen carries out an event, if what it is about is still there.
func (s *Simulation) happen(e event) {
	if e.kind >= stepped {
		if r := s.replicas[e.id]; r.life == e.life {
			r.happen(e.kind)
		}
		return
	}
	j := s.jobs.jobs[e.id]
	if j.life != e.life {
		return
	}
	switch r := j.replica; e.kind {
	case bodyRead:
		r.receive(j)
	case parsed:
		r.tokenize(j)
	case tokenized:
		r.decodeImages(j)
	case decoded:
		r.assemble(j)
	case assembled:
		r.enqueue(j)
	case gated:
		r.gate(j)
	case moved:
		r.moved(j)
	case told:
		r.told(j)
	case answered:
		r.answered(j)
	case sent:
		r.sent(j)
	}
}

// at is when something happens to a job.
func (s *Simulation) at(when time.Duration, k kind, j *job) { s.agenda.add(when, k, j.id, j.life) }

// time is a time of the run as a clock of it shows it.
func (s *Simulation) time(at time.Duration) time.Time { return s.scenario.Start.Add(at) }

// ended counts a job that has ended, and the tokens of its answer.
func (t *Tally) ended(j *job) {
	if j.prefill {
		t.Dropped += uint64(len(j.seq.Output))
		return
	}
	switch j.finish {
	case engine.FinishStop, engine.FinishLength:
		t.Finished++
		t.Delivered += uint64(len(j.seq.Output))
		return
	case engine.FinishRejected:
		t.Rejected++
	case engine.FinishAbort:
		t.Aborted++
	default:
		t.Failed++
	}
	t.Dropped += uint64(len(j.seq.Output))
}
