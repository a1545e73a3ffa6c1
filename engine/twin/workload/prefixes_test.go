package workload

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"llmtop/engine/twin/knob"
)

// System prompts and documents are always as long as they were; the popular ones come often.
func TestTree(t *testing.T) {
	s, _ := source(t, streams(t, "rag rate=50"), 2)
	length, seen := map[uint64]int{}, map[uint64]int{}
	until(s, 200*time.Second, func(r *Request) {
		if len(r.Prefix) != 2 || r.GoesOn {
			t.Fatalf("a prompt begins with %v, goes on: %v", r.Prefix, r.GoesOn)
		}
		for _, p := range r.Prefix {
			if was, ok := length[p.ID]; ok && was != p.Tokens {
				t.Fatalf("prefix %d was of %d tokens and is of %d", p.ID, was, p.Tokens)
			}
			length[p.ID] = p.Tokens
			seen[p.ID]++
		}
	})
	most := 0
	for _, n := range seen {
		most = max(most, n)
	}
	if len(seen) < 1000 || most < 2000 {
		t.Errorf("%d prefixes, the most popular one %d times", len(seen), most)
	}
}

// Each turn of a conversation begins with all that was said before, the answer too.
func TestConversations(t *testing.T) {
	s, _ := source(t, streams(t, "agent rate=20"), 2)
	type state struct{ system, tokens int }
	said := map[uint64]state{}
	turns, grown := 0, 0
	until(s, 300*time.Second, func(r *Request) {
		if len(r.Prefix) != 2 || !r.GoesOn {
			t.Fatalf("a prompt begins with %v, goes on: %v", r.Prefix, r.GoesOn)
		}
		c := r.Prefix[1]
		if r.Prefix[0].Tokens+c.Tokens != r.Prompt {
			t.Fatalf("a prompt of %d tokens is %v", r.Prompt, r.Prefix)
		}
		if was, ok := said[c.ID]; ok {
			grown++
			if c.Tokens <= was.tokens || was.system != r.Prefix[0].Tokens {
				t.Fatalf("a conversation of %+v goes on with %v", was, r.Prefix)
			}
		}
		turns++
		said[c.ID] = state{r.Prefix[0].Tokens, c.Tokens + r.Output}
	})
	near(t, "turns of a conversation", float64(turns)/float64(len(said)-80), 12, 0.15) // 80 go on at the end
	if grown == 0 {
		t.Error("no conversation went on")
	}
}

// Whatever is asked for and turned: requests come in order, are within bounds, and what they share is
// a part of them.
func TestAnyWorkload(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		kinds := rapid.SliceOfN(rapid.SampledFrom(Kinds), 1, 4).Draw(r, "kinds")
		c := Config{Context: rapid.IntRange(2, 200_000).Draw(r, "context"), Spread: rapid.Float64Range(0, 0.5).Draw(r, "spread")}
		for _, k := range kinds {
			s := k.Stream
			s.Rate = rapid.Float64Range(0.01, 1000).Draw(r, "rate")
			s.Arrivals = rapid.SampledFrom([]Arrivals{{}, {Even: true}, {CV: 5}, {CV: 0.1, Swing: 0.9, Peak: -1},
				{Burst: Burst{Factor: 50, Every: time.Minute, For: 2 * time.Second}}}).Draw(r, "arrivals")
			c.Streams = append(c.Streams, s)
		}
		if rapid.Bool().Draw(r, "trace") {
			c.Trace = &Trace{Rows: []Row{{Prompt: 10, Output: 2}, {At: time.Second, Prompt: 100_000, Output: 1, Prefix: 3}, {At: time.Second, Prompt: 50, Output: 9, Prefix: 3, PrefixTokens: 20, Schema: 4}}}
		}
		board := knob.NewBoard(1, 1)
		s, err := New(c, rapid.Uint64().Draw(r, "seed"), board)
		if err != nil {
			r.Fatal(err)
		}
		now := time.Duration(0)
		for range 50 {
			if rapid.IntRange(0, 3).Draw(r, "turn") == 0 {
				id := knob.ID(rapid.IntRange(int(knob.Rate), int(knob.SlowReaders)).Draw(r, "knob"))
				k := &knob.Table[id]
				v := rapid.Float64Range(k.Min, k.Max).Draw(r, "value")
				if k.Integer {
					v = float64(int(v))
				}
				if err := board.Apply(knob.Change{Knob: id, Target: knob.All, Value: v}); err != nil {
					r.Fatal(err)
				}
				s.Turned(now)
			}
			at, ok := s.Due()
			if !ok || at == never {
				continue
			}
			q := s.Take()
			if q.At != at || at < now {
				r.Fatalf("due at %s after %s, came at %s", at, now, q.At)
			}
			now = at
			shared := 0
			for _, p := range q.Prefix {
				shared += p.Tokens
				if p.Tokens < 1 || p.ID == 0 {
					r.Fatalf("a segment of %+v", p)
				}
			}
			if q.Prompt < 1 || q.Output < 1 || q.Prompt+q.Output > c.Context || shared > q.Prompt || q.Bytes < 0 || q.Adapter < 0 || q.Schema < 0 {
				r.Fatalf("%+v within %d", *q, c.Context)
			}
		}
	})
}

// However many conversations are asked for, those remembered are bounded.
func TestSessionsBounded(t *testing.T) {
	s, board := source(t, streams(t, "chat rate=10000 think=3600"), 1)
	turn(t, s, board, 0, "prefixes ×10000")
	until(s, time.Second, nil)
	if n := len(s.(*mix).parts[0].(*stream).tree.sessions); n != maxSessions {
		t.Errorf("%d conversations are remembered", n)
	}
}
