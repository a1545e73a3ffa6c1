package frames

import (
	"math"
	"testing"
)

// A label says for which stage a sample was; its frames still say when it was for a
// mechanism that every stage has. What an unknown label says is not guessed at.
func TestLabels(t *testing.T) {
	for _, c := range []struct{ stack, want string }{
		{"stage=decode runtime.memmove main.f", Model},
		{"stage=prefill llmtop/engine/model.dotQ8", Model},
		{"stage=mixed llmtop/engine.(*Engine).chunks", Model},
		{"stage=schedule llmtop/engine.(*mailbox).put", Scheduler},
		{"stage=schedule llmtop/engine/tokenizer.(*Tokenizer).IsStop llmtop/engine.(*Engine).finish", Scheduler},
		{"stage=tokenize unicode/utf8.DecodeRune llmtop/cmd/llmtop/internal/demo.(*SlowTokenizer).Encode", Tokenize},
		{"stage=assemble strings.(*Builder).grow main.render", Tokenize},
		{"stage=detokenize llmtop/engine.(*answer).take", Detokenize},
		{"stage=send llmtop/engine.format.chunk", Send},
		{"stage=parse llmtop/engine.tooDeep", JSON},
		{"stage=log os.(*File).Write", Logging},

		{"stage=send encoding/json.(*encodeState).marshal", JSON},
		{"stage=tokenize runtime.scanobject runtime.gcAssistAlloc runtime.mallocgc llmtop/engine/tokenizer.(*Tokenizer).Encode", GC},
		{"stage=schedule runtime.futex runtime.lock2 runtime.chansend", Lock},
		{"stage=schedule syscall.Syscall internal/poll.(*FD).Write os.(*File).Write log/slog.(*commonHandler).handle", Logging},
		{"stage=decode runtime.futex runtime.schedule", Runtime},

		{"stage=auth main.f", Other},
		{"stage=cooking llmtop/engine/model.dotQ8", Model},
		{"stage=cooking main.f", Other},
	} {
		facts, err := Facts(pprof(t, stack{3, c.stack}))
		if err != nil || math.Abs(facts.Share[c.want]-1) > 1e-9 {
			t.Errorf("%s: got %+v, %v; want %s", c.stack, facts, err, c.want)
		}
	}
}
