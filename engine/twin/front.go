package twin

import (
	"math/rand/v2"
	"time"

	"llmtop/engine/twin/cost"
)

// Front is what happens to a request and its answer beside the steps.
type Front struct {
	cost.Front

	Load         time.Duration // from the start of the process until it serves
	Connect      time.Duration // latency of a transfer between instances
	Threads      int           // texts tokenized at once
	ImageThreads int           // images decoded at once
	Grammars     int           // compiled ones that are kept
	Acceptance   float64       // chance that a guess holds when those before it have
	Stops        float64       // share of answers that end by themselves; the others are as long as was asked for
	EventBytes   float64       // of an event of a stream, a token
	SlowBytes    float64       // that a slow client reads in a second
	Buffer       float64       // bytes that a connection takes before a write has to wait
}

// DefaultFront is what engines of the field do: one thread tokenizes (vLLM, SGLang), eight
// decode images (VLLM_MEDIA_LOADING_THREAD_COUNT), good draft heads are right with two
// guesses of three on chat, an event of a stream has about 220 bytes of JSON.
var DefaultFront = Front{
	Front: cost.DefaultFront, Load: 75 * time.Second, Connect: 2 * time.Millisecond,
	Threads: 1, ImageThreads: 8, Grammars: 64, Acceptance: 0.68, Stops: 0.9, EventBytes: 220, SlowBytes: 1500, Buffer: 16 << 10,
}

// Varied is f with its times and its chance of guesses another by up to the given part, as a seed has it.
func (f Front) Varied(spread float64, seed uint64) Front {
	r := rand.New(rand.NewPCG(seed, 0x66726f6e74))
	by := func() float64 { return 1 + spread*(2*r.Float64()-1) }
	f.Front = f.Front.Varied(spread, seed)
	f.Load, f.Connect = times(f.Load, by()), times(f.Connect, by())
	f.Acceptance = min(0.98, f.Acceptance*by())
	f.SlowBytes *= by()
	return f
}
