package workload

import (
	"cmp"
	"math"
	"time"

	"llmtop/engine/twin/knob"
)

// replay makes the requests of a trace again. The rate knob makes its time pass faster or
// slower; those of lengths change what a prompt does not share, and the answer.
type replay struct {
	numbers
	rows    []Row
	next    int
	salt    uint64 // of prefixes
	context int
	clock

	request Request
	path    [1]Segment
}

// traceBytes is how many bytes of text a token of a prompt is, in a trace: English in a large vocabulary.
const traceBytes = 4.2

func newReplay(c *Config, seed uint64, board *knob.Board) *replay {
	p := &replay{rows: c.Trace.Rows, salt: scramble(seed ^ wordTree), context: c.context(), numbers: numbers{board: board, seed: scramble(seed ^ wordContents)}}
	p.clock = clock{pace: steady{}, rate: cmp.Or(c.Speed, 1), factor: board.Value(knob.Rate), from: c.Delay.Seconds()}
	if len(p.rows) > 0 {
		p.clock.start(p.rows[0].At.Seconds())
	}
	return p
}

func (p *replay) Due() (time.Duration, bool) { return p.clock.due(), p.next < len(p.rows) }

func (p *replay) Turned(now time.Duration) { p.clock.turned(now, p.board.Value(knob.Rate)) }

func (p *replay) Take() *Request {
	row, at := &p.rows[p.next], p.clock.due()
	p.next++
	if p.next < len(p.rows) {
		p.clock.took((p.rows[p.next].At - row.At).Seconds())
	}
	u := p.draw()
	r := &p.request
	*r = Request{At: at, Class: row.Class, Stream: !row.Unary}
	p.extras(r, &Stream{}, u)
	p.own(r, row)
	prefix := row.prefix()
	own := 0
	if rest := int(row.Prompt) - prefix; rest > 0 {
		own = tokens(float64(rest) * p.board.Value(knob.PromptTokens))
	}
	r.New = prefix + own
	r.Prompt, r.Output = prefix+own, tokens(float64(row.Output)*p.board.Value(knob.OutputTokens))
	switch {
	case p.giant(u):
		r.Prompt = p.giantTokens()
		r.New = r.Prompt
	case prefix > 0 && u[uReuse] < p.board.Value(knob.PrefixReuse):
		p.path[0] = Segment{ID: scramble(p.salt ^ scramble(row.Prefix)), Tokens: prefix}
		r.Prefix, r.New = p.path[:], own
	}
	fit(r, p.context)
	r.Bytes = textBytes(r, traceBytes, u)
	return r
}

// prefix is how many tokens of the prompt others may share.
func (r *Row) prefix() int {
	if r.Prefix == 0 {
		return 0
	}
	return int(cmp.Or(r.PrefixTokens, r.Prompt))
}

// own is what the trace says of the request, where no knob says otherwise.
func (p *replay) own(r *Request, row *Row) {
	for _, e := range []struct {
		id   knob.ID
		to   *int
		have int
	}{{knob.Adapters, &r.Adapter, int(row.Adapter)}, {knob.Guided, &r.Schema, int(row.Schema)}, {knob.Images, &r.Images, int(row.Images)}} {
		if math.IsNaN(p.board.Value(e.id)) {
			*e.to = e.have
		}
	}
	if math.IsNaN(p.board.Value(knob.SlowReaders)) {
		r.Slow = row.Slow
	}
}
