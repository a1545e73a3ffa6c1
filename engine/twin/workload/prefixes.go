package workload

import (
	"math"
	"math/rand/v2"
)

// maxSessions bounds how many conversations are remembered, maxTurns how many turns one may
// have had before the run.
const (
	maxSessions = 1 << 17
	maxTurns    = 64
)

// tree knows what the prompts of a stream begin with.
type tree struct {
	p        Prefixes
	seed     uint64
	system   drawn
	document drawn
	sessions []session
	room     int // most tokens that a conversation may have come to

	pcg rand.PCG // of lengths that follow from an ID
	rng *rand.Rand
}

// session is a conversation that goes on.
type session struct {
	id       uint64 // 0: nobody has asked for it yet
	system   int32
	document int32
	tokens   int32 // said so far, answers included
}

func newTree(p Prefixes, seed uint64, room int) *tree {
	t := &tree{p: p, seed: seed, system: p.System.drawn(), document: p.Document.drawn(), room: room}
	t.rng = rand.New(&t.pcg)
	return t
}

// pick are the uniform numbers that choose a prefix.
type pick struct{ system, document, session, end float64 }

// path appends the segments of a prompt whose own part is so long; many is how many times as
// many prefixes there are as at the start. The conversation is nil when there is none.
func (t *tree) path(to []Segment, u pick, many, rate float64, own int, fresh func(*session)) ([]Segment, *session) {
	var s *session
	system, document := int32(0), int32(0)
	if t.p.Turns > 1 {
		s = t.session(u, many, rate, fresh)
		system, document = s.system, s.document
	} else {
		system, document = t.roots(u, many)
	}
	if system > 0 {
		to = append(to, t.segment(1, uint64(system), &t.system))
	}
	if document > 0 { // what a system prompt goes on with is its own
		to = append(to, t.segment(2, uint64(document)<<20|uint64(system), &t.document))
	}
	if s != nil {
		to = append(to, Segment{ID: s.id, Tokens: int(s.tokens) + own})
	}
	return to, s
}

// roots choose a system prompt and a document, from 1; 0: there are none.
func (t *tree) roots(u pick, many float64) (system, document int32) {
	return rank(u.system, t.p.Systems, many, t.p.Zipf), rank(u.document, t.p.Documents, many, t.p.Zipf)
}

// rank is one of n × many by popularity: the integral of the power law stands for its sum,
// so that their number may change at any time.
func rank(u float64, n int, many, zipf float64) int32 {
	if n == 0 {
		return 0
	}
	last := math.Round(min(max(1, float64(n)*many), maxKinds))
	if last == 1 {
		return 1
	}
	x := 0.0
	if e := 1 - zipf; math.Abs(e) < 1e-9 {
		x = math.Exp(u * math.Log(last+1))
	} else {
		x = math.Pow(1+u*(math.Pow(last+1, e)-1), 1/e)
	}
	return int32(min(max(1, math.Floor(x)), last))
}

// segment is the prefix of that number; its length is always the same.
func (t *tree) segment(level, number uint64, length *drawn) Segment {
	id := scramble(t.seed ^ scramble(number<<2|level))
	t.pcg.Seed(id, level)
	return Segment{ID: id, Tokens: tokens(length.draw(t.rng))}
}

// session is the conversation whose turn it is. So many are going on that each has a turn as
// often as people think before they answer.
func (t *tree) session(u pick, many, rate float64, fresh func(*session)) *session {
	n := int(min(max(1, math.Round(rate*t.p.Think*many)), maxSessions))
	for len(t.sessions) < n {
		t.sessions = append(t.sessions, session{})
	}
	s := &t.sessions[int(u.session*float64(n))]
	if s.id == 0 {
		t.begin(s, u, many, uint64(int(u.session*float64(n))))
		fresh(s)
	}
	return s
}

// begin makes a new conversation.
func (t *tree) begin(s *session, u pick, many float64, number uint64) {
	*s = session{id: scramble(t.seed^scramble((s.id+number)<<2|3)) | 1}
	s.system, s.document = t.roots(u, many)
}

// said notes a turn, and begins another conversation in its place when it was the last one.
func (t *tree) said(s *session, u pick, many float64, own, output int) {
	s.tokens += int32(min(own+output, MaxTokens))
	if u.end < 1/t.p.Turns || int(s.tokens) > t.room {
		t.begin(s, u, many, 0)
	}
}
