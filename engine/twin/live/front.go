package live

import (
	"sync"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/machine"
)

// front is what goes on between the network and the scheduler: an event loop reads requests,
// puts prompts together and sends tokens; texts become tokens on threads of their own.
type front struct {
	cost.Front
	done       <-chan struct{}
	event      threads // the event loop
	tokenizers threads

	mu      sync.Mutex
	factors factors
	spent   [machine.NumParts]time.Duration // CPU time since it was last asked
}

// factors are how many times as long things take, and what is added.
type factors struct {
	cpu, parse, tokenize, assemble, detokenize float64
	logLine                                    time.Duration
	tokenizers                                 int
}

// factorsOf reads the knobs; cpu is how much longer all work takes for want of cores.
func factorsOf(b *knob.Board, cpu float64) factors {
	return factors{
		cpu:   max(1, cpu) / (1 - or(b.At(knob.GC, 0), 0)),
		parse: b.At(knob.Parse, 0), tokenize: b.At(knob.Tokenizer, 0), assemble: b.At(knob.Assemble, 0),
		detokenize: b.At(knob.Detokenizer, 0), logLine: logLine(b), tokenizers: int(or(b.At(knob.TokenizerThreads, 0), 1)),
	}
}

// logLine is how long the event loop waits for a line that it logs.
func logLine(b *knob.Board) time.Duration {
	return milliseconds(or(b.At(knob.LogLine, 0), 0) + or(b.Value(knob.Disk), 0))
}

// or is a value, or what the model has where nobody has said.
func or(v, model float64) float64 {
	if v != v {
		return model
	}
	return v
}

func milliseconds(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }

// thousands of bytes.
func thousands(bytes int) float64 { return float64(bytes) / 1000 }

func times(d time.Duration, n, factor float64) time.Duration {
	return time.Duration(float64(d) * n * factor)
}

// charge notes CPU time and returns the factors in force.
func (f *front) charge(cost func(factors) (machine.Part, time.Duration)) (factors, time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	part, d := cost(f.factors)
	f.spent[part] += d
	return f.factors, d
}

// turn sets the factors and returns what was spent since the last time.
func (f *front) turn(to factors) (spent [machine.NumParts]time.Duration) {
	f.tokenizers.resize(to.tokenizers)
	now := time.Now()
	f.tokenizers.pace(now, f.text(to))
	f.event.pace(now, f.request(to))
	f.mu.Lock()
	defer f.mu.Unlock()
	spent, f.factors, f.spent = f.spent, to, spent
	return spent
}

// What is usual: thousands of bytes of a prompt, tokens of an answer.
const (
	usualKB     = 4
	usualAnswer = 200
)

// text is how long a usual text keeps a tokenizer thread.
func (f *front) text(in factors) time.Duration {
	return times(times(f.Tokenize, 1, in.tokenize)+times(f.TokenizeKB, usualKB, in.tokenize), 1, in.cpu)
}

// request is how long a usual request keeps the event loop.
func (f *front) request(in factors) time.Duration {
	d := times(f.Receive+f.Parse, 1, in.parse) + times(f.ReceiveKB+f.ParseKB, usualKB, in.parse) +
		f.Handoff + times(f.Assemble, 1, in.assemble) + times(f.AssembleKTok, usualKB/tokenBytes, in.assemble) +
		times(f.Detokenize, usualAnswer, in.detokenize) + times(f.Send, usualAnswer, 1)
	return times(d, 1, in.cpu) + in.logLine
}

// tokenize takes as long as a text of so many bytes does.
func (f *front) tokenize(bytes int) {
	in, d := f.charge(func(in factors) (machine.Part, time.Duration) {
		return machine.Tokenize, times(f.Tokenize, 1, in.tokenize) + times(f.TokenizeKB, thousands(bytes), in.tokenize)
	})
	f.wait(&f.tokenizers, times(d, 1, in.cpu))
}

// stage is the event loop's work for a stage of a request.
func (f *front) stage(s engine.Stage, bytes int) {
	in, d := f.charge(func(in factors) (machine.Part, time.Duration) {
		switch s {
		case engine.StageReceive:
			return machine.Receive, times(f.Receive, 1, in.parse) + times(f.ReceiveKB, thousands(bytes), in.parse)
		case engine.StageParse:
			return machine.Receive, times(f.Parse, 1, in.parse) + times(f.ParseKB, thousands(bytes), in.parse)
		case engine.StageAuth:
			return machine.Receive, f.Auth
		case engine.StageAssemble:
			return machine.Assemble, f.Handoff + times(f.Assemble, 1, in.assemble) + times(f.AssembleKTok, thousands(bytes)/tokenBytes, in.assemble)
		}
		return machine.Receive, 0
	})
	d = times(d, 1, in.cpu)
	if s == engine.StageReceive {
		d += in.logLine
	}
	f.wait(&f.event, d)
}

// detokenize is the event loop's work for a token: its text, and sending it.
func (f *front) detokenize() {
	in, d := f.charge(func(in factors) (machine.Part, time.Duration) {
		return machine.Detokenize, times(f.Detokenize, 1, in.detokenize)
	})
	_, send := f.charge(func(factors) (machine.Part, time.Duration) { return machine.Send, f.Send })
	f.wait(&f.event, times(d+send, 1, in.cpu))
}

// wait until a thread has done something.
func (f *front) wait(on *threads, d time.Duration) {
	if d > 0 {
		on.do(d, f.done)
	}
}
