package workload

import (
	"math"
	"math/rand/v2"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/knob"
)

// Words that tell the streams of random numbers of one seed apart.
const (
	wordArrivals = 0xa117_0000
	wordContents = 0xc047_0000
	wordTree     = 0x72ee_0000
	wordSpread   = 0x5b4e_0000
)

// never is the time of a request that does not come while nobody turns a knob.
const never = time.Duration(math.MaxInt64)

// stream makes the requests of one Stream. Each request's numbers follow from the seed and
// its place in the stream, so that a turned knob changes what it is for and nothing else.
type stream struct {
	Stream
	numbers
	context int
	prompt  drawn
	output  drawn
	tree    *tree
	mean    float64 // tokens of a turn of a conversation

	clock
	gaps *rand.Rand

	request Request
	path    [3]Segment
}

func newStream(s Stream, c *Config, seed uint64, board *knob.Board) *stream {
	vary(&s, c.Spread, seed^wordSpread)
	m := &stream{Stream: s, numbers: numbers{board: board, seed: scramble(seed ^ wordContents)}, context: c.context(),
		prompt: s.Prompt.drawn(), output: s.Output.drawn()}
	m.rng = rand.New(&m.pcg)
	m.tree = newTree(s.Prefixes, scramble(seed^wordTree), m.context/2)
	m.mean = s.Prompt.mean() + s.Output.mean()
	m.gaps = rand.New(rand.NewPCG(seed, wordArrivals))
	m.clock = clock{pace: s.Arrivals.pace(scramble(seed^wordArrivals), c.Start), rate: s.Rate, factor: board.Value(knob.Rate)}
	first := s.Arrivals.gap(m.gaps)
	if s.Arrivals.Even { // streams of even gaps do not come all at once
		first *= m.gaps.Float64()
	}
	m.clock.start(first)
	return m
}

func (m *stream) Due() (time.Duration, bool) { return m.clock.due(), true }

func (m *stream) Turned(now time.Duration) { m.clock.turned(now, m.board.Value(knob.Rate)) }

func (m *stream) Take() *Request {
	at := m.clock.due()
	m.clock.took(m.Arrivals.gap(m.gaps))
	u := m.draw()
	r := &m.request
	*r = Request{At: at, Class: m.class(u[uClass]), Stream: u[uStream] < m.Streamed}
	m.extras(r, &m.Stream, u)
	own := tokens(m.prompt.draw(m.rng)*m.board.Value(knob.PromptTokens)) + r.Images*imageTokens
	r.Output = tokens(m.output.draw(m.rng) * m.board.Value(knob.OutputTokens))
	if m.giant(u) {
		r.Prompt = m.giantTokens()
		r.New = r.Prompt
	} else {
		m.begin(r, pick{u[uSystem], u[uDocument], u[uSession], u[uEnd]}, own, u[uReuse] < m.board.Value(knob.PrefixReuse))
	}
	fit(r, m.context)
	r.Bytes = textBytes(r, m.Stream.Bytes, u)
	return r
}

// begin says what the prompt begins with. One that shares nothing is as long as it would be.
func (m *stream) begin(r *Request, u pick, own int, shares bool) {
	many := m.board.Value(knob.Prefixes)
	path, s := m.tree.path(m.path[:0], u, many, m.Rate*m.clock.factor, own, m.before)
	for _, p := range path {
		r.Prompt += p.Tokens
	}
	if r.New = own; s == nil {
		r.Prompt += own
	} else {
		m.tree.said(s, u, many, own, r.Output)
	}
	if shares {
		r.Prefix, r.GoesOn = path, s != nil
	} else {
		r.New = r.Prompt
	}
}

// before makes a conversation as old as one that is looked at at any time: it has had so many turns.
func (m *stream) before(s *session) {
	p := 1 - 1/m.Prefixes.Turns
	turns := math.Log(1-m.rng.Float64()) / math.Log(p)
	tokens := m.mean * min(turns, maxTurns)
	s.tokens = int32(min(tokens, float64(m.tree.room)))
}

func (m *stream) class(u float64) engine.Class {
	switch {
	case u < m.Realtime:
		return engine.Realtime
	case u < m.Realtime+m.Background:
		return engine.Background
	}
	return engine.Normal
}

// fit keeps prompt and answer within the context: the answer is cut off, and of what is too
// long by itself the prompt, as clients that know the model do.
func fit(r *Request, context int) {
	r.Prompt = max(1, min(r.Prompt, context-1))
	if r.Prompt+r.Output > context {
		r.Output = max(1, context-r.Prompt)
	}
	r.New = min(r.New, r.Prompt)
	left := r.Prompt
	for i := range r.Prefix {
		if r.Prefix[i].Tokens = min(r.Prefix[i].Tokens, left); r.Prefix[i].Tokens == 0 {
			r.Prefix, r.GoesOn = r.Prefix[:i], false
			return
		}
		left -= r.Prefix[i].Tokens
	}
}

// vary multiplies the lengths that a stream has from its kind by factors around 1.
func vary(s *Stream, spread float64, seed uint64) {
	kind, err := kindOf(s.Kind)
	if err != nil || spread <= 0 {
		return
	}
	rng := rand.New(rand.NewPCG(seed, wordSpread))
	for _, l := range []struct{ have, own *Length }{
		{&s.Prompt, &kind.Stream.Prompt}, {&s.Output, &kind.Stream.Output},
		{&s.Prefixes.System, &kind.Stream.Prefixes.System}, {&s.Prefixes.Document, &kind.Stream.Prefixes.Document},
	} {
		f := math.Exp(spread * rng.NormFloat64())
		if *l.have == *l.own {
			*l.have = l.have.times(f)
		}
	}
}
