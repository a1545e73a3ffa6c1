package cost

import (
	"time"
)

// Front is the CPU time that a request takes beside steps, on a free core of a server of today: the front half of
// engines whose API server is Python and whose tokenizer is Rust.
type Front struct {
	Receive      time.Duration // HTTP of a request,
	ReceiveKB    time.Duration // and a thousand bytes of its body
	Parse        time.Duration // JSON of a request, its checks,
	ParseKB      time.Duration // and a thousand bytes of it
	Auth         time.Duration
	Tokenize     time.Duration // a text,
	TokenizeKB   time.Duration // and a thousand bytes of it
	Assemble     time.Duration // a prompt by its chat template,
	AssembleKTok time.Duration // and a thousand tokens of it
	Handoff      time.Duration // from the API server to the engine's process, and of the first token back
	Image        time.Duration // decode and resize one
	Grammar      time.Duration // compile one
	Adapter      time.Duration // bring one onto the GPU
	Detokenize   time.Duration // a token
	Send         time.Duration // an event of a stream
}

// DefaultFront: HTTP and JSON in Python a millisecond or so (FastAPI, pydantic); text at 2.5 MB/s, so that
// 50,000 tokens of 4.3 bytes take 86 ms (public cases: 50–200 ms); two processes that hand over through a socket,
// a serialiser and an event loop. Short prompts on an idle engine take 4–8 ms to their first token beyond the step
// that computes it (points marked "set" in scripts/twingate/points.tsv), of which all this is the larger part.
var DefaultFront = Front{
	Receive: 500 * time.Microsecond, ReceiveKB: 2 * time.Microsecond, Parse: 900 * time.Microsecond, ParseKB: 8 * time.Microsecond, Auth: 5 * time.Microsecond,
	Tokenize: 250 * time.Microsecond, TokenizeKB: 400 * time.Microsecond, Assemble: 350 * time.Microsecond, AssembleKTok: 25 * time.Microsecond,
	Handoff: 2 * time.Millisecond, Image: 60 * time.Millisecond, Grammar: 300 * time.Millisecond, Adapter: 350 * time.Millisecond,
	Detokenize: 8 * time.Microsecond, Send: 25 * time.Microsecond,
}

// Varied is f with each time another by a factor that the seed has drawn, of a width as Spread draws it.
func (f Front) Varied(spread float64, seed uint64) Front {
	s := newSpread(spread, seed, frontWord)
	for _, d := range []*time.Duration{
		&f.Receive, &f.ReceiveKB, &f.Parse, &f.ParseKB, &f.Auth, &f.Tokenize, &f.TokenizeKB, &f.Assemble, &f.AssembleKTok,
		&f.Handoff, &f.Image, &f.Grammar, &f.Adapter, &f.Detokenize, &f.Send,
	} {
		*d = time.Duration(float64(*d) * s.factor())
	}
	return f
}

// FirstToken is what a request of so many bytes and prompt tokens takes on an idle server beside the step that
// computes its first token.
func (f *Front) FirstToken(bytes, tokens int) time.Duration {
	kb, ktok := float64(bytes)/1000, float64(tokens)/1000
	fixed := f.Receive + f.Parse + f.Auth + f.Tokenize + f.Assemble + f.Handoff + f.Detokenize + f.Send
	return fixed + time.Duration(kb*float64(f.ReceiveKB+f.ParseKB+f.TokenizeKB)+ktok*float64(f.AssembleKTok))
}
