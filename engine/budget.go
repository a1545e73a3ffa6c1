package engine

import (
	"fmt"

	"llmtop/engine/model"
)

// Budget is the memory that an engine takes, in bytes.
type Budget struct {
	Weights     int64 // of the model, and of the draft model
	KVCache     int64 // of both
	Activations int64 // scratch space of the largest step, of both
	Buffer      int64 // the rest: program, runtime, tokenizer, requests
	Total       int64 // the sum
	Limit       int64 // what the sum may be; 0: unknown
}

// memoryShare is the most that an engine plans to take of its machine, in percent:
// the rest is for the system, its page cache and what nobody has thought of.
const memoryShare = 85

// bufferBytes is what an engine takes beside its models: the program, the runtime,
// the tokenizer, and as many bodies of requests as usually are there at once.
const bufferBytes = 128 << 20

// usedModel is a loaded model with the most that it computes in a pass.
type usedModel struct {
	*model.Model
	rows   int
	logits int // rows of which it gives the logits
}

// newBudget adds up what the models will take. The error says how many blocks would fit.
func newBudget(c Config, kv model.KVType, models ...usedModel) (Budget, error) {
	b := Budget{Buffer: bufferBytes, Limit: c.MemoryBytes / 100 * memoryShare}
	var block int64
	for _, m := range models {
		shape := m.Config()
		b.Weights += m.WeightBytes()
		b.Activations += model.ActivationBytes(shape, m.rows, min(shape.Context, c.NumBlocks*c.BlockSize), c.Threads) -
			model.LogitBytes(shape, max(0, m.rows-m.logits))
		block += model.KVBytes(shape, c.BlockSize, kv)
	}
	b.Total = b.Weights + b.Activations + b.Buffer
	fit, limit := maxKVBytes/block, "the limit of "+size(maxKVBytes)
	if n := (b.Limit - b.Total) / block; b.Limit > 0 && n < fit {
		fit, limit = n, fmt.Sprintf("%d %% of the memory of %s", memoryShare, size(float64(c.MemoryBytes)))
	}
	switch {
	case fit < 1:
		return b, fmt.Errorf("the model takes %s without a KV cache, more than %s", size(float64(b.Total)), limit)
	case int64(c.NumBlocks) > fit:
		return b, fmt.Errorf("num_blocks is %d: the KV cache would take %s, beside %s of weights, %s of activations and %s of buffer; num_blocks=%d would fit into %s",
			c.NumBlocks, size(float64(c.NumBlocks)*float64(block)), size(float64(b.Weights)), size(float64(b.Activations)), size(float64(b.Buffer)), fit, limit)
	}
	b.KVCache = int64(c.NumBlocks) * block
	b.Total += b.KVCache
	return b, nil
}

// size is a number of bytes for people.
func size(bytes float64) string {
	if bytes >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", bytes/(1<<30))
	}
	return fmt.Sprintf("%.1f MiB", bytes/(1<<20))
}

// Budget is the memory that was planned at the start; zero for a runner of another kind.
func (e *Engine) Budget() Budget {
	if r, ok := e.runner.(*cpuRunner); ok {
		return r.budget
	}
	return Budget{}
}
